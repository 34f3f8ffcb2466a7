/** What lies beside the page: the build has listed it in `beside.json`. */
import { fields } from "./saved";

/** Elo counted from the default net, and the 95 % interval; an end of it may be open. */
export interface Strength {
  elo: number;
  /** `null` for the default net itself. */
  interval: [number | null, number | null] | null;
}

/** Strengths by evaluator, and the games that they were measured by (`models/strengths.sh`). */
export interface Strengths {
  /** Nodes a move. */
  nodes: number;
  /** Games of any two. */
  games: number;
  commit: string;
  elo: Record<string, Strength>;
}

export interface Beside {
  /** Files of `nets/`. */
  nets: string[];
  strengths: Strengths | null;
}

export async function fetchBeside(): Promise<Beside> {
  const { nets, strengths } = fields(await (await fetch("./beside.json")).json());
  return { nets: nets as string[], strengths: strengths as Strengths | null };
}
