/** Who can be asked for a move: Kibitz in its worker, or another engine in its own. */
import type { Brain } from "./brains";
import type { Line, Score } from "./rules";
import type { Answer, Task } from "./worker";

/** An iteration of a search. */
export interface Report {
  depth: number;
  rank: number;
  score: Score;
  bound: "exact" | "lower" | "upper";
  nodes: number;
  /** Milliseconds. */
  time: number;
  pv: string[];
  san: string[];
}

/** What to search, and how long; times in milliseconds. */
export interface Wish extends Line {
  depth?: number;
  nodes?: number;
  movetime?: number;
  clock?: { remaining: number; increment: number };
  level?: "easy" | "medium" | "hard";
  lines?: number;
  chance?: number;
}

export interface Found {
  best: string | null;
  score: Score;
  depth: number;
  nodes: number;
  time: number;
}

export interface Searcher {
  /** The move, or `null` where the search was stopped; rejects where the engine fails. */
  search(wish: Wish, report: (report: Report) => void): Promise<Found | null>;
  stop(): void;
  /** Stops, and gives back what it has taken. */
  close(): void;
}

/** A search under way. */
export interface Pending {
  report(report: Report): void;
  resolve(found: Found | null): void;
  reject(error: Error): void;
}

/** The engine fails with this brain. */
export class BrainError extends Error {
  constructor(
    readonly brain: Brain,
    why: string,
  ) {
    super(`${brain.name} cannot be used: ${why}`);
  }
}

/** How long a worker may take to be ready, in milliseconds. */
const START_TIME = 20_000;

/** Kibitz in a worker. */
export class Thinker implements Searcher {
  private worker: Worker | null = null;
  private pending: Pending | null = null;
  /** Ends what waits for the worker's end. */
  private leave = new AbortController();

  constructor(
    private readonly module: WebAssembly.Module,
    private brain: Brain,
  ) {}

  /** Thinks with another brain from the next search on. */
  use(brain: Brain) {
    if (brain === this.brain) return;
    this.brain = brain;
    this.close();
  }

  search(wish: Wish, report: (report: Report) => void): Promise<Found | null> {
    this.stop();
    return new Promise((resolve, reject) => {
      const worker = this.worker ?? this.start();
      this.pending = { report, resolve, reject };
      worker.postMessage({ task: "search", wish } satisfies Task);
    });
  }

  stop() {
    if (!this.pending) return;
    this.close();
    // The next one is ready before it is asked.
    this.start();
  }

  close() {
    this.settle()?.resolve(null);
    this.leave.abort();
    this.worker?.terminate();
    this.worker = null;
  }

  private settle(): Pending | null {
    const { pending } = this;
    this.pending = null;
    return pending;
  }

  private start(): Worker {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
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
    worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      if (this.worker !== worker) return;
      if ("ready" in data) {
        clearTimeout(deadline);
        // The worker's lock is had when it has ended, whatever the reason.
        navigator.locks
          ?.request(lock, { signal: this.leave.signal }, () => failed(new Error("its worker has ended")))
          .catch(() => {});
      } else if ("report" in data) this.pending?.report(data.report);
      else if ("found" in data) this.settle()?.resolve(data.found);
      else if (data.by === "brain" && this.brain.net) failed(new BrainError(this.brain, data.failed));
      else failed(new Error(data.failed));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      failed(new Error(event.message || "its worker could not be loaded"));
    };
    const { kind, net } = this.brain;
    worker.postMessage({ task: "start", module: this.module, brain: { kind, net }, lock } satisfies Task);
    return worker;
  }
}
