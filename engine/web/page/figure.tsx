/** A piece, as chessground's style draws it. */
import type { Piece } from "chessground/types";
import { h } from "preact";

export const Figure = ({ color, role }: Piece) => h("piece", { class: `${role} ${color}` });
