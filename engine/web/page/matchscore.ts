/** The score of a match between two engines, and when its games end early. */
import type { Result } from "./format";
import type { SideName, WhiteScore } from "./types";

/** A game is over where both engines see one side ahead by this, in centipawns, in so many plies in a row. */
const WON = 700;
const WON_PLIES = 8;
/** ... and drawn where neither sees more than this in so many plies, from this ply on. */
const DRAWN = 10;
const DRAWN_PLIES = 16;
const DRAWN_FROM = 80;
/** Smallest number of games that Elo is shown for. */
export const LEAST_GAMES = 10;
/** Standard errors of the 95 % interval. */
const Z_95 = 1.96;

/**
 * Returns the adjudicated result of a match game, or `null`. `found` has the search score after
 * each move; the last position is not searched yet.
 */
export function agreed(found: (WhiteScore | null)[]): Result | null {
  const scores = found.slice(0, -1).map((score) => (!score ? null : "mate" in score ? Math.sign(score.mate) * 10_000 : score.cp));
  const lately = (plies: number, test: (score: number) => boolean) =>
    scores.length >= plies && scores.slice(-plies).every((score) => score !== null && test(score));
  const reason = "adjudication";
  if (lately(WON_PLIES, (score) => score >= WON)) return { winner: "white", reason };
  if (lately(WON_PLIES, (score) => score <= -WON)) return { winner: "black", reason };
  if (scores.length >= DRAWN_FROM && lately(DRAWN_PLIES, (score) => Math.abs(score) <= DRAWN)) return { winner: null, reason };
  return null;
}

/** The side that the match's first player has in a game: each opening is played with both colours. */
export const sideOfFirst = (game: number): SideName => (game % 2 === 0 ? "white" : "black");

/** From the first player's view. */
export interface MatchScore {
  won: number;
  drawn: number;
  lost: number;
  points: number;
  /** `null` where the games are too few, or too much alike. */
  elo: { value: number; error: number } | null;
}

export function scoreOf(games: Pick<Result, "winner">[]): MatchScore {
  const points = games.map(({ winner }, game): number => (winner === null ? 0.5 : winner === sideOfFirst(game) ? 1 : 0));
  const count = (point: number) => points.filter((other) => other === point).length;
  return { won: count(1), drawn: count(0.5), lost: count(0), points: sum(points), elo: eloOf(points) };
}

const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);
const logistic = (score: number) => -400 * Math.log10(1 / score - 1);

/** The difference in Elo and half of its 95 % interval, by the games of whole pairs. */
function eloOf(points: number[]): MatchScore["elo"] {
  const pairs = Array.from({ length: Math.floor(points.length / 2) }, (_, pair) => (points[2 * pair] + points[2 * pair + 1]) / 2);
  if (points.length < LEAST_GAMES) return null;
  const mean = sum(pairs) / pairs.length;
  const variance = sum(pairs.map((score) => (score - mean) ** 2)) / (pairs.length - 1);
  const half = Z_95 * Math.sqrt(variance / pairs.length);
  if (half === 0 || mean - half <= 0 || mean + half >= 1) return null;
  return { value: logistic(mean), error: (logistic(mean + half) - logistic(mean - half)) / 2 };
}
