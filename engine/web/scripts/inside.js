// Serves the single file's fetches and workers from embedded data, by file name.
const GZIPPED = { FILES };
const WORKERS = { WORKERS };
const nameOf = (address) => String(address).split(/[?#]/)[0].split("/").at(-1);

const { fetch: fetchOutside, Worker: WorkerOutside } = globalThis;
globalThis.fetch = async (address, options) => {
  const file = GZIPPED[nameOf(address)];
  if (!file) return fetchOutside(address, options);
  const bytes = Uint8Array.from(atob(file), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
};
globalThis.Worker = class extends WorkerOutside {
  constructor(address, options) {
    const source = WORKERS[nameOf(address)];
    // file: pages cannot start module workers; this one has no imports, so a blob works.
    if (source) super(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    else super(address, options);
  }
};
