/** The module of endgame tables: it names the files that it needs, which come from the host. */

/** The module's functions, as `engine/web/tables/src/exports.rs` has them. */
interface Exports {
  memory: WebAssembly.Memory;
  allocate(length: number): number;
  list(start: number, length: number): void;
  bring(name: number, nameLength: number, start: number, length: number): void;
  ask(start: number, length: number): number;
  answer_start(): number;
}

/** Table verdict of a position, as `engine/web/tables/src/lib.rs` writes it. */
export interface Verdict {
  /** For the side to move. */
  result: "win" | "draw" | "loss";
  /** Plies to mate, or to a capture or pawn move. */
  plies: number;
  /** As UCI writes it. */
  best: string;
}

type Answer = { known: Verdict } | { wants: string } | "unknown";

export class Tables {
  /** Files that were asked for; one that does not come is not asked for again. */
  private readonly files = new Map<string, Promise<void>>();

  private constructor(private readonly exports: Exports) {}

  /** `names` are the host's files. */
  static async open(names: string[]): Promise<Tables> {
    const { instance } = await WebAssembly.instantiate(await fetchBytes("tables.wasm"));
    const exports = instance.exports as unknown as Exports;
    const tables = new Tables(exports);
    exports.list(...tables.write(new TextEncoder().encode(names.join(" "))));
    return tables;
  }

  /** `null` where no table has the position; throws where a file cannot be had. */
  async ask(fen: string): Promise<Verdict | null> {
    for (;;) {
      const answer = this.answer(fen);
      if (answer === "unknown") return null;
      if ("known" in answer) return answer.known;
      const { wants } = answer;
      const file = this.files.get(wants) ?? this.fetch(wants);
      this.files.set(wants, file);
      await file;
    }
  }

  private answer(fen: string): Answer {
    const length = this.exports.ask(...this.write(new TextEncoder().encode(fen)));
    const bytes = new Uint8Array(this.exports.memory.buffer, this.exports.answer_start() >>> 0, length);
    return JSON.parse(new TextDecoder().decode(bytes)) as Answer;
  }

  private async fetch(name: string) {
    const bytes = new Uint8Array(await fetchBytes(name));
    this.exports.bring(...this.write(new TextEncoder().encode(name)), ...this.write(bytes));
  }

  /** Where bytes lie in the module's memory, and how many they are. */
  private write(bytes: Uint8Array): [number, number] {
    const start = this.exports.allocate(bytes.length);
    new Uint8Array(this.exports.memory.buffer, start >>> 0, bytes.length).set(bytes);
    return [start, bytes.length];
  }
}

async function fetchBytes(name: string): Promise<ArrayBuffer> {
  const response = await fetch(`./tables/${name}`);
  if (!response.ok) throw new Error(`${name} could not be fetched: ${response.status}`);
  return response.arrayBuffer();
}
