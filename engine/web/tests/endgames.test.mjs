// Endgame tables, on hosts with and without them.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, afterEach, before, test } from "node:test";
import { newGame, open, sans, skip, type, visit, waitForMoves } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

const built = existsSync(new URL("../dist/tables", import.meta.url));
const tables = { skip: !built && skip("the page was built without endgame tables") };
/** White wins. */
const WON = "#fen=4k3/8/4K3/4P3/8/8/8/8_w_-_-_0_1";
const says = (page, text) => page.waitForFunction((text) => document.getElementById("tables").textContent === text, text);
const asked = () => [...site.loads.keys()].filter((path) => path.includes("tables"));

test("tables give the result and the plies to mate or zeroing", tables, async () => {
  const { page, errors } = await visit(site, { path: "#fen=k7/8/1K6/8/8/8/8/7R_w_-_-_0_1" });
  await says(page, "Tables: White wins; mate, capture or pawn move within 1 move.");
  await type(page, "Rg1");
  await says(page, "Tables: White wins; mate, capture or pawn move within 1 move.");
  await page.goto(`${site.url}#fen=7k/8/8/8/8/8/6n1/KQ6_w_-_-_0_1`);
  await page.waitForFunction(() => /White wins; .* within \d+ moves\.$/.test(document.getElementById("tables").textContent));
  await page.goto(`${site.url}#fen=8/8/8/8/3k4/8/8/KB6_b_-_-_0_1`);
  await page.waitForFunction(() => !document.getElementById("tables").textContent);
  await page.goto(`${site.url}#fen=4k3/8/8/8/4p3/8/8/4KN2_w_-_-_0_1`);
  await says(page, "Tables: draw.");
  // More men than any table has.
  await page.goto(`${site.url}#moves=e2e4`);
  await says(page, "");
  assert.deepEqual(errors, []);
});

test("tables are hidden while playing without help", tables, async () => {
  const { page, errors } = await visit(site, { path: WON });
  await page.waitForFunction(() => document.getElementById("tables").textContent.startsWith("Tables: White wins"));
  await newGame(page, { mode: "kibitz", color: "white", strength: "full", fromHere: true });
  await says(page, "");
  await page.waitForTimeout(300);
  assert.equal(await page.textContent("#tables"), "");
  await page.check("#playing-help");
  await page.waitForFunction(() => document.getElementById("tables").textContent.startsWith("Tables: White wins"));
  assert.deepEqual(errors, []);
});

test("an engine at full strength mates by the tables", tables, async () => {
  const { page, errors } = await visit(site, { path: "#fen=8/8/8/8/3k4/8/8/KR6_w_-_-_0_1" });
  // Depth 1 would hardly find the mate without tables.
  await newGame(page, { mode: "engines", strength: "depth", slider: 0, white: "material", black: "material", fromHere: true });
  await page.waitForFunction(() => document.getElementById("status").textContent === "White wins: checkmate");
  assert.ok((await sans(page)).length <= 32);
  assert.deepEqual(errors, []);
});

test("no tables are requested from a host without them", async () => {
  site.change(/beside\.json/, (bytes) => JSON.stringify({ ...JSON.parse(bytes), tables: [] }));
  site.loads.clear();
  const { page, errors } = await visit(site, { path: WON, serviceWorkers: "block" });
  await newGame(page, { mode: "kibitz", color: "black", strength: "depth", slider: 2, fromHere: true });
  await waitForMoves(page, 1);
  await page.check("#playing-help");
  await page.waitForTimeout(300);
  assert.equal(await page.textContent("#tables"), "");
  assert.deepEqual(asked(), []);
  assert.deepEqual(errors, []);
});

test("a missing table is requested once, and the page works without it", tables, async () => {
  site.change(/tables\/.*rtb/, () => null);
  const { page, errors } = await visit(site, { path: WON, serviceWorkers: "block" });
  await newGame(page, { mode: "kibitz", color: "black", strength: "depth", slider: 2, fromHere: true });
  await waitForMoves(page, 1);
  await type(page, "Kd8");
  await waitForMoves(page, 2);
  // Only the browser itself logs the 404.
  assert.equal(errors.length, 1, errors.join(" "));
  assert.match(errors[0], /\b404\b/);
  assert.ok(await page.isHidden("#toast"));
});
