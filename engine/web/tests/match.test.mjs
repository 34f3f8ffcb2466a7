// Strengths of evaluators, and matches of two.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, afterEach, before, test } from "node:test";
import { runnerImport } from "vite";
import { newGame, open, openTab, reload, sans, skip, type, visit, waitForMoves } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

const { agreed, scoreOf } = (await runnerImport(new URL("../page/matchscore.ts", import.meta.url).pathname)).module;
const json = async (path) => JSON.parse(await readFile(new URL(path, import.meta.url)));
const measured = await json("../../../models/strengths.json");
const { strengths } = await json("../dist/beside.json");
const unmeasured = !strengths && skip("models/strengths.json tells of another default net: run models/strengths.sh");

/** Starts a match from the panel. */
async function begin(page, { first, second, strength = "1000 nodes", length }) {
  await openTab(page, "match");
  await page.waitForSelector("#match-first option[value='linear.safetensors']", { state: "attached" });
  await page.selectOption("#match-first", first);
  await page.selectOption("#match-second", second);
  await page.selectOption("#match-strength", strength);
  await page.selectOption("#match-length", `${length} games`);
  await page.click("#panel-match button:has-text('Start the match')");
  await page.waitForSelector("#panel-match button:has-text('Pause')");
}
const button = (page, text) => page.locator(`#panel-match button:has-text("${text}")`);
const told = (page, text) => page.waitForSelector(`#panel-match p:has-text("${text}")`);
const games = (page) => page.$$eval(".match-games button", (buttons) => buttons.map((button) => button.textContent));

test("every evaluator shows its strength and how it was measured", { skip: unmeasured }, async () => {
  const { page, errors } = await visit(site);
  await openTab(page, "net");
  const of = (name) => measured.strengths.find(({ evaluator }) => evaluator === name);
  const minus = (number) => String(number).replace("-", "−");
  const { elo, interval } = of("linear.safetensors");
  await page.waitForSelector("#evaluator option[value='linear.safetensors']", { state: "attached" });
  assert.equal(await page.textContent("#evaluator option[value='linear.safetensors']"), `Piece-square tables (${minus(elo)} Elo)`);
  assert.equal(await page.textContent("#evaluator option[value=default]"), "Default net");
  const note = () => page.textContent("#evaluator-strength");
  assert.match(await note(), /counted from this net \(arena ladder, .* games a pair at .* nodes a move, commit/);
  await page.selectOption("#evaluator", "linear.safetensors");
  await page.waitForFunction(() => document.getElementById("evaluator-strength").textContent.includes("beside the default net"));
  assert.ok((await note()).startsWith(`${minus(elo)} Elo beside the default net, with 95 % certainty ${minus(interval[0])} to ${minus(interval[1])} (arena ladder, ${measured.games} games`), await note());
  await page.setInputFiles("#net-file", { name: "mine.safetensors", mimeType: "", buffer: await readFile(new URL("../../../models/linear.safetensors", import.meta.url)) });
  await page.waitForFunction(() => document.getElementById("evaluator-strength").textContent.includes("not measured"));
  await page.click("#new");
  await page.check("#new-dialog input[value=engines]", { force: true });
  assert.equal(await page.textContent("#new-dialog #white option[value='material']"), `Material only (${minus(of("material").elo)} Elo)`);
  assert.deepEqual(errors, []);
});

test("without measurements no strength is shown", async () => {
  site.change(/beside\.json/, (bytes) => JSON.stringify({ ...JSON.parse(bytes), strengths: null }));
  const { page, errors } = await visit(site, { serviceWorkers: "block" });
  await openTab(page, "net");
  await page.waitForSelector("#evaluator option[value='linear.safetensors']", { state: "attached" });
  assert.equal(await page.textContent("#evaluator option[value='linear.safetensors']"), "Piece-square tables");
  assert.match(await page.textContent("#evaluator-strength"), /not measured/);
  assert.deepEqual(errors, []);
});

test("the score of a match: by colours, and Elo by pairs of games", () => {
  // The first evaluator has White in even games.
  const white = { winner: "white" };
  const black = { winner: "black" };
  const draw = { winner: null };
  assert.deepEqual(scoreOf([white, black, black, draw]), { won: 2, drawn: 1, lost: 1, points: 2.5, elo: null });
  // Eight pairs of 1.5 points and two of 0.5: 65 %, and a standard error of 0.2 / sqrt(9) of it.
  const good = [white, draw];
  const bad = [black, draw];
  const { points, elo } = scoreOf([...Array(8).fill(good), ...Array(2).fill(bad)].flat());
  assert.equal(points, 13);
  assert.equal(Math.round(elo.value), 108);
  const ends = [0.65 - 1.96 * (0.2 / 3), 0.65 + 1.96 * (0.2 / 3)].map((score) => -400 * Math.log10(1 / score - 1));
  assert.ok(Math.abs(elo.error - (ends[1] - ends[0]) / 2) < 0.01, `${elo.error} ${ends}`);
  // Too one-sided; and identical pairs, without variance.
  assert.equal(scoreOf(Array(5).fill([white, black]).flat()).elo, null);
  assert.equal(scoreOf(Array(5).fill([white, white]).flat()).elo, null);
});

test("a game of a match ends early where both engines agree", () => {
  const cp = (...scores) => scores.map((score) => ({ cp: score }));
  // The last position has no score yet.
  assert.equal(agreed([...cp(...Array(7).fill(900)), null]), null);
  assert.equal(agreed([...cp(...Array(8).fill(900)), null]).winner, "white");
  assert.equal(agreed([...cp(...Array(7).fill(-900)), { mate: -3 }, null]).winner, "black");
  assert.equal(agreed([...cp(900, 900, 900, 900, 100, 900, 900, 900), null]), null);
  assert.equal(agreed([...cp(...Array(79).fill(0)), null]), null);
  assert.deepEqual(agreed([...cp(...Array(80).fill(0)), null]), { winner: null, reason: "adjudication" });
});

test("two evaluators play a match: both colours, a live score, games to study and to save", async () => {
  const { page, errors } = await visit(site);
  await begin(page, { first: "default", second: "material", length: 2 });
  await told(page, "On the board: game 1 of 2 (1000 nodes), Default net – Material only");
  assert.match(await page.textContent("#player-bottom"), /Kibitz.*1000 nodes/);
  await waitForMoves(page, 9);
  const line = (await sans(page)).slice(0, 8);
  assert.match(await page.textContent("#opening"), /^[A-E]\d\d /);
  await told(page, "On the board: game 2 of 2");
  await waitForMoves(page, 9);
  assert.match(await page.textContent("#player-bottom"), /Material/);
  assert.deepEqual((await sans(page)).slice(0, 8), line);
  await told(page, "Over after 2 games");
  assert.match(await page.textContent("#announce"), /^Game 2: \S+ Material only – Default net, .*\. Default net [\d.]+, Material/);
  const [first, second] = await games(page);
  assert.match(first, /^1\. (1-0|0-1|1\/2-1\/2) Default net – Material only, /);
  assert.match(second, /^2\. \S+ Material only – Default net, /);
  const rows = await page.$$eval("#panel-match tbody tr", (rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
  const [won, drawn, lost, points] = rows[0].slice(1).map(Number);
  assert.deepEqual([won + drawn + lost, points], [2, won + drawn / 2]);
  assert.deepEqual(rows[1].slice(1).map(Number), [lost, drawn, won, 2 - points]);
  // Games survive a reload.
  await reload(page);
  await page.waitForSelector(".match-games button");
  assert.deepEqual(await games(page), [first, second]);
  await page.click(".match-games button");
  await page.waitForFunction(() => document.getElementById("player-bottom").textContent.includes("Default net"));
  await page.click("#last");
  assert.deepEqual((await sans(page)).slice(0, 8), line);
  await openTab(page, "report");
  assert.ok(await page.isEnabled("#review"));
  await openTab(page, "match");
  const [download] = await Promise.all([page.waitForEvent("download"), button(page, "Save games as PGN").click()]);
  const text = await readFile(await download.path(), "utf8");
  assert.match(text, /\[White "Default net"\]\n\[Black "Material only"\]/);
  assert.equal(text.match(/\[Result /g).length, 2);
  assert.deepEqual(errors, []);
});

test("a match pauses, waits while another game is on the board, and goes on or ends", async () => {
  const { page, errors } = await visit(site);
  await begin(page, { first: "linear.safetensors", second: "games1191.safetensors", length: 10 });
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Pause");
  await waitForMoves(page, 10);
  await page.keyboard.press("Enter");
  await told(page, "Waits: game 1 of 10");
  const moves = (await sans(page)).length;
  await page.waitForTimeout(400);
  assert.equal((await sans(page)).length, moves);
  await button(page, "Go on").click();
  await waitForMoves(page, moves + 2);
  // Another game on the board pauses the match.
  await newGame(page, { mode: "people" });
  await told(page, "Waits: game 1 of 10");
  await page.waitForTimeout(400);
  assert.deepEqual(await sans(page), []);
  await type(page, "e4");
  await waitForMoves(page, 1);
  page.once("dialog", (dialog) => dialog.dismiss());
  await button(page, "Go on").click();
  assert.deepEqual(await sans(page), ["e4"]);
  page.once("dialog", (dialog) => dialog.accept());
  await button(page, "Go on").click();
  await told(page, "On the board: game 1 of 10");
  await waitForMoves(page, 10);
  // It survives a reload, and ended without a game it is removed.
  await reload(page);
  await told(page, "Waits: game 1 of 10");
  await button(page, "End the match").click();
  await page.waitForSelector("#panel-match button:has-text('Start the match')");
  assert.equal(await page.isVisible(".match-games"), false);
  assert.equal(await page.evaluate(() => document.activeElement.id), "match-first");
  assert.deepEqual(errors, []);
});

test("on a phone a match is no wider than the screen", async () => {
  const { page, errors } = await visit(site, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
  await begin(page, { first: "games1191.safetensors", second: "material", length: 2 });
  await waitForMoves(page, 20);
  const right = await page.$$eval("main *", (elements) =>
    Math.max(...elements.filter((element) => element.checkVisibility() && !element.closest("#ground, .sr, .hidden-file, .word")).map((element) => element.getBoundingClientRect().right)));
  assert.ok(right <= 390, String(right));
  assert.deepEqual(errors, []);
});

test("the form keeps its evaluators until the host has listed them", async () => {
  const { page, errors } = await visit(site, { serviceWorkers: "block" });
  await page.evaluate(() => {
    const match = { evaluators: ["linear.safetensors", "material"], strength: { by: "nodes", value: 1000 }, length: 0, begun: 1, openings: [], games: [] };
    localStorage.setItem("kibitz.match", JSON.stringify(match));
    localStorage.setItem("kibitz.tab", '"match"');
  });
  let listed;
  const waits = new Promise((resolve) => (listed = resolve));
  await page.route("**/beside.json", async (route) => {
    await waits;
    await route.continue();
  });
  await reload(page);
  await page.waitForSelector("#match-first");
  assert.equal(await page.inputValue("#match-first"), "default");
  await page.selectOption("#match-length", "2 games");
  listed();
  await page.waitForSelector("#match-first option[value='linear.safetensors']", { state: "attached" });
  assert.equal(await page.inputValue("#match-first"), "linear.safetensors");
  assert.deepEqual(errors, []);
});

test("an unreadable saved match is dropped", async () => {
  const { page, errors } = await visit(site);
  for (const kept of ["{", "7", '{"evaluators":["default"]}', '{"evaluators":["a","b"],"strength":{"by":"nodes","value":1000},"length":2,"begun":1,"openings":[],"games":[{"moves":[1]}]}']) {
    await page.evaluate((kept) => localStorage.setItem("kibitz.match", kept), kept);
    await reload(page);
    await openTab(page, "match");
    await page.waitForSelector("#panel-match button:has-text('Start the match')");
    assert.equal(await page.isVisible(".match-games"), false, kept);
  }
  assert.deepEqual(errors, []);
});
