// The report of a game: curve, cards of the players, and the run through their mistakes.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { mainLine, open, openTab, readPgn, type, variations, visit } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

const current = (page) => page.$eval("#moves [aria-current]", (move) => move.firstChild.textContent);
const told = (page, pattern) =>
  page.waitForFunction((source) => new RegExp(source).test(document.querySelector("#learn p")?.textContent), pattern.source);

/** Analyses a game in which Black blunders into mate. */
async function report(page) {
  await readPgn(page, '[White "Anna"]\n[Black "Ben"]\n\n1. e4 $6 e5 2. Qh5 Ke7 3. Qxe5# 1-0');
  await openTab(page, "report");
  await page.click("#review");
  await page.waitForSelector("#reviewed:not([hidden])");
}

test("the curve is filled, with a dot at each mistake that the cards count, and the cards lead to the mistakes", async () => {
  const { page, errors } = await visit(site);
  await report(page);
  assert.deepEqual(await page.$$eval(".player-card .who", (names) => names.map((name) => name.textContent)), ["Anna", "Ben"]);
  const counts = await page.$$eval(".count", (counts) => counts.map((count) => Number.parseInt(count.textContent)));
  assert.equal(await page.locator("#graph circle").count(), counts.reduce((sum, count) => sum + count));
  // The game's own glyph is none of them.
  assert.equal(await page.locator("#graph circle.glyph-6").count(), counts[2] + counts[5]);
  assert.equal(await page.textContent("#review"), "Analyse again");
  assert.equal(await page.locator("#graph circle.glyph-4").count(), 1);
  const points = await page.getAttribute("#graph polygon", "points");
  // The mate at the end has no score.
  assert.equal(points.split(" ").length, 4 + 2);
  await page.click(".player-card:nth-child(2) button:has-text('1 blunder')");
  assert.equal(await current(page), "Ke7");
  assert.ok(await page.isDisabled(".player-card:nth-child(1) button:has-text('0 blunders')"));
  assert.deepEqual(errors, []);
});

test("mistakes are gone through: the answer is hidden, wrong moves go back, the better line is found", async () => {
  const { page, errors } = await visit(site);
  await report(page);
  await page.click(".player-card:nth-child(2) .learn");
  await told(page, /^Black played 2… Ke7: the chance to win fell from \d+% to \d+%\. Find a better move\.$/);
  const lines = await variations(page);
  assert.ok(await page.isHidden("#moves .aside >> nth=0"));
  assert.ok(await page.isHidden("#reviewed"));
  assert.ok(await page.isHidden("#graph"));
  assert.ok(await page.evaluate(() => !document.getElementById("bar").checkVisibility({ visibilityProperty: true })));
  assert.equal(await page.locator("[role=gridcell]").first().getAttribute("data-square"), "h1");
  await type(page, "g6");
  await told(page, /^That is not it/);
  assert.deepEqual(await mainLine(page), ["e4", "e5", "Qh5", "Ke7", "Qxe5#"]);
  await page.click("#learn button:has-text('Hint')");
  await told(page, /^The piece on b8 moves\.$/);
  await type(page, "Nc6");
  await told(page, /^Right, that is the best move\.$/);
  assert.equal(await current(page), "Nc6");
  // The better line was there before.
  assert.deepEqual(await variations(page), lines);
  await page.click("#learn button:has-text('Finish')");
  await told(page, /^0 of 1 found without help\.$/);
  await page.click("#learn button:has-text('Again')");
  await told(page, /Find a better move/);
  await page.click("#learn button:has-text('End')");
  assert.ok(await page.isHidden("#learn"));
  assert.ok(await page.isVisible("#reviewed"));
  // Another game ends the run.
  await page.click(".player-card:nth-child(2) .learn");
  await told(page, /Find a better move/);
  await readPgn(page, "1. d4 *");
  assert.ok(await page.isHidden("#learn"));
  assert.ok(await page.evaluate(() => document.getElementById("bar").checkVisibility({ visibilityProperty: true })));
  assert.deepEqual(errors, []);
});
