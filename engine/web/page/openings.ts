/** Names of openings, by position, so that transpositions are recognised. */

export class Openings {
  private constructor(private readonly names: Map<string, { eco: string; name: string }>) {}

  static async fetch(): Promise<Openings> {
    const response = await fetch("./openings.tsv");
    if (!response.ok) throw new Error(`no opening names: ${response.status}`);
    const rows = (await response.text()).trimEnd().split("\n");
    return new Openings(
      new Map(
        rows.map((row) => {
          const [key, eco, name] = row.split("\t");
          return [key, { eco, name }];
        }),
      ),
    );
  }

  /** Whether a position has a name. */
  has(key: string): boolean {
    return this.names.has(key);
  }

  /** The name of the last position that has one. */
  last(keys: string[]): { eco: string; name: string } | undefined {
    const key = keys.findLast((key) => this.names.has(key));
    return key === undefined ? undefined : this.names.get(key);
  }
}
