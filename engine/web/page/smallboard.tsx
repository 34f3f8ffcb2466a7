/** A small board beside the game's: pieces, tints and notes by square, for mouse, touch and keyboard. */
import type { Color, Key, Piece } from "chessground/types";
import { Component } from "preact";
import { Figure } from "./figure";
import { squareRows } from "./squarerows";
import { tint } from "./tint";

export interface Cell {
  piece: Piece | null;
  /** From −1 to 1; 0 for none. */
  tint: number;
  note: string;
  chosen: boolean;
  /** Read out behind what stands there. */
  words: string;
}

export const EMPTY_CELL: Cell = { piece: null, tint: 0, note: "", chosen: false, words: "" };

const STEPS: Record<string, [number, number]> = {
  ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
};

interface Properties {
  label: string;
  look?: string;
  orientation: Color;
  at(square: Key): Cell;
  pick(square: Key): void;
}

export class SmallBoard extends Component<Properties> {
  private focused = 0;

  override render({ label, look = "", orientation }: Properties) {
    return (
      <div class={`smallboard cg-wrap ${look}`} role="grid" aria-label={label} onKeyDown={(event) => this.key(event, event.currentTarget)}>
        {squareRows(orientation, (square, index) => this.cell(square, index))}
      </div>
    );
  }

  private cell(square: Key, index: number) {
    const { piece, tint: strength, note, chosen, words } = this.props.at(square);
    const label = [square, piece ? `${piece.color} ${piece.role}` : "empty", words].filter(Boolean).join(", ");
    return (
      <div role="gridcell" data-at={square} tabIndex={index === this.focused ? 0 : -1} aria-label={label} aria-selected={chosen} style={{ "--tint": strength ? tint(strength) : "transparent" }} onClick={() => this.props.pick(square)}>
        {piece && <Figure {...piece} />}
        {note && <span>{note}</span>}
      </div>
    );
  }

  private key(event: KeyboardEvent, board: HTMLElement) {
    const cells = [...board.querySelectorAll<HTMLElement>("[role=gridcell]")];
    const index = cells.indexOf(event.target as HTMLElement);
    const step = STEPS[event.key];
    if (index < 0) return;
    if (step) {
      const [row, column] = [Math.floor(index / 8) + step[0], (index % 8) + step[1]];
      if (row >= 0 && row < 8 && column >= 0 && column < 8) this.focus(cells, 8 * row + column);
    } else if (event.key === "Enter" || event.key === " ") this.props.pick(cells[index].dataset.at as Key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private focus(cells: HTMLElement[], index: number) {
    this.focused = index;
    this.forceUpdate();
    cells[index].focus();
  }
}
