// The first minute: ways to begin, whose move it is, and the card at the end of a game.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { answer, newGame, open, played, reload, type, visit, waitForMoves } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

const status = (page) => page.textContent("#status");

test("a first visit shows four ways to begin, and later ones do not", async () => {
  const { page, errors } = await visit(site);
  assert.deepEqual(await page.$$eval("#welcome button", (buttons) => buttons.map(({ textContent }) => textContent)), ["Play", "Analyse a game", "Puzzles", "How it thinks"]);
  assert.ok(await page.isVisible("#welcome"));
  await page.click("#begin-inside");
  assert.ok(await page.isHidden("#welcome"));
  await page.waitForSelector(".flow li");
  await reload(page);
  assert.ok(await page.isHidden("#welcome"));
  assert.deepEqual(errors, []);
});

test("each way to begin opens what it names, and a move hides them", async () => {
  for (const [way, opened] of [["play", "#new-dialog[open]"], ["analysis", "#pgn:focus"], ["puzzles", "#find-own:focus"], ["inside", "#tab-inside:focus"]]) {
    const { page } = await visit(site);
    await page.click(`#begin-${way}`);
    await page.waitForSelector(opened);
  }
  const { page } = await visit(site);
  await type(page, "e4");
  await waitForMoves(page, 1);
  assert.ok(await page.isHidden("#welcome"));
});

test("the status says when it is the visitor's move", async () => {
  const { page } = await visit(site);
  assert.equal(await status(page), "Your move");
  await newGame(page, { mode: "people" });
  assert.equal(await status(page), "White to move");
  await type(page, "e4");
  assert.equal(await status(page), "Black to move");
  await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 0 });
  await type(page, "e4");
  assert.equal(await status(page), "Black to move");
  await waitForMoves(page, 2);
  assert.equal(await status(page), "Your move");
  await page.click("#first");
  assert.equal(await status(page), "White to move");
});

test("a lost game ends with a card: who won, how, and a rematch with colours reversed", async () => {
  const { page, errors } = await visit(site);
  await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 0 });
  await type(page, "e4");
  await waitForMoves(page, 2);
  answer(page, true);
  await page.click("#resign");
  assert.equal(await page.textContent("#over h2"), "Kibitz won");
  assert.equal(await page.textContent("#over p"), "Resignation");
  assert.equal(await status(page), "Black wins: resignation");
  await page.click("#over button:has-text('Rematch')");
  assert.ok(await page.isHidden("#over"));
  await waitForMoves(page, 1);
  assert.match(await page.textContent("#player-bottom"), /You/);
  assert.equal(await page.locator("[role=gridcell]").first().getAttribute("data-square"), "h1");
  assert.deepEqual(errors, []);
});

test("the card leads to the analysis and to a new game, and goes with the position", async () => {
  const { page, errors } = await visit(site);
  const mate = async () => {
    await newGame(page, { mode: "people" });
    await type(page, "f3", "e5", "g4", "Qh4");
    assert.equal(await page.textContent("#over h2"), "Black won");
    assert.equal(await page.textContent("#over p"), "Checkmate");
  };
  await mate();
  await page.click("#previous");
  assert.ok(await page.isHidden("#over"));
  await mate();
  await page.click("#over [aria-label=Close]");
  assert.ok(await page.isHidden("#over"));
  await played(page, "f3", "e5", "g4", "Qh4#");
  await mate();
  await page.click("#over button:has-text('New game')");
  await page.waitForSelector("#new-dialog[open]");
  await page.keyboard.press("Escape");
  await mate();
  await page.click("#over button:has-text('Analyse')");
  await page.waitForSelector("#reviewed:not([hidden])");
  assert.ok(await page.isVisible("#panel-report"));
  assert.deepEqual(errors, []);
});

test("a mate on an analysis board shows no card", async () => {
  const { page } = await visit(site, { path: "#moves=f2f3,e7e5,g2g4" });
  await type(page, "Qh4");
  assert.equal(await status(page), "Black wins: checkmate");
  assert.ok(await page.isHidden("#over"));
});
