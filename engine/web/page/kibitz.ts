/** The module: requests go in, and what they bring comes out. */
import type { Answer, Iteration, Reply, Request } from "./types";

/** The module's functions, as `engine/web/src/exports.rs` has them. */
interface Exports {
  memory: WebAssembly.Memory;
  allocate(length: number): number;
  ask(start: number, length: number): number;
  load_net(start: number, length: number): number;
  answer_start(): number;
}

/** The module has panicked, or has found no memory. */
export class Breakdown extends Error {}

type Op = Request["op"];
/** What a request of this name brings. */
export type ReplyTo<O extends Op> = Extract<Reply, Record<O, unknown>>[O];

/** An instance of the module. */
export class Kibitz {
  private constructor(
    private exports: Exports,
    private readonly another: () => Exports,
  ) {}

  /** `report` is told of every iteration of a search. */
  static async start(
    module: WebAssembly.Module,
    report: (iteration: Iteration) => void = () => {},
  ): Promise<Kibitz> {
    const host = {
      now: () => performance.now(),
      report: (start: number, length: number) => report(JSON.parse(kibitz.read(start, length)) as Iteration),
    };
    const exportsOf = ({ exports }: WebAssembly.Instance) => exports as unknown as Exports;
    const kibitz = new Kibitz(
      exportsOf(await WebAssembly.instantiate(module, { host })),
      () => exportsOf(new WebAssembly.Instance(module, { host })),
    );
    return kibitz;
  }

  /**
   * Throws an `Error` that says why where there is no reply. After a
   * `Breakdown` it can be asked again, and has its own net.
   */
  ask<R extends Request>(request: R): ReplyTo<R["op"]> {
    const reply = this.call("ask", new TextEncoder().encode(JSON.stringify(request)));
    return reply[request.op] as ReplyTo<R["op"]>;
  }

  /** As `ask`. */
  loadNet(net: ArrayBuffer) {
    this.call("load_net", new Uint8Array(net));
  }

  private call(name: "ask" | "load_net", bytes: Uint8Array): Partial<Record<Op, unknown>> {
    let text: string;
    try {
      const start = this.exports.allocate(bytes.length);
      this.view(start, bytes.length).set(bytes);
      const length = this.exports[name](start, bytes.length);
      text = this.read(this.exports.answer_start(), length);
    } catch (error) {
      // An instance that has panicked answers nothing any more.
      try {
        this.exports = this.another();
      } catch {
        // No memory for another now; the next request has it tried again.
      }
      throw new Breakdown(`the engine broke down (${(error as Error).message})`);
    }
    const answer = JSON.parse(text) as Answer;
    if ("error" in answer) throw new Error(answer.error);
    return answer.ok;
  }

  private read(start: number, length: number): string {
    return new TextDecoder().decode(this.view(start, length));
  }

  /** Addresses come as signed numbers. */
  private view(start: number, length: number): Uint8Array {
    return new Uint8Array(this.exports.memory.buffer, start >>> 0, length);
  }
}
