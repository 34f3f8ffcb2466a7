/** Interface of an engine in a worker: Kibitz or Stockfish. */
import type { Evaluator } from "./evaluators";
import type { Finding, Iteration, SearchRequest, SearchResult } from "./types";

export interface Searcher {
  /** The move, or `null` where the search was stopped; rejects where the engine fails. */
  search(request: SearchRequest, report: (iteration: Iteration) => void): Promise<SearchResult | null>;
  stop(): void;
  /** Stops, and gives back what it has taken. */
  close(): void;
}

/** Nodes for each position of a game that is looked through for mistakes. */
export const REVIEW_NODES = 20_000;

/** Returns the finding of a search: `null` if the game is over, `undefined` if the search was stopped. */
export async function find(searcher: Searcher, request: SearchRequest): Promise<Finding | null | undefined> {
  let pv: string[] = [];
  const result = await searcher.search(request, (iteration) => {
    if (iteration.bound === "exact") ({ pv } = iteration);
  });
  if (!result) return undefined;
  return result.best ? { score: result.score, pv } : null;
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
