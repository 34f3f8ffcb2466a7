// The first minute: ways to begin, whose move it is, and the card at the end of a game.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { answer, clickMove, newGame, open, played, reload, sans, type, visit, waitForMoves } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

const status = (page) => page.textContent("#status");

test("a first visit says what the page is, and shows four ways to begin", async () => {
  const { page } = await visit(site);
  const names = await page.$$eval("#welcome button:not(.level)", (buttons) => buttons.map(({ firstChild }) => firstChild.textContent));
  assert.deepEqual(names, ["Play", "Analyse a game", "Puzzles", "How it thinks"]);
  assert.equal(await page.textContent("#welcome p"), "A chess engine that runs in your browser.");
  // They stand in place of the panel, whose controls are of no use yet.
  assert.ok(await page.isHidden("#panel-engine"));
  await page.click("#tab-analyse");
  assert.ok(await page.isHidden("#welcome"));
  assert.ok(await page.isVisible("#panel-engine"));
});

test("small screens show what the page is and the ways to begin, and the whole board", async () => {
  for (const [width, height] of [[390, 844], [844, 390], [820, 1180]]) {
    const { page } = await visit(site, { viewport: { width, height }, isMobile: true, hasTouch: true });
    for (const part of ["#welcome p", "#begin-play", "#begin-inside", "#board"]) {
      const { x, y, width: wide, height: high } = await page.locator(part).boundingBox();
      assert.ok(x >= 0 && y >= 0 && x + wide <= width && y + high <= height, `${part} at ${width} x ${height}: ${x} ${y} ${wide} ${high}`);
    }
    const text = await page.$eval("#welcome p", (sentence) => sentence.scrollWidth - sentence.clientWidth);
    assert.ok(text <= 0, `${width} x ${height}: ${text} too wide`);
    // The board stays where it is when they go.
    const before = await page.locator("#board").boundingBox();
    await clickMove(page, "e2", "e4");
    await waitForMoves(page, 2);
    assert.ok(await page.isHidden("#welcome"));
    assert.deepEqual(await page.locator("#board").boundingBox(), before, `${width} x ${height}`);
    await clickMove(page, "a2", "a3");
    await waitForMoves(page, 3);
    assert.deepEqual((await sans(page)).filter((_, index) => index % 2 === 0), ["e4", "a3"]);
  }
});

test("a strength begins a game at once, and the next dialog suggests it", async () => {
  const { page, errors } = await visit(site);
  await page.click("#welcome .level:has-text('Club')");
  assert.ok(await page.isHidden("#welcome"));
  assert.match(await page.textContent("#player-top"), /Kibitz.*rated 1200/);
  assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^e2/);
  await type(page, "e4");
  await waitForMoves(page, 2);
  await page.click("#new");
  assert.equal(await page.textContent("#new-dialog output"), "rated 1200");
  assert.deepEqual(errors, []);
});

test("a way to begin is not offered again", async () => {
  const { page, errors } = await visit(site);
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
  assert.equal(await page.textContent("#over p"), "You resigned");
  assert.equal(await status(page), "Black wins: resignation");
  for (const id of ["undo", "glyphs", "comment"]) assert.ok(await page.isHidden(`#${id}`), id);
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
