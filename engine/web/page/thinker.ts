/** Who can be asked for a move: Kibitz in its worker, or another engine in its own. */
import type { Brain } from "./brains";
import type { Line, Score } from "./rules";
import type { Task } from "./worker";

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
  /** The move, or `null` where the search was stopped. */
  search(wish: Wish, report: (report: Report) => void): Promise<Found | null>;
  stop(): void;
}

/** Kibitz in a worker. */
export class Thinker implements Searcher {
  private worker: Worker | null = null;
  private brain: Brain;
  private end: ((found: null) => void) | null = null;

  constructor(
    private readonly module: WebAssembly.Module,
    brain: Brain,
  ) {
    this.brain = brain;
  }

  /** Thinks with another brain from the next search on. */
  use(brain: Brain) {
    if (brain === this.brain) return;
    this.brain = brain;
    this.drop();
  }

  search(wish: Wish, report: (report: Report) => void): Promise<Found | null> {
    this.stop();
    const worker = (this.worker ??= this.start());
    return new Promise((resolve, reject) => {
      this.end = resolve;
      const finish = (settle: () => void) => {
        worker.onmessage = worker.onerror = null;
        this.end = null;
        settle();
      };
      worker.onmessage = ({ data }) => {
        if ("report" in data) report(data.report);
        else if ("found" in data) finish(() => resolve(data.found));
        else finish(() => reject(new Error(data.error)));
      };
      worker.onerror = (event) => {
        finish(() => reject(new Error(event.message)));
        this.drop();
      };
      worker.postMessage({ task: "search", wish } satisfies Task);
    });
  }

  stop() {
    if (!this.end) return;
    this.end(null);
    this.drop();
    // The next one is ready before it is asked.
    this.worker = this.start();
  }

  private drop() {
    this.worker?.terminate();
    this.worker = this.end = null;
  }

  private start(): Worker {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    const { kind, net } = this.brain;
    worker.postMessage({ task: "start", module: this.module, kind, net } satisfies Task);
    return worker;
  }
}
