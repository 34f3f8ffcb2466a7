/** Browser storage: small values in web storage, nets in the cache. */
const PREFIX = "kibitz.";

/** The browser may forbid these, and throws even where they are only named. */
const AREAS = { tab: () => sessionStorage, browser: () => localStorage };
type Area = keyof typeof AREAS;

/** Returns the text saved under a name; `null` if there is none, or storage is forbidden. */
export function loadText(name: string, area: Area = "browser"): string | null {
  try {
    return AREAS[area]().getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/**
 * Returns the value saved under a name, `undefined` if there is none. It may be of another version of the page, or
 * damaged: the caller must check it.
 */
export function load(name: string, area: Area = "browser"): unknown {
  const text = loadText(name, area);
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}

/** Saves a text; returns false if storage is full or forbidden. */
export function saveText(name: string, text: string, area: Area = "browser"): boolean {
  try {
    AREAS[area]().setItem(PREFIX + name, text);
    return true;
  } catch {
    return false;
  }
}

/** Saves a value as JSON; returns false if storage is full or forbidden. */
export function save(name: string, value: unknown, area: Area = "browser"): boolean {
  return saveText(name, JSON.stringify(value), area);
}

/** Names of the values saved in the browser that begin with `start`. */
export function namesOf(start: string): string[] {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(PREFIX + start)).map((key) => key.slice(PREFIX.length));
  } catch {
    return [];
  }
}

/** Returns whether the browser lets the page save anything. */
export function saveable(): boolean {
  const saved = saveText("probe", "");
  remove("probe");
  return saved;
}

/** Deletes a value saved in the browser. */
export function remove(name: string) {
  try {
    localStorage.removeItem(PREFIX + name);
  } catch {
    // Then nothing was kept.
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
