/** The module: requests go in, and what they bring comes out. */
import type { Answer, Iteration, Reply, Request } from "./types";

/** The module's functions, as `engine/web/src/exports.rs` has them. */
interface Exports {
  memory: WebAssembly.Memory;
  allocate(length: number): number;
  ask(start: number, length: number): number;
  load_net(start: number, length: number): number;
  load_policy(start: number, length: number): number;
  answer_start(): number;
}

/**
 * A module that reads and writes shared memory, and finds an entry of the transposition table there; JavaScript
 * could only do so by way of BigInts:
 *
 *     (import "m" "m" (memory 0 65536 shared))
 *     (func (export "load") (param i32) (result i64) (i64.load (local.get 0)))
 *     (func (export "store") (param i32 i64) (i64.store (local.get 0) (local.get 1)))
 *     (func (export "find") (param $entry i32) (param $key i64) (result i32) (local $end i32) (local $data i64)
 *       (local.set $end (i32.add (local.get $entry) (i32.const 64)))
 *       (loop $next
 *         (local.set $data (i64.load offset=8 (local.get $entry)))
 *         (if (i32.or (i64.eqz (local.get $data))
 *                     (i64.eq (i64.xor (i64.load (local.get $entry)) (local.get $data)) (local.get $key)))
 *           (then (return (local.get $entry))))
 *         (local.set $entry (i32.add (local.get $entry) (i32.const 16)))
 *         (br_if $next (i32.ne (local.get $entry) (local.get $end))))
 *       (i32.const 0))
 */
const SHARED = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 17, 3, 96, 1, 127, 1, 126, 96, 2, 127, 126, 0, 96, 2, 127, 126, 1, 127, 2, 11, 1, 1,
  109, 1, 109, 2, 3, 0, 128, 128, 4, 3, 4, 3, 0, 1, 2, 7, 23, 3, 4, 108, 111, 97, 100, 0, 0, 5, 115, 116, 111, 114,
  101, 0, 1, 4, 102, 105, 110, 100, 0, 2, 10, 81, 3, 7, 0, 32, 0, 41, 3, 0, 11, 9, 0, 32, 0, 32, 1, 55, 3, 0, 11, 61,
  2, 1, 127, 1, 126, 32, 0, 65, 192, 0, 106, 33, 2, 3, 64, 32, 0, 41, 3, 8, 33, 3, 32, 3, 80, 32, 0, 41, 3, 0, 32, 3,
  133, 32, 1, 81, 114, 4, 64, 32, 0, 15, 11, 32, 0, 65, 16, 106, 33, 0, 32, 0, 32, 2, 71, 13, 0, 11, 65, 0, 11,
);

/** Returns the module's imports for the memory of a team; zero words long without a team. */
async function shared(memory?: WebAssembly.Memory): Promise<WebAssembly.ModuleImports> {
  if (!memory) return { words: () => 0, load: () => 0n, store: () => {}, find: () => 0 };
  const { instance } = await WebAssembly.instantiate(SHARED, { m: { m: memory } });
  return { words: () => memory.buffer.byteLength / 8, ...instance.exports };
}

/** The module has panicked, or has found no memory. */
export class Breakdown extends Error {}

type Op = Request["op"];
/** Type of the reply to request `O`. */
export type ReplyTo<O extends Op> = Extract<Reply, Record<O, unknown>>[O];

/** An instance of the module. */
export class Kibitz {
  private constructor(
    private exports: Exports,
    private readonly another: () => Exports,
  ) {}

  /** Instantiates the module; `report` gets every iteration of a search, `memory` is shared by a team. */
  static async start(
    module: WebAssembly.Module,
    report: (iteration: Iteration) => void = () => {},
    memory?: WebAssembly.Memory,
  ): Promise<Kibitz> {
    const host = {
      now: () => performance.now(),
      report: (start: number, length: number) => report(JSON.parse(kibitz.read(start, length)) as Iteration),
    };
    const imports = { host, shared: await shared(memory) };
    const exportsOf = ({ exports }: WebAssembly.Instance) => exports as unknown as Exports;
    const kibitz = new Kibitz(
      exportsOf(await WebAssembly.instantiate(module, imports)),
      () => exportsOf(new WebAssembly.Instance(module, imports)),
    );
    return kibitz;
  }

  /**
   * Returns the reply to a request; throws an `Error` with the reason if there is none. After a
   * `Breakdown` the module can be asked again, and has its own net.
   */
  ask<R extends Request>(request: R): ReplyTo<R["op"]> {
    const reply = this.call("ask", new TextEncoder().encode(JSON.stringify(request)));
    return reply[request.op] as ReplyTo<R["op"]>;
  }

  /** As `ask`. */
  loadNet(net: ArrayBufferLike) {
    this.call("load_net", new Uint8Array(net));
  }

  /** As `ask`. */
  loadPolicy(policy: ArrayBufferLike) {
    this.call("load_policy", new Uint8Array(policy));
  }

  private call(name: "ask" | "load_net" | "load_policy", bytes: Uint8Array): Partial<Record<Op, unknown>> {
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
    return answer.ok as Partial<Record<Op, unknown>>;
  }

  private read(start: number, length: number): string {
    return new TextDecoder().decode(this.view(start, length));
  }

  /** Addresses come as signed numbers. */
  private view(start: number, length: number): Uint8Array {
    return new Uint8Array(this.exports.memory.buffer, start >>> 0, length);
  }
}
