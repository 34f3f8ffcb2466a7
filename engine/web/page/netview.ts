/** What the brain thinks: each piece's worth where it stands. */
import { read } from "chessground/fen";
import type { Key } from "chessground/types";
import { $, make } from "./dom";
import { pawns } from "./format";
import type { Description, Worth } from "./rules";

export interface View {
  fen: string;
  value: number;
  pieces: Worth[];
}

/** What stands on the squares: worth from the owner's view. */
export function notes(view: View): Map<Key, { text: string; good: boolean }> {
  const standing = read(view.fen);
  return new Map(
    view.pieces.map(({ square, worth }) => {
      const own = standing.get(square)?.color === "white" ? worth : -worth;
      return [square, { text: own.toFixed(1).replace("-", "−"), good: own >= 0 }];
    }),
  );
}

/** The score with all pieces, and without the one in hand. */
export function showLifted(view: View, square: Key | null) {
  const piece = square && read(view.fen).get(square);
  const entry = view.pieces.find((worth) => worth.square === square);
  const value = `The net’s value, without search: ${pawns(view.value)}.`;
  if (!piece) $("lifted").textContent = `${value} Pick up a piece to see what it is worth.`;
  else if (!entry) $("lifted").textContent = `${value} A king cannot be lifted.`;
  else {
    $("lifted").replaceChildren(
      `Without the ${piece.color} ${piece.role} on ${square}: ${pawns(view.value)} → `,
      make("b", { textContent: pawns(entry.lifted) }),
      ".",
    );
  }
}

export function showWorths(view: View, pick: (square: Key) => void) {
  const standing = read(view.fen);
  const own = ({ square, worth }: Worth) => (standing.get(square)?.color === "white" ? worth : -worth);
  const most = Math.max(1, ...view.pieces.map((entry) => Math.abs(own(entry))));
  const column = (color: "white" | "black") => {
    const rows = view.pieces
      .filter(({ square }) => standing.get(square)?.color === color)
      .sort((a, b) => own(b) - own(a))
      .map((entry) => {
        const role = standing.get(entry.square)?.role ?? "pawn";
        const piece = document.createElement("piece");
        piece.className = `${role} ${color}`;
        const bar = make("span", { className: own(entry) < 0 ? "worth-bar bad" : "worth-bar" });
        bar.style.setProperty("--share", String(Math.abs(own(entry)) / most));
        const button = make("button", { type: "button", className: "worth", onclick: () => pick(entry.square) },
          make("span", { className: "cg-wrap mini" }, piece),
          make("span", {}, make("span", { className: "sr", textContent: `${color} ${role} on ` }), entry.square), bar,
          make("b", { textContent: own(entry).toFixed(2).replace("-", "−") }));
        return make("li", {}, button);
      });
    return make("ul", {}, ...rows);
  };
  $("worths").replaceChildren(column("white"), column("black"));
}

export function describe({ kind, sizes, parameters, training, dataset }: Description): string {
  if (kind === "material") return "Counts pieces and nothing else: the yardstick that a net has to beat.";
  const positions = (dataset as { positions_train?: unknown } | null)?.positions_train;
  // A net that another was the beginning of names the positions of its own step alone.
  const last = (training as { init?: unknown } | null)?.init ? "last " : "";
  const learned = typeof positions === "number" ? `, ${last}fitted to ${positions.toLocaleString("en")} positions` : "";
  return `${sizes.join(" → ")}: ${parameters.toLocaleString("en")} parameters${learned}.`;
}
