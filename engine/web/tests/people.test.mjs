// What people of a rating play: the tab, a game against one, and the report.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { after, afterEach, before, test } from "node:test";
import { newGame, open, openTab, played, readPgn, seen, type, visit, waitForMoves } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

const rows = (page) => page.$$eval("#people-moves li", (rows) => rows.map((row) => [...row.querySelectorAll(".san, .share, .note")].map((part) => part.textContent)));
const listed = (page) => page.waitForSelector("#people-moves li");
const labels = (page) => page.locator(".cg-shapes text, .cg-custom-svgs text").allTextContents();
const asked = () => [...site.loads.keys()].filter((path) => path.includes("people.safetensors"));

test("the moves of people are fetched when they are first wanted, and shown as bars and arrows", async () => {
  site.loads.clear();
  const { page, errors } = await visit(site, { serviceWorkers: "block" });
  await page.waitForFunction(() => performance.getEntriesByName("ready").length);
  await newGame(page, { mode: "analysis" });
  assert.deepEqual(asked(), []);
  await openTab(page, "people");
  await listed(page);
  assert.equal(asked().length, 1);
  const shown = await rows(page);
  assert.equal(shown.length, 8);
  // Strong people begin with one of four moves.
  assert.ok(["e4", "d4", "Nf3", "c4"].includes(shown[0][0]), shown[0][0]);
  const shares = shown.map(([, share]) => Number.parseFloat(share.replace("<", "")));
  assert.deepEqual(shares, shares.toSorted((a, b) => b - a));
  assert.ok(shares[0] >= 20 && shares.reduce((sum, share) => sum + share) <= 104, shares.join());
  const arrows = await labels(page);
  assert.ok(arrows.includes(String(shares[0])), arrows.join());
  await page.uncheck("#people-arrows");
  await page.waitForFunction(() => !document.querySelector(".cg-shapes text, .cg-custom-svgs text"));
  // Another rating has other shares.
  const before = JSON.stringify(shown);
  await page.fill("#people-rating", "0");
  await page.waitForFunction(([before]) => JSON.stringify([...document.querySelectorAll("#people-moves li")].map((row) => [...row.querySelectorAll(".san, .share, .note")].map((part) => part.textContent))) !== before, [before]);
  assert.equal(await page.getAttribute("#people-rating", "aria-valuetext"), await page.textContent("#panel-people output"));
  // A move in the list is played, and the next position looked at.
  const [first] = (await rows(page))[0];
  await page.click("#people-moves li:first-child button");
  await played(page, first);
  await page.waitForFunction((first) => document.querySelector("#people-moves .san").textContent !== first, first);
  assert.equal(asked().length, 1);
  assert.deepEqual(errors, []);
});

test("the engine's choice is marked among the moves of people", async () => {
  const { page } = await visit(site, { path: "#fen=6k1/5ppp/8/8/8/8/8/K3R3_w_-_-_0_1" });
  await page.check("#analyse");
  await page.waitForFunction(() => document.getElementById("bar").ariaLabel.endsWith("#1"));
  await openTab(page, "people");
  await listed(page);
  const marked = (await rows(page)).filter(([, , note]) => note === "engine’s choice");
  assert.deepEqual(marked.map(([san]) => san), ["Re8#"]);
});

test("without the policy the tab says so, and tries again", async () => {
  site.change(/people\.safetensors\.gz/, () => null);
  const { page } = await visit(site, { serviceWorkers: "block" });
  await openTab(page, "people");
  await page.waitForSelector("#panel-people [role=alert]:has-text('could not be fetched')");
  site.restore();
  await page.click("#panel-people [role=alert] button");
  await listed(page);
});

test("a host may unpack the policy itself, and one without it offers nothing", async () => {
  site.change(/people\.safetensors\.gz/, (bytes) => gunzipSync(bytes));
  const { page, context } = await visit(site, { serviceWorkers: "block" });
  await openTab(page, "people");
  await listed(page);
  await context.close();
  site.change(/beside\.json/, (bytes) => JSON.stringify({ ...JSON.parse(bytes), people: null }));
  const { page: other, errors } = await visit(site, { serviceWorkers: "block" });
  await openTab(other, "people");
  await other.waitForSelector("#panel-people:has-text('This host has no policy')");
  await other.click("#new");
  assert.equal(await other.locator("#strength option[value=person]").count(), 0);
  assert.deepEqual(errors, []);
});

test("in a game without help the tab is silent", async () => {
  const { page } = await visit(site);
  await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 0 });
  await type(page, "e4");
  await waitForMoves(page, 2);
  await openTab(page, "people");
  await page.waitForSelector("#silence:visible");
  assert.equal(await page.isVisible("#people-moves"), false);
});

test("a game against people of a rating, kept over a reload", async () => {
  const { page, errors } = await visit(site);
  await newGame(page, { mode: "kibitz", color: "white", strength: "person", slider: 2 });
  await seen(page, "like people rated");
  await type(page, "e4");
  await waitForMoves(page, 2);
  await page.reload();
  await seen(page, "like people rated");
  await type(page, "Nf3");
  await waitForMoves(page, 4);
  assert.deepEqual(errors, []);
});

test("the report says how many people of the player's rating make a mistake", async () => {
  const { page, errors } = await visit(site);
  await readPgn(page, '[White "A"]\n[Black "B"]\n[WhiteElo "2450"]\n[BlackElo "?"]\n\n1. f3 e5 2. g4 Qh4# 0-1');
  await openTab(page, "report");
  await page.click("#review");
  await page.waitForFunction(() => document.getElementById("moves").textContent.includes("people rated"));
  const text = await page.textContent("#moves");
  assert.match(text, /Blunder\. \S+ was best\. (Fewer than 1|\d+) % of people rated 2400 to 2499 play g4\./);
  assert.deepEqual(errors, []);
});

test("the single file carries the policy", async () => {
  const whole = await readFile(new URL("../dist/kibitz.html", import.meta.url), "utf8").catch(() => "");
  assert.ok(!whole || whole.includes("people.safetensors.gz"));
});
