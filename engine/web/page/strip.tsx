/** The strips above and below the board: name, clock, and what was taken. */
import { read } from "chessground/fen";
import type { Color, Role } from "chessground/types";
import { render } from "preact";
import { Figure } from "./figure";
import { clockText, sentence } from "./format";
import { other } from "./side";

const VALUE: [Role, number, number][] = [
  ["queen", 9, 1], ["rook", 5, 2], ["bishop", 3, 2], ["knight", 3, 2], ["pawn", 1, 8],
];

/** Number of pieces of each role that `color` has taken, by what is missing, and by how much it is ahead. */
function taken(fen: string, color: Color): { pieces: [Role, number][]; ahead: number } {
  const standing = [...read(fen).values()];
  const number = (of: Color, role: Role) =>
    standing.filter((piece) => piece.color === of && piece.role === role).length;
  const pieces: [Role, number][] = [];
  let ahead = 0;
  for (const [role, value, initial] of VALUE) {
    const missing = Math.max(0, initial - number(other(color), role));
    if (missing) pieces.push([role, missing]);
    ahead += value * (number(color, role) - number(other(color), role));
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

export function showStrip(element: HTMLElement, { name, note, color, fen, whole, left, active, thinking }: Strip) {
  const { pieces, ahead } = taken(fen, color);
  element.classList.toggle("active", active);
  element.classList.toggle("low", left !== null && left < 20_000);
  element.classList.toggle("thinking", thinking);
  render(<>
    <span class={`disc ${color}`} />
    <span class="name">{name}</span>
    <span class="note">{note}</span>
    <span class="captured cg-wrap" aria-hidden="true">
      {whole && pieces.map(([role, number]) => <span>{Array.from({ length: number }, () => <Figure color={other(color)} role={role} />)}</span>)}
      {ahead > 0 && <span class="ahead">{`+${ahead}`}</span>}
    </span>
    <span class="clock" hidden={left === null} role="timer" aria-label={`${sentence(color)}’s clock`}>{clockText(left ?? 0)}</span>
  </>, element);
}
