/** The visitor's games against engines on this device, the newest last. */
import type { Result } from "./format";
import type { GameState } from "./gamestate";
import { fields } from "./saved";
import { isSide } from "./side";
import { load, save } from "./storage";
import type { SideName } from "./types";

/** Older ones are forgotten. */
const MOST_GAMES = 300;
/** Plies of a game whose positions count as its opening. */
const OPENING = 24;

/** A game that was played to its end. */
export interface PlayedGame {
  /** When it began, which tells it from others. */
  begun: number;
  start: string | null;
  moves: string[];
  /** The visitor's side. */
  side: SideName;
  winner: SideName | null;
  /** Keys of the positions of its opening, the start first. */
  keys: string[];
  /** Whether it was searched for mistakes. */
  searched: boolean;
}

const isText = (value: unknown): value is string => typeof value === "string";

function readGame(kept: unknown): PlayedGame[] {
  const { begun, start, moves, side, winner, keys, searched } = fields(kept);
  const sound = typeof begun === "number" && (start === null || isText(start)) && isSide(side) && (winner === null || isSide(winner));
  if (!sound || !Array.isArray(moves) || !moves.every(isText) || !Array.isArray(keys) || !keys.every(isText)) return [];
  return [{ begun, start, moves, side, winner, keys, searched: searched === true }];
}

/** All of them, as far as they can be read. */
export function playedGames(): PlayedGame[] {
  const kept = load("games");
  return Array.isArray(kept) ? kept.flatMap(readGame) : [];
}

/** Keeps these instead; whether the browser does. */
export function keepGames(games: PlayedGame[]): boolean {
  return save("games", games.slice(-MOST_GAMES));
}

/** Keeps the game that is over, where one person has played an engine. */
export function archive(state: GameState, { winner }: Result) {
  if (!state.againstEngine || state.study || state.last < 2) return;
  const { begun, game, report, main } = state;
  const keys = [report.startKey, ...main.slice(0, OPENING).map((node) => report.plies[node - 1].key)];
  const side = state.sides.white.who === "human" ? "white" : "black";
  const { start, moves } = game;
  // After moves were taken back the same game may end again.
  const others = playedGames().filter((other) => other.begun !== begun);
  keepGames([...others, { begun, start, moves, side, winner, keys, searched: false }]);
}
