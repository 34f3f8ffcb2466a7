// Keeps what a first visit loads, so that later ones need no connection.
const PREFIX = "kibitz-";
const CACHE = PREFIX + "VERSION";
const SIMD_PROBE = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253,
  15, 253, 98, 11,
);
const FILES = ["./", ..."FILES", WebAssembly.validate(SIMD_PROBE) ? "SIMD" : "PLAIN"];

/** Only files of assets/ have their digest in their name. Of others the browser
 * may have those of the version before, and has to ask the host. */
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
    // Pages of the version before are still open, and will ask for its files.
    const old = (await others()).slice(0, -1);
    await Promise.all(old.map((key) => caches.delete(key)));
    await self.clients.claim();
  };
  event.waitUntil(tidy());
});

/** What the first of these caches has; a browser may forbid caches, or lose them. */
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
  // A page that asks for a reload has found what is kept damaged.
  const found = request.cache !== "reload" && (await kept(request, [CACHE]).catch(() => undefined));
  if (found) return found;
  const fresh = await fetch(request).catch(() => Response.error());
  // Nets and rivals that were asked for once are kept too.
  if (fresh.ok) event.waitUntil(keep(request, fresh.clone()).catch(() => {}));
  else {
    const old = await others().then((names) => kept(request, names)).catch(() => undefined);
    if (old) return old;
  }
  return fresh;
}

/** Isolated from other origins the page and its workers may share memory; few hosts send the headers for it. */
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
