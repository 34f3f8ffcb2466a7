/** Names of openings by position, which recognises transpositions. */

/** Hexadecimal digits kept of a position's key: a position without a name gets one once in 1.1 million. */
const KEY = 8;

export class Openings {
  private constructor(private readonly names: Map<string, { eco: string; name: string }>) {}

  static async fetch(): Promise<Openings> {
    const response = await fetch("./openings.tsv");
    if (!response.ok) throw new Error(`no opening names: ${response.status}`);
    const rows = (await response.text()).trimEnd().split("\n");
    const keys = Array.from(atob(rows.pop() ?? ""), (byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");
    if (keys.length !== KEY * rows.length) throw new Error("the opening names are damaged");
    const names = new Map<string, { eco: string; name: string }>();
    let eco = "";
    let above: string[] = [];
    rows.forEach((row, index) => {
      // `[ECO TAB][SHARED]REST`, as `scripts/assets.mjs` writes it.
      const [, code, shared, rest] = /^(?:(.*)\t)?(\d?)(.*)$/.exec(row) ?? [];
      eco = code ?? eco;
      above = [...above.slice(0, Number(shared)), ...(rest ? rest.split(/(?<=[:,]) /) : [])];
      names.set(keys.slice(KEY * index, KEY * (index + 1)), { eco, name: above.join(" ") });
    });
    return new Openings(names);
  }

  /** Returns whether the position of a key has a name. */
  has(key: string): boolean {
    return this.named(key) !== undefined;
  }

  /** Returns the name of the last position that has one. */
  last(keys: string[]): { eco: string; name: string } | undefined {
    const key = keys.findLast((key) => this.has(key));
    return key === undefined ? undefined : this.named(key);
  }

  private named(key: string): { eco: string; name: string } | undefined {
    return this.names.get(key.slice(0, KEY));
  }
}
