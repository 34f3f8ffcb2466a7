/** A piece, as chessground's style draws it. */
import type { Color, Role } from "chessground/types";
import { h } from "preact";

export const Figure = ({ color, role }: { color: Color; role: Role }) => h("piece", { class: `${role} ${color}` });
