// Runs the module and compares it with the native program's output:
// node run.mjs MODULE.wasm DEPTH NODES SUM
import { readFile } from "node:fs/promises";

const [file, depth, nodes, sum] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(await readFile(file));
const { architectures_that_agree, bench_nodes, evaluate_games, positions } = instance.exports;

function seconds(work) {
  const start = performance.now();
  const result = work();
  return [(performance.now() - start) / 1000, result];
}

function equal(what, ours, native) {
  if (String(ours) !== native) {
    console.error(`${what}: ${ours} in WebAssembly, ${native} natively`);
    process.exit(1);
  }
}

equal("sum of values", evaluate_games(), sum);
equal("architectures with one value by all kernels", architectures_that_agree(), "18");
// The fastest of many short passes: the first run code not yet optimised, and others may be
// interrupted.
const passes = Array.from({ length: 500 }, () => seconds(evaluate_games)[0]);
const rate = positions() / Math.min(...passes);
const [time, counted] = seconds(() => bench_nodes(Number(depth)));
equal("bench nodes", counted, nodes);
console.log(
  `${(rate / 1e6).toFixed(2)} M evaluations/s, sum ${sum} as natively; ` +
    `${counted} nodes as natively, ${Math.round(Number(counted) / time)} nps`,
);
