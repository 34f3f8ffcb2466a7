/** A game in a link: what follows `#`. */
import type { Line } from "./rules";

export function linkTo(line: Line, ply: number): string {
  const parts = new URLSearchParams();
  if (line.start) parts.set("fen", line.start.replaceAll(" ", "_"));
  if (line.moves.length) parts.set("moves", line.moves.join(","));
  if (ply < line.moves.length) parts.set("ply", String(ply));
  const url = new URL(location.href);
  url.search = "";
  // Commas, slashes and underscores may stand in a fragment as they are.
  url.hash = parts.toString().replaceAll("%2C", ",").replaceAll("%2F", "/");
  return url.href;
}

export function readLink(hash: string): (Line & { ply: number | null }) | null {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const [fen, moves, ply] = [parts.get("fen"), parts.get("moves"), parts.get("ply")];
  if (!fen && !moves) return null;
  return {
    start: fen ? fen.replaceAll("_", " ") : null,
    moves: moves ? moves.split(",") : [],
    ply: ply && /^\d+$/.test(ply) ? Number(ply) : null,
  };
}
