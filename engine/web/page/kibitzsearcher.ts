/** Kibitz in a worker. */
import type { Evaluator } from "./evaluators";
import { EvaluatorError, type PendingSearch, type Searcher } from "./searcher";
import { Team, newWorker } from "./team";
import type { Iteration, SearchRequest, SearchResult } from "./types";
import type { FromWorker, ToWorker } from "./workermessages";

/** Time limit for a worker to get ready, in milliseconds. */
const START_TIME = 20_000;

export class KibitzSearcher implements Searcher {
  private worker: Worker | null = null;
  private team: Team | null = null;
  private pending: PendingSearch | null = null;
  private policy: ArrayBuffer | undefined;
  /** Ends what waits for the worker's end. */
  private leave = new AbortController();

  constructor(
    private readonly module: WebAssembly.Module,
    private evaluator: Evaluator,
    private threads = 1,
  ) {}

  /** Searches with another evaluator from the next search on. */
  use(evaluator: Evaluator) {
    if (evaluator === this.evaluator) return;
    this.evaluator = evaluator;
    this.close();
  }

  /** Knows what people play from the next search on. */
  usePolicy(policy: ArrayBuffer) {
    if (policy === this.policy) return;
    this.policy = policy;
    this.close();
  }

  /** Searches with so many threads from the next search on. */
  useThreads(threads: number) {
    if (threads === this.threads) return;
    this.threads = threads;
    this.close();
  }

  search(request: SearchRequest, report: (iteration: Iteration) => void): Promise<SearchResult | null> {
    this.stop();
    // Searches by nodes or depth must be repeatable, and those at a rating weak: no helpers.
    const joint = this.threads > 1 && !request.nodes && !request.depth && !request.elo && !request.person;
    if (joint && !this.team) {
      this.endWorker();
      this.team = this.join();
    }
    return new Promise((resolve, reject) => {
      const worker = this.worker ?? this.start();
      this.pending = { report, resolve, reject };
      if (joint) this.team?.begin(request);
      worker.postMessage({ task: "search", request } satisfies ToWorker);
    });
  }

  stop() {
    if (!this.pending) return;
    this.endWorker();
    // The next one is ready before it is asked.
    this.start();
  }

  close() {
    this.endWorker();
    this.team?.close();
    this.team = null;
  }

  /** The team stays, and its table. */
  private endWorker() {
    this.settle()?.resolve(null);
    this.leave.abort();
    this.worker?.terminate();
    this.worker = null;
  }

  private settle(): PendingSearch | null {
    const { pending } = this;
    this.team?.end();
    this.pending = null;
    return pending;
  }

  private join(): Team | null {
    try {
      return new Team(this.module, this.evaluator, this.threads);
    } catch {
      // No memory for a table.
      return null;
    }
  }

  private start(): Worker {
    const worker = newWorker();
    this.worker = worker;
    this.leave = new AbortController();
    const failed = (error: Error) => {
      if (this.worker !== worker) return;
      const pending = this.settle();
      this.close();
      pending?.reject(error);
    };
    const deadline = setTimeout(() => failed(new Error("it does not start")), START_TIME);
    const lock = `kibitz-${Math.random()}`;
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (this.worker !== worker) return;
      if ("ready" in data) {
        clearTimeout(deadline);
        // The lock is granted once the worker has ended, for any reason.
        navigator.locks
          ?.request(lock, { signal: this.leave.signal }, () => failed(new Error("its worker has ended")))
          .catch(() => {});
      } else if ("iteration" in data) this.pending?.report(data.iteration);
      else if ("result" in data) this.settle()?.resolve(data.result);
      else if (data.by === "evaluator" && this.evaluator.net) failed(new EvaluatorError(this.evaluator, data.failed));
      else failed(new Error(data.failed));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      failed(new Error(event.message || "its worker could not be loaded"));
    };
    const { module, team, policy } = this;
    const { kind, net } = this.evaluator;
    worker.postMessage({ task: "start", module, evaluator: { kind, net }, policy, memory: team?.memory, lock } satisfies ToWorker);
    return worker;
  }
}
