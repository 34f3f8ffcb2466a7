/** A game in a link: what follows `#`. */
import type { Game, WhiteScore } from "./types";

/** `35`, `-120`, `m3`, `m-4`. */
const scoreCode = (score: WhiteScore | null) => (!score ? "" : "mate" in score ? `m${score.mate}` : String(score.cp));

function readScore(code: string): WhiteScore | null {
  const [, mate, number] = /^(m?)(-?\d{1,5})$/.exec(code) ?? [];
  if (number === undefined) return null;
  return mate ? { mate: Number(number) } : { cp: Number(number) };
}

/** `evals` are of the positions after the moves. */
export function linkTo(game: Game, ply: number, evals: (WhiteScore | null)[]): string {
  const parts = new URLSearchParams();
  if (game.start) parts.set("fen", game.start.replaceAll(" ", "_"));
  if (game.moves.length) parts.set("moves", game.moves.join(","));
  if (ply < game.moves.length) parts.set("ply", String(ply));
  if (evals.some((score) => score)) parts.set("evals", evals.map(scoreCode).join(","));
  const url = new URL(location.href);
  url.search = "";
  // A fragment may contain commas and slashes unescaped.
  url.hash = parts.toString().replaceAll("%2C", ",").replaceAll("%2F", "/");
  return url.href;
}

export function readLink(hash: string): (Game & { ply: number | null; evals: (WhiteScore | null)[] }) | null {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const [fen, moves, ply] = [parts.get("fen"), parts.get("moves"), parts.get("ply")];
  if (!fen && !moves) return null;
  return {
    start: fen ? fen.replaceAll("_", " ") : null,
    moves: moves ? moves.split(",") : [],
    evals: (parts.get("evals") ?? "").split(",").map(readScore),
    ply: ply && /^\d+$/.test(ply) ? Number(ply) : null,
  };
}
