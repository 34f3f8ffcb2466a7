/** The strips above and below the board: name, clock, and what was taken. */
import { read } from "chessground/fen";
import type { Color, Role } from "chessground/types";
import { figure, make } from "./dom";
import { clockText } from "./format";

const VALUE: [Role, number, number][] = [
  ["queen", 9, 1], ["rook", 5, 2], ["bishop", 3, 2], ["knight", 3, 2], ["pawn", 1, 8],
];

/** What `color` has taken, by what is missing, and by how much it is ahead. */
function taken(fen: string, color: Color): { pieces: Role[]; ahead: number } {
  const standing = [...read(fen).values()];
  const number = (of: Color, role: Role) =>
    standing.filter((piece) => piece.color === of && piece.role === role).length;
  const other = color === "white" ? "black" : "white";
  const pieces: Role[] = [];
  let ahead = 0;
  for (const [role, value, initial] of VALUE) {
    const missing = Math.max(0, initial - number(other, role));
    pieces.push(...Array.from({ length: missing }, () => role));
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
  captured.append(...(strip.whole ? pieces : []).map((role) => figure(other, role)));
  captured.setAttribute("aria-hidden", "true");
  if (ahead > 0) captured.append(make("span", { className: "ahead", textContent: `+${ahead}` }));
  const clock = make("span", { className: "clock", hidden: strip.left === null });
  clock.textContent = clockText(strip.left ?? 0);
  clock.setAttribute("role", "timer");
  clock.setAttribute("aria-label", `${strip.color}'s clock`);
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
