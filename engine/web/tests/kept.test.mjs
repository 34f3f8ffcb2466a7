// Browser storage: damaged, of another version, forbidden, shared by tabs.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, afterEach, before, test } from "node:test";
import { mainLine, newGame, open, openPanel, openTab, played, readPgn, reload, sans, tab, toast, type, visit, waitForMoves } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

/** Sets the saved game for the next load of the page. */
const keep = (page, text) =>
  page.evaluate((text) => {
    // The page saves on unload; write after that.
    addEventListener("pagehide", () => {
      sessionStorage.clear();
      localStorage.setItem("kibitz.game", text);
    });
  }, text);

const SIDE = { who: "human", strength: { by: "full" }, brain: "" };
const SAVED = {
  start: null, moves: ["e2e4", "e7e5"], white: SIDE, black: SIDE, clock: null, left: null, result: null, tags: [],
  theirs: [], found: [], study: false, orientation: "white",
};

test("an unreadable saved game leaves a working page", async () => {
  const { page, errors } = await visit(site);
  for (const text of [
    "{", "5", "[]", '{"moves":["e2e4"]}', JSON.stringify({ ...SAVED, moves: [5] }),
    JSON.stringify({ ...SAVED, moves: ["e2e4", "e2e4"] }), JSON.stringify({ ...SAVED, start: "8/8/8/8/8/8/8/8 w - - 0 1" }),
  ]) {
    await keep(page, text);
    await reload(page);
    await toast(page, "cannot be read any more");
    await type(page, "d4");
    await waitForMoves(page, 1);
    assert.equal((await sans(page))[0], "d4", text);
    assert.deepEqual(errors, [], text);
  }
});

test("the moves of a saved game of another version are kept", async () => {
  const { page, errors } = await visit(site);
  for (const other of [
    { white: undefined }, { white: { ...SIDE, who: "rival" } }, { black: { ...SIDE, strength: { by: "depth", value: 1.5 } } },
    { clock: {} }, { left: { white: null, black: 1 } }, { result: { winner: "green", reason: null } }, { tags: [["White"]] },
    { theirs: [3] }, { found: [{ cp: 1e12 }] }, { found: undefined }, { orientation: "up" },
  ]) {
    const text = JSON.stringify({ ...SAVED, ...other });
    await keep(page, text);
    await reload(page);
    await toast(page, "only the moves can be read");
    await played(page, "e4", "e5");
    await type(page, "d4");
    await played(page, "e4", "e5", "d4");
    assert.deepEqual(errors, [], text);
  }
});

test("a game saved by the first pages is migrated with its evaluations", async () => {
  const { page, errors } = await visit(site);
  const found = [null, { cp: 17 }, null];
  await keep(page, JSON.stringify({ ...SAVED, theirs: [null, { mate: 3 }], found, tags: [["White", "Anna"]], study: true, orientation: "black" }));
  await reload(page);
  await played(page, "e4", "e5");
  assert.equal(await page.textContent("#moves small"), "#3");
  assert.match(await page.textContent("#player-top"), /Anna/);
  await page.keyboard.press("ArrowLeft");
  assert.match(await page.getAttribute("#bar", "aria-label"), /\+0\.17/);
  assert.deepEqual(errors, []);
});

test("the moves of a damaged or newer tree are kept", async () => {
  const { page, errors } = await visit(site);
  const node = (parent, uci) => ({ parent, uci, before: "", comment: "", glyphs: [], eval: null, depth: 0, clock: null, found: null, curve: null });
  const nodes = [node(0, ""), node(0, "e2e4"), node(1, "e7e5")];
  const tree = { version: 1, start: null, tags: [], nodes };
  const whole = { ...SAVED, version: 2, tree, at: 1, over: 2 };
  await keep(page, JSON.stringify(whole));
  await reload(page);
  await played(page, "e4", "e5");
  assert.match(await page.textContent("#moves [aria-current]"), /e4/);
  for (const other of [
    { version: 3 }, { at: 7 }, { at: -1 }, { tree: null }, { tree: { ...tree, version: 2 } }, { tree: { ...tree, nodes: [] } },
    { tree: { ...tree, nodes: [nodes[0], node(2, "e2e4"), nodes[2]] } }, { tree: { ...tree, nodes: [...nodes, node(1, "e2e4")] } },
    { tree: { ...tree, nodes: [nodes[0], { ...nodes[1], glyphs: [999] }] } },
  ]) {
    const text = JSON.stringify({ ...whole, ...other });
    await keep(page, text);
    await reload(page);
    await toast(page, "only the moves can be read");
    assert.deepEqual(await mainLine(page), ["e4", "e5"], text);
    assert.deepEqual(errors, [], text);
  }
});

test("unreadable settings fall back to defaults", async () => {
  const { page, errors } = await visit(site);
  const settings = ["theme", "sound", "tab", "lines", "arrows", "show-worth", "brain", "new", "playing-help", "games", "puzzles", "vary"];
  for (const text of ["{", "5", '{"steps":null,"minutes":1e9,"mode":[],"strength":{},"clock":7}', '"other"']) {
    await page.evaluate(
      ([settings, text]) => {
        for (const name of settings) localStorage.setItem(`kibitz.${name}`, text);
      },
      [settings, text],
    );
    await reload(page);
    await newGame(page, { mode: "people", clock: "custom" });
    await openTab(page, "engine");
    await page.check("#playing-help");
    await page.check("#analyse");
    await page.waitForSelector("#best .line");
    await page.uncheck("#analyse");
    assert.deepEqual(errors, [], text);
  }
});

test("without storage the page works and says so", async () => {
  const { page, errors } = await visit(site, {
    init: () => {
      for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"]) {
        Object.defineProperty(globalThis, name, { get: () => { throw new DOMException("forbidden", "SecurityError"); } });
      }
      for (const name of ["serviceWorker", "locks", "clipboard"]) {
        Object.defineProperty(Navigator.prototype, name, { get: () => undefined });
      }
      delete globalThis.AudioContext;
    },
  });
  await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 0 });
  await type(page, "e4");
  await toast(page, "does not let the page keep the game");
  await waitForMoves(page, 2);
  const buffer = await readFile(new URL("../../../models/games1191.safetensors", import.meta.url));
  await page.setInputFiles("#net-file", { name: "mine.safetensors", mimeType: "", buffer });
  await toast(page, "the browser will not keep it");
  assert.deepEqual(errors, []);
});

test("the page works without a service worker", async () => {
  site.change(/\/sw\.js$/, () => null);
  const { page, errors } = await visit(site);
  await page.waitForTimeout(500);
  await type(page, "e4");
  await waitForMoves(page, 2);
  assert.deepEqual(errors.filter((error) => !/^(Failed to load resource|A bad HTTP response)/.test(error)), []);
});

test("HTML in place of nets and opening names is tolerated", async () => {
  for (const file of [/nets\.json$/, /openings\.tsv$/]) site.change(file, () => "<!doctype html><p>Not found");
  const { page, errors } = await visit(site);
  await page.evaluate(async () => {
    await (await caches.open("nets-of-the-visitor")).put("./mine.safetensors", new Response("net"));
  });
  await reload(page);
  await page.waitForSelector("#evaluator option[value='file:mine.safetensors']", { state: "attached" });
  assert.deepEqual(errors, []);
});

test("each tab keeps its own game, and a new tab continues the last", async () => {
  const { page, context } = await visit(site);
  await newGame(page, { mode: "people" });
  await type(page, "e4");
  await played(page, "e4");
  const { page: second } = await tab(site, context);
  await played(second, "e4");
  await newGame(second, { mode: "people" });
  await type(second, "d4", "d5");
  await played(second, "d4", "d5");
  await reload(page);
  await played(page, "e4");
  const { page: third } = await tab(site, context);
  await played(third, "d4", "d5");
});

test("a linked game is not saved before a move is made", async () => {
  const { page, context } = await visit(site);
  await newGame(page, { mode: "people" });
  await type(page, "e4");
  const { page: linked } = await tab(site, context, "#moves=d2d4,d7d5");
  await played(linked, "d4", "d5");
  await reload(linked);
  await played(linked, "d4", "d5");
  const { page: third } = await tab(site, context);
  await played(third, "e4");
  await type(linked, "c4");
  const { page: fourth } = await tab(site, context);
  await played(fourth, "d4", "d5", "c4");
});

test("an open page follows a link, and ignores a damaged one", async () => {
  const { page, errors } = await visit(site, { path: "#moves=e2e4" });
  await page.goto(`${site.url}#moves=d2d4,d7d5&ply=1`);
  await played(page, "d4", "d5");
  assert.match(await page.textContent("#moves [aria-current]"), /d4/);
  await page.goto(`${site.url}#moves=e2e5`);
  await toast(page, "This link holds no game");
  await played(page, "d4", "d5");
  for (const ply of ["abc", "-3", "1.5", "1e9", "NaN", ""]) {
    await page.goto(`${site.url}?${Math.random()}#moves=e2e4,e7e5&ply=${ply}`);
    await page.waitForSelector("[data-ready]");
    await played(page, "e4", "e5");
    await page.keyboard.press("ArrowLeft");
    assert.match(await page.textContent("#moves [aria-current]"), /e4/, ply);
  }
  assert.deepEqual(errors, []);
});

test("an update is atomic, and open pages keep their version's files", async () => {
  // Like many hosts: the browser may reuse a file without asking.
  site.headers["cache-control"] = "max-age=600";
  const { page } = await visit(site, {
    init: () => navigator.serviceWorker.addEventListener("controllerchange", () => (globalThis.newVersion = true)),
  });
  await page.waitForFunction(() => globalThis.newVersion);
  const first = await page.evaluate(async () => (await caches.keys()).find((key) => key.startsWith("kibitz-")));
  site.change(/index\.html$/, (body) => String(body).replace("<title>", "<title>New "));
  site.change(/\/assets\/worker-.*\.js$/, () => null);
  site.change(/\/sw\.js$/, (body) => String(body).replace(first.replace("kibitz-", ""), "new").replace(/"assets\/worker-[^"]*",/, ""));
  // The reload is served from the old version, and makes the browser find the new one.
  await reload(page);
  await page.waitForFunction(() => globalThis.newVersion);
  assert.doesNotMatch(await page.title(), /^New/);
  const session = await page.context().newCDPSession(page);
  await session.send("Network.clearBrowserCache");
  await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 0 });
  await type(page, "e4");
  await waitForMoves(page, 2);
  await reload(page);
  assert.match(await page.title(), /^New/);
});

test("with storage full, files are fetched each time", async () => {
  const { page, context } = await visit(site);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await reload(page);
  await page.waitForFunction(() => navigator.serviceWorker.controller);
  const session = await context.newCDPSession(page);
  await session.send("Storage.overrideQuotaForOrigin", { origin: site.url.replace(/\/$/, ""), quotaSize: 1 });
  await openTab(page, "net");
  await page.waitForSelector("#evaluator option[value='games1191.safetensors']", { state: "attached" });
  await page.selectOption("#evaluator", "games1191.safetensors");
  await page.waitForFunction(() => document.getElementById("evaluator-note").textContent.includes("451"));
});

test("a flag falls on time although the page was busy", async () => {
  const { page } = await visit(site);
  await newGame(page, { mode: "people", clock: "1+0" });
  await type(page, "e4", "e5");
  await page.evaluate(() => {
    const now = performance.now.bind(performance);
    performance.now = () => now() + 61_000;
    const text = document.getElementById("move-text");
    text.value = "Nf3";
    text.form.requestSubmit();
  });
  assert.equal(await page.textContent("#status"), "Black wins: time");
  await played(page, "e4", "e5");
});

test("an invalid number in a hidden field does not block the dialog", async () => {
  const { page } = await visit(site);
  await newGame(page, { mode: "people", clock: "custom", minutes: 5000 });
  assert.match(await page.textContent("#player-top .clock"), /^3:00:00$/);
  await page.click("#new");
  await page.fill("#new-dialog input[name=minutes]", "5000");
  await page.selectOption("#new-dialog select[name=clock]", "none");
  await page.click("#new-dialog button.primary");
  await page.waitForSelector("#new-dialog:not([open])", { state: "attached" });
});

test("a new game ends the position editor", async () => {
  const { page } = await visit(site);
  await page.click("#open");
  await page.click("#edit");
  await page.click("#editor button:has-text('Clear')");
  await page.click("[aria-label='Put a white king']");
  await newGame(page, { mode: "people" });
  assert.ok(await page.isHidden("#editor"));
  await type(page, "e4");
  await played(page, "e4");
  assert.equal(await page.getAttribute("[data-square=e4]", "aria-label"), "e4, white pawn");
});

test("playing on does not change a loaded game", async () => {
  const { page } = await visit(site);
  await readPgn(page, '[White "A"]\n\n1. e4 e5 2. Nf3 *\n\n[White "B"]\n\n1. d4 *');
  await played(page, "e4", "e5", "Nf3");
  await type(page, "c4");
  assert.deepEqual(await mainLine(page), ["e4", "e5", "Nf3"]);
  await page.selectOption("#pick-game", "1");
  await played(page, "d4");
  await page.selectOption("#pick-game", "0");
  await played(page, "e4", "c4", "e5", "Nf3");
  assert.deepEqual(await mainLine(page), ["e4", "e5", "Nf3"]);
  await openPanel(page);
  await page.click("#read-pgn");
  await played(page, "e4", "e5", "Nf3");
  await openPanel(page);
  await page.fill("#pgn", "[FEN \"none\"]\n\n1. e4 *");
  await page.click("#read-pgn");
  await toast(page, "No move of this game can be read");
  await played(page, "e4", "e5", "Nf3");
});
