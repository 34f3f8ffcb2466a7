// The tab that explains moves.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { open, openTab, visit } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

const reasons = (page) => page.$$eval(".reasons li", (items) => items.map((item) => item.textContent));
const at = (page, square) => page.locator(`#panel-why [data-at=${square}]`);

test("the last move is compared with all others and described", async () => {
  // White takes a pawn and leaves a knight en prise to one.
  const { page, errors } = await visit(site, { path: "#moves=e2e4,e7e5,g1f3,d7d6,f3e5" });
  await openTab(page, "why");
  await page.waitForSelector(".choices p:nth-child(2)");
  const said = await reasons(page);
  assert.match(said[1], /^For the net alone, which looks no move ahead, Nxe5 is (first|second) among White’s 27 moves/);
  assert.match(said[0], /^A search of 50,000 nodes would rather play \S+ than Nxe5, by [1-4]\.\d\d pawns\.$/);
  assert.ok(said.some((reason) => /^It takes the black pawn on e5, worth \d\.\d\d/.test(reason)), said.join(" "));
  assert.ok(said.some((reason) => /inputs now see a white knight en prise \(−/.test(reason)), said.join(" "));
  const lines = await page.$$eval(".choices p", (lines) => lines.map((line) => [...line.children].map((part) => part.textContent)));
  assert.match(lines[0].join(" "), /^Played −\d\.\d\d 3\. Nxe5 dxe5/);
  assert.match(lines[1][0], /^Best other$/);
  // All moves of the previous position; then those of one piece.
  assert.match(await at(page, "e5").getAttribute("aria-label"), /^e5, black pawn, Nxe5 /);
  assert.match(await at(page, "d4").getAttribute("aria-label"), /^d4, empty, (d4|Nd4) [+−]/);
  await at(page, "f1").click();
  assert.equal(await at(page, "d4").getAttribute("aria-label"), "d4, empty");
  assert.match(await at(page, "b5").getAttribute("aria-label"), /Bb5\+/);
  assert.ok(await page.locator("#panel-why table tr").count());
  // The previous move.
  await page.click("#previous");
  await page.waitForFunction(() => document.querySelector("#panel-why h2").textContent === "Why 2… d6?");
  assert.deepEqual(errors, []);
});

test("where the moves cannot be weighed, none of another position are shown", async () => {
  const init = () => {
    const { encode } = TextEncoder.prototype;
    TextEncoder.prototype.encode = function (text) {
      if (globalThis.failing && text.includes('"op":"weigh"')) throw new Error("no memory");
      return encode.call(this, text);
    };
  };
  const { page } = await visit(site, { path: "#moves=e2e4,e7e5", init });
  await openTab(page, "why");
  await page.waitForSelector(".choices p:nth-child(2)");
  assert.match(await at(page, "e5").getAttribute("aria-label"), /^e5, empty, e5 /);
  await page.evaluate(() => (globalThis.failing = true));
  await page.click("#previous");
  await page.waitForSelector("#panel-why h2:has-text('Why 1. e4?')");
  assert.deepEqual(await reasons(page), ["More cannot be said: no memory."]);
  assert.equal(await at(page, "e5").getAttribute("aria-label"), "e5, empty");
  assert.doesNotMatch(await page.textContent("#panel-why"), /no legal move/);
  // It is tried again.
  await page.evaluate(() => (globalThis.failing = false));
  await page.click("#tab-engine");
  await page.click("#tab-why");
  await page.waitForSelector(".choices p:nth-child(2)");
});

test("a mate, the only move, and the start", async () => {
  const { page, errors } = await visit(site, { path: "#fen=k7/8/1K6/8/8/8/8/7R_w_-_-_0_1" });
  await openTab(page, "why");
  await page.waitForSelector("#panel-why h2:has-text('The moves from the start')");
  await page.fill("#move-text", "Rh8#");
  await page.press("#move-text", "Enter");
  await page.waitForSelector(".choices p:nth-child(2)");
  assert.match((await reasons(page))[1], /Rh8# is first among White’s \d+ moves \(mate\)/);
  assert.match((await reasons(page))[0], /takes Rh8# for better/);
  assert.deepEqual(errors, []);
});
