// Runs a program for wasm32-wasip1, such as cargo's tests, under Node:
// `node --no-warnings wasi.mjs PROGRAM.wasm ARGUMENT...`
import { readFileSync } from "node:fs";
import { WASI } from "node:wasi";

const [program, ...rest] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args: [program, ...rest], returnOnExit: true });
const module = await WebAssembly.compile(readFileSync(program));
process.exit(wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject())));
