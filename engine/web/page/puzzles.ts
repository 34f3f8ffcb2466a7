/** Puzzles from mistakes: positions of games where a move gave away a fifth of the chance to win, or more. */
import { DEFAULT } from "./evaluators";
import { chance, sentence } from "./format";
import { KibitzSearcher } from "./kibitzsearcher";
import type { Rules } from "./rules";
import { fields, readGame } from "./saved";
import { REVIEW_NODES, find } from "./searcher";
import { isSide } from "./side";
import { load, save } from "./storage";
import type { Finding, Game, SideName, WhiteScore } from "./types";

/** The chance that a move gives away at least, for a puzzle. */
const LEAST_LOSS = 0.2;
/** A move that gives away no more than this solves it too. */
const FINE = 0.05;
/** Others are left out. */
const MOST_PUZZLES = 300;

export interface Puzzle {
  /** The game up to the position. */
  game: Game;
  side: SideName;
  /** The move played, in SAN. */
  played: string;
  /** Chance to win that the move gave away, from 0 to 1. */
  loss: number;
  better: string[];
  /** The mover's chance by the better move. */
  chance: number;
  /** Number of times that the puzzle was solved. */
  solved: number;
}

/** Returns the task of a puzzle or lesson: what was played, and what that gave away. */
export function taskText({ side, played, chance, loss }: Pick<Puzzle, "side" | "played" | "chance" | "loss">): string {
  const percent = (chance: number) => `${Math.round(100 * Math.max(0, chance))}%`;
  return `${sentence(side)} played ${played}: the chance to win fell from ${percent(chance)} to ${percent(chance - loss)}. Find a better move.`;
}

function readPuzzle(kept: unknown): Puzzle[] {
  const { game, side, played, loss, better, chance, solved } = fields(kept);
  const isNumber = (value: unknown): value is number => typeof value === "number";
  try {
    const moves = readGame({ start: null, moves: better }).moves;
    if (!isSide(side) || typeof played !== "string" || !isNumber(loss) || !isNumber(chance) || !isNumber(solved)) return [];
    return moves.length ? [{ game: readGame(game), side, played, loss, better: moves, chance, solved }] : [];
  } catch {
    return [];
  }
}

/** All that are kept on this device, as far as they can be read. */
export function keptPuzzles(): Puzzle[] {
  const kept = load("puzzles");
  return Array.isArray(kept) ? kept.flatMap(readPuzzle) : [];
}

export const keepPuzzles = (puzzles: Puzzle[]) => save("puzzles", puzzles);

const nameOf = ({ game }: Puzzle) => `${game.start} ${game.moves}`;

/** Appends the new ones of `found` to `puzzles`. */
export function joined(puzzles: Puzzle[], found: Puzzle[]): Puzzle[] {
  const known = new Set(puzzles.map(nameOf));
  return [...puzzles, ...found.filter((puzzle) => !known.has(nameOf(puzzle)))].slice(0, MOST_PUZZLES);
}

const ofSide = (score: WhiteScore, side: SideName) => (side === "white" ? chance(score) : 1 - chance(score));

/** Searches games for mistakes, and judges what the visitor plays in their place. */
export class PuzzleSearch {
  private readonly searcher: KibitzSearcher;

  constructor(
    module: WebAssembly.Module,
    private readonly rules: Rules,
  ) {
    this.searcher = new KibitzSearcher(module, DEFAULT);
  }

  stop() {
    this.searcher.close();
  }

  private look(game: Game): Promise<Finding | null | undefined> {
    return find(this.searcher, { ...game, nodes: REVIEW_NODES });
  }

  /** The puzzles in a game's moves by these sides; `null` where the search was stopped. */
  async find(game: Game, sides: SideName[]): Promise<Puzzle[] | null> {
    const { tree, report } = this.rules.grow(game);
    const findings: (Finding | null)[] = [];
    for (let ply = 0; ply <= game.moves.length; ply += 1) {
      const finding = await this.look({ ...game, moves: game.moves.slice(0, ply) });
      if (finding === undefined) return null;
      findings.push(finding);
    }
    const line = game.moves.map((_, index) => index + 1);
    const { mistakes } = this.rules.review({ tree, at: 0, line, findings, ratings: [null, null] });
    return mistakes
      .filter(({ loss, side, better }) => loss >= LEAST_LOSS && sides.includes(side) && better.length)
      .map(({ node, side, loss, better }) => ({
        game: { start: game.start, moves: game.moves.slice(0, node - 1) },
        side,
        played: report.plies[node - 1].san,
        loss,
        better,
        chance: ofSide((findings[node - 1] as Finding).score, side),
        solved: 0,
      }));
  }

  /** Whether a move is as good as the better one; `null` where the search was stopped. */
  async solves({ game, side, better, chance: best }: Puzzle, uci: string): Promise<boolean | null> {
    if (uci === better[0]) return true;
    const after = { ...game, moves: [...game.moves, uci] };
    const { ending } = this.rules.position(after);
    if (ending) return ending.winner === side || (!ending.winner && best <= 0.5 + FINE);
    const finding = await this.look(after);
    return finding ? best - ofSide(finding.score, side) <= FINE : null;
  }
}
