/** Names of the net's inputs, for people. */
import { pawns, sentence } from "./format";
import type { InputReport } from "./types";

const COUNTS = ["", "a", "two", "three"];

const sideOf = ({ color }: InputReport) => sentence(color ?? "");

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

/** Inputs, each with what it adds to the score. */
export const InputList = ({ inputs }: { inputs: InputReport[] }) => (
  <ul class="chips">{inputs.map((input) => <li>{inputName(input)} <b>{pawns(input.effect)}</b></li>)}</ul>
);
