/** What passes between the page and the worker that searches. */
import type { Evaluator } from "./evaluators";
import type { HelpRequest, Iteration, SearchRequest, SearchResult } from "./types";

export type ToWorker =
  | {
      task: "start";
      module: WebAssembly.Module;
      evaluator: Pick<Evaluator, "kind"> & { net: ArrayBufferLike | null };
      /** That of the team, where the worker belongs to one. */
      memory?: WebAssembly.Memory;
      /** To be held as long as the worker lives. */
      lock?: string;
    }
  | { task: "search"; request: SearchRequest }
  | { task: "help"; request: HelpRequest };

export type FromWorker =
  | { ready: true }
  | { iteration: Iteration }
  | { result: SearchResult }
  /** Of no use any more; by the `evaluator` where it began well without it. */
  | { failed: string; by: "engine" | "evaluator" };
