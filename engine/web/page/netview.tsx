/** View of the evaluator: its value, and the worth of each piece on its square. */
import { read } from "chessground/fen";
import type { Key, Piece } from "chessground/types";
import { render } from "preact";
import { $ } from "./dom";
import { Figure } from "./figure";
import { pawns } from "./format";
import { SIDES } from "./side";
import type { NetDescription, PieceValue, PositionEvaluation, SideName } from "./types";

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
  render(
    !piece ? `${value} Pick up a piece to see what it is worth.`
    : !entry ? `${value} A king cannot be lifted.`
    : <>Without the {piece.color} {piece.role} on {square}: {pawns(view.value)} → <b>{pawns(entry.without)}</b>.</>,
    $("lifted"),
  );
}

export function showWorths(view: View, pick: (square: Key) => void) {
  const standing = read(view.fen);
  const own = ({ square, value }: PieceValue) => (standing.get(square)?.color === "white" ? value : -value);
  const most = Math.max(1, ...view.pieces.map((entry) => Math.abs(own(entry))));
  const row = (entry: PieceValue) => {
    const { color, role } = standing.get(entry.square) as Piece;
    return (
      <li key={entry.square}>
        <button type="button" class="worth" onClick={() => pick(entry.square)}>
          <span class="cg-wrap mini"><Figure color={color} role={role} /></span>
          <span><span class="sr">{`${color} ${role} on `}</span>{entry.square}</span>
          <span class={own(entry) < 0 ? "worth-bar bad" : "worth-bar"} style={{ "--share": Math.abs(own(entry)) / most }} />
          <b>{own(entry).toFixed(2).replace("-", "−")}</b>
        </button>
      </li>
    );
  };
  const of = (color: SideName) => view.pieces.filter(({ square }) => standing.get(square)?.color === color).sort((a, b) => own(b) - own(a));
  render(SIDES.map((color) => <ul>{of(color).map(row)}</ul>), $("worths"));
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
