// The tab that shows the network's inference.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { newGame, open, openTab, type, visit } from "./browser.mjs";
import { randomNet } from "./nets.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

const inside = async (page) => {
  await openTab(page, "inside");
  await page.waitForSelector(".flow li");
};
const value = (page) => page.textContent(".inside-value");
const at = (page, square) => page.locator(`.smallboard [data-at=${square}]`);
const score = (text) => Number(text.replace("−", "-"));
/** Numbers shown at the steps. */
const steps = (page) => page.$$eval(".flow b", (numbers) => numbers.map((number) => number.textContent).filter(Boolean));

test("inputs, neurons and layer values are shown and add up", async () => {
  const { page, errors } = await visit(site, { path: "#moves=e2e4,e7e5,g1f3,b8c6" });
  await inside(page);
  const texts = await page.$$eval(".flow li span", (steps) => steps.map((step) => step.textContent));
  assert.match(texts[0], /^36 of 902 inputs are on$/);
  assert.match(texts[1], /^White’s view \(to move\): \d+ of 512 neurons are on$/);
  assert.match(texts[2], /^Black’s view: \d+ of 512/);
  assert.match(texts[3], /^Output 8 of 8, the one for 30 to 32 pieces/);
  const numbers = (await steps(page)).map(score);
  const total = numbers.pop();
  assert.ok(Math.abs(numbers.reduce((a, b) => a + b) - total) < 0.03, `${numbers} ${total}`);
  assert.equal(await page.locator(".inside details").count(), 8);
  assert.equal(await page.locator(".inside details[open] canvas").count(), 1);
  await page.locator(".inside summary").nth(1).click();
  await page.waitForFunction(() => document.querySelectorAll(".inside details[open] canvas").length === 2);
  assert.deepEqual(await page.$$eval(".chips li", (chips) => chips.map((chip) => chip.firstChild.textContent)), [
    "White may castle O-O-O", "White may castle O-O", "Black may castle O-O-O", "Black may castle O-O",
  ]);
  assert.deepEqual(errors, []);
});

test("a piece is lifted, moved and added, by mouse and by keyboard", async () => {
  const { page, errors } = await visit(site, { path: "#moves=e2e4,e7e5" });
  await inside(page);
  const before = await value(page);
  await at(page, "d8").click();
  await page.click(".what-if button:has-text('Lift')");
  assert.match(await value(page), /The net says \+\d+\.\d\d, before .*: \+[3-9]/);
  await page.click(".what-if button:has-text('Put all back')");
  assert.equal(await value(page), before);
  // A king can be moved, but not removed.
  await at(page, "d1").click();
  await at(page, "e8").click();
  assert.equal(await at(page, "e8").getAttribute("aria-selected"), "true");
  await at(page, "e8").click();
  await page.click("[data-put='black queen']");
  await at(page, "e4").focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  assert.match(await at(page, "e6").getAttribute("aria-label"), /^e6, black queen, adds −/);
  assert.match(await page.textContent("#announce"), /The net says −/);
  await page.click(".what-if button:has-text('Other side to move')");
  assert.match(await page.textContent(".flow li:nth-child(2)"), /^Black’s view \(to move\)/);
  // The game itself is unchanged.
  await type(page, "Nf3");
  await page.waitForFunction(() => document.querySelector(".flow li:nth-child(2)").textContent.startsWith("Black’s view (to move)"));
  assert.match(await value(page), /without a search/);
  assert.equal(await at(page, "e6").getAttribute("aria-label"), "e6, empty");
  assert.deepEqual(errors, []);
});

for (const [name, shape, texts] of [
  ["one view, three layers", { view: "mover", mirrored: false, first: 48, activation: "clipped-relu", second: 8, third: 4, buckets: 3 }, [/White’s view/, /Layer 2: \d of 8/, /Layer 3: \d of 4/, /Output 3 of 3/]],
  ["pairs, mirrored", { view: "both", mirrored: true, first: 32, activation: "pairwise-clipped-relu", second: 8, third: null, buckets: 1 }, [/White’s view \(to move\), files mirrored: \d+ of 16/, /Black’s view, files mirrored/, /Layer 2/, /The output starts/]],
  ["the widest", { view: "both", mirrored: false, first: 1024, activation: "squared-clipped-relu", second: 32, third: 32, buckets: 8 }, [/of 1024/, /of 1024/, /Layer 2/, /Layer 3/, /Output 8 of 8/]],
]) {
  test(`a net of another architecture: ${name}`, async () => {
    const { page, errors } = await visit(site);
    await newGame(page, { mode: "analysis" });
    await page.setInputFiles("#net-file", { name: "own.safetensors", mimeType: "", buffer: randomNet(shape) });
    await page.waitForFunction(() => document.getElementById("evaluator").selectedOptions[0].textContent === "own.safetensors");
    await inside(page);
    const shown = await page.$$eval(".flow li span", (steps) => steps.slice(1, -1).map((step) => step.textContent));
    assert.equal(shown.length, texts.length);
    texts.forEach((text, index) => assert.match(shown[index], text));
    const planes = await page.locator(".inside details[open] canvas").count();
    assert.equal(planes, name.startsWith("pairs") ? 2 : 1);
    assert.deepEqual(errors, []);
  });
}

test("material has no network", async () => {
  const { page } = await visit(site);
  await page.selectOption("#evaluator", "material", { force: true });
  await openTab(page, "inside");
  await page.waitForFunction(() => document.querySelector(".inside-value")?.textContent.includes("no network"));
  assert.ok(await page.isHidden(".flow"));
});

test("the tour goes step by step, and its links lead to the docs", async () => {
  const { page, errors } = await visit(site);
  await inside(page);
  await page.click(".tour button");
  const links = new Set();
  for (let step = 1; step <= 7; step += 1) {
    assert.match(await page.textContent(".tour .quiet"), new RegExp(`^${step} of 7$`));
    for (const href of await page.$$eval(".tour a", (all) => all.map((link) => link.href))) links.add(href);
    if (step < 7) await page.keyboard.press("Enter");
  }
  assert.equal(links.size, 3);
  for (const link of links) assert.ok((await page.request.get(link)).ok(), link);
  await page.keyboard.press("Enter");
  assert.match(await page.textContent(".tour"), /^Tour:/);
  assert.deepEqual(errors, []);
});
