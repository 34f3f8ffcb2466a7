/** Messages between the page and a search worker. */
import type { Evaluator } from "./evaluators";
import type { HelpRequest, Iteration, SearchRequest, SearchResult } from "./types";

export type ToWorker =
  | {
      task: "start";
      module: WebAssembly.Module;
      evaluator: Pick<Evaluator, "kind"> & { net: ArrayBufferLike | null };
      /** To play like people. */
      policy?: ArrayBufferLike;
      /** Shared memory of the team that the worker belongs to. */
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
  /** The worker has failed and ends; by the `evaluator` if the module started without it. */
  | { failed: string; by: "engine" | "evaluator" };
