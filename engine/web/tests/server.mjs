// Static server for dist/: content types and gzip, no other headers.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { gzipSync } from "node:zlib";

const TYPES = {
  ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml",
  ".wasm": "application/wasm", ".json": "application/json", ".webmanifest": "application/manifest+json",
  ".tsv": "text/tab-separated-values",
};

/**
 * Serves dist/ on a free port. `loads` maps requested paths to gzipped sizes. `change` replaces
 * a file: its function gets the bytes and returns others, or `null` for 404. `headers` are added
 * to responses.
 */
export async function serve() {
  const loads = new Map();
  const packed = new Map();
  const changes = new Map();
  const headers = {};
  const pack = async (path) => {
    const read = () => readFile(new URL(`../dist${path}`, import.meta.url));
    const [, change] = [...changes].find(([pattern]) => pattern.test(path)) ?? [];
    if (change) return gzipSync(change(await read()));
    if (!packed.has(path)) packed.set(path, gzipSync(await read(), { level: 9 }));
    return packed.get(path);
  };
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const path = pathname.endsWith("/") ? `${pathname}index.html` : pathname;
    try {
      const body = await pack(path);
      loads.set(path, body.length);
      response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream", "content-encoding": "gzip", ...headers });
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
  const change = (pattern, how) => changes.set(pattern, how);
  const restore = () => {
    changes.clear();
    for (const name of Object.keys(headers)) delete headers[name];
  };
  return { url, loads, headers, change, restore, close };
}
