// Searches what `engine bench DEPTH` does and prints how many nodes that took:
// node bench.mjs MODULE.wasm DEPTH
import { readFile } from "node:fs/promises";

const [file, depth] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(await readFile(file));
console.log(String(instance.exports.bench_nodes(Number(depth))));
