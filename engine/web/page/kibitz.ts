/** The module's functions, as `engine/web/src/exports.rs` has them. */
interface Exports {
  memory: WebAssembly.Memory;
  allocate(length: number): number;
  ask(start: number, length: number): number;
  load_net(start: number, length: number): number;
  answer_start(): number;
  bench_nodes(depth: number): bigint;
}

/** An instance of the module: questions and answers are JSON. */
export class Kibitz {
  private constructor(private readonly exports: Exports) {}

  /** `report` is told of every iteration of a search. */
  static async start(
    module: WebAssembly.Module,
    report: (json: string) => void = () => {},
  ): Promise<Kibitz> {
    const decoder = new TextDecoder();
    const host = {
      now: () => performance.now(),
      report: (start: number, length: number) => {
        report(decoder.decode(new Uint8Array(exports.memory.buffer, start, length)));
      },
    };
    const instance = await WebAssembly.instantiate(module, { host });
    const exports = instance.exports as unknown as Exports;
    return new Kibitz(exports);
  }

  /** Throws an `Error` that says why where there is no answer. */
  ask<Answer>(question: object): Answer {
    const bytes = new TextEncoder().encode(JSON.stringify(question));
    return this.answer(this.exports.ask(this.hand(bytes), bytes.length));
  }

  loadNet<Answer>(net: ArrayBuffer): Answer {
    const bytes = new Uint8Array(net);
    return this.answer(this.exports.load_net(this.hand(bytes), bytes.length));
  }

  /** Nodes of the engine's benchmark. */
  bench(depth: number): number {
    return Number(this.exports.bench_nodes(depth));
  }

  private hand(bytes: Uint8Array): number {
    const start = this.exports.allocate(bytes.length);
    new Uint8Array(this.exports.memory.buffer, start, bytes.length).set(bytes);
    return start;
  }

  private answer<Answer>(length: number): Answer {
    const start = this.exports.answer_start();
    const bytes = new Uint8Array(this.exports.memory.buffer, start, length);
    const answer = JSON.parse(new TextDecoder().decode(bytes)) as { ok: Answer } | { error: string };
    if ("error" in answer) throw new Error(answer.error);
    return answer.ok;
  }
}
