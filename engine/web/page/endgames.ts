/** Endgame tables of the host, if there are any: verdicts and best moves. */
import { beside } from "./beside";
import type { GameState } from "./gamestate";
import { sentence } from "./format";
import { other } from "./side";
import type { Tables, Verdict } from "./tables";
import type { SearchResult, SideName } from "./types";

/** No table has more. */
const MOST_MEN = 7;
/** Score of a table win, in centipawns. */
const WIN = 10_000;

const menOf = (fen: string) => fen.split(" ")[0].replace(/[^a-z]/gi, "").length;

export class Endgames {
  private tables: Promise<Tables> | null = null;
  /** Whether tables were of no use, and are not asked again. */
  private failed = false;

  /** `null` where no table has the position. */
  async ask(fen: string): Promise<Verdict | null> {
    const men = menOf(fen);
    if (men > MOST_MEN || this.failed) return null;
    try {
      const { tables: names } = await beside();
      if (!names.some((name) => name.split(".")[0].length > men)) return null;
      this.tables ??= import("./tables").then(({ Tables }) => Tables.open(names));
      return await (await this.tables).ask(fen);
    } catch (error) {
      console.warn("the endgame tables:", error);
      this.failed = true;
      return null;
    }
  }

  /** The move that the tables would have an engine play; `null` where they have none, and for weaker play. */
  async move({ fen, sides }: GameState, side: SideName): Promise<SearchResult | null> {
    const verdict = sides[side].strength.by === "elo" ? null : await this.ask(fen);
    if (!verdict) return null;
    const white = side === "white" ? WIN : -WIN;
    const cp = { win: white, draw: 0, loss: -white }[verdict.result];
    return { best: verdict.best, score: { cp }, depth: 0, nodes: 0, time: 0, choice: null };
  }
}

/** Returns a verdict as a sentence; `turn` is the side to move. */
export function verdictText({ result, plies }: Verdict, turn: SideName): string {
  if (result === "draw") return "Tables: draw.";
  const moves = Math.ceil(plies / 2);
  const winner = sentence(result === "win" ? turn : other(turn));
  return `Tables: ${winner} wins; mate, capture or pawn move within ${moves === 1 ? "1 move" : `${moves} moves`}.`;
}
