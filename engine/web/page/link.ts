/** A game in a link: what follows `#`. */
import type { Game } from "./types";

export function linkTo(game: Game, ply: number): string {
  const parts = new URLSearchParams();
  if (game.start) parts.set("fen", game.start.replaceAll(" ", "_"));
  if (game.moves.length) parts.set("moves", game.moves.join(","));
  if (ply < game.moves.length) parts.set("ply", String(ply));
  const url = new URL(location.href);
  url.search = "";
  // Commas, slashes and underscores may stand in a fragment as they are.
  url.hash = parts.toString().replaceAll("%2C", ",").replaceAll("%2F", "/");
  return url.href;
}

export function readLink(hash: string): (Game & { ply: number | null }) | null {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const [fen, moves, ply] = [parts.get("fen"), parts.get("moves"), parts.get("ply")];
  if (!fen && !moves) return null;
  return {
    start: fen ? fen.replaceAll("_", " ") : null,
    moves: moves ? moves.split(",") : [],
    ply: ply && /^\d+$/.test(ply) ? Number(ply) : null,
  };
}
