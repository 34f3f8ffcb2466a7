/** Openings that Kibitz varies by the results of the visitor's games. */
import { type PlayedGame, playedGames } from "./archive";
import type { GameState } from "./gamestate";
import type { Openings } from "./openings";
import type { Rules } from "./rules";
import type { Searcher } from "./searcher";
import { other } from "./side";
import { load } from "./storage";
import type { Iteration, SearchResult, SideName } from "./types";

/** Plies that may come from the book. */
const PLIES = 20;
/** Moves that are no more worse than this, in centipawns, may be played. */
const MARGIN = 40;
/** The search that tells which they are. */
const NODES = 20_000;
const LINES = 8;

/** Results of a move for its side: a win is a point, a draw half a point. */
export interface Arm {
  games: number;
  points: number;
}

/** Which of some moves to play, the search's favourite first: UCB1 (Auer, Cesa-Bianchi, Fischer 2002). */
export function pick(arms: Arm[]): number {
  const untried = arms.findIndex(({ games }) => games === 0);
  if (untried >= 0) return untried;
  const all = arms.reduce((sum, { games }) => sum + games, 0);
  const bound = ({ games, points }: Arm) => points / games + Math.sqrt((2 * Math.log(all)) / games);
  const bounds = arms.map(bound);
  return bounds.indexOf(Math.max(...bounds));
}

/** Returns the opponent's results in the visitor's games that reached a position. */
export function armOf(games: PlayedGame[], key: string): Arm {
  const reached = games.filter(({ keys }) => keys.includes(key));
  const points = reached.map(({ side, winner }): number => (winner === null ? 0.5 : winner === side ? 0 : 1));
  return { games: reached.length, points: points.reduce((sum, point) => sum + point, 0) };
}

/** Whether openings are varied, which they are until that is switched off. */
export const varies = () => load("vary") !== false;

export class Book {
  /** Positions that have a name are the book. */
  openings: Openings | null = null;

  constructor(private readonly rules: Rules) {}

  /** A move by the results so far; `null` where there are none, or where the book has no choice. */
  async move(state: GameState, side: SideName, searcher: Searcher): Promise<SearchResult | null> {
    const { game, last, keys } = state;
    if (!this.openings || !varies() || !state.againstEngine || game.start !== null || last >= PLIES) return null;
    const games = playedGames().filter((played) => played.side === other(side));
    if (!armOf(games, keys[last]).games) return null;
    const lines: Iteration[] = [];
    const report = (iteration: Iteration) => {
      if (iteration.bound === "exact") lines[iteration.rank - 1] = iteration;
    };
    const result = await searcher.search({ ...game, nodes: NODES, lines: LINES }, report);
    if (!result || !lines[0]) return null;
    const sign = side === "white" ? 1 : -1;
    const worth = ({ score }: Iteration) => ("mate" in score ? Math.sign(score.mate) * 10_000 : score.cp) * sign;
    const candidates = lines
      .filter((line) => line?.pv.length && worth(line) >= worth(lines[0]) - MARGIN)
      .map((line) => ({ line, key: this.rules.game({ start: null, moves: [...game.moves, line.pv[0]] }).plies[last].key }))
      .filter(({ key }) => this.openings?.has(key));
    if (candidates.length < 2) return null;
    const { line } = candidates[pick(candidates.map(({ key }) => armOf(games, key)))];
    return { ...result, best: line.pv[0], score: line.score };
  }
}
