// Writes the page's assets to public/: opening names by position, opening lines for matches,
// the nets of models/ beside the embedded one with their measured strengths, and the docs that
// the tour links to. TABLES is an optional folder of Syzygy tables.
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { copyFile, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";

const root = new URL("../", import.meta.url);
const open = (path) => readFile(new URL(path, root));

const module = await WebAssembly.compile(await open("wasm/kibitz-plain.wasm"));
const { exports } = await WebAssembly.instantiate(module, {
  host: { now: () => 0, report() {} },
  shared: { words: () => 0, load: () => 0n, store() {}, find: () => 0 },
});

function call(name, bytes) {
  const start = exports.allocate(bytes.length);
  new Uint8Array(exports.memory.buffer, start, bytes.length).set(bytes);
  const length = exports[name](start, bytes.length);
  const answer = new Uint8Array(exports.memory.buffer, exports.answer_start(), length);
  const { ok, error } = JSON.parse(new TextDecoder().decode(answer));
  if (error) throw new Error(`${name}: ${error}`);
  return ok;
}

const ask = (request) => call("ask", new TextEncoder().encode(JSON.stringify(request)))[request.op];

/** Hexadecimal digits kept of a position's key, as in `page/openings.ts`, which reads the names. */
const KEY = 8;
/** Length of opening lines for matches, in plies. */
const LINE = 8;

const names = new Map();
const openings = [];
for (const volume of ["a", "b", "c", "d", "e"]) {
  const rows = (await open(`openings/${volume}.tsv`)).toString().trim().split("\n").slice(1);
  for (const row of rows) {
    const [eco, name, pgn] = row.split("\t");
    const { report } = ask({ op: "readPgn", text: pgn });
    names.set(report.plies.at(-1).key.slice(0, KEY), { eco, name });
    if (report.plies.length === LINE) openings.push(report.plies.map(({ uci }) => uci).join(" "));
  }
}
// Names by line, then all keys in one line, in base64: apart they compress by 8 kB more. A line has
// its code where that changes, and the number of parts that its name shares with the one above: 6 kB.
const lines = [];
let above = { eco: "", parts: [] };
for (const { eco, name } of names.values()) {
  const parts = name.split(/(?<=[:,]) /);
  const differing = parts.findIndex((part, index) => part !== above.parts[index]);
  const shared = differing < 0 ? parts.length : differing;
  if (shared > 9 || /^\d/.test(name)) throw new Error(`cannot shorten ${name}`);
  lines.push((eco === above.eco ? "" : `${eco}\t`) + (shared || "") + parts.slice(shared).join(" "));
  above = { eco, parts };
}
lines.push(Buffer.from([...names.keys()].join(""), "hex").toString("base64"));
await writeFile(new URL("public/openings.tsv", root), lines.join("\n") + "\n");
await writeFile(new URL("public/lines.txt", root), openings.join("\n") + "\n");

// Every host serves .txt as text.
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

// The policy compresses to half, and many hosts do not compress such files.
const policy = await open("../../models/policies/people.safetensors");
await writeFile(new URL("people.safetensors.gz", nets), gzipSync(policy, { level: 9 }));
const { policy: people } = call("load_policy", policy);

// Skip strengths measured on another version of a net.
const { strengths, nodes, games, commit } = JSON.parse(await readFile(new URL("strengths.json", models)));
const embedded = process.env.KIBITZ_NET ?? new URL("default.safetensors", models);
const digest = async (file) => createHash("sha256").update(await readFile(file)).digest("hex");
const measured = {};
for (const { evaluator, sha256, elo, interval } of strengths) {
  const isDefault = evaluator === "default.safetensors";
  const net = isDefault ? embedded : new URL(evaluator, models);
  if (sha256 === null || (await digest(net).catch(() => "")) === sha256) {
    measured[isDefault ? "default" : evaluator] = { elo, interval };
  } else console.warn(`${evaluator} is not the net that was measured: run models/strengths.sh again`);
}
const tables = new URL("public/tables/", root);
await rm(tables, { recursive: true, force: true });
let tableFiles = [];
if (process.env.TABLES) {
  await mkdir(tables, { recursive: true });
  tableFiles = (await readdir(process.env.TABLES)).filter((file) => /\.rtb[wz]$/.test(file)).sort();
  for (const file of tableFiles) await copyFile(`${process.env.TABLES}/${file}`, new URL(file, tables));
  await copyFile(new URL("wasm/tables.wasm", root), new URL("tables.wasm", tables));
}

// Strengths are relative to the default net, and meaningless without it.
const beside = { nets: files.sort(), strengths: measured.default ? { nodes, games, commit, elo: measured } : null, people, tables: tableFiles };
await writeFile(new URL("public/beside.json", root), JSON.stringify(beside) + "\n");
console.log(`${names.size} opening positions, ${openings.length} lines, ${files.length} nets beside the default one, ${tableFiles.length} endgame tables`);
