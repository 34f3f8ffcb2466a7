/** The game that the browser keeps, read with care: it may be of another version, or damaged. */
import type { Color } from "chessground/types";
import type { ClockSetting } from "./clock";
import { REASONS, type Result } from "./format";
import { type Side, type Strength, LIMITS, RATINGS } from "./side";
import { available as stockfish } from "./stockfish";
import type { Game, Tree, WhiteScore } from "./types";

/** Version of the saved format. The first format had no number, and games without variations. */
export const VERSION = 2;

export interface Saved extends Game {
  version: number | null;
  /** The game tree, checked by the module; `null` in the first format. */
  tree: Tree | null;
  /** The node looked at. */
  at: number;
  white: Side;
  black: Side;
  /** Begin of the game in milliseconds since 1970; `null` if it was not saved. */
  begun: number | null;
  clock: ClockSetting | null;
  left: Record<Color, number> | null;
  result: Result | null;
  /** Length of the game in plies when it was over; `null` in the first format. */
  over: number | null;
  /** Digest of the PGN text that the game was read from. */
  origin: string | null;
  /** Whether the game was changed since it was put on the board; true if that was not saved. */
  edited: boolean;
  /** Whether the game is an unchanged puzzle or of a match. */
  disposable: boolean;
  /** Tags of the first format. */
  tags: [string, string][];
  theirs: (WhiteScore | null)[];
  found: (WhiteScore | null)[];
  study: boolean;
  orientation: Color;
}

type Reader<T> = (kept: unknown) => T;

function fail(kept: unknown): never {
  throw new Error(`unreadable: ${JSON.stringify(kept)}`);
}

/** The fields of an object. */
export function fields(kept: unknown): Record<string, unknown> {
  return typeof kept === "object" && kept !== null ? (kept as Record<string, unknown>) : {};
}

const text: Reader<string> = (kept) => (typeof kept === "string" ? kept : fail(kept));
const flag: Reader<boolean> = (kept) => (typeof kept === "boolean" ? kept : fail(kept));

const time: Reader<number> = (kept) => (typeof kept === "number" && kept >= 0 ? kept : fail(kept));
/** A whole number of 32 bits. */
const whole: Reader<number> = (kept) => (typeof kept === "number" && (kept | 0) === kept ? kept : fail(kept));

const orNull =
  <T>(read: Reader<T>): Reader<T | null> =>
  (kept) =>
    kept === null ? null : read(kept);

const list =
  <T>(read: Reader<T>): Reader<T[]> =>
  (kept) =>
    Array.isArray(kept) ? kept.map(read) : fail(kept);

const oneOf =
  <const T>(...choices: readonly T[]): Reader<T> =>
  (kept) =>
    choices.find((choice) => choice === kept) ?? fail(kept);

const color = oneOf<Color>("white", "black");

const score: Reader<WhiteScore> = (kept) => {
  const { cp, mate } = fields(kept);
  return cp === undefined ? { mate: whole(mate) } : { cp: whole(cp) };
};

/** Levels that earlier pages offered, as ratings. */
const LEVELS: Record<string, number> = { easy: 800, medium: 1000, hard: 1200 };

const strength: Reader<Strength> = (kept) => {
  const { by, value } = fields(kept);
  const level = LEVELS[String(by)];
  if (level) return { by: "elo", value: level };
  if (by === "elo") return { by, value: Math.min(Math.max(whole(value), RATINGS.least), RATINGS.most) };
  if (by === "person" && whole(value) >= 0) return { by, value: whole(value) };
  for (const limit of LIMITS) if (by === limit && whole(value) > 0) return { by: limit, value: whole(value) };
  return { by: oneOf("full")(by) };
};

const side: Reader<Side> = (kept) => {
  const { who, strength: kind, brain } = fields(kept);
  const player = oneOf("human", "kibitz", "stockfish")(who);
  if (player === "stockfish" && !stockfish) fail(who);
  return { who: player, strength: strength(kind), evaluator: text(brain) };
};

const clock: Reader<ClockSetting> = (kept) => {
  const { initial, increment } = fields(kept);
  return { initial: time(initial), increment: time(increment) };
};

const left: Reader<Record<Color, number>> = (kept) => {
  const { white, black } = fields(kept);
  return { white: time(white), black: time(black) };
};

const result: Reader<Result> = (kept) => {
  const { winner, reason } = fields(kept);
  const reasons = Object.keys(REASONS) as (keyof typeof REASONS)[];
  return { winner: orNull(color)(winner), reason: orNull(oneOf(...reasons))(reason) };
};

const tag: Reader<[string, string]> = (kept) => {
  const [name, value] = list(text)(kept);
  return [text(name), text(value)];
};

/** The moves of a kept game; throws where they cannot be read. Whether they are legal, the rules say. */
export function readGame(kept: unknown): Game {
  const { start, moves } = fields(kept);
  return { start: orNull(text)(start), moves: list(text)(moves) };
}

/** A kept game; throws where anything of it cannot be read. */
export function readSaved(kept: unknown): Saved {
  const game = fields(kept);
  const version = game.version === undefined ? null : oneOf(VERSION)(game.version);
  const first = version === null;
  return {
    ...readGame(kept),
    version,
    tree: first ? null : ((game.tree ?? fail(game.tree)) as Tree),
    at: first ? 0 : whole(game.at),
    over: first ? null : whole(game.over),
    white: side(game.white),
    black: side(game.black),
    begun: game.begun === undefined ? null : time(game.begun),
    clock: orNull(clock)(game.clock),
    left: orNull(left)(game.left),
    result: orNull(result)(game.result),
    tags: list(tag)(game.tags),
    theirs: list(orNull(score))(game.theirs),
    found: list(orNull(score))(game.found),
    origin: game.origin === undefined ? null : orNull(text)(game.origin),
    edited: game.edited !== false,
    disposable: game.disposable === true,
    study: flag(game.study),
    orientation: color(game.orientation),
  };
}

/** A side as the browser keeps it, where the first pages called its evaluator a brain. */
const keptSide = ({ who, strength, evaluator }: Side) => ({ who, strength, brain: evaluator });

/** The saved form of a game, which `readSaved` reads. */
export function toKeep(game: Saved): object {
  return { ...game, white: keptSide(game.white), black: keptSide(game.black) };
}
