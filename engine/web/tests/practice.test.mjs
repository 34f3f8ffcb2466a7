// The visitor's own games: puzzles from mistakes.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, afterEach, before, test } from "node:test";
import { answer, mainLine, newGame, open, openTab, played, readPgn, reload, toast, type, visit, waitForMoves } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

const told = (page, pattern) =>
  page.waitForFunction((source) => new RegExp(source).test(document.getElementById("puzzle-told").textContent), pattern.source);
const kept = (page, name) => page.evaluate((name) => JSON.parse(localStorage.getItem(`kibitz.${name}`)), name);

const MATES = '[White "A"]\n[Black "Me"]\n\n1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0\n\n[White "Me"]\n[Black "B"]\n\n1. f3 e5 2. g4 Qh4# 0-1';

test("mistakes of a PGN are puzzles: wrong moves go back, hints help, a right move solves", async () => {
  const { page, errors } = await visit(site);
  await readPgn(page, MATES);
  await page.click("#tab-puzzles");
  await page.click("#find-pgn");
  // Mistakes of the player in both games, not of the opponents.
  await told(page, /^2 new puzzles\.$/);
  assert.equal(await page.textContent("#puzzle-count"), "2 puzzles, 0 solved.");
  await page.click("#puzzle-next");
  await told(page, /^Black played Ke7: the chance to win fell from \d+% to \d+%\. Find a better move\.$/);
  assert.deepEqual(await mainLine(page), ["e4", "e5", "Qh5"]);
  assert.equal(await page.locator("[role=gridcell]").first().getAttribute("data-square"), "h1");
  assert.ok(await page.evaluate(() => !document.getElementById("bar").checkVisibility({ visibilityProperty: true })));
  await openTab(page, "why");
  assert.match(await page.textContent("#silence"), /would tell the answer/);
  assert.equal(await page.locator(".smallboard").count(), 0);
  await page.click("#tab-puzzles");
  await type(page, "g6");
  await told(page, /^That is not it/);
  await played(page, "e4", "e5", "Qh5");
  await page.click("#puzzle-hint");
  await told(page, /^The piece on b8 moves/);
  await page.waitForSelector(".cg-shapes circle", { state: "attached" });
  await page.click("#puzzle-hint");
  await told(page, /^It is b8–c6/);
  await type(page, "Nc6");
  await told(page, /^That is the move/);
  assert.equal(await page.textContent("#puzzle-count"), "2 puzzles, 1 solved.");
  await reload(page);
  assert.equal(await page.textContent("#puzzle-count"), "2 puzzles, 1 solved.");
  await page.click("#puzzle-next");
  await told(page, /^White played g4: the chance to win fell from \d+% to \d+%/);
  // Another game ends the puzzle.
  await newGame(page, { mode: "people" });
  assert.ok(await page.isDisabled("#puzzle-hint"));
  await type(page, "e4");
  await page.click("#puzzle-next");
  await toast(page, "A game is going on");
  answer(page, true);
  await page.click("#puzzle-forget");
  assert.deepEqual(await kept(page, "puzzles"), []);
  assert.deepEqual(errors, []);
});

test("a move is judged while games are searched, and the search goes on", async () => {
  const { page, errors } = await visit(site);
  await readPgn(page, MATES);
  await page.click("#tab-puzzles");
  await page.click("#find-pgn");
  await told(page, /^2 new puzzles\.$/);
  // Enough games that the search is still running when the puzzle is judged.
  const moves = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Na5 10. Bc2 c5 11. d4 Qc7";
  await readPgn(page, `[White "A"]\n[Black "B"]\n\n${moves} *\n\n`.repeat(50));
  await page.click("#tab-puzzles");
  await page.click("#find-pgn");
  await told(page, /^Game 1 of 50/);
  await page.click("#puzzle-next");
  await type(page, "g6");
  await played(page, "e4", "e5", "Qh5");
  assert.equal(await page.textContent("#find-own"), "Stop");
  await page.click("#find-own");
  await told(page, /new puzzles?\.$/);
  assert.deepEqual(errors, []);
});

test("openings are varied by results, which are shown, saved and forgotten", async () => {
  const { page, errors } = await visit(site);
  answer(page, true);
  const setting = { mode: "kibitz", color: "white", strength: "depth", slider: 7 };
  const reply = async () => {
    await newGame(page, setting);
    await type(page, "e4");
    await waitForMoves(page, 2);
    const [, san] = await mainLine(page);
    await page.click("#resign");
    return san;
  };
  await page.waitForFunction(() => document.getElementById("opening") && performance.getEntriesByType("resource").some(({ name }) => name.endsWith("openings.tsv")));
  await page.click("#tab-games");
  assert.equal(await page.textContent("#own-count"), "No game from here, 0 in all.");
  const first = await reply();
  const second = await reply();
  assert.notEqual(second, first);
  await page.keyboard.press("Home");
  assert.equal(await page.textContent("#own-count"), "2 games from here: 0 won, 0 drawn, 2 lost.");
  assert.deepEqual(await page.$$eval("#own-rows tr", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent))), [["e4", "2", "0", "0", "2"]]);
  await page.click("#next");
  assert.equal(await page.locator("#own-rows tr").count(), 2);
  // Off, the search decides again.
  await page.uncheck("#vary");
  assert.equal(await reply(), first);
  await page.check("#vary");
  const [saved] = await Promise.all([page.waitForEvent("download"), page.click("#own-export")]);
  const text = await readFile(await saved.path(), "utf8");
  assert.equal(text.match(/\[Black "Kibitz"\]/g).length, 3);
  assert.match(text, /1\. e4 \S+ 0-1/);
  await page.click("#own-forget");
  assert.deepEqual(await kept(page, "games"), []);
  assert.equal(await reply(), first);
  assert.deepEqual(errors, []);
});

test("games against Kibitz are kept, and searched for the visitor's mistakes once", async () => {
  const { page, errors } = await visit(site);
  await page.click("#tab-puzzles");
  await page.click("#find-own");
  await told(page, /^No games to search/);
  await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 0 });
  for (const [number, move] of ["e4", "Qh5"].entries()) {
    await type(page, move);
    await waitForMoves(page, 2 * number + 2);
  }
  answer(page, true);
  await page.click("#resign");
  const [game] = await kept(page, "games");
  assert.equal(game.moves.length, 4);
  assert.deepEqual([game.side, game.winner, game.keys.length, game.searched], ["white", "black", 5, false]);
  await page.click("#find-own");
  await told(page, /new puzzles?\.$/);
  assert.equal((await kept(page, "games"))[0].searched, true);
  await page.click("#find-own");
  await told(page, /^No games to search/);
  assert.deepEqual(errors, []);
});
