/** The net's inputs in words. */
import type { InputReport, SideName } from "./types";

const SIDES: Record<SideName, string> = { white: "White", black: "Black" };
const COUNTS = ["", "a", "two", "three"];

const sideOf = ({ color }: InputReport) => (color ? SIDES[color] : "");

export function inputName(input: InputReport): string {
  switch (input.kind) {
    case "piece":
      return `${input.color} ${input.piece} on ${input.square}`;
    case "enPassant":
      return `en passant on ${input.square}`;
    case "enPrise":
      return `${COUNTS[input.count]} ${input.color} ${input.piece}${input.count > 1 ? "s" : ""} en prise`;
    case "castling":
      return `${sideOf(input)} may castle ${input.piece === "king" ? "O-O" : "O-O-O"}`;
    case "check":
      return `${sideOf(input)} is in check`;
  }
}
