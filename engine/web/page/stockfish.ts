/** Stockfish in a worker, by UCI; available if the page was built with it. */
import type { Rules } from "./rules";
import type { PendingSearch, Searcher } from "./searcher";
import type { Iteration, SearchRequest, SearchResult, WhiteScore } from "./types";

/** Whether the page was built with Stockfish. */
export const available = Boolean(import.meta.env.VITE_STOCKFISH);

/** Time limit for the first answer, in milliseconds: the net alone has some megabytes. */
const START_TIME = 120_000;

export class Stockfish implements Searcher {
  private worker: Worker | null = null;
  private pending: PendingSearch | null = null;

  constructor(private readonly rules: Rules) {}

  search(request: SearchRequest, report: (iteration: Iteration) => void): Promise<SearchResult | null> {
    this.stop();
    const white = this.rules.position(request).turn === "white";
    const last: SearchResult = { best: null, score: { cp: 0 }, depth: 0, nodes: 0, time: 0, choice: null };
    return new Promise((resolve, reject) => {
      const worker = (this.worker ??= new Worker("./stockfish/stockfish-19-lite-single.js"));
      const pending = (this.pending = { report, resolve, reject });
      const failed = (why: string) => {
        if (this.pending !== pending) return;
        this.pending = null;
        this.close();
        reject(new Error(why));
      };
      const deadline = setTimeout(() => failed("Stockfish does not start"), START_TIME);
      worker.onerror = (event) => {
        event.preventDefault();
        failed(event.message || "Stockfish could not be loaded");
      };
      worker.onmessage = ({ data }: MessageEvent<string>) => {
        clearTimeout(deadline);
        const line = String(data);
        const iteration = line.startsWith("info ") ? parse(line, white) : null;
        if (iteration) {
          const after = this.rules.game({ start: request.start, moves: [...request.moves, ...iteration.pv] });
          iteration.san = after.plies.slice(request.moves.length).map((ply) => ply.san);
          Object.assign(last, iteration);
          report(iteration);
        } else if (line.startsWith("bestmove ")) {
          this.pending = null;
          resolve({ ...last, best: line.split(" ")[1] });
        }
      };
      const moves = request.moves.length ? ` moves ${request.moves.join(" ")}` : "";
      worker.postMessage(`setoption name UCI_LimitStrength value ${request.elo !== undefined}`);
      if (request.elo) worker.postMessage(`setoption name UCI_Elo value ${Math.max(request.elo, LEAST_ELO)}`);
      worker.postMessage(`position ${request.start ? `fen ${request.start}` : "startpos"}${moves}`);
      worker.postMessage(`go ${limits(request, white)}`);
    });
  }

  stop() {
    if (this.pending) this.close();
  }

  close() {
    this.pending?.resolve(null);
    this.pending = null;
    this.worker?.terminate();
    this.worker = null;
  }
}

/** Stockfish's smallest `UCI_Elo`. */
const LEAST_ELO = 1320;

function limits({ depth, nodes, movetime, clock }: SearchRequest, white: boolean): string {
  if (depth) return `depth ${depth}`;
  if (nodes) return `nodes ${nodes}`;
  if (clock) {
    const side = white ? "w" : "b";
    return `${side}time ${Math.round(clock.remaining)} ${side}inc ${Math.round(clock.increment)}`;
  }
  return `movetime ${movetime ?? 1000}`;
}

/** An `info` line with a principal variation, from White's view. */
function parse(line: string, white: boolean): Iteration | null {
  const words = line.split(" ");
  const after = (name: string, by = 1) => words[words.indexOf(name) + by];
  const number = (name: string, by = 1) => (words.includes(name) ? Number(after(name, by)) : 0);
  if (!words.includes("pv") || !words.includes("score")) return null;
  const value = number("score", 2) * (white ? 1 : -1);
  const score: WhiteScore = after("score") === "mate" ? { mate: value } : { cp: value };
  return {
    depth: number("depth"),
    rank: number("multipv") || 1,
    score,
    bound: line.includes("lowerbound") ? "lower" : line.includes("upperbound") ? "upper" : "exact",
    nodes: number("nodes"),
    time: number("time"),
    pv: words.slice(words.indexOf("pv") + 1),
    san: [],
  };
}
