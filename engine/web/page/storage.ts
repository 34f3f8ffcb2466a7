/** What survives a reload: small things in the browser's local storage, nets in its cache. */
const PREFIX = "kibitz.";

export function load<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

export function save(name: string, value: unknown) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Full, or forbidden: the game goes on, it just will not be there again.
  }
}

/** Not named as the service worker's caches are, which it tidies away. */
const NETS = "nets-of-the-visitor";
const address = (name: string) => `./${encodeURIComponent(name)}`;

/** Nets that the visitor has brought, by name. Where the browser keeps none there are none. */
export const nets = {
  async names(): Promise<string[]> {
    try {
      const kept = await (await caches.open(NETS)).keys();
      return kept.map(({ url }) => decodeURIComponent(new URL(url).pathname.split("/").at(-1) ?? ""));
    } catch {
      return [];
    }
  },

  async get(name: string): Promise<ArrayBuffer> {
    const kept = await (await caches.open(NETS)).match(address(name));
    if (!kept) throw new Error(`${name} is not kept any more`);
    return kept.arrayBuffer();
  },

  /** Whether the browser keeps it. */
  async keep(name: string, net: ArrayBuffer): Promise<boolean> {
    try {
      await (await caches.open(NETS)).put(address(name), new Response(net));
      return true;
    } catch {
      // Full, or forbidden. Another of this name, kept before, would be taken for it.
      await nets.forget(name);
      return false;
    }
  },

  async forget(name: string) {
    try {
      await (await caches.open(NETS)).delete(address(name));
    } catch {
      // Then nothing was kept.
    }
  },
};
