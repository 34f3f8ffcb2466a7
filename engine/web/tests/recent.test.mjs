// Games replaced on the board: undone, kept as recent games, across tabs and reloads.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, afterEach, before, test } from "node:test";
import { copied, drawn, drop, newGame, open, openTab, played, readPgn, reload, square, tab, toast, type, visit, waitForMoves } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

const LIST = '[White "A"]\n\n1. e4 e5 *\n\n[White "B"]\n\n1. d4 *';

/** Texts of the recent games, the newest first. */
async function recent(page) {
  await page.click("#tab-games");
  return page.$$eval("#recent-list .open span", (titles) => titles.map((title) => title.textContent));
}

async function offered(page, text) {
  await page.waitForFunction((text) => document.getElementById("offer").checkVisibility() && document.getElementById("offer").textContent.includes(text), text);
}

/** Plays, comments, marks and draws on the first move. */
async function annotate(page) {
  await readPgn(page, '[White "Anna"]\n[Black "Ben"]\n\n1. e4 e5 *');
  await page.click("#next");
  await page.fill("#comment", "Mine.");
  await page.click("#glyphs button[aria-label='good move']");
  await draw(page, "e2", "e4");
  await played(page, "e4", "e5");
}

async function draw(page, from, to) {
  await page.mouse.move(...(await square(page, from)));
  await page.mouse.down({ button: "right" });
  await page.mouse.move(...(await square(page, to)), { steps: 4 });
  await drawn(page);
  await page.mouse.up({ button: "right" });
}

const ANNOTATED = /1\. e4 \$1 \{ Mine\. \[%cal Ge2e4\] \} 1\.\.\. e5/;
const pgn = async (page) => (await copied(page, "copy-pgn")).replaceAll("\n", " ");

/** Keeps a puzzle in the browser, as a search of games does. */
function keepPuzzle() {
  const puzzle = { game: { start: null, moves: ["f2f3", "e7e5", "g2g4"] }, side: "black", played: "2… d6", loss: 0.9, better: ["d8h4"], chance: 1, solved: 0 };
  localStorage.setItem("kibitz.puzzles", JSON.stringify([puzzle]));
}

/** Each way of putting another game on the board. */
const WAYS = {
  "*Read PGN*": (page) => readPgn(page, "1. c4 *"),
  "*Set FEN*": async (page) => {
    await page.click("#open");
    await page.fill("#fen", "4k3/8/8/8/8/8/8/4K3 w - - 0 1");
    await page.click("#set-fen");
  },
  "*New game*": (page) => newGame(page, { mode: "people" }),
  "a dropped file": (page) => drop(page, "other.pgn", Buffer.from("1. c4 *")),
  "the position editor": async (page) => {
    await page.click("#open");
    await page.click("#edit");
    await page.click("#editor button:has-text('Start position')");
    await page.click("#editor button:has-text('Done')");
  },
  "a link in the same tab": async (page) => {
    await page.goto(`${site.url}?again#moves=c2c4`);
    await page.waitForSelector("[data-ready]");
  },
  "a puzzle": async (page) => {
    await page.click("#tab-puzzles");
    await page.click("#puzzle-next");
  },
  "a game of a match": async (page) => {
    await openTab(page, "match");
    await page.click("#panel-match button:is(:text('Start the match'), :text('Go on'))");
  },
  "a link in the open page": (page) => page.evaluate(() => (location.hash = "#moves=c2c4")),
};

for (const [name, replace] of Object.entries(WAYS)) {
  test(`a study replaced by ${name} can be put back at once, and after a reload`, async () => {
    const { page, errors } = await visit(site, { init: keepPuzzle });
    await annotate(page);
    await replace(page);
    await offered(page, "Game replaced");
    assert.doesNotMatch(await pgn(page), ANNOTATED);
    await page.click("#offer button");
    await page.waitForFunction(() => document.getElementById("announce").textContent.startsWith("The former game is back"));
    assert.match(await pgn(page), ANNOTATED);
    // Undo goes on with the changes of the game itself.
    if (!name.includes("same tab")) assert.ok(await page.isEnabled("#undo"));

    await replace(page);
    await offered(page, "Game replaced");
    await reload(page);
    assert.doesNotMatch(await pgn(page), ANNOTATED);
    assert.equal((await recent(page)).filter((title) => title === "Anna – Ben").length, 1);
    await page.click("#recent-list .open:has-text('Anna')");
    assert.match(await pgn(page), ANNOTATED);
    await reload(page);
    assert.match(await pgn(page), ANNOTATED);
    assert.deepEqual(errors, []);
  });
}

test("a running game goes on with its players and clocks after it was replaced", async () => {
  const { page, errors } = await visit(site);
  await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 0, clock: "5+3" });
  await type(page, "e4");
  await waitForMoves(page, 2);
  await readPgn(page, "1. c4 *");
  await reload(page);
  assert.deepEqual(await recent(page), ["You – Kibitz"]);
  await page.click("#recent-list .open");
  assert.match(await page.textContent("#player-top"), /Kibitz.*5:0|Kibitz.*4:5/);
  assert.ok(await page.isEnabled("#resign"));
  assert.equal(await page.textContent("#status"), "Your move");
  await type(page, "d4");
  await waitForMoves(page, 4);
  assert.deepEqual(errors, []);
});

test("an analysis of the running game keeps the game", async () => {
  const { page } = await visit(site);
  await newGame(page, { mode: "people" });
  await type(page, "e4", "e5");
  await newGame(page, { mode: "analysis", fromHere: true });
  await offered(page, "Game replaced");
  assert.ok(await page.isHidden("#resign"));
  await page.click("#offer button");
  await page.waitForSelector("#resign", { state: "visible" });
  await played(page, "e4", "e5");
});

test("a game of a list comes back with its changes, also after a reload", async () => {
  const { page, errors } = await visit(site);
  await readPgn(page, LIST);
  await page.click("#next");
  await page.fill("#comment", "Mine.");
  await page.selectOption("#pick-game", "1");
  await played(page, "d4");
  await page.selectOption("#pick-game", "0");
  await toast(page, "with your changes");
  assert.match(await pgn(page), /Mine\./);
  await page.fill("#comment", "Mine, again.");
  await reload(page);
  await page.selectOption("#pick-game", "1");
  await played(page, "d4");
  await reload(page);
  await page.selectOption("#pick-game", "0");
  assert.match(await pgn(page), /Mine, again\./);
  // Games that were only looked at are not kept.
  assert.ok((await recent(page)).every((title) => title.startsWith("A – ")));
  assert.deepEqual(errors, []);
});

test("undo moves the choice of the list back too", async () => {
  const { page } = await visit(site);
  await readPgn(page, LIST);
  await type(page, "e4", "c5");
  await page.selectOption("#pick-game", "1");
  await page.click("#offer button");
  assert.equal(await page.$eval("#pick-game", (select) => select.selectedIndex), 0);
});

test("puzzles, untouched boards and the engine's first move are not kept", async () => {
  const { page } = await visit(site);
  await newGame(page, { mode: "kibitz", color: "black", strength: "elo", slider: 0 });
  await waitForMoves(page, 1);
  await newGame(page, { mode: "people" });
  await newGame(page, { mode: "people" });
  assert.deepEqual(await recent(page), []);
  assert.ok(await page.isHidden("#offer"));
});

test("a link in another tab, played on, leaves the former game of a closed tab", async () => {
  const { page, context } = await visit(site);
  await newGame(page, { mode: "people" });
  await type(page, "e4", "e5");
  await page.close();
  const { page: linked } = await tab(site, context, "#moves=d2d4,d7d5");
  await played(linked, "d4", "d5");
  await type(linked, "c4");
  await played(linked, "d4", "d5", "c4");
  await reload(linked);
  assert.deepEqual(await recent(linked), ["White – Black"]);
  await linked.click("#recent-list .open");
  await played(linked, "e4", "e5");
});

test("two tabs with the same game keep both continuations", async () => {
  const { page, context } = await visit(site);
  await newGame(page, { mode: "people" });
  await type(page, "e4");
  const { page: second } = await tab(site, context);
  await played(second, "e4");
  await type(page, "e5");
  await type(second, "c5");
  await played(second, "e4", "c5");
  await readPgn(page, "1. b3 *");
  await readPgn(second, "1. g3 *");
  await reload(second);
  assert.ok((await recent(second)).length >= 2);
  const moves = await second.evaluate(() =>
    Object.keys(localStorage).filter((key) => key.startsWith("kibitz.recent.")).map((key) => JSON.parse(localStorage[key]).game.moves.join(" ")),
  );
  assert.ok(moves.includes("e2e4 e7e5") && moves.includes("e2e4 c7c5"), moves.join("; "));
});

test("the list deletes with undo, and saves PGN", async () => {
  const { page } = await visit(site);
  await annotate(page);
  await newGame(page, { mode: "people" });
  assert.deepEqual(await recent(page), ["Anna – Ben"]);
  await page.click("#recent-list button:has-text('Delete')");
  assert.deepEqual(await recent(page), []);
  await page.click("#offer button");
  assert.deepEqual(await recent(page), ["Anna – Ben"]);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#recent-list button:has-text('Save')")]);
  const text = (await readFile(await download.path(), "utf8")).replaceAll("\n", " ");
  assert.match(text, /\[White "Anna"\]/);
  assert.match(text, ANNOTATED);
});

test("of more than 50 games the oldest is deleted, and that is said", async () => {
  const { page } = await visit(site);
  await annotate(page);
  await newGame(page, { mode: "people" });
  await page.evaluate(() => {
    const [name] = Object.keys(localStorage).filter((key) => key.startsWith("kibitz.recent."));
    const entry = JSON.parse(localStorage[name]);
    for (let number = 1; number < 50; number += 1) {
      const game = { ...entry.game, begun: number };
      localStorage[`kibitz.recent.${number}`] = JSON.stringify({ ...entry, white: `P${number}`, replaced: number, game });
    }
  });
  await type(page, "e4");
  await readPgn(page, "1. c4 *");
  await toast(page, "Recent games is full: the oldest, P1 – Ben, was deleted.");
  const games = await recent(page);
  assert.deepEqual([games.length, games[0], games.at(-1)], [50, "White – Black", "P2 – Ben"]);
});

test("full storage makes room by the oldest games, and says if there is none", async () => {
  const { page, errors } = await visit(site);
  await annotate(page);
  await newGame(page, { mode: "people" });
  await type(page, "e4");
  const fill = () =>
    page.evaluate(() => {
      for (let size = 4_000_000, number = 0; size > 10; number += 1) {
        try {
          localStorage.setItem(`fill${number}`, "x".repeat(size));
        } catch {
          size = Math.floor(size / 2);
        }
      }
    });
  await fill();
  await readPgn(page, "1. c4 *");
  await toast(page, "Recent games is full: the oldest, Anna – Ben, was deleted.");
  assert.deepEqual(await recent(page), ["White – Black"]);
  await page.click("#recent-list button:has-text('Delete')");
  await fill();
  await type(page, "c4", "c5", "Nc3");
  await newGame(page, { mode: "people" });
  await offered(page, "does not keep it");
  await page.click("#offer button");
  await played(page, "c4", "c5", "Nc3");
  assert.deepEqual(errors, []);
});

test("without storage a replaced game can be undone, and the loss is said", async () => {
  const { page, errors } = await visit(site, {
    init: () => {
      for (const name of ["localStorage", "sessionStorage"]) {
        Object.defineProperty(globalThis, name, { get: () => { throw new DOMException("forbidden", "SecurityError"); } });
      }
    },
  });
  await annotate(page);
  await newGame(page, { mode: "people" });
  await offered(page, "does not keep it");
  assert.deepEqual(await recent(page), []);
  assert.match(await page.textContent("#recent-count"), /does not let the page keep games/);
  await page.click("#offer button");
  assert.match(await pgn(page), ANNOTATED);
  assert.deepEqual(errors, []);
});

test("the offer to undo ends after ten seconds", async () => {
  const { page } = await visit(site);
  await annotate(page);
  await page.clock.install();
  await newGame(page, { mode: "people" });
  await offered(page, "Game replaced");
  await page.clock.runFor(9500);
  assert.ok(await page.isVisible("#offer"));
  await page.clock.runFor(1000);
  assert.ok(await page.isHidden("#offer"));
});

test("arrows and circles drawn by hand are saved, removed and undone", async () => {
  const { page, errors } = await visit(site);
  const shapes = () => page.$$eval(".cg-shapes circle, .cg-shapes line", (all) => all.map(({ tagName }) => tagName).sort());
  const drawn = (...expected) => page.waitForFunction((number) => document.querySelectorAll(".cg-shapes circle, .cg-shapes line").length === number, expected.length)
    .then(shapes).then((found) => assert.deepEqual(found, expected));
  await readPgn(page, "1. e4 { Good. } e5 *");
  await page.click("#next");
  await draw(page, "g1", "f3");
  await draw(page, "d4", "d4");
  await drawn("circle", "line");
  assert.match(await pgn(page), /\{ Good\. \[%csl Gd4\] \[%cal Gg1f3\] \}/);
  // A click on the board does not wipe them.
  await page.mouse.click(...(await square(page, "d5")));
  await page.click("#next");
  await drawn();
  await reload(page);
  await page.keyboard.press("ArrowLeft");
  await drawn("circle", "line");
  await draw(page, "d4", "d4");
  await drawn("line");
  await page.click("#undo");
  await drawn("circle", "line");
  // In a game they are no step of Undo.
  await newGame(page, { mode: "people" });
  await type(page, "d4");
  await draw(page, "d8", "d5");
  await drawn("line");
  assert.match(await pgn(page), /1\. d4 \{ \[%cal Gd8d5\] \}/);
  await page.click("#undo");
  await played(page);
  assert.deepEqual(errors, []);
});
