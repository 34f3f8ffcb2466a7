/** Contents of `beside.json`, in which the build lists the files beside the page. */
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
  /** Least ratings of the bands that the policy knows; `null` without one. */
  people: { ratings: number[] } | null;
  /** Files of `tables/`: endgame tables. */
  tables: string[];
}

let listed: Promise<Beside> | null = null;

/** Asks the host once. */
export function beside(): Promise<Beside> {
  return (listed ??= fetchBeside());
}

async function fetchBeside(): Promise<Beside> {
  return (await (await fetch("./beside.json")).json()) as Beside;
}
