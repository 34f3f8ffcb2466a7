/** Rules, notation and evaluation, answered at once on the main thread. */
import type { Color, Key } from "chessground/types";
import type { Kibitz } from "./kibitz";

/** From White's view: centipawns, or moves to mate. */
export type Score = { cp: number } | { mate: number };

/** A game from its start, `null` for the usual one, and its moves as UCI has them. */
export interface Line {
  start: string | null;
  moves: string[];
}

export interface Ending {
  reason: "checkmate" | "stalemate" | "repetition" | "fiftyMoves" | "insufficientMaterial";
  winner: Color | null;
}

export interface Ply {
  uci: string;
  san: string;
  fen: string;
  key: string;
  check: boolean;
  capture: boolean;
  castles: boolean;
}

export interface GameReport {
  start: string;
  start_key: string;
  plies: Ply[];
  ending: Ending | null;
}

export interface PositionReport {
  fen: string;
  turn: Color;
  check: boolean;
  dests: Record<Key, Key[]>;
  promotions: string[];
  ending: Ending | null;
  bare: Color[];
  halfmoves: number;
  occurrences: number;
}

export interface ReadGame extends Line {
  tags: [string, string][];
  evals: (Score | null)[];
  result: string | null;
  error: string | null;
}

export interface Worth {
  square: Key;
  worth: number;
  lifted: number;
}

export interface Description {
  kind: "network" | "material";
  sizes: number[];
  parameters: number;
  training: unknown;
  dataset: unknown;
}

export interface WrittenGame extends Line {
  tags: [string, string][];
  result: string;
  evals: (Score | null)[];
}

export class Rules {
  constructor(private readonly kibitz: Kibitz) {}

  game(line: Line): GameReport {
    return this.kibitz.ask({ op: "game", ...line });
  }

  position(line: Line): PositionReport {
    return this.kibitz.ask({ op: "position", ...line });
  }

  /** The move that a person has typed, as UCI has it. */
  parseMove(line: Line, text: string): string {
    return this.kibitz.ask({ op: "parseMove", ...line, text });
  }

  readPgn(text: string): ReadGame[] {
    return this.kibitz.ask({ op: "readPgn", text });
  }

  writePgn(game: WrittenGame): string {
    return this.kibitz.ask({ op: "writePgn", ...game });
  }

  evaluate(line: Line): { value: number; pieces: Worth[] } {
    return this.kibitz.ask({ op: "evaluate", ...line });
  }

  /** From now on evaluates with this brain; throws where its net is refused. */
  use(brain: { kind: "network" | "material"; net: ArrayBuffer | null }): Description {
    if (brain.net) this.kibitz.loadNet(brain.net);
    return this.kibitz.ask({ op: "use", kind: brain.kind, embedded: !brain.net });
  }
}
