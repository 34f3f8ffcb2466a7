/** A small board beside the game's: pieces, tints and notes by square, for mouse, touch and keyboard. */
import type { Color, Key, Role } from "chessground/types";
import { figure, make } from "./dom";
import { tint } from "./tint";

export interface Cell {
  piece: { color: Color; role: Role } | null;
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

export class SmallBoard {
  readonly element = make("div", { className: "smallboard cg-wrap" });
  private readonly cells: HTMLElement[] = [];
  private keys: Key[] = [];
  private focused = 0;

  constructor(label: string, pick: (square: Key) => void) {
    this.element.setAttribute("role", "grid");
    this.element.setAttribute("aria-label", label);
    for (let rank = 0; rank < 8; rank += 1) {
      const row = make("div");
      row.setAttribute("role", "row");
      for (let file = 0; file < 8; file += 1) {
        const index = this.cells.length;
        const cell = make("div", { tabIndex: index ? -1 : 0, onclick: () => pick(this.keys[index]) });
        cell.setAttribute("role", "gridcell");
        this.cells.push(cell);
        row.append(cell);
      }
      this.element.append(row);
    }
    this.element.onkeydown = (event) => {
      const index = this.cells.indexOf(event.target as HTMLElement);
      const step = STEPS[event.key];
      if (index < 0) return;
      if (step) {
        const [row, column] = [Math.floor(index / 8) + step[0], (index % 8) + step[1]];
        if (row >= 0 && row < 8 && column >= 0 && column < 8) this.focus(8 * row + column);
      } else if (event.key === "Enter" || event.key === " ") pick(this.keys[index]);
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    this.element.onfocus = () => this.cells[this.focused].focus();
  }

  private focus(index: number) {
    this.cells[this.focused].tabIndex = -1;
    this.focused = index;
    this.cells[index].tabIndex = 0;
    this.cells[index].focus();
  }

  show(orientation: Color, at: (square: Key) => Cell) {
    const ranks = orientation === "white" ? "87654321" : "12345678";
    const files = orientation === "white" ? "abcdefgh" : "hgfedcba";
    this.keys = [...ranks].flatMap((rank) => [...files].map((file) => (file + rank) as Key));
    this.keys.forEach((key, index) => {
      const { piece, tint: strength, note, chosen, words } = at(key);
      const cell = this.cells[index];
      cell.dataset.at = key;
      cell.style.setProperty("--tint", strength ? tint(strength) : "transparent");
      cell.setAttribute("aria-label", [key, piece ? `${piece.color} ${piece.role}` : "empty", words].filter(Boolean).join(", "));
      cell.setAttribute("aria-selected", String(chosen));
      const children: Node[] = [];
      if (piece) children.push(figure(piece.color, piece.role));
      if (note) children.push(make("span", { textContent: note }));
      cell.replaceChildren(...children);
    });
  }
}
