import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, afterEach, before, test } from "node:test";
import { answer, clickMove, newGame, open, openTab, played, readPgn, sans, visit, waitForMoves } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

async function violations(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`);
}

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

for (const [name, options] of [
  ["desktop", {}],
  ["dark", { colorScheme: "dark" }],
  ["phone", PHONE],
]) {
  test(`axe finds nothing: ${name}`, async () => {
    const { page, errors } = await visit(site, { path: "#moves=e2e4,e7e5,g1f3", reducedMotion: "reduce", ...options });
    await page.check("#analyse");
    await page.waitForSelector("#best .line");
    assert.deepEqual(await violations(page), []);
    await page.uncheck("#analyse");
    await openTab(page, "net");
    assert.deepEqual(await violations(page), []);
    await openTab(page, "inside");
    await page.waitForSelector(".flow li");
    await page.click(".tour button");
    await page.click(".smallboard [data-at=e4]");
    assert.deepEqual(await violations(page), []);
    await openTab(page, "why");
    await page.waitForSelector(".choices p:nth-child(2)");
    assert.deepEqual(await violations(page), []);
    await page.click("#open");
    assert.deepEqual(await violations(page), []);
    await page.fill("#pgn", await readFile(new URL("pgn/lichess.pgn", import.meta.url), "utf8"));
    await page.click("#read-pgn");
    await openTab(page, "report");
    await page.waitForSelector("#differences button");
    assert.deepEqual(await violations(page), []);
    // A tree of variations, a reviewed game, and a puzzle.
    await readPgn(page, "{ All. } 1. e4 $1 (1. d4 { Or [%cal Gd2d4] } d5 (1... Nf6 2. c4)) e5 { [%csl Ge5] } 2. Qh5 Ke7 $4 { Oh. } 3. Qxe5# 1-0");
    await page.click("#review");
    await page.waitForSelector("#reviewed:not([hidden])");
    await page.click("#reviewed button:has-text('Next mistake')");
    assert.deepEqual(await violations(page), []);
    await page.click("#share");
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press("Escape");
    await page.click("#tab-puzzles");
    assert.deepEqual(await violations(page), []);
    await page.click("#find-pgn");
    await page.waitForFunction(() => document.getElementById("puzzle-told").textContent.includes("new puzzle"));
    await page.click("#puzzle-next");
    await page.click("#puzzle-hint");
    assert.deepEqual(await violations(page), []);
    await page.click("#open");
    await page.click("#edit");
    assert.deepEqual(await violations(page), []);
    await page.click("#editor button:has-text('Cancel')");
    await page.click("#new");
    await page.selectOption("#start", "number");
    assert.deepEqual(await violations(page), []);
    await page.click("#new-dialog button.primary");
    // A game without help, then a finished one.
    await openTab(page, "engine");
    assert.deepEqual(await violations(page), []);
    answer(page, true);
    await clickMove(page, "e2", "e4");
    await waitForMoves(page, 2);
    await page.click("#resign");
    await page.waitForSelector("#over:not([hidden])");
    assert.deepEqual(await violations(page), []);
    await page.click("#first");
    await page.click("#tab-games");
    await page.waitForSelector("#recent-list li");
    await page.waitForSelector("#own-rows tr");
    assert.deepEqual(await violations(page), []);
    await openTab(page, "match");
    await page.waitForSelector("#match-first");
    assert.deepEqual(await violations(page), []);
    await page.selectOption("#match-strength", "1000 nodes");
    await page.click("#panel-match button:has-text('Start the match')");
    await page.waitForSelector(".match-games button");
    assert.deepEqual(await violations(page), []);
    await page.click("#panel-match button:has-text('End the match')");
    assert.deepEqual(await violations(page), []);
    await page.click("#help");
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(errors, []);
  });
}

for (const [name, options] of [["desktop", {}], ["phone", PHONE]]) {
  test(`axe finds nothing on a first visit: ${name}`, async () => {
    const { page } = await visit(site, { reducedMotion: "reduce", ...options });
    await page.waitForSelector("#welcome:not([hidden])");
    assert.deepEqual(await violations(page), []);
  });
}

test("a game by keyboard alone, read out", async () => {
  const { page } = await visit(site);
  await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 0 });
  // Tab from the top of the page to the board.
  await page.focus("h1 >> xpath=..");
  await page.evaluate(() => document.activeElement?.blur());
  for (let presses = 0; presses < 15; presses += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement.getAttribute("role") === "gridcell")) break;
  }
  const here = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  assert.equal(await here(), "e2, white pawn");
  await page.keyboard.press("Enter");
  assert.match(await here(), /picked up/);
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  assert.match(await here(), /^e4, empty, can move here/);
  await page.keyboard.press("Enter");
  await waitForMoves(page, 2);
  assert.equal((await sans(page))[0], "e4");
  assert.match(await page.textContent("#announce"), /^Black: /);
  assert.equal(await here(), "e4, white pawn");
});

test("promotion by keyboard", async () => {
  const { page } = await visit(site, { path: "#fen=8/P6k/8/8/8/8/8/K7_w_-_-_0_1" });
  await page.focus("[data-square=e2]");
  for (const key of ["ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft", "Enter", "ArrowUp", "Enter"]) {
    await page.keyboard.press(key);
  }
  await page.waitForSelector("#promotion button:focus");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await played(page, "a8=N");
});

test("on a phone nothing is wider than the screen, and touch moves pieces", async () => {
  const { page } = await visit(site, PHONE);
  await newGame(page, { mode: "people" });
  await page.check("#playing-help");
  await page.check("#analyse");
  await page.click("#log");
  await page.waitForFunction(() => document.querySelectorAll("#console .line").length > 5);
  // Content clipped by a card counts too, except long engine lines.
  const wide = () =>
    page.evaluate(() => {
      const right = (element) => element.getBoundingClientRect().right;
      const shown = [...document.querySelectorAll("main *")].filter((element) => element.checkVisibility() && !element.closest("#ground, .sr, .hidden-file, .word"));
      return Math.max(document.documentElement.scrollWidth, ...shown.map(right)) - innerWidth;
    });
  for (const tab of ["engine", "net", "inside", "why", "report", "puzzles", "games", "match"]) {
    await openTab(page, tab, "tap");
    if (tab === "inside") await page.waitForSelector(".flow li");
    if (tab === "match") await page.waitForSelector("#match-first");
    if (tab === "why") await page.waitForSelector(".smallboard.wide");
    assert.ok((await wide()) <= 0, tab);
  }
  await page.evaluate(() => scrollTo(0, 0));
  const touch = async (key) => {
    const box = await page.locator(`[data-square=${key}]`).boundingBox();
    await page.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
  };
  await touch("e2");
  await page.waitForSelector("cg-board square.move-dest", { state: "attached" });
  await touch("e4");
  await played(page, "e4");
});

test("sounds and theme are remembered", async () => {
  const { page } = await visit(site, { colorScheme: "light" });
  await page.click("#sound");
  await page.click("#theme");
  await page.reload();
  await page.waitForSelector("[data-ready]");
  assert.equal(await page.getAttribute("#sound", "aria-pressed"), "false");
  assert.equal(await page.getAttribute("html", "data-theme"), "dark");
});
