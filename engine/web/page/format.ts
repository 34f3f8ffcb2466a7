/** Numbers and names for people. */
import type { EndingReason, Ply, WhiteScore } from "./types";

/** Returns a score from White's view: `+0.35`, `−1.20`, `≥+10`, `≤−10`, `#3`, `#−4`. */
export function scoreText(score: WhiteScore, digits = 2): string {
  if ("mate" in score) return `#${signed(String(Math.abs(score.mate)), score.mate < 0, false)}`;
  if (Math.abs(score.cp) > 1000) return score.cp < 0 ? "≤−10" : "≥+10";
  return pawns(score.cp / 100, digits);
}

export function pawns(value: number, digits = 2): string {
  const text = Math.abs(value).toFixed(digits);
  return signed(text, value < 0 && Number(text) > 0, Number(text) > 0);
}

/** `+12`, `−7`, `0`. */
export const signedCount = (number: number) => signed(String(Math.abs(number)), number < 0, number > 0);

function signed(text: string, negative: boolean, plus: boolean): string {
  return negative ? `−${text}` : plus ? `+${text}` : text;
}

/** White's chance from 0 to 1, by the curve that Lichess uses. */
export function chance(score: WhiteScore): number {
  if ("mate" in score) return score.mate > 0 ? 1 : 0;
  return 1 / (1 + Math.exp(-0.00368208 * score.cp));
}

/** `1.2 M`, `34 k`, `560`. */
export function count(number: number): string {
  if (number >= 1e6) return `${(number / 1e6).toFixed(1)} M`;
  if (number >= 1e4) return `${Math.round(number / 1e3)} k`;
  return String(Math.round(number));
}

/** Milliseconds as `4:05`, and with tenths below ten seconds. */
export function clockText(milliseconds: number): string {
  const left = Math.max(0, milliseconds);
  if (left < 10_000) return `0:0${(Math.floor(left / 100) / 10).toFixed(1)}`;
  const seconds = Math.ceil(left / 1000);
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = String(seconds % 60).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** A line in SAN with move numbers, from a position's FEN. */
export function lineText(fen: string, san: string[]): string {
  const fields = fen.split(" ");
  let [white, number] = [fields[1] === "w", Number(fields[5] ?? 1)];
  const words: string[] = [];
  san.forEach((move, index) => {
    if (white) words.push(`${number}.`);
    else if (index === 0) words.push(`${number}…`);
    words.push(move);
    if (!white) number += 1;
    white = !white;
  });
  return words.join(" ");
}

const PIECES: Record<string, string> = {
  K: "king", Q: "queen", R: "rook", B: "bishop", N: "knight",
};

/** Begun with a capital letter. */
export const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Returns the message of an error. */
export const why = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Returns a move for screen readers: "knight takes f6, check". */
export function spoken(ply: Ply): string {
  const { san } = ply;
  const suffix = san.endsWith("#") ? ", checkmate" : ply.check ? ", check" : "";
  if (ply.castles) return `castles ${san.startsWith("O-O-O") ? "queenside" : "kingside"}${suffix}`;
  const plain = san.replace(/[+#]$/, "");
  const [move, promotion] = plain.split("=");
  const piece = PIECES[move[0]] ?? "pawn";
  const target = move.slice(-2);
  const from = move.slice(PIECES[move[0]] ? 1 : 0, -2).replace("x", "");
  const promoted = promotion ? ` promotes to ${PIECES[promotion]}` : "";
  const words = [piece, from, ply.capture ? "takes" : "to", target].filter(Boolean);
  return words.join(" ") + promoted + suffix;
}

export type EndReason = EndingReason | "resignation" | "agreement" | "adjudication" | "time" | "timeBare";

export const REASONS: Record<EndReason, string> = {
  checkmate: "checkmate",
  stalemate: "stalemate",
  repetition: "threefold repetition",
  fiftyMoves: "fifty moves without capture or pawn move",
  insufficientMaterial: "neither side can mate",
  resignation: "resignation",
  agreement: "agreement",
  adjudication: "both engines agree",
  time: "time",
  timeBare: "time is up, but the other side has a bare king",
};

export interface Result {
  winner: "white" | "black" | null;
  reason: EndReason | null;
}

export function resultCode({ winner }: Pick<Result, "winner">): string {
  return winner === "white" ? "1-0" : winner === "black" ? "0-1" : "1/2-1/2";
}

/** The tags of a game on the page. */
export function tagsOf(date: Date, white: string, black: string): [string, string][] {
  const day = date.toISOString().slice(0, 10).replaceAll("-", ".");
  return [["Event", "Kibitz"], ["Site", "?"], ["Date", day], ["Round", "-"], ["White", white], ["Black", black]];
}

/** Parses a PGN result code; `null` for an unfinished game. */
export function resultOf(code: string | null): Result | null {
  const winner = ({ "1-0": "white", "0-1": "black", "1/2-1/2": null } as const)[code ?? ""];
  return winner === undefined ? null : { winner, reason: null };
}

export function resultText(result: Result): string {
  const who = result.winner === "white" ? "White wins" : result.winner === "black" ? "Black wins" : "Draw";
  return result.reason ? `${who}: ${REASONS[result.reason]}` : who;
}
