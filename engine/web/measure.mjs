// Measures the built page: `node measure.mjs [ENGINE]`. ENGINE is the native program of the
// same commit, by default the release build.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { brotliCompressSync } from "node:zlib";
import { newGame, open, visit } from "./tests/browser.mjs";

const DEPTH = 11;
const ROUNDS = 7;
const engine = process.argv[2] ?? "../../target/release/engine";

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const round = (number, digits = 0) => number.toFixed(digits);

const site = await open();

// Size of a first visit.
{
  const { page, context } = await visit(site);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForTimeout(1500);
  const paths = [...site.loads.keys()];
  const gzip = [...site.loads.values()].reduce((sum, size) => sum + size, 0);
  const brotli = paths
    .map((path) => readFileSync(new URL(`dist${path.endsWith("/") ? `${path}index.html` : path}`, import.meta.url)))
    .reduce((sum, file) => sum + brotliCompressSync(file).length, 0);
  console.log(`first visit: ${paths.length} files, ${round(gzip / 1000)} kB by gzip, ${round(brotli / 1000)} kB by brotli`);
  for (const [path, size] of site.loads) console.log(`  ${path}: ${round(size / 1000, 1)} kB by gzip`);
  await context.close();
}

// Time from navigation until a move can be made, with empty caches.
{
  const times = [];
  for (let visitor = 0; visitor < ROUNDS; visitor += 1) {
    const { page, context } = await visit(site);
    times.push(await page.evaluate(() => performance.getEntriesByName("ready")[0].startTime));
    await context.close();
  }
  console.log(`first move possible after ${round(median(times))} ms, at most ${round(Math.max(...times))} ms (${ROUNDS} first visits)`);
}

// Longest gap between two frames, and the number of frames.
async function frames(page, milliseconds) {
  return page.evaluate(
    (milliseconds) =>
      new Promise((resolve) => {
        const begun = performance.now();
        const gaps = [];
        let last = begun;
        const frame = (now) => {
          gaps.push(now - last);
          last = now;
          if (now - begun < milliseconds) requestAnimationFrame(frame);
          else resolve({ longest: Math.max(...gaps.slice(2)), number: gaps.length });
        };
        requestAnimationFrame(frame);
      }),
    milliseconds,
  );
}
/** Frames, and the longest task of the main thread: on a busy machine frames are late for other
 * reasons than the page. */
async function busiest(page, milliseconds) {
  await site.browser.startTracing(page, { categories: ["toplevel", "disabled-by-default-devtools.timeline"] });
  const seen = await frames(page, milliseconds);
  const { traceEvents } = JSON.parse((await site.browser.stopTracing()).toString());
  const mains = new Set(
    traceEvents.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain").map(({ pid, tid }) => `${pid}.${tid}`),
  );
  const tasks = traceEvents.filter(({ name, pid, tid, dur }) => name.endsWith("RunTask") && dur && mains.has(`${pid}.${tid}`));
  return {
    ...seen,
    task: Math.max(...tasks.map(({ dur }) => dur)) / 1000,
    cpu: Math.max(...tasks.map(({ tdur }) => tdur ?? 0)) / 1000,
  };
}
{
  const { page, context } = await visit(site, { path: "#moves=e2e4,e7e5,g1f3,b8c6" });
  const idle = await busiest(page, 5000);
  await page.selectOption("#lines", "3");
  await page.check("#analyse");
  await page.waitForSelector("#best .line");
  const analysis = await busiest(page, 15_000);
  await page.uncheck("#analyse");
  await newGame(page, { mode: "engines", strength: "time", slider: 2 });
  const game = await busiest(page, 15_000);
  for (const [name, { longest, number, task, cpu }] of Object.entries({ idle, analysis, game })) {
    console.log(
      `${name}: longest of ${number} frames ${round(longest, 1)} ms; longest task of the page's thread ` +
        `${round(task, 1)} ms by the clock, ${round(cpu, 1)} ms of processor time`,
    );
  }
  await context.close();
}

// Nodes a second of CPU time: browser and program alternate on the same search.
{
  // The page's policy allows no worker of a blob.
  const { page, context } = await visit(site, { bypassCSP: true });
  const wasm = [...site.loads.keys()].find((path) => path.endsWith(".wasm"));
  await page.evaluate((wasm) => {
    const work = `onmessage = async ({ data }) => {
      const { instance } = await WebAssembly.instantiateStreaming(fetch(data), {
        host: { now: () => performance.now(), report() {} },
        shared: { words: () => 0, load: () => 0n, store() {}, find: () => 0 },
      });
      instance.exports.bench_nodes(8);
      onmessage = ({ data }) => postMessage(Number(instance.exports.bench_nodes(data)));
      postMessage("ready");
    };`;
    globalThis.worker = new Worker(URL.createObjectURL(new Blob([work])));
    return new Promise((resolve, reject) => {
      worker.onmessage = resolve;
      worker.onerror = ({ message }) => reject(new Error(message || "the worker does not start"));
      worker.postMessage(new URL(wasm, location.href).href);
    });
  }, wasm);
  const ratios = [];
  const [browser, native] = [[], []];
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    await site.browser.startTracing(page, { categories: ["toplevel", "disabled-by-default-devtools.timeline"] });
    const nodes = await page.evaluate(
      (depth) => new Promise((resolve) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.postMessage(depth);
      }),
      DEPTH,
    );
    // Let the task end within the trace.
    await page.waitForTimeout(300);
    const { traceEvents } = JSON.parse((await site.browser.stopTracing()).toString());
    const inside = Math.max(...traceEvents.map(({ name, tdur }) => (name.endsWith("RunTask") && tdur) || 0)) / 1e6;
    const command = 'TIMEFORMAT=%U; time "$1" bench --json "$2"';
    const { stdout, stderr } = spawnSync("bash", ["-c", command, "bash", engine, String(DEPTH)], { encoding: "utf8" });
    const outside = Number(stderr.trim().split("\n").at(-1));
    if (JSON.parse(stdout).nodes !== nodes) throw new Error(`${nodes} nodes in the browser, natively ${stdout}`);
    browser.push(nodes / inside);
    native.push(nodes / outside);
    ratios.push(outside / inside);
  }
  console.log(
    `nodes a second of processor time, depth ${DEPTH}, ${ROUNDS} turns each: ${round(median(browser) / 1000)} k in the browser, ` +
      `${round(median(native) / 1000)} k natively, ratio ${round(median(ratios), 2)} (${ratios.map((ratio) => round(ratio, 2)).join(" ")})`,
  );
  await context.close();
}
await site.close();
