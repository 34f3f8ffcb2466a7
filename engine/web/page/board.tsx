/** The board: chessground for eyes and hands, a grid of squares for everyone else. */
import { Chessground } from "chessground/chessground";
import type { Api } from "chessground/api";
import type { DrawShape } from "chessground/draw";
import { read } from "chessground/fen";
import type { Color, Dests, Key, Piece, Role } from "chessground/types";
import { render } from "preact";
import { $, announce } from "./dom";
import { Figure } from "./figure";
import { squareRows } from "./squarerows";

export interface Shown {
  fen: string;
  orientation: Color;
  turn: Color;
  check: boolean;
  lastMove: [Key, Key] | null;
  dests: Partial<Record<Key, Key[]>>;
  promotions: string[];
  /** The side that may move by hand; if it is not its turn, by premove. */
  movable: Color | "both" | null;
  /** Text by square, such as what a piece is worth. */
  notes: Map<Key, { text: string; good: boolean }>;
}

interface Listener {
  moved(uci: string): void;
  lifted(square: Key | null): void;
  /** A circle or arrow was drawn by hand. */
  drew(shape: DrawShape): void;
}

const ROLES: Record<string, Role> = {
  q: "queen", r: "rook", b: "bishop", n: "knight", k: "king", p: "pawn",
};

export class Board {
  private readonly ground: Api;
  private shown: Shown | null = null;
  private focused: Key = "e2";

  constructor(private readonly listener: Listener) {
    this.ground = Chessground($("ground"), {
      animation: { enabled: !matchMedia("(prefers-reduced-motion: reduce)").matches, duration: 180 },
      movable: { free: false, showDests: true, events: { after: (from, to) => this.moved(from, to) } },
      premovable: { events: { set: () => this.label(), unset: () => this.label() } },
      draggable: { showGhost: true },
      events: { select: () => this.selected() },
      drawable: {
        onChange: ([shape]) => shape && this.drew(shape),
        brushes: {
          green: { key: "g", color: "#15781b", opacity: 1, lineWidth: 10 },
          red: { key: "r", color: "#b3362b", opacity: 1, lineWidth: 10 },
          blue: { key: "b", color: "#1f5fa8", opacity: 1, lineWidth: 10 },
          yellow: { key: "y", color: "#d99a1c", opacity: 1, lineWidth: 10 },
          best: { key: "best", color: "#17479e", opacity: 0.9, lineWidth: 13 },
          reply: { key: "reply", color: "#b3481b", opacity: 0.7, lineWidth: 8 },
          other: { key: "other", color: "#17479e", opacity: 0.5, lineWidth: 8 },
          people: { key: "people", color: "#6a2f8f", opacity: 0.9, lineWidth: 10 },
        },
      },
    });
    $("ground").setAttribute("aria-hidden", "true");
    this.label();
    $("squares").addEventListener("keydown", (event) => this.key(event));
  }

  show(shown: Shown) {
    this.shown = shown;
    this.closePromotion();
    this.ground.set({
      fen: shown.fen,
      orientation: shown.orientation,
      turnColor: shown.turn,
      check: shown.check ? shown.turn : false,
      lastMove: shown.lastMove ?? undefined,
      movable: {
        free: false,
        color: shown.movable ?? undefined,
        dests: new Map(Object.entries(shown.dests)) as Dests,
      },
      premovable: { enabled: shown.movable !== null && shown.movable !== shown.turn },
      draggable: { deleteOnDropOff: false },
    });
    if (shown.movable === shown.turn) this.ground.playPremove();
    else if (shown.movable === null) this.ground.cancelPremove();
    this.label();
  }

  /** Cancels the premove. */
  forgetPremove() {
    this.ground.cancelPremove();
  }

  /** Shows another position for a moment; nothing can be moved in it. */
  preview(fen: string, move: string) {
    this.ground.set({
      fen,
      lastMove: [move.slice(0, 2) as Key, move.slice(2, 4) as Key],
      check: false,
      movable: { color: undefined, dests: new Map() },
    });
    this.ground.setAutoShapes([]);
  }

  arrows(shapes: DrawShape[]) {
    this.ground.setAutoShapes(shapes);
  }

  /** Hands a drawn shape over: the listener keeps it, and shows it by `arrows`. Chessground's own are lost by a click. */
  private drew(shape: DrawShape) {
    this.ground.setShapes([]);
    this.listener.drew(shape);
  }

  /** The square of the piece in hand. */
  get inHand(): Key | null {
    return this.ground.state.selected ?? null;
  }

  /** Pieces may be put anywhere, and thrown off the board. */
  edit(fen: string, orientation: Color) {
    this.shown = null;
    this.ground.set({
      fen,
      orientation,
      lastMove: undefined,
      check: false,
      movable: { free: true, color: "both", dests: undefined },
      draggable: { deleteOnDropOff: true },
    });
    this.ground.setAutoShapes([]);
    this.label();
  }

  /** Piece placement, the first field of a FEN. */
  get placement(): string {
    return this.ground.getFen();
  }

  /** In the editor: puts a piece on a square, or takes away what stands there. */
  put(square: Key, piece: Piece | null) {
    this.ground.setPieces(new Map([[square, piece ?? undefined]]));
    this.label();
  }

  private squareAt: ((square: Key) => void) | null = null;

  /** Clicks and Enter on squares go there instead of moving pieces. */
  capture(squareAt: ((square: Key) => void) | null) {
    this.squareAt = squareAt;
    this.ground.set({ viewOnly: squareAt !== null });
    $("board").onclick = squareAt
      ? (event) => {
          const key = this.ground.getKeyAtDomPos([event.clientX, event.clientY]);
          if (key) squareAt(key);
        }
      : null;
  }

  private moved(from: Key, to: Key) {
    if (!this.shown) return this.label();
    if (this.shown.promotions.includes(from + to)) this.choosePromotion(from, to);
    else this.listener.moved(from + to);
  }

  private selected() {
    // Chessground tells before it has decided.
    queueMicrotask(() => {
      if (!this.shown) return;
      this.listener.lifted(this.inHand);
      this.label();
    });
  }

  /** Asks which piece a pawn becomes that goes from one square to another. */
  promote(fromTo: string) {
    this.choosePromotion(fromTo.slice(0, 2) as Key, fromTo.slice(2, 4) as Key);
  }

  private choosePromotion(from: Key, to: Key) {
    const shown = this.shown as Shown;
    const color = shown.turn;
    const box = $("promotion");
    const pieces = ["q", "n", "r", "b"];
    const white = shown.orientation === "white";
    const file = "abcdefgh".indexOf(to[0]);
    box.style.left = `${(white ? file : 7 - file) * 12.5}%`;
    const top = (to[1] === "8") === white;
    box.style.top = top ? "0" : "auto";
    box.style.bottom = top ? "auto" : "0";
    const choose = (letter: string) => {
      this.closePromotion();
      this.listener.moved(from + to + letter);
    };
    render((top ? pieces : pieces.toReversed()).map((letter) => (
      <button type="button" aria-label={ROLES[letter]} onClick={() => choose(letter)}><Figure color={color} role={ROLES[letter]} /></button>
    )), box);
    box.hidden = false;
    $("board").classList.add("choosing");
    box.onkeydown = (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.show(shown);
    };
    $("board").onpointerdown = (event) => {
      if (!box.contains(event.target as Node)) this.show(shown);
    };
    box.querySelectorAll("button")[top ? 0 : 3].focus();
  }

  private closePromotion() {
    const board = $("board");
    if (!board.classList.contains("choosing")) return;
    const box = $("promotion");
    const hadFocus = box.contains(document.activeElement);
    board.onpointerdown = null;
    board.classList.remove("choosing");
    box.hidden = true;
    if (hadFocus) this.focus();
  }

  private focus() {
    $("squares").querySelector<HTMLElement>("[tabindex='0']")?.focus();
  }

  /** Says on every square what stands there. */
  private label() {
    const { pieces: standing, selected, orientation, premovable } = this.ground.state;
    const pieces = this.shown ? read(this.shown.fen) : standing;
    const dests = (selected && this.shown?.dests[selected]) || premovable.dests || [];
    const cell = (key: Key) => {
      const piece = pieces.get(key);
      const note = this.shown?.notes.get(key);
      const words = [key, piece ? `${piece.color} ${piece.role}` : "empty"];
      if (note) words.push(`worth ${note.text}`);
      if (dests.includes(key)) words.push("can move here");
      if (selected === key) words.push("picked up");
      if (premovable.current?.includes(key)) words.push("to be played next");
      return (
        <div role="gridcell" data-square={key} tabIndex={key === this.focused ? 0 : -1} aria-label={words.join(", ")} aria-selected={selected === key}>
          <span class={note ? (note.good ? "note good" : "note bad") : ""}>{note?.text}</span>
        </div>
      );
    };
    const hadFocus = $("squares").contains(document.activeElement);
    render(squareRows(orientation, cell), $("squares"));
    if (hadFocus) this.focus();
  }

  /** Says why the piece in hand cannot go to a square; `null` where it can, or another one is picked up there. */
  private refuses(to: Key): string | null {
    const { pieces, selected, premovable } = this.ground.state;
    const piece = selected && pieces.get(selected);
    if (!this.shown || !piece || selected === to) return null;
    const dests = piece.color === this.shown.turn ? this.shown.dests[selected] : premovable.dests;
    if (dests?.includes(to) || pieces.get(to)?.color === piece.color) return null;
    return `Illegal move: the ${piece.role} on ${selected} cannot go to ${to}.`;
  }

  private key(event: KeyboardEvent) {
    const cell = (event.target as HTMLElement).closest<HTMLElement>("[data-square]");
    if (!cell) return;
    const key = cell.dataset.square as Key;
    const steps: Record<string, [number, number]> = {
      ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0],
    };
    const step = steps[event.key];
    if (step) {
      const sign = this.ground.state.orientation === "white" ? 1 : -1;
      const file = key.charCodeAt(0) + sign * step[0];
      const rank = key.charCodeAt(1) + sign * step[1];
      const next = String.fromCharCode(file, rank) as Key;
      if (/^[a-h][1-8]$/.test(next)) this.focused = next;
      this.label();
    } else if (event.key === "Enter" || event.key === " ") {
      this.focused = key;
      if (this.squareAt) this.squareAt(key);
      else {
        const refused = this.refuses(key);
        this.ground.selectSquare(key);
        this.selected();
        if (refused) announce(refused);
      }
    } else if (event.key === "Escape") {
      this.ground.selectSquare(null);
      this.selected();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
