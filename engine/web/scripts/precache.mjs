// Writes dist/sw.js: the service worker with its list of files to precache.
import { createHash } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";

const dist = new URL("../dist/", import.meta.url);
const files = (await readdir(dist, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile() && entry.name !== "sw.js")
  .map((entry) => `${entry.parentPath}/${entry.name}`.split("/dist/").at(-1).replace(/^\/+/, ""))
  .filter((file) => !/^(nets\/|pieces\/|tables\/|assets\/(tables|zstd)-|lines\.txt|stockfish\/|docs\/|icon-|kibitz\.html)/.test(file))
  .sort();
const digest = createHash("sha256");
for (const file of files) digest.update(file).update(await readFile(new URL(file, dist)));
const worker = (await readFile(new URL("sw.js", import.meta.url), "utf8"))
  .replace('"VERSION"', JSON.stringify(digest.digest("hex").slice(0, 12)))
  .replace('"FILES"', JSON.stringify(files.filter((file) => !file.endsWith(".wasm"))))
  .replace('"SIMD"', JSON.stringify(files.find((file) => /simd.*wasm$/.test(file))))
  .replace('"PLAIN"', JSON.stringify(files.find((file) => /plain.*wasm$/.test(file))));
await writeFile(new URL("sw.js", dist), worker);
console.log(`sw.js: ${files.length} files`);
