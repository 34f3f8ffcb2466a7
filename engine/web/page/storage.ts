/** What survives a reload: small things in the browser's storage, nets in its cache. */
const PREFIX = "kibitz.";

/** The browser may forbid these, and throws even where they are only named. */
const AREAS = { tab: () => sessionStorage, browser: () => localStorage };
type Area = keyof typeof AREAS;

/**
 * What was kept under a name, `undefined` where nothing was. It may be of
 * another version of the page, or damaged: whoever asks has to look at it.
 */
export function load(name: string, area: Area = "browser"): unknown {
  let text: string | null;
  try {
    text = AREAS[area]().getItem(PREFIX + name);
  } catch {
    return undefined;
  }
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}

/** Whether the browser keeps it. */
export function save(name: string, value: unknown, area: Area = "browser"): boolean {
  try {
    AREAS[area]().setItem(PREFIX + name, JSON.stringify(value));
    return true;
  } catch {
    // Full, or forbidden.
    return false;
  }
}

/** Forgets all of this but nets. */
export function forgetAll() {
  for (const area of Object.values(AREAS)) {
    try {
      const kept = area();
      for (const key of Object.keys(kept)) if (key.startsWith(PREFIX)) kept.removeItem(key);
    } catch {
      // Then nothing was kept.
    }
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
