/** The strips above and below the board: name, clock, and what was taken. */
import { read } from "chessground/fen";
import type { Color, Role } from "chessground/types";
import { figure, make } from "./dom";
import { clockText, sentence } from "./format";

const VALUE: [Role, number, number][] = [
  ["queen", 9, 1], ["rook", 5, 2], ["bishop", 3, 2], ["knight", 3, 2], ["pawn", 1, 8],
];

/** Number of pieces of each role that `color` has taken, by what is missing, and by how much it is ahead. */
function taken(fen: string, color: Color): { pieces: [Role, number][]; ahead: number } {
  const standing = [...read(fen).values()];
  const number = (of: Color, role: Role) =>
    standing.filter((piece) => piece.color === of && piece.role === role).length;
  const other = color === "white" ? "black" : "white";
  const pieces: [Role, number][] = [];
  let ahead = 0;
  for (const [role, value, initial] of VALUE) {
    const missing = Math.max(0, initial - number(other, role));
    if (missing) pieces.push([role, missing]);
    ahead += value * (number(color, role) - number(other, role));
  }
  return { pieces, ahead };
}

interface Strip {
  name: string;
  note: string;
  color: Color;
  fen: string;
  /** Whether the game began with all pieces, so that what is missing was taken. */
  whole: boolean;
  /** Milliseconds, `null` without a clock. */
  left: number | null;
  active: boolean;
  thinking: boolean;
}

export function showStrip(element: HTMLElement, strip: Strip) {
  const { pieces, ahead } = taken(strip.fen, strip.color);
  const other = strip.color === "white" ? "black" : "white";
  const captured = make("span", { className: "captured cg-wrap" });
  for (const [role, number] of strip.whole ? pieces : []) {
    captured.append(make("span", {}, ...Array.from({ length: number }, () => figure(other, role))));
  }
  captured.setAttribute("aria-hidden", "true");
  if (ahead > 0) captured.append(make("span", { className: "ahead", textContent: `+${ahead}` }));
  const clock = make("span", { className: "clock", hidden: strip.left === null });
  clock.textContent = clockText(strip.left ?? 0);
  clock.setAttribute("role", "timer");
  clock.setAttribute("aria-label", `${sentence(strip.color)}’s clock`);
  element.classList.toggle("active", strip.active);
  element.classList.toggle("low", strip.left !== null && strip.left < 20_000);
  element.classList.toggle("thinking", strip.thinking);
  element.replaceChildren(
    make("span", { className: `disc ${strip.color}` }),
    make("span", { className: "name", textContent: strip.name }),
    make("span", { className: "note", textContent: strip.note }),
    captured,
    clock,
  );
}
