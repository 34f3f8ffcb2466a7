// Service worker: caches the page for offline use.
const PREFIX = "kibitz-";
const CACHE = PREFIX + "VERSION";
const SIMD_PROBE = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253,
  15, 253, 98, 11,
);
const FILES = ["./", ..."FILES", WebAssembly.validate(SIMD_PROBE) ? "SIMD" : "PLAIN"];

/** Request for precaching. Only files of assets/ have a digest in their name: the others must be
 * revalidated, or the browser's cache may return the previous version. */
const request = (file) => new Request(file, { cache: file.startsWith("assets/") ? "default" : "no-cache" });

self.addEventListener("install", (event) => {
  const fill = async () => {
    const cache = await caches.open(CACHE);
    await cache.addAll(FILES.map(request));
    await self.skipWaiting();
  };
  event.waitUntil(fill());
});

const others = async () => (await caches.keys()).filter((key) => key.startsWith(PREFIX) && key !== CACHE);

self.addEventListener("activate", (event) => {
  const tidy = async () => {
    // Keep the previous version: its pages may still be open and load files.
    const old = (await others()).slice(0, -1);
    await Promise.all(old.map((key) => caches.delete(key)));
    await self.clients.claim();
  };
  event.waitUntil(tidy());
});

/** First match in the named caches. Throws where the browser forbids caches. */
async function kept(request, names) {
  for (const name of names) {
    const cache = await caches.open(name);
    const found = await cache.match(request, { ignoreSearch: request.mode === "navigate" });
    if (found) return found;
  }
}

async function keep(request, response) {
  const cache = await caches.open(CACHE);
  await cache.put(request, response);
}

async function answer(event) {
  const { request } = event;
  // The page requests `reload` after finding a cached file damaged.
  const found = request.cache !== "reload" && (await kept(request, [CACHE]).catch(() => undefined));
  if (found) return found;
  const fresh = await fetch(request).catch(() => Response.error());
  // Cache nets and rivals on first use.
  if (fresh.ok) event.waitUntil(keep(request, fresh.clone()).catch(() => {}));
  else {
    const old = await others().then((names) => kept(request, names)).catch(() => undefined);
    if (old) return old;
  }
  return fresh;
}

/** Adds the headers for cross-origin isolation, which shared memory needs and few hosts send. */
function isolated(response) {
  if (!response.ok) return response;
  const { body, status, statusText } = response;
  const headers = new Headers(response.headers);
  headers.set("cross-origin-opener-policy", "same-origin");
  headers.set("cross-origin-embedder-policy", "require-corp");
  return new Response(body, { status, statusText, headers });
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && new URL(request.url).origin === location.origin) {
    const document = request.mode === "navigate" || request.destination === "worker";
    event.respondWith(document ? answer(event).then(isolated) : answer(event));
  }
});
