// Writes dist/kibitz.html: the page in one file that also opens from disk.
// Run `vite build --mode single --outDir wasm/single` first.
import { readFile, readdir, rm, writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { POLICY, policyMeta } from "./policy.mjs";

const built = new URL("../wasm/single/", import.meta.url);
const read = (path) => readFile(new URL(path, built));
const assets = await readdir(new URL("assets/", built));
const asset = (pattern) => `assets/${assets.find((file) => pattern.test(file))}`;
const text = async (path) => (await read(path)).toString();

const nameOf = (path) => path.split("/").at(-1);
const packed = (bytes) => gzipSync(bytes, { level: 9 }).toString("base64");
const beside = JSON.parse(await text("beside.json"));
/** Gzipped files by name, without tables. */
const files = { "beside.json": packed(JSON.stringify({ ...beside, tables: [] })) };
const nets = [...beside.nets, "people.safetensors.gz"].map((net) => `nets/${net}`);
for (const path of [asset(/simd.*wasm$/), asset(/plain.*wasm$/), "openings.tsv", "lines.txt", ...nets]) files[nameOf(path)] = packed(await read(path));
const worker = asset(/^worker.*js$/);
const workers = { [nameOf(worker)]: await text(worker) };
const icon = `data:image/svg+xml;base64,${(await read("icon.svg")).toString("base64")}`;
const inside = (await readFile(new URL("inside.js", import.meta.url), "utf8"))
  .replace("{ FILES }", () => JSON.stringify(files))
  .replace("{ WORKERS }", () => JSON.stringify(workers));
/** Hashes of the inline parts, for the Content-Security-Policy. */
const hashes = { script: "", style: "" };
const inline = (tag, source, attribute = "") => {
  hashes[tag] += ` 'sha256-${createHash("sha256").update(source).digest("base64")}'`;
  return `<${tag}${attribute}>${source}</${tag}>`;
};
// Escape closing tags: one in a string would end the script.
const script = (source, type) => inline("script", source.replaceAll("</script", "<\\/script"), type);

// Replacements are functions, since `$&` in a string is special.
const page = (await text("index.html"))
  .replace(/<link rel="manifest"[^>]*>/, "")
  .replace(/<link rel="modulepreload"[^>]*>/g, "")
  .replace(/<link rel="stylesheet"[^>]*>/, "")
  .replace(/<script type="module"[^>]*><\/script>/, "")
  .replace('<script src="./first.js"></script>', "")
  .replaceAll("./icon.svg", icon);
const styles = [inline("style", await text(asset(/\.css$/)))];
// By these ids the page finds the piece sets, and fetches none.
for (const set of ["Merida", "Fantasy"]) styles.push(inline("style", await text(`pieces/${set}.css`), ` id="pieces-${set}"`));
const main = await text(asset(/^index.*js$/));
const first = script((await text("first.js")) + inside);
const module = script(main, ' type="module"');
const policy = { ...POLICY, "script-src": `${hashes.script.trim()} 'wasm-unsafe-eval'`, "worker-src": "blob:", "style-src": hashes.style.trim() };
const whole = page
  .replace(policyMeta(POLICY), policyMeta(policy))
  .replace("</head>", () => `${styles.join("\n")}\n${first}\n</head>`)
  .replace("</body>", () => `${module}\n</body>`);
await writeFile(new URL("../dist/kibitz.html", import.meta.url), whole);
await rm(built, { recursive: true });
console.log(`kibitz.html: ${Math.round(whole.length / 1000)} kB`);
