// Makes what the page fetches beside itself: opening names by position,
// the nets of models/ other than the one that is compiled in, and the docs that the tour links to.
import { copyFile, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";

const root = new URL("../", import.meta.url);
const open = (path) => readFile(new URL(path, root));

const module = await WebAssembly.compile(await open("wasm/kibitz-plain.wasm"));
const { exports } = await WebAssembly.instantiate(module, { host: { now: () => 0, report() {} } });

function ask(request) {
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const start = exports.allocate(bytes.length);
  new Uint8Array(exports.memory.buffer, start, bytes.length).set(bytes);
  const length = exports.ask(start, bytes.length);
  const answer = new Uint8Array(exports.memory.buffer, exports.answer_start(), length);
  const { ok, error } = JSON.parse(new TextDecoder().decode(answer));
  if (error) throw new Error(`${JSON.stringify(request)}: ${error}`);
  return ok[request.op];
}

const names = new Map();
for (const volume of ["a", "b", "c", "d", "e"]) {
  const rows = (await open(`openings/${volume}.tsv`)).toString().trim().split("\n").slice(1);
  for (const row of rows) {
    const [eco, name, pgn] = row.split("\t");
    const { report } = ask({ op: "readPgn", text: pgn });
    names.set(report.plies.at(-1).key, `${eco}\t${name}`);
  }
}
const lines = [...names].map(([key, name]) => `${key}\t${name}`);
await writeFile(new URL("public/openings.tsv", root), lines.join("\n") + "\n");

// As texts, which every host shows.
const docs = new URL("public/docs/", root);
await mkdir(docs, { recursive: true });
for (const name of ["network", "search", "training"]) {
  await copyFile(new URL(`../../docs/${name}.md`, root), new URL(`${name}.txt`, docs));
}

const nets = new URL("public/nets/", root);
await rm(nets, { recursive: true, force: true });
await mkdir(nets, { recursive: true });
const models = new URL("../../models/", root);
const files = (await readdir(models)).filter(
  (file) => file.endsWith(".safetensors") && file !== "default.safetensors",
);
for (const file of files) await copyFile(new URL(file, models), new URL(file, nets));
await writeFile(new URL("nets.json", nets), JSON.stringify(files.sort()) + "\n");
console.log(`${names.size} opening positions, ${files.length} nets beside the default one`);
