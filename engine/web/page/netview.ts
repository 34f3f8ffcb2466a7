/** View of the evaluator: its value, and the worth of each piece on its square. */
import { read } from "chessground/fen";
import type { Key } from "chessground/types";
import { $, figure, make } from "./dom";
import { pawns } from "./format";
import type { NetDescription, PieceValue, PositionEvaluation } from "./types";

/** Evaluation of the position `fen`. */
export interface View extends PositionEvaluation {
  fen: string;
}

/** Returns the label of each square: the piece's worth from its owner's view. */
export function notes(view: View): Map<Key, { text: string; good: boolean }> {
  const standing = read(view.fen);
  return new Map(
    view.pieces.map(({ square, value }) => {
      const own = standing.get(square)?.color === "white" ? value : -value;
      return [square, { text: own.toFixed(1).replace("-", "−"), good: own >= 0 }];
    }),
  );
}

/** The score with all pieces, and without the one in hand. */
export function showLifted(view: View, square: Key | null) {
  const piece = square && read(view.fen).get(square);
  const entry = view.pieces.find((piece) => piece.square === square);
  const value = `The net’s value, without search: ${pawns(view.value)}.`;
  if (!piece) $("lifted").textContent = `${value} Pick up a piece to see what it is worth.`;
  else if (!entry) $("lifted").textContent = `${value} A king cannot be lifted.`;
  else {
    $("lifted").replaceChildren(
      `Without the ${piece.color} ${piece.role} on ${square}: ${pawns(view.value)} → `,
      make("b", { textContent: pawns(entry.without) }),
      ".",
    );
  }
}

export function showWorths(view: View, pick: (square: Key) => void) {
  const standing = read(view.fen);
  const own = ({ square, value }: PieceValue) => (standing.get(square)?.color === "white" ? value : -value);
  const most = Math.max(1, ...view.pieces.map((entry) => Math.abs(own(entry))));
  const column = (color: "white" | "black") => {
    const rows = view.pieces
      .filter(({ square }) => standing.get(square)?.color === color)
      .sort((a, b) => own(b) - own(a))
      .map((entry) => {
        const role = standing.get(entry.square)?.role ?? "pawn";
        const bar = make("span", { className: own(entry) < 0 ? "worth-bar bad" : "worth-bar" });
        bar.style.setProperty("--share", String(Math.abs(own(entry)) / most));
        const button = make("button", { type: "button", className: "worth", onclick: () => pick(entry.square) },
          make("span", { className: "cg-wrap mini" }, figure(color, role)),
          make("span", {}, make("span", { className: "sr", textContent: `${color} ${role} on ` }), entry.square), bar,
          make("b", { textContent: own(entry).toFixed(2).replace("-", "−") }));
        return make("li", {}, button);
      });
    return make("ul", {}, ...rows);
  };
  $("worths").replaceChildren(column("white"), column("black"));
}

/** Shows the description of the evaluator's net. */
export function showDescription(description: NetDescription) {
  $("evaluator-note").textContent = describe(description);
}

function describe({ kind, architecture, parameters, training }: NetDescription): string {
  if (kind === "material") return "Counts pieces and nothing else: the yardstick that a net has to beat.";
  const { positions, fromAnotherNet } = training;
  const last = fromAnotherNet ? "last " : "";
  const learned = positions === null ? "" : `, ${last}fitted to ${positions.toLocaleString("en")} positions`;
  return `${architecture}: ${parameters.toLocaleString("en")} parameters${learned}.`;
}
