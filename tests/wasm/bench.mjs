// Searches like `engine bench DEPTH`, after a shallower search during which V8 compiles the module.
// Prints nodes, and wall, user and system seconds:
// node bench.mjs MODULE.wasm DEPTH
import { readFile } from "node:fs/promises";

const [file, depth] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(await readFile(file));
const search = (plies) => instance.exports.bench_nodes(plies);
search(Number(depth) - 3);
const [start, cpu] = [performance.now(), process.cpuUsage()];
const nodes = search(Number(depth));
const { user, system } = process.cpuUsage(cpu);
console.log(String(nodes), (performance.now() - start) / 1e3, user / 1e6, system / 1e6);
