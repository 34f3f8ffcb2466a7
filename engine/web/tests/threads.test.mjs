// Search with several threads, in a cross-origin isolated page.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { newGame, open, openTab, reload, settled, type, visit, waitForMoves } from "./browser.mjs";

const ISOLATED = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

/** Records messages to workers, and reports four cores. */
function init() {
  Object.defineProperty(navigator, "hardwareConcurrency", { value: 4 });
  globalThis.told = [];
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (message, ...rest) {
    globalThis.told.push(message);
    return postMessage.call(this, message, ...rest);
  };
}

const told = (page, task) => page.evaluate((task) => globalThis.told.filter((message) => message.task === task).length, task);

/** Number of the last team search, and the nodes of each helper. */
const team = (page) =>
  page.evaluate(() => {
    const { memory } = globalThis.told.findLast((message) => message.memory);
    const words = new BigInt64Array(memory.buffer, 0, 16);
    return { search: Number(words[0]), nodes: [...words.subarray(1)].map(Number) };
  });
const helped = (page, helpers) =>
  page.waitForFunction((helpers) => {
    const memory = globalThis.told.findLast((message) => message.memory)?.memory;
    return memory && new BigInt64Array(memory.buffer, 8, helpers).every((nodes) => nodes > 5000n);
  }, helpers);

test("a host's headers allow threads, which help in an analysis and end with it", async () => {
  Object.assign(site.headers, ISOLATED);
  const { page, errors } = await visit(site, { init, serviceWorkers: "block" });
  await openTab(page, "engine");
  assert.equal(await page.inputValue("#threads"), "2", "half of the cores");
  await page.selectOption("#threads", "3");
  await newGame(page, { mode: "analysis" });
  await page.check("#analyse");
  await helped(page, 2);
  const first = await team(page);
  assert.equal(first.nodes[2], 0, "there are two helpers");
  await page.waitForFunction(() => document.getElementById("speed").textContent.includes("nodes/s"));
  // A new position is a new search by the same helpers.
  await type(page, "e4");
  await page.waitForFunction((before) => new BigInt64Array(globalThis.told.findLast((message) => message.memory).memory.buffer)[0] > before, first.search);
  await helped(page, 2);
  assert.equal(await told(page, "help"), 4);
  await page.uncheck("#analyse");
  await settled(page, () => team(page));
  // With one thread there are no helpers.
  await page.selectOption("#threads", "1");
  await page.check("#analyse");
  await page.waitForFunction(() => document.getElementById("speed").textContent.includes("nodes/s"));
  assert.equal(await told(page, "help"), 4);
  await reload(page);
  assert.equal(await page.inputValue("#threads"), "1");
  assert.deepEqual(errors, []);
});

test("a host without headers has threads from the second visit on, and a game is played by them", async () => {
  const { page, errors } = await visit(site, { init });
  assert.equal(await page.isVisible("#threads"), false);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await reload(page);
  assert.equal(await page.evaluate(() => crossOriginIsolated), true);
  await newGame(page, { mode: "kibitz", color: "white", strength: "time", slider: 4 });
  await type(page, "a3");
  await helped(page, 1);
  await waitForMoves(page, 2);
  const { search } = await team(page);
  assert.equal((await settled(page, () => team(page))).search, search, "nobody searches on");
  // At a rating Kibitz searches with one thread.
  const before = await told(page, "help");
  await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 0 });
  await type(page, "a3");
  await waitForMoves(page, 2);
  assert.equal(await told(page, "help"), before);
  assert.deepEqual(errors, []);
});

test("helpers that fail do not end the search", async () => {
  Object.assign(site.headers, ISOLATED);
  const init = () => {
    Object.defineProperty(navigator, "hardwareConcurrency", { value: 4 });
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (message, ...rest) {
      // Only helpers have no lock.
      if (message.task === "start" && !message.lock) message = { ...message, module: null };
      if (message.task === "help") globalThis.helpAsked = true;
      return postMessage.call(this, message, ...rest);
    };
  };
  const { page, errors } = await visit(site, { init, serviceWorkers: "block" });
  await newGame(page, { mode: "kibitz", color: "black", strength: "time", slider: 2 });
  await waitForMoves(page, 1);
  assert.equal(await page.evaluate(() => globalThis.helpAsked), true);
  assert.deepEqual(errors, []);
});
