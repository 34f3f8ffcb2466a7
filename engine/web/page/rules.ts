/** Rules, notation and evaluation, answered at once on the main thread. */
import type { Evaluator } from "./evaluators";
import { Breakdown, type Kibitz, type ReplyTo } from "./kibitz";
import type { Edit, Edited, Game, GameReport, GameText, InsideRequest, MoveChange, MoveValue, NetDescription, NetworkReport, PeopleMove, PositionEvaluation, PositionReport, ReadGame, Request, Review, ReviewRequest, Tree, WrittenGame } from "./types";

/** Evaluator of the module. */
type Source = Pick<Evaluator, "kind" | "net">;

export class Rules {
  private source: Source = { kind: "network", net: null };
  private policy: ArrayBuffer | null = null;
  /** Whether the module has loaded `source` and `policy`; a breakdown loses them. */
  private loaded = true;

  constructor(private readonly kibitz: Kibitz) {}

  game({ start, moves }: Game): GameReport {
    return this.ask({ op: "game", start, moves });
  }

  position(game: Game): PositionReport {
    return this.ask({ op: "position", ...game });
  }

  /** The move that a person has typed, as UCI has it. */
  parseMove(game: Game, text: string): string {
    return this.ask({ op: "parseMove", ...game, text });
  }

  /** A FEN, whole, of one that may lack all but its placement. */
  setUp(fen: string): string {
    return this.ask({ op: "setUp", fen });
  }

  /** A start of Chess960. */
  chess960(number: number): string {
    return this.ask({ op: "chess960", number });
  }

  /** A game as a tree. */
  grow({ start, moves }: Game): Edited {
    return this.ask({ op: "grow", start, moves });
  }

  /** A tree that was kept. */
  tree(tree: Tree, at: number): Edited {
    return this.ask({ op: "tree", tree, at });
  }

  play(tree: Tree, at: number, uci: string): Edited {
    return this.ask({ op: "play", tree, at, move: uci });
  }

  edit(tree: Tree, at: number, change: Edit): Edited {
    return this.ask({ op: "edit", tree, at, change });
  }

  review(request: ReviewRequest): Review {
    if (!this.loaded) this.load();
    return this.ask({ op: "review", ...request });
  }

  listPgn(text: string): GameText[] {
    return this.ask({ op: "listPgn", text });
  }

  readPgn(text: string): ReadGame {
    return this.ask({ op: "readPgn", text });
  }

  writePgn(game: WrittenGame): string {
    return this.ask({ op: "writePgn", ...game });
  }

  /** Returns the current evaluator's evaluation; throws if the evaluator cannot be used. */
  evaluate(game: Game): PositionEvaluation {
    if (!this.loaded) this.load();
    return this.ask({ op: "evaluate", ...game });
  }

  /** Returns the activations of the evaluator's net in a position; `null` without a net. */
  inside(request: InsideRequest): NetworkReport | null {
    if (!this.loaded) this.load();
    return this.ask({ op: "inside", ...request });
  }

  /** Every legal move by the evaluator alone. */
  weigh(game: Game): MoveValue[] {
    if (!this.loaded) this.load();
    return this.ask({ op: "weigh", ...game });
  }

  /** Returns the changes of the pieces' worth by the last move; `null` without a move. */
  change(game: Game): MoveChange | null {
    if (!this.loaded) this.load();
    return this.ask({ op: "change", ...game });
  }

  /** From now on knows what people play; throws where the policy cannot be read. */
  loadPolicy(policy: ArrayBuffer) {
    this.kibitz.loadPolicy(policy);
    this.policy = policy;
  }

  /** The legal moves, those that most people of a rating play first. */
  people(game: Game, rating: number): PeopleMove[] {
    if (!this.loaded) this.load();
    return this.ask({ op: "people", game, rating }).sort((one, other) => other.share - one.share);
  }

  /** From now on evaluates with this evaluator; throws where it is of no use, and keeps the one before. */
  use(source: Source): NetDescription {
    const before = this.source;
    this.source = source;
    try {
      const description = this.load();
      // A net that can be read may still break the module.
      this.evaluate({ start: null, moves: [] });
      return description;
    } catch (error) {
      this.source = before;
      this.loaded = false;
      throw error;
    }
  }

  private load(): NetDescription {
    const { kind, net } = this.source;
    if (net) this.kibitz.loadNet(net);
    if (this.policy && !this.loaded) this.kibitz.loadPolicy(this.policy);
    const description = this.ask({ op: "use", kind, embedded: !net });
    this.loaded = true;
    return description;
  }

  private ask<R extends Request>(request: R): ReplyTo<R["op"]> {
    try {
      return this.kibitz.ask(request);
    } catch (error) {
      if (error instanceof Breakdown) this.loaded = false;
      throw error;
    }
  }
}
