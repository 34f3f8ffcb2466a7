// Injected failures: the page reports them and recovers.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, afterEach, before, test } from "node:test";
import { PATIENCE, newGame, open, openTab, played, reload, sans, tab, toast, type, visit, waitForMoves } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

const WORKER = /\/assets\/worker-.*\.js$/;
const WASM = /\.wasm$/;
/** Forces the worker's script to be fetched from the host each time. */
const BARE = { serviceWorkers: "block" };
const NETS = new URL("../../../models/", import.meta.url);

/** Prepends code to the workers' script. */
const hook = (code) => site.change(WORKER, (body) => `${code}\n${body}`);
const mend = (page) => {
  site.restore();
  return page.click("#trouble button:has-text('Try again')");
};
const trouble = async (page) => {
  await page.waitForSelector("#trouble:not([hidden])");
  return page.textContent("#trouble p");
};
const thinking = (page) => page.locator(".player.thinking").count();

/** A well-formed file of a net with an empty second layer. */
function hollowNet() {
  const shapes = [[8, 902], [0, 8], [8, 0], [1, 8]];
  const tensors = shapes.flatMap(([outputs, inputs], layer) => [
    [`layers.${layer}.weight`, [outputs, inputs]],
    [`layers.${layer}.bias`, [outputs]],
  ]);
  const kibitz = {
    layout: "kibitz-902-v2", shape: { first: 8, second: 0, third: 8 }, activation: "clipped-relu", output: "pawns",
    target: null, training: null, dataset: null, validation: null, tool: "test",
  };
  const header = { __metadata__: { kibitz: JSON.stringify(kibitz) } };
  let end = 0;
  for (const [name, shape] of tensors) {
    const start = end;
    end += 4 * shape.reduce((size, length) => size * length, 1);
    header[name] = { dtype: "F32", shape, data_offsets: [start, end] };
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, Buffer.alloc(end)]);
}

/**
 * Makes modules panic, for good, on calls whose name and text satisfy `when`. Runs on the page,
 * and in workers by `hook`.
 */
const panicking = (when) => `{
  const when = ${when};
  const spoil = ({ exports }) => {
    let panicked = false;
    const state = {};
    const spoilt = { ...exports };
    for (const name of ["ask", "load_net"]) {
      spoilt[name] = (start, length) => {
        const text = new TextDecoder().decode(new Uint8Array(exports.memory.buffer, start, length));
        panicked ||= when(name, text, state);
        if (panicked) throw new WebAssembly.RuntimeError("unreachable");
        return exports[name](start, length);
      };
    }
    return { exports: spoilt };
  };
  const { Instance, instantiate } = WebAssembly;
  WebAssembly.instantiate = async (...all) => spoil(await instantiate(...all));
  WebAssembly.Instance = function (...all) { return spoil(new Instance(...all)); };
}`;

for (const [name, spoil, reason] of [
  ["is not there", () => site.change(WORKER, () => null), "its worker could not be loaded"],
  ["throws at once", () => hook("throw new Error('no such thing');"), "no such thing"],
  ["finds no memory", () => hook("WebAssembly.instantiate = () => Promise.reject(new RangeError('out of memory'));"), "out of memory"],
  ["does not get the module", () => hook("addEventListener('message', (event) => { event.stopImmediatePropagation(); onmessageerror(); });"), "did not reach its worker"],
  ["panics as it searches", () => hook(panicking("(name, text) => text.includes('search')")), "broke down"],
  ["ends while it searches", () => hook("{ const post = postMessage; let ended = false; postMessage = (data) => { if (!ended) post(data); if (data.iteration) { ended = true; close(); } }; }"), "its worker has ended"],
  ["answers with no legal move", () => hook("{ const post = postMessage; postMessage = (data) => post(data.result ? { result: { ...data.result, best: 'e2e5' } } : data); }"), "illegal"],
]) {
  test(`an engine whose worker ${name} fails aloud, and is tried again`, async () => {
    const { page, errors } = await visit(site, BARE);
    spoil();
    await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 0, clock: "5+3" });
    await type(page, "e4");
    assert.match(await trouble(page), new RegExp(`^The engine failed: .*${reason}`));
    assert.equal(await thinking(page), 0);
    await played(page, "e4");
    await mend(page);
    await waitForMoves(page, 2);
    assert.ok(await page.isHidden("#trouble"));
    assert.deepEqual(errors.filter((error) => !error.includes("404")), []);
  });
}

test("an engine whose worker never answers fails after a while", async () => {
  const { page } = await visit(site, BARE);
  await page.clock.install();
  await reload(page);
  site.change(WORKER, () => "");
  await newGame(page, { mode: "kibitz", color: "black", strength: "elo", slider: 0 });
  await page.clock.runFor(21_000);
  assert.match(await trouble(page), /it does not start/);
  // Undo or a new game recovers too.
  await newGame(page, { mode: "people" });
  assert.ok(await page.isHidden("#trouble"));
});

test("an analysis and a curve that fail say so, and are tried again", async () => {
  const { page } = await visit(site, { ...BARE, path: "#moves=e2e4,e7e5" });
  site.change(WORKER, () => null);
  await page.check("#analyse");
  assert.match(await trouble(page), /^The engine failed/);
  await mend(page);
  await page.waitForSelector("#best .line");
  await page.uncheck("#analyse");
  site.change(WORKER, () => null);
  await openTab(page, "report");
  await page.click("#draw-curve");
  await toast(page, "The curve could not be drawn");
  site.restore();
  await page.click("#draw-curve");
  await page.waitForSelector("#graph path");
});

test("another evaluator may be chosen while the curve is drawn", async () => {
  const { page } = await visit(site, { path: "#moves=e2e4,e7e5,g1f3,b8c6,f1b5,a7a6,b5a4,g8f6" });
  await openTab(page, "report");
  await page.click("#draw-curve");
  await page.evaluate(() => {
    const select = document.getElementById("evaluator");
    select.value = "material";
    select.dispatchEvent(new Event("change"));
  });
  await page.waitForSelector("#draw-curve:enabled");
});

test("workers of finished games are terminated", async () => {
  const { page } = await visit(site);
  for (let game = 0; game < 4; game += 1) {
    await newGame(page, { mode: "engines", strength: "time", slider: 9 });
    await page.waitForSelector("#best .line");
  }
  await newGame(page, { mode: "people" });
  // The browser terminates workers with a delay.
  for (let tries = 0; page.workers().length > 0 && tries < PATIENCE / 100; tries += 1) await page.waitForTimeout(100);
  assert.equal(page.workers().length, 0);
});

test("a net without neurons is refused, and the board lives on", async () => {
  const { page, errors } = await visit(site);
  await openTab(page, "net");
  await page.setInputFiles("#net-file", { name: "hollow.safetensors", mimeType: "", buffer: hollowNet() });
  await toast(page, "hollow.safetensors cannot be used");
  await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 0 });
  await page.waitForFunction(() => document.getElementById("lifted").textContent.includes("value, without search"));
  await type(page, "e4");
  await waitForMoves(page, 2);
  assert.match(await page.textContent("#evaluator-note"), /512/);
  assert.deepEqual(errors, []);
});

test("a net that breaks the module on the page is dropped, at once or later, and after a reload", async () => {
  const { page, errors } = await visit(site, {
    // Panic at the second evaluation with a loaded net.
    init: panicking("(name, text, state) => { state.loaded ||= name === 'load_net'; if (state.loaded && text.includes('evaluate')) state.views = (state.views ?? 0) + 1; return state.views > 1; }"),
  });
  const buffer = await readFile(new URL("games1191.safetensors", NETS));
  await page.setInputFiles("#net-file", { name: "bad.safetensors", mimeType: "", buffer });
  await toast(page, "bad.safetensors cannot be used: the engine broke down");
  await openTab(page, "net");
  assert.match(await page.textContent("#evaluator-note"), /512/);
  await type(page, "e4");
  await waitForMoves(page, 2);
  await reload(page);
  await page.waitForSelector("#evaluator option[value='games1191.safetensors']", { state: "attached" });
  assert.equal(await page.locator("#evaluator option[value^='file:']").count(), 0);
  await type(page, "d4");
  await waitForMoves(page, 4);
  assert.deepEqual(errors, []);
});

test("the page survives a saved game that crashes the module", async () => {
  const { page, errors } = await visit(site, { init: panicking("(name, text) => text.includes('g1h3') && !text.includes('evaluate')") });
  await type(page, "e4");
  await waitForMoves(page, 2);
  await page.evaluate(() => {
    addEventListener("pagehide", () => {
      for (const area of [sessionStorage, localStorage]) area.setItem("kibitz.game", area.getItem("kibitz.game")?.replaceAll("e2e4", "g1h3") ?? "");
    });
  });
  await reload(page);
  await toast(page, "cannot be read any more");
  await type(page, "d4");
  await waitForMoves(page, 2);
  assert.equal((await sans(page))[0], "d4");
  assert.deepEqual(errors, []);
});

test("a net that breaks the engine's worker is dropped, and the default one goes on", async () => {
  const { page, errors } = await visit(site, BARE);
  const buffer = await readFile(new URL("games1191.safetensors", NETS));
  await page.setInputFiles("#net-file", { name: "bad.safetensors", mimeType: "", buffer });
  await toast(page, "thinks with bad.safetensors");
  hook(panicking("(name, text, state) => { state.loaded ||= name === 'load_net'; return state.loaded && text.includes('search'); }"));
  await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 0 });
  await type(page, "e4");
  await toast(page, "bad.safetensors cannot be used: the engine broke down");
  await waitForMoves(page, 2);
  assert.equal(await page.$eval("#evaluator", (select) => select.value), "default");
  await reload(page);
  await page.waitForSelector("#evaluator option[value='games1191.safetensors']", { state: "attached" });
  assert.equal(await page.locator("#evaluator option[value^='file:']").count(), 0);
  assert.deepEqual(errors, []);
});

test("a damaged saved net is dropped, in a match too", async () => {
  const { page } = await visit(site, BARE);
  const keep = () =>
    page.evaluate(async () => {
      const cache = await caches.open("nets-of-the-visitor");
      for (const name of ["one", "two"]) await cache.put(`./${name}.safetensors`, new Response("damaged"));
      localStorage.setItem("kibitz.brain", '"file:one.safetensors"');
    });
  await keep();
  await reload(page);
  await toast(page, "one.safetensors cannot be used");
  await newGame(page, { mode: "engines", strength: "elo", slider: 0, white: "file:two.safetensors", black: "material" });
  await toast(page, "two.safetensors cannot be used");
  assert.match(await page.textContent("#player-bottom"), /Kibitz/);
  assert.doesNotMatch(await page.textContent("#player-bottom"), /two/);
  await page.click("#pause");
  await waitForMoves(page, 2);
  await reload(page);
  await page.waitForSelector("#evaluator option[value='games1191.safetensors']", { state: "attached" });
  assert.equal(await page.locator("#evaluator option[value^='file:']").count(), 0);
});

test("a match waits for a net that cannot be fetched", async () => {
  const { page } = await visit(site, BARE);
  await listed(page);
  await newGame(page, { mode: "engines", strength: "nodes", slider: 2, white: "games1191.safetensors", black: "material" });
  await waitForMoves(page, 2);
  site.change(/games1191/, () => null);
  await reload(page);
  await page.click("#pause");
  const number = (await sans(page)).length;
  // Black plays with material, which needs no file; White's net cannot be fetched.
  assert.match(await trouble(page), /games1191\.safetensors could not be fetched/);
  await mend(page);
  await waitForMoves(page, number + 2);
});

/** Holds requests for the earlier net; each listed function releases one and returns on its arrival. */
async function delay(page) {
  const waiting = [];
  await page.route("**/games1191.safetensors", async (route) => {
    await new Promise((resolve) =>
      waiting.push(async () => {
        const arrived = page.waitForResponse(/games1191/);
        resolve();
        await (await arrived).finished();
        await page.waitForTimeout(200);
      }),
    );
    await route.continue();
  });
  return waiting;
}
const listed = (page) => page.waitForSelector("#evaluator option[value='games1191.safetensors']", { state: "attached" });
const materialOnly = (page) =>
  page.waitForFunction(() => document.getElementById("evaluator-note").textContent.startsWith("Counts pieces"));

test("the evaluator chosen last is used, whichever loads first", async () => {
  const { page } = await visit(site, BARE);
  await listed(page);
  const waiting = await delay(page);
  await openTab(page, "net");
  await page.selectOption("#evaluator", "games1191.safetensors");
  await page.selectOption("#evaluator", "material");
  await materialOnly(page);
  await waiting[0]();
  assert.match(await page.textContent("#evaluator-note"), /^Counts pieces/);
  assert.equal(await page.$eval("#evaluator", (select) => select.value), "material");
});

test("choosing an evaluator overrides the saved one that is still loading", async () => {
  const { page } = await visit(site, BARE);
  await listed(page);
  await openTab(page, "net");
  await page.selectOption("#evaluator", "linear.safetensors");
  await page.waitForFunction(() => localStorage.getItem("kibitz.brain")?.includes("linear"));
  await newGame(page, { mode: "engines", strength: "nodes", slider: 2, white: "games1191.safetensors", black: "material" });
  const waiting = await delay(page);
  await reload(page);
  await listed(page);
  await page.selectOption("#evaluator", "material");
  await materialOnly(page);
  await waiting[0]();
  assert.match(await page.textContent("#evaluator-note"), /^Counts pieces/);
});

test("a net that arrives twice for a match does not end its search", async () => {
  const { page } = await visit(site, BARE);
  await listed(page);
  await newGame(page, { mode: "engines", strength: "time", slider: 4, white: "games1191.safetensors", black: "material" });
  const waiting = await delay(page);
  await reload(page);
  await listed(page);
  for (const expected of ["Pause", "Go on", "Pause"]) {
    await page.click("#pause");
    assert.equal(await page.textContent("#pause"), expected);
  }
  await page.waitForTimeout(500);
  await waiting.pop()();
  await page.waitForSelector("#best .line");
  for (const late of waiting) await late();
  await waitForMoves(page, 2);
});

test("a game waiting for its nets does not end a later game", async () => {
  const { page } = await visit(site, BARE);
  await listed(page);
  const waiting = await delay(page);
  await page.click("#new");
  await page.check("#new-dialog input[value=engines]", { force: true });
  await page.selectOption("#new-dialog select[name=white]", "games1191.safetensors");
  await page.click("#new-dialog button.primary");
  await newGame(page, { mode: "people" });
  await type(page, "e4", "e5");
  await waiting[0]();
  await played(page, "e4", "e5");
});

test("files too large for the page are refused", async () => {
  const { page } = await visit(site);
  for (const [name, size, reason] of [["huge.safetensors", 101e6, "too large for a net"], ["huge.pgn", 11e6, "10 MB"]]) {
    await page.evaluate(
      ([name, size]) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([new Uint8Array(size).fill(32)], name));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true }));
      },
      [name, size],
    );
    await toast(page, reason);
  }
});

test("a missing script is reported, and a retry loads the page", async () => {
  const context = await site.browser.newContext();
  site.change(/\/assets\/index-.*\.js$/, () => null);
  const { page } = await tab(site, context, "", { ready: false });
  assert.match(await trouble(page), /could not be loaded whole/);
  await mend(page);
  await page.waitForSelector("[data-ready]");
  assert.ok(await page.isHidden("#trouble"));
});

test("a missing module is reported, and a retry keeps game and settings", async () => {
  const context = await site.browser.newContext(BARE);
  const { page } = await tab(site, context);
  await page.click("#theme");
  site.change(WASM, () => null);
  await page.reload();
  assert.match(await trouble(page), /could not start: the engine could not be fetched: 404/);
  assert.deepEqual(await page.$$eval("#trouble button", (buttons) => buttons.map(({ textContent }) => textContent)), ["Try again"]);
  site.restore();
  await mend(page);
  await page.waitForSelector("[data-ready]");
  assert.notEqual(await page.evaluate(() => localStorage.getItem("kibitz.theme")), null);
});

test("a network fault offers nothing but another try", async () => {
  const context = await site.browser.newContext(BARE);
  await context.route(/\.wasm$/, (route) => route.abort());
  const { page } = await tab(site, context, "", { ready: false });
  assert.match(await trouble(page), /could not be fetched\. Check your connection/);
  assert.deepEqual(await page.$$eval("#trouble button", (buttons) => buttons.map(({ textContent }) => textContent)), ["Try again"]);
});

test("a page that fails with its module there can be restarted without what it saved", async () => {
  const context = await site.browser.newContext(BARE);
  await context.addInitScript(() => {
    if (localStorage.getItem("kibitz.theme")) globalThis.matchMedia = () => { throw new Error("damaged"); };
  });
  const { page } = await tab(site, context);
  await page.evaluate(() => localStorage.setItem("kibitz.theme", '"dark"'));
  await page.reload();
  assert.match(await trouble(page), /could not start: damaged/);
  await page.click("#trouble button:has-text('afresh')");
  await page.waitForSelector("[data-ready]");
  assert.equal(await page.evaluate(() => localStorage.getItem("kibitz.theme")), null);
});

test("a damaged cached module is fetched again", async () => {
  const { page, context } = await visit(site);
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const request of await cache.keys()) {
        if (request.url.endsWith(".wasm")) await cache.put(request, new Response("damaged", { headers: { "content-type": "application/wasm" } }));
      }
    }
  });
  const { errors } = await tab(site, context);
  assert.deepEqual(errors, []);
});
