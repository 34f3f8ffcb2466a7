import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { after, afterEach, before, test } from "node:test";
import { clickMove, copied, drawn, drop, newGame, open, openPanel, openTab, played, readPgn, sans, skip, square, type, visit, waitForMoves } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

const toast = async (page) => {
  await page.waitForSelector("#toast:not([hidden])");
  return page.textContent("#toast");
};
const NETS = new URL("../../../models/", import.meta.url);
const BACK_RANK = "6k1/5ppp/8/8/8/8/8/K3R3_w_-_-_0_1";

test("the search is shown depth by depth, as lines, bar and arrows", async () => {
  const { page, errors } = await visit(site, { path: "#moves=e2e4,e7e5" });
  await page.selectOption("#lines", "3");
  await page.check("#analyse");
  await page.click("#log");
  await page.waitForFunction(() => document.querySelectorAll("#console .line").length > 12);
  const cells = await page.$eval("#console .line", (line) => [...line.children].map((cell) => cell.textContent));
  assert.match(cells[0], /^[+−]?\d+\.\d\d$/);
  assert.match(cells[1], /^d\d+$/);
  assert.match(cells[2], /n$/);
  assert.match(cells[4], /^2\. \S+ \S+/);
  const arrows = await page.locator(".cg-shapes g[cgHash]").count();
  assert.ok(arrows >= 3, `${arrows} arrows`);
  assert.match(await page.getAttribute("#bar", "aria-label"), /White's view: [+−]?\d/);
  await page.uncheck("#arrows");
  await page.waitForFunction(() => document.querySelectorAll(".cg-shapes g[cgHash]").length === 0);
  assert.deepEqual(errors, []);
});

test("an analysis is unlimited, but pauses while the page is hidden", async () => {
  const { page, errors } = await visit(site, { path: "#moves=e2e4,e7e5" });
  const look = (state) =>
    page.evaluate((state) => {
      Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
  const said = () => page.textContent("#speed");
  await page.check("#analyse");
  await page.waitForSelector("#best .line");
  await look("hidden");
  await drawn(page);
  const before = await said();
  await page.waitForTimeout(1500);
  assert.equal(await said(), before);
  await look("visible");
  await page.waitForFunction((before) => document.getElementById("speed").textContent !== before, before);
  assert.deepEqual(errors, []);
});

test("a mate is found and drawn on the bar", async () => {
  const { page } = await visit(site, { path: `#fen=${BACK_RANK}` });
  await page.check("#analyse");
  await page.waitForFunction(() => document.getElementById("bar").ariaLabel.endsWith("#1"));
  assert.match(await page.textContent("#best .line .pv"), /^1\. Re8#$/);
});

test("the module without simd128 finds the same", async () => {
  const { page } = await visit(site, { path: `?simd=off#fen=${BACK_RANK}` });
  await page.check("#analyse");
  await page.waitForFunction(() => document.getElementById("bar").ariaLabel.endsWith("#1"));
  assert.ok([...site.loads.keys()].some((path) => path.includes("kibitz-plain")));
});

test("evaluators: the default, an earlier net, material, a file, and a rejected file", async () => {
  const { page, errors } = await visit(site, { path: "#fen=4k3/8/8/8/8/8/8/4KQ2_w_-_-_0_1" });
  await openTab(page, "net");
  assert.match(await page.textContent("#evaluator-note"), /902-2x512-1 \(.*\): .*, fitted to/);
  await page.waitForSelector("#evaluator option[value='games1191.safetensors']", { state: "attached" });
  await page.selectOption("#evaluator", "material");
  await page.waitForFunction(() => document.getElementById("lifted").textContent.includes("+9.00"));
  assert.deepEqual(await page.$$eval("[data-square=f1] .note", (notes) => notes.map((note) => note.textContent)), ["9.0"]);
  await page.mouse.click(...(await square(page, "f1")));
  await page.waitForFunction(() => document.getElementById("lifted").textContent.includes("+9.00 → 0.00"));
  await page.selectOption("#evaluator", "games1191.safetensors");
  await page.waitForFunction(() => document.getElementById("evaluator-note").textContent.includes(", fitted to 66,795 positions"));
  await page.setInputFiles("#net-file", { name: "mine.safetensors", mimeType: "", buffer: await readFile(new URL("default.safetensors", NETS)) });
  await page.waitForFunction(() => document.getElementById("evaluator").selectedOptions[0].textContent === "mine.safetensors");
  await page.waitForFunction(() => document.getElementById("evaluator-note").textContent.includes("902-2x512-1"));
  await page.setInputFiles("#net-file", { name: "bad.safetensors", mimeType: "", buffer: Buffer.from("no net") });
  await page.waitForFunction(() => document.getElementById("toast").textContent.includes("bad.safetensors cannot be used"));
  // The previous one stays in use, by the search too.
  await openTab(page, "engine");
  await page.check("#analyse");
  await page.waitForSelector("#best .line");
  assert.deepEqual(errors, []);
});

test("a net dropped on the page is there again after a reload, until it is forgotten", async () => {
  const { page, errors } = await visit(site);
  const note = (text) =>
    page.waitForFunction((text) => document.getElementById("evaluator-note").textContent.includes(text), text);
  await drop(page, "my net.safetensors", await readFile(new URL("games1191.safetensors", NETS)));
  await note("451");
  assert.match(await toast(page), /thinks with my net\.safetensors/);
  await page.reload();
  await note("451");
  assert.equal(await page.$eval("#evaluator", (select) => select.selectedOptions[0].textContent), "my net.safetensors");
  // Nets cannot be dropped while Kibitz plays.
  await newGame(page, { mode: "engines", strength: "nodes", slider: 2, white: "file:my net.safetensors", black: "material" });
  await page.click("#forget-net");
  assert.match(await toast(page), /plays in the game/);
  await newGame(page, { mode: "people" });
  await page.click("#forget-net");
  await note("512");
  await page.reload();
  await page.waitForSelector("#evaluator option[value='games1191.safetensors']", { state: "attached" });
  assert.equal(await page.locator("#evaluator option[value^='file:']").count(), 0);
  assert.ok(await page.isHidden("#forget-net"));
  assert.deepEqual(errors, []);
});

test("a game dropped on the page is read", async () => {
  const { page } = await visit(site);
  await drop(page, "game.pgn", Buffer.from("1. d4 d5 2. c4 *"));
  await page.waitForFunction(() => document.querySelectorAll("#moves button").length === 3);
});

test("two evaluators play each other", async () => {
  const { page } = await visit(site);
  await page.waitForFunction(() => document.querySelectorAll("#evaluator option").length > 2);
  await newGame(page, { mode: "engines", strength: "nodes", slider: 2, white: "games1191.safetensors", black: "material" });
  await waitForMoves(page, 4);
  assert.match(await page.textContent("#player-bottom"), /Earlier net/);
  assert.match(await page.textContent("#player-top"), /Material/);
  // A reload restores the game, paused.
  await page.reload();
  await page.waitForFunction(() => document.getElementById("player-bottom").textContent.includes("Earlier net"));
  const number = (await sans(page)).length;
  await page.click("#pause");
  await waitForMoves(page, number + 2);
});

test("a Lichess game with evaluations: both curves, and where they differ", async () => {
  const { page, errors } = await visit(site);
  await readPgn(page, await readFile(new URL("pgn/lichess.pgn", import.meta.url), "utf8"));
  await openTab(page, "report");
  await page.waitForFunction(() => document.querySelectorAll("#graph path").length === 2);
  await page.waitForSelector("#draw-curve:enabled");
  const text = await page.textContent("#differences button");
  assert.match(text, /given [+−]?\d.*, Kibitz [+−]?\d/);
  // Scores come from a search of fixed nodes, not from the bare net.
  assert.match(await page.textContent("#legend"), /Kibitz, 5,000 nodes a move/);
  await page.click("#differences button");
  const current = await page.$eval("#moves [aria-current]", (move) => [move.firstChild.textContent, move.querySelector("small").textContent]);
  const score = text.match(/given ([^,]*)/)[1];
  assert.deepEqual(current, [text.split(" ")[1], score]);
  const written = await copied(page, "copy-pgn");
  // The copy has tags, evaluations, clocks and glyphs.
  assert.match(written, /\[White "Blumi02"\]\n\[Black "EvgeniyFlemenko"\]\n\[Result "1-0"\]/);
  assert.match(written, /1\. c4 \{ \[%eval 0\.11\] \[%clk 0:03:00\] \} 1\.\.\./);
  assert.match(written.replaceAll("\n", " "), /12\. Qd2 \$6 \{ \[%eval -0\.21\]/);
  assert.deepEqual(errors, []);
});

test("damaged PGN and FEN are refused with a reason, what is good is kept", async () => {
  const { page } = await visit(site);
  await readPgn(page, "1. e4 e5 2. Ke4 *");
  assert.match(await toast(page), /2\. Ke4 is no legal move/);
  await page.click("#last");
  await played(page, "e4", "e5");
  await openPanel(page);
  await page.fill("#fen", "8/8/8/8/8/8/8/8 w - - 0 1");
  await page.click("#set-fen");
  await page.waitForFunction(() => document.getElementById("toast").textContent.includes("Not a legal position: White has no king"));
  await played(page, "e4", "e5");
});

test("openings are named, by transposition too; the list and the keys go through the game", async () => {
  const { page } = await visit(site, { path: "#moves=g1f3,d7d5,d2d4,g8f6,c2c4,e7e6,b1c3" });
  await page.waitForFunction(() => /^D\d\d Queen's Gambit Declined/.test(document.getElementById("opening").textContent));
  await page.keyboard.press("Home");
  assert.equal(await page.textContent("#opening"), "");
  await page.keyboard.press("ArrowRight");
  assert.match(await page.textContent("#opening"), /^A04/);
  await page.click("#moves button:has-text('c4')");
  assert.equal(await page.getAttribute("#moves [aria-current]", "aria-current"), "true");
  assert.match(await page.textContent("#announce"), /White: pawn to c4/);
});

test("a link that is pasted in place of a PGN is followed", async () => {
  const { page, errors } = await visit(site);
  await readPgn(page, "https://kibitz.example/page/#moves=e2e4,e7e5&ply=1");
  await played(page, "e4", "e5");
  assert.equal(await page.textContent("#status"), "Black to move");
  assert.ok(await page.isHidden("#open-panel"));
  assert.deepEqual(errors, []);
});

test("a link holds game and place", async () => {
  const { page } = await visit(site, { path: "#moves=e2e4,c7c5,g1f3&ply=2" });
  const link = await copied(page, "copy-link");
  assert.ok(link.endsWith("#moves=e2e4,c7c5,g1f3&ply=2"), link);
  assert.match(await page.textContent("#moves [aria-current]"), /c5/);
});

test("the editor sets a position up, and the rules judge it", async () => {
  const { page } = await visit(site);
  await page.click("#open");
  await page.click("#edit");
  await page.click("#editor button:has-text('Clear')");
  const put = async (piece, key) => {
    await page.click(`[aria-label="Put a ${piece}"]`);
    await page.mouse.click(...(await square(page, key)));
  };
  await put("white king", "e1");
  await put("white queen", "d1");
  await page.click("#editor button:has-text('Done')");
  assert.equal(await page.textContent("#editor .error"), "Not a legal position: Black has no king.");
  await put("black king", "e8");
  await page.click("#editor button:has-text('Done')");
  assert.equal(await page.inputValue("#fen"), "4k3/8/8/8/8/8/8/3QK3 w - - 0 1");
  await clickMove(page, "d1", "d8");
  await played(page, "Qd8+");
});

const built = existsSync(new URL("../dist/stockfish", import.meta.url));
const stockfish = { skip: !built && skip("the page was built without Stockfish") };

test("Kibitz plays Stockfish", stockfish, async () => {
  const { page, errors } = await visit(site);
  await newGame(page, { mode: "stockfish", color: "white", strength: "elo", slider: 20 });
  await waitForMoves(page, 6);
  assert.match(await page.textContent("#player-top"), /Stockfish/);
  assert.deepEqual(errors, []);
});

test("a missing Stockfish reports an error, and is tried again", stockfish, async () => {
  const { page } = await visit(site, { serviceWorkers: "block" });
  site.change(/stockfish.*\.js$/, () => null);
  await newGame(page, { mode: "stockfish", color: "black", strength: "nodes", slider: 2 });
  await page.waitForSelector("#trouble:not([hidden])");
  assert.match(await page.textContent("#trouble p"), /Stockfish could not be loaded/);
  site.restore();
  await page.click("#trouble button:has-text('Try again')");
  await waitForMoves(page, 2);
});

test("after the first visit no connection is needed", async () => {
  const { page, context } = await visit(site);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForFunction(async () => {
    for (const name of await caches.keys()) {
      const kept = await (await caches.open(name)).keys();
      if (kept.some(({ url }) => url.endsWith(".wasm"))) return true;
    }
    return false;
  });
  await context.setOffline(true);
  await page.reload();
  await page.waitForSelector("[data-ready]");
  await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 0 });
  await type(page, "e4");
  await waitForMoves(page, 2);
  // B00 to B99 or C00 to C99, depending on Kibitz's reply.
  await page.waitForFunction(() => /^[BC]\d\d/.test(document.getElementById("opening").textContent));
});
