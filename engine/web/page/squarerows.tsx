/** The 64 squares as rows of a grid. */
import type { Color, Key } from "chessground/types";
import type { VNode } from "preact";

/** Eight rows of `cell`s, the farthest rank from `orientation` first; `index` counts in this order. */
export function squareRows(orientation: Color, cell: (square: Key, index: number) => VNode): VNode[] {
  const [ranks, files] = orientation === "white" ? ["87654321", "abcdefgh"] : ["12345678", "hgfedcba"];
  return [...ranks].map((rank, row) => <div role="row">{[...files].map((file, column) => cell((file + rank) as Key, 8 * row + column))}</div>);
}
