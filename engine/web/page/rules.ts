/** Rules, notation and evaluation, answered at once on the main thread. */
import type { Color, Key } from "chessground/types";
import { Breakdown, type Kibitz } from "./kibitz";

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

/** What `Rules` wants to know of a brain. */
interface Mind {
  kind: "network" | "material";
  net: ArrayBuffer | null;
}

/** The value of a position and of each piece in it, in pawns from White's view. */
export interface Evaluation {
  value: number;
  pieces: Worth[];
}

export class Rules {
  private mind: Mind = { kind: "network", net: null };
  /** Whether the module has this brain: it loses it where it breaks down. */
  private minded = true;

  constructor(private readonly kibitz: Kibitz) {}

  game({ start, moves }: Line): GameReport {
    return this.ask({ op: "game", start, moves });
  }

  position(line: Line): PositionReport {
    return this.ask({ op: "position", ...line });
  }

  /** The move that a person has typed, as UCI has it. */
  parseMove(line: Line, text: string): string {
    return this.ask({ op: "parseMove", ...line, text });
  }

  readPgn(text: string): ReadGame[] {
    return this.ask({ op: "readPgn", text });
  }

  writePgn(game: WrittenGame): string {
    return this.ask({ op: "writePgn", ...game });
  }

  /** By the brain in use; throws where that is of no use. */
  evaluate(line: Line): Evaluation {
    if (!this.minded) this.load();
    const evaluation: Evaluation = this.ask({ op: "evaluate", ...line });
    const numbers = [evaluation.value, ...evaluation.pieces.map(({ worth }) => worth)];
    // JSON has `null` for what is no number.
    if (!numbers.every(Number.isFinite)) throw new Error("its values are no numbers");
    return evaluation;
  }

  /** From now on evaluates with this brain; throws where it is of no use, and keeps the one before. */
  use(mind: Mind): Description {
    const before = this.mind;
    this.mind = mind;
    try {
      const description = this.load();
      // A net that can be read may still break the module.
      this.evaluate({ start: null, moves: [] });
      return description;
    } catch (error) {
      this.mind = before;
      this.minded = false;
      throw error;
    }
  }

  private load(): Description {
    const { kind, net } = this.mind;
    if (net) this.kibitz.loadNet(net);
    const description: Description = this.ask({ op: "use", kind, embedded: !net });
    this.minded = true;
    return description;
  }

  private ask<Answer>(question: object): Answer {
    try {
      return this.kibitz.ask(question);
    } catch (error) {
      if (error instanceof Breakdown) this.minded = false;
      throw error;
    }
  }
}
