// Premoves, Chess960 starts, and the annotations in PGNs and links.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { clickMove, copied, newGame, open, openPanel, openTab, played, readPgn, sans, type, visit, waitForMoves } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

/** Waits for the premove squares: the board draws them a frame later. */
const premoves = (page, squares) =>
  page.waitForFunction((squares) => document.querySelectorAll("cg-board square.current-premove").length === squares, squares);

test("a move made while Kibitz thinks is played next, and forgotten with its game", async () => {
  const { page, errors } = await visit(site);
  const slow = { mode: "kibitz", color: "white", strength: "time", slider: 4 };
  await newGame(page, slow);
  await type(page, "e4");
  await clickMove(page, "d2", "d4");
  await premoves(page, 2);
  await page.waitForSelector("[data-square=d4][aria-label*='to be played next']", { state: "attached" });
  await waitForMoves(page, 3);
  assert.equal((await sans(page))[2], "d4");
  await premoves(page, 0);
  await newGame(page, slow);
  await type(page, "e4");
  await clickMove(page, "d2", "d4");
  await premoves(page, 2);
  await newGame(page, { mode: "people" });
  await page.waitForTimeout(300);
  await played(page);
  await premoves(page, 0);
  assert.deepEqual(errors, []);
});

test("a start of Chess960, by number and at random", async () => {
  const { page, errors } = await visit(site);
  await newGame(page, { mode: "people", start: "number", number: 0 });
  assert.match(await page.inputValue("#fen"), /^bbqnnrkr\/pppppppp\/8\/8\/8\/8\/PPPPPPPP\/BBQNNRKR w /);
  await type(page, "Nc3", "g6");
  assert.match(await copied(page, "copy-pgn"), /\[Variant "Chess960"\]/i);
  // Number 518 is the standard start.
  await newGame(page, { mode: "people", start: "number", number: 518 });
  await type(page, "e4");
  assert.doesNotMatch(await copied(page, "copy-pgn"), /FEN/);
  await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 0, start: "random" });
  assert.match(await page.textContent("#toast"), /^Chess960, start \d+\.$/);
  await clickMove(page, "e2", "e4");
  await waitForMoves(page, 2);
  assert.deepEqual(errors, []);
});

test("ratings and clocks of a PGN are shown with its players", async () => {
  const { page } = await visit(site);
  await readPgn(page, '[White "A"]\n[Black "B"]\n[WhiteElo "2101"]\n[BlackElo "?"]\n[TimeControl "180+2"]\n\n1. e4 { [%clk 0:02:59] } e5 { [%clk 0:02:50] } *');
  const bottom = () => page.textContent("#player-bottom");
  assert.match(await bottom(), /^A2101.*3:00$/);
  assert.match(await page.textContent("#player-top"), /^B3:00$/);
  await page.click("#next");
  assert.match(await bottom(), /2:59$/);
});

test("evaluations travel in a link", async () => {
  const { page, context } = await visit(site);
  await openPanel(page);
  await page.fill("#pgn", "1. f3 { [%eval -0.31] } e5 { [%eval 62.95] } 2. g4 { [%eval #-1] } *");
  // Before Kibitz's curve adds its own.
  const link = await copied(page, "copy-link", "read-pgn");
  assert.ok(link.endsWith("#moves=f2f3,e7e5,g2g4&ply=0&evals=-31,6295,m-1"), link);
  const other = await context.newPage();
  await other.goto(link);
  await other.waitForSelector("[data-ready]");
  assert.deepEqual(await other.$$eval("#moves small", (scores) => scores.map((score) => score.textContent)), ["−0.31", "≥+10", "#−1"]);
});

test("the graph has axes and describes the move under the pointer", async () => {
  const { page, errors } = await visit(site);
  await readPgn(page, "1. f3 { [%eval -0.31] } e5 { [%eval -0.5] } 2. g4 { [%eval #-1] } *");
  await openTab(page, "report");
  await page.waitForSelector("#draw-curve:enabled");
  assert.deepEqual(await page.$$eval("#graph text", (texts) => texts.map((text) => text.textContent)), ["0%", "50%", "100%", "1", "2"]);
  const box = await page.locator("#graph svg").boundingBox();
  await page.mouse.move(box.x + box.width * 0.98, box.y + 40);
  assert.match(await page.textContent("#graph .told"), /^2\. g4: given #−1, Kibitz #−1$/);
  await page.mouse.click(box.x + box.width * 0.4, box.y + 40);
  assert.equal(await page.textContent("#moves [aria-current] "), "f3−0.31");
  await page.hover("#status");
  assert.match(await page.textContent("#graph .told"), /^White’s chance to win/);
  assert.deepEqual(errors, []);
});
