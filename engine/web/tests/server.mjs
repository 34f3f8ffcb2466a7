// A plain static host for dist/, as any would be: no headers but the type, and gzip.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { gzipSync } from "node:zlib";

const TYPES = {
  ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml",
  ".wasm": "application/wasm", ".json": "application/json", ".webmanifest": "application/manifest+json",
  ".tsv": "text/tab-separated-values",
};

/** Serves dist/ on a free port. `loads` lists what was asked for, with its gzipped size. */
export async function serve() {
  const loads = new Map();
  const packed = new Map();
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const path = pathname.endsWith("/") ? `${pathname}index.html` : pathname;
    try {
      if (!packed.has(path)) {
        packed.set(path, gzipSync(await readFile(new URL(`../dist${path}`, import.meta.url)), { level: 9 }));
      }
      const body = packed.get(path);
      loads.set(path, body.length);
      response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream", "content-encoding": "gzip" });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url, loads, close };
}
