/**
 * Workers that help another one search. All have one transposition table, in memory that they share: only a page
 * that is isolated from other origins has such memory, and a host makes it so by two headers. Where the host
 * does not, the service worker does, from the second visit on.
 */
import type { Evaluator } from "./evaluators";
import type { SearchRequest } from "./types";
import type { FromWorker, ToWorker } from "./workermessages";

/** `MAX_HELPERS` of the module, and the worker that they help. */
const MOST_THREADS = 16;

/** The most threads that a search may have here: 1 where memory cannot be shared. */
export const mostThreads = globalThis.crossOriginIsolated ? Math.min(navigator.hardwareConcurrency, MOST_THREADS) : 1;

/** Pages of 64 KiB: the transposition table and the header before it. */
const PAGES = 513;

/** The first words of the memory, as `team.rs` has them: the search's number, and the nodes of each helper. */
const HEAD = 16;

export const newWorker = () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });

export class Team {
  readonly memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES, shared: true });
  private readonly helpers = new Set<Worker>();
  private hired = false;
  private readonly search = new Uint32Array(this.memory.buffer, 0, 1);
  private readonly nodes = new BigInt64Array(this.memory.buffer, 8, HEAD - 1);
  /** For helpers to come without a copy for each. */
  private readonly net: SharedArrayBuffer | null;

  constructor(
    private readonly module: WebAssembly.Module,
    private readonly evaluator: Evaluator,
    private readonly threads: number,
  ) {
    this.net = evaluator.net && new SharedArrayBuffer(evaluator.net.byteLength);
    if (evaluator.net && this.net) new Uint8Array(this.net).set(new Uint8Array(evaluator.net));
  }

  /** Has the helpers search too, until `end`; a search goes on without those that fail. */
  begin({ start, moves }: SearchRequest) {
    if (!this.hired) this.hire();
    this.nodes.fill(0n);
    let helper = 0;
    for (const worker of this.helpers) {
      const request = { start, moves, search: this.search[0], helper };
      worker.postMessage({ task: "help", request } satisfies ToWorker);
      helper += 1;
    }
  }

  end() {
    Atomics.add(this.search, 0, 1);
    this.nodes.fill(0n);
  }

  close() {
    for (const worker of this.helpers) worker.terminate();
    this.helpers.clear();
  }

  private hire() {
    this.hired = true;
    try {
      while (this.helpers.size < this.threads - 1) this.helpers.add(this.helper());
    } catch {
      // The browser allows no more.
    }
  }

  private helper(): Worker {
    const worker = newWorker();
    const dismiss = () => {
      worker.terminate();
      this.helpers.delete(worker);
    };
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if ("failed" in data) dismiss();
    };
    worker.onerror = (event) => {
      event.preventDefault();
      dismiss();
    };
    const { module, memory, net } = this;
    const { kind } = this.evaluator;
    worker.postMessage({ task: "start", module, evaluator: { kind, net }, memory } satisfies ToWorker);
    return worker;
  }
}
