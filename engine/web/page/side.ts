/** Player of a side, and its strength. */
import type { Evaluators } from "./evaluators";
import { count } from "./format";
import { bandText } from "./people";
import type { SideName } from "./types";

export type Who = "human" | "kibitz" | "stockfish";

/** Units of a limited strength. */
export const LIMITS = ["depth", "nodes", "time"] as const;

/** The ratings to play at; the usual one is that of the first game. */
export const RATINGS = { least: 400, usual: 1200, most: 2850 };

export type Strength =
  | { by: "full" }
  | { by: "elo" | "person" | (typeof LIMITS)[number]; value: number };

export interface Side {
  who: Who;
  strength: Strength;
  /** Id of the evaluator; '' is the one chosen in the drop-down. */
  evaluator: string;
}

export const HUMAN: Side = { who: "human", strength: { by: "full" }, evaluator: "default" };

export const SIDES = ["white", "black"] as const;

export const isSide = (value: unknown): value is SideName => value === "white" || value === "black";

export const other = (side: SideName): SideName => (side === "white" ? "black" : "white");

export function strengthText(strength: Strength): string {
  switch (strength.by) {
    case "depth":
      return `depth ${strength.value}`;
    case "nodes":
      return `${count(strength.value)} nodes`;
    case "time":
      return `${strength.value / 1000} s a move`;
    case "elo":
      return `rated ${strength.value}`;
    case "person":
      return `like people rated ${bandText(strength.value)}`;
    case "full":
      return "full strength";
  }
}

export function sideName(side: Side, evaluators: Evaluators): string {
  if (side.who === "human") return "You";
  if (side.who === "stockfish") return "Stockfish";
  const evaluator = evaluators.choices().find(({ id }) => id === side.evaluator);
  return side.evaluator === "default" || !evaluator ? "Kibitz" : `Kibitz · ${evaluator.name}`;
}
