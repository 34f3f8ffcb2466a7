/** Who can be asked for a move: Kibitz in its worker, or another engine in its own. */
import type { Evaluator } from "./evaluators";
import type { Iteration, SearchRequest, SearchResult } from "./types";

export interface Searcher {
  /** The move, or `null` where the search was stopped; rejects where the engine fails. */
  search(request: SearchRequest, report: (iteration: Iteration) => void): Promise<SearchResult | null>;
  stop(): void;
  /** Stops, and gives back what it has taken. */
  close(): void;
}

/** A search under way. */
export interface PendingSearch {
  report(iteration: Iteration): void;
  resolve(result: SearchResult | null): void;
  reject(error: Error): void;
}

/** The engine fails with this evaluator. */
export class EvaluatorError extends Error {
  constructor(
    readonly evaluator: Evaluator,
    why: string,
  ) {
    super(`${evaluator.name} cannot be used: ${why}`);
  }
}
