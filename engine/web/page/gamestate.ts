/** The game on the page: who plays, the tree of moves, which move is looked at. Nothing here touches the document. */
import type { DrawShape } from "chessground/draw";
import { Clock } from "./clock";
import { type Result, lineText, resultCode, resultOf, resultText, sentence, tagsOf } from "./format";
import type { NewGame } from "./newgame";
import type { Rules } from "./rules";
import { type Saved, VERSION } from "./saved";
import { withShape } from "./shapes";
import { HUMAN, RATINGS, SIDES, type Side, isSide, other } from "./side";
import type { Edit, Edited, Finding, Game, Node, Ply, PositionReport, ReadGame, Review, SearchRequest, SideName, Tree, TreeReport, WhiteScore } from "./types";

/** An engine does not answer faster than this where no clock runs, in milliseconds. */
const POLITENESS = 300;
/** ... and in a match, where its moves should still be seen. */
const MATCH_PACE = 100;
/** Kibitz accepts a draw where it is ahead by no more than this, in centipawns. */
const DRAW_MARGIN = 30;
/** ... and not before this move. */
const DRAW_FROM = 10;
/** Changes that *Take back* reverts. */
const MOST_CHANGES = 200;

/** A former tree, for *Take back*. */
type Former = Pick<GameState, "tree" | "report" | "at">;

/** A game taken off the board, with the changes that *Take back* reverts in it. */
export interface SetAside {
  saved: Saved;
  former: Former[];
}

export class GameState {
  tree: Tree;
  report: TreeReport;
  /** The main line's nodes: the game that is played, or was. */
  main: number[] = [];
  /** The node looked at, 0 for the start, and its position. */
  at = 0;
  position: PositionReport;
  /** Grows where nodes get other numbers. */
  edition = 0;
  sides: Record<SideName, Side> = { white: HUMAN, black: { ...HUMAN, who: "kibitz", strength: { by: "elo", value: RATINGS.usual }, evaluator: "" } };
  clock: Clock | null = null;
  /** When the game began. */
  begun = Date.now();
  result: Result | null = null;
  /** Length of the main line in plies when the game was over. */
  private over = 0;
  /** Moves may be made anywhere, by hand: no game is going on. */
  study = false;
  paused = false;
  /** The least milliseconds between moves of engines. */
  pace = POLITENESS;
  /** Whether anything was done with the game since a link or a reload: before, it is not the browser's last. */
  touched = true;
  orientation: SideName = "white";
  /** Digest of the PGN text that the game was read from. */
  origin: string | null = null;
  /** Whether the game was changed since it was put on the board. */
  edited = false;
  /** Whether the game is a puzzle or of a match, which are kept elsewhere, and is unchanged. */
  disposable = false;
  private former: Former[] = [];

  constructor(private readonly rules: Rules) {
    ({ tree: this.tree, report: this.report } = rules.grow({ start: null, moves: [] }));
    this.position = rules.position(this.shown);
  }

  // Beginnings

  /** Begins a new game. Throws, and changes nothing, if the position on the board allows none. */
  begin({ white, black, clock, chess960, fromHere, analyse }: NewGame) {
    // To analyse the game on the board all of it is kept.
    if (!(analyse && fromHere)) {
      const usual = this.rules.grow({ start: null, moves: [] });
      const start = fromHere ? this.position.fen : chess960 === null ? usual.report.start : this.rules.chess960(chess960);
      this.reset(start === usual.report.start ? usual : this.rules.grow({ start, moves: [] }));
      this.result = this.report.ending;
      this.orientation = white.who !== "human" && black.who === "human" ? "black" : "white";
    }
    this.sides = { white, black };
    this.begun = Date.now();
    this.clock = clock && new Clock(clock);
    this.study = analyse;
    this.paused = false;
    this.touched = true;
  }

  /** A game of a match between engines, from an opening; throws as `begin`. */
  beginMatchGame(white: Side, black: Side, opening: string[]) {
    this.reset(this.rules.grow({ start: null, moves: opening }));
    this.sides = { white, black };
    this.begun = Date.now();
    this.clock = null;
    this.study = false;
    this.orientation = "white";
    this.pace = MATCH_PACE;
  }

  /** A game or a position to study, at a ply, `touched` unless it came by a link; throws as `begin`. */
  look(game: Game, ply: number, touched: boolean) {
    this.reset(this.rules.grow(game));
    this.asStudy(this.report.ending);
    this.touched = touched;
    this.show(this.main[Math.min(ply, this.last) - 1] ?? 0);
  }

  /** Puts a game read from PGN on the board, at its start; `origin` is the digest of its text. */
  lookAt({ tree, report, result }: ReadGame, origin: string) {
    this.reset({ tree, report, at: 0 });
    this.asStudy(resultOf(result) ?? report.ending);
    // Studies of Lichess say which side is below.
    const below = this.tag("Orientation").toLowerCase();
    if (isSide(below)) this.orientation = below;
    this.origin = origin;
  }

  private asStudy(result: Result | null) {
    this.sides = { white: HUMAN, black: HUMAN };
    this.result = result;
    this.study = true;
    this.clock = null;
  }

  /** Puts a saved game on the board; throws as `begin`. */
  restore(saved: Saved) {
    this.reset(saved.tree ? this.rules.tree(saved.tree, saved.at) : this.migrated(saved));
    this.touched = false;
    this.sides = { white: saved.white, black: saved.black };
    this.clock = saved.clock && new Clock(saved.clock, saved.left ?? undefined);
    ({ result: this.result, study: this.study, orientation: this.orientation } = saved);
    this.over = saved.over ?? this.last;
    this.begun = saved.begun ?? Date.now();
    ({ origin: this.origin, edited: this.edited, disposable: this.disposable } = saved);
    this.paused = this.playing && this.betweenEngines;
  }

  /** The game to take off the board. */
  setAside(): SetAside {
    return { saved: this.saved(), former: this.former };
  }

  /** Puts a game back that was set aside. */
  putBack({ saved, former }: SetAside) {
    this.restore(saved);
    this.former = former;
    this.touched = true;
  }

  /** Converts a game saved in the first format. */
  private migrated({ start, moves, tags, theirs, found }: Saved): Edited {
    const grown = this.rules.grow({ start, moves });
    grown.tree.tags = tags;
    grown.tree.nodes.forEach((node, ply) => {
      node.eval = theirs[ply - 1] ?? null;
      node.found = found[ply] ?? null;
    });
    return grown;
  }

  private reset(edited: Edited) {
    const position = this.rules.position(lineOf(edited.tree, edited.at));
    this.take(edited, position);
    this.edition += 1;
    this.over = this.last;
    this.touched = true;
    this.result = null;
    this.former = [];
    this.begun = Date.now();
    this.origin = null;
    this.edited = this.disposable = false;
    this.paused = false;
    this.pace = POLITENESS;
  }

  /** Replaces the tree. */
  private take({ tree, report, at }: Edited, position: PositionReport) {
    [this.tree, this.report, this.at, this.position] = [tree, report, at, position];
    this.main = this.onward(0);
  }

  // Queries

  private onward(node: number): number[] {
    const nodes = [];
    for (let next = this.report.children[node][0]; next !== undefined; next = this.report.children[next][0]) nodes.push(next);
    return nodes;
  }

  /** The nodes on the path from the root to a node, without the root. */
  private path(node: number): number[] {
    const nodes = [];
    for (let back = node; back > 0; back = this.tree.nodes[back].parent) nodes.push(back);
    return nodes.reverse();
  }

  /** The line that is looked at: to the node, and on along its main moves. */
  get line(): number[] {
    return [...this.path(this.at), ...this.onward(this.at)];
  }

  /** The number of plies played. */
  get last(): number {
    return this.main.length;
  }

  /** Where the game stands. */
  get end(): number {
    return this.main.at(-1) ?? 0;
  }

  get atEnd(): boolean {
    return this.at === this.end;
  }

  get fen(): string {
    return this.fenOf(this.end);
  }

  fenOf(node: number): string {
    return this.plyOf(node)?.fen ?? this.report.start;
  }

  /** The move that led to a node. */
  plyOf(node: number): Ply | undefined {
    return this.report.plies[node - 1];
  }

  /** Whose turn it is where the game stands. */
  get turn(): SideName {
    return this.fen.split(" ")[1] === "w" ? "white" : "black";
  }

  /** The game from its start to its last move. */
  get game(): Game {
    return lineOf(this.tree, this.end);
  }

  /** The game up to the node looked at. */
  get shown(): Game {
    return lineOf(this.tree, this.at);
  }

  lineTo(node: number): Game {
    return lineOf(this.tree, node);
  }

  get shownNode(): Node {
    return this.tree.nodes[this.at];
  }

  /** The move that led to the node looked at. */
  get shownPly(): Ply | undefined {
    return this.plyOf(this.at);
  }

  /** Whether a game is going on. */
  get playing(): boolean {
    return !this.result && !this.study;
  }

  get againstEngine(): boolean {
    return (this.sides.white.who === "human") !== (this.sides.black.who === "human");
  }

  get betweenEngines(): boolean {
    return this.sides.white.who !== "human" && this.sides.black.who !== "human";
  }

  /** Whether a move may be made by hand at the node looked at. */
  get mayMove(): boolean {
    if (this.position.ending) return false;
    return !this.playing || (this.atEnd && this.sides[this.turn].who === "human");
  }

  /** The side that moves by hand at the node looked at, or may premove while the engine thinks. */
  get mover(): SideName | null {
    if (this.mayMove) return this.position.turn;
    const waits = this.playing && this.againstEngine && this.atEnd && !this.position.ending;
    return waits ? other(this.turn) : null;
  }

  /** Whether the node looked at is where the game was over. */
  get shownOver(): boolean {
    return this.result !== null && this.at === (this.main[this.over - 1] ?? 0);
  }

  get status(): string {
    if (this.shownOver) return resultText(this.result as Result);
    if (this.position.ending) return resultText(this.position.ending);
    if (this.paused && this.playing) return "Paused";
    const { turn, check } = this.position;
    const own = this.playing && this.againstEngine && this.mayMove;
    return `${own ? "Your move" : `${sentence(turn)} to move`}${check ? ": check" : ""}`;
  }

  /** The score of the position looked at: of its ending, as the move list shows it, or of a search. */
  get knownScore(): WhiteScore | null {
    const { ending } = this.position;
    if (ending) return ending.winner ? { mate: ending.winner === "white" ? 1 : -1 } : { cp: 0 };
    const { found, eval: theirs, curve } = this.shownNode;
    return theirs ?? found ?? curve;
  }

  /** Keys of the positions up to the node looked at. */
  get keys(): string[] {
    return [this.report.startKey, ...this.path(this.at).map((node) => this.report.plies[node - 1].key)];
  }

  /** A tag of the game's PGN; empty where it has none. */
  tag(name: string): string {
    const found = this.tree.tags.find(([key]) => key.toLowerCase() === name.toLowerCase());
    return found?.[1].replace(/^[?-]$/, "") ?? "";
  }

  /** The clock at the start of a game whose moves tell of clocks, in milliseconds. */
  get timeControl(): number | null {
    const [seconds] = /^\d+(?=\+|$)/.exec(this.tag("TimeControl")) ?? [];
    const told = this.tree.nodes.some(({ clock }) => clock !== null);
    return seconds && told ? Number(seconds) * 1000 : null;
  }

  /** A move with its number. */
  named(node: number): string {
    return lineText(this.fenOf(this.tree.nodes[node].parent), [this.report.plies[node - 1].san]);
  }

  /** The search request for the move of an engine's side. */
  searchRequest(side: SideName, lines: number, chance: number): SearchRequest {
    const { strength } = this.sides[side];
    const clock = this.clock && {
      remaining: this.clock.now(side),
      increment: this.clock.setting.increment,
    };
    const request: SearchRequest = { ...this.game, lines, chance };
    if (clock) request.clock = clock;
    switch (strength.by) {
      case "full":
        return clock ? request : { ...request, movetime: 2000 };
      case "depth":
        return { ...request, depth: strength.value };
      case "nodes":
        return { ...request, nodes: strength.value };
      case "time":
        return { ...request, movetime: strength.value };
      case "elo":
        return { ...request, elo: strength.value };
      case "person":
        return { ...request, person: strength.value };
    }
  }

  /** Whether to keep the game when it is replaced: it has moves, by the visitor in a game, a comment, or an own start. */
  get worthKeeping(): boolean {
    const { nodes, start } = this.tree;
    if (nodes[0].comment || (start !== null && this.touched)) return !this.disposable;
    const waits = this.playing && this.againstEngine && !this.back;
    return !this.disposable && nodes.length > 1 && !waits;
  }

  // Changes

  /** Looks at a node. */
  show(node: number) {
    this.position = this.rules.position(lineOf(this.tree, node));
    this.at = node;
  }

  /** Plays a move at a node. Throws, and changes nothing, if the move is illegal. */
  play(uci: string, from = this.end): Ply {
    const { playing } = this;
    const grown = this.rules.play(this.tree, from, uci);
    const position = this.rules.position(lineOf(grown.tree, grown.at));
    if (!playing) this.remember();
    this.take(grown, position);
    this.touched = this.edited = true;
    if (playing) this.played();
    return this.report.plies[this.at - 1];
  }

  /** A move was made in the game that goes on. */
  private played() {
    const mover = other(this.turn);
    if (this.clock) {
      if (this.last > 1) this.clock.moved(mover);
      this.shownNode.clock = Math.round(this.clock.left[mover]);
      this.clock.start(other(mover));
    }
    if (this.report.ending) this.finish(this.report.ending);
  }

  /** Changes the tree at the node looked at. */
  edit(change: Edit) {
    const edited = this.rules.edit(this.tree, this.at, change);
    const position = this.rules.position(lineOf(edited.tree, edited.at));
    this.remember();
    this.take(edited, position);
    if (change.edit !== "comment" && change.edit !== "glyph") this.edition += 1;
    this.touched = this.edited = true;
    this.disposable = false;
  }

  /** Draws a circle or arrow at the node looked at; in a game or puzzle without a step of *Take back*. */
  draw(shape: DrawShape, puzzling: boolean) {
    const node = this.shownNode;
    const text = withShape(node.comment, shape);
    if (!this.playing && !puzzling) return this.edit({ edit: "comment", text });
    node.comment = text;
    this.touched = this.edited = true;
  }

  /** White's and Black's rating by the game's tags, `null` where it has none. */
  get ratings(): [number | null, number | null] {
    const [white, black] = SIDES.map((side) => Number.parseInt(this.tag(`${side}Elo`), 10) || null);
    return [white, black];
  }

  /** Marks the mistakes of the game by what was found at its start and after every move. */
  review(findings: (Finding | null)[]): Review {
    const { tree, at, main: line } = this;
    const review = this.rules.review({ tree, at, line, findings, ratings: this.ratings });
    this.remember();
    this.take(review.edited, this.position);
    this.touched = this.edited = true;
    this.disposable = false;
    return review;
  }

  /** Adds the tree to those that *Take back* goes back to. */
  private remember() {
    const { tree, report, at } = this;
    this.former.push({ tree, report, at });
    if (this.former.length > MOST_CHANGES) this.former.shift();
  }

  /** Whether *Take back* can revert anything: a change of the tree, or moves of the game. */
  get undoable(): boolean {
    return this.former.length > 0 || (!this.study && this.back > 0);
  }

  /** Number of plies that *Take back* removes in a game; 0 before the visitor's first move. */
  private get back(): number {
    const back = this.againstEngine && this.sides[this.turn].who === "human" ? 2 : 1;
    return this.last < back ? 0 : back;
  }

  undo() {
    const former = this.former.pop();
    this.touched = true;
    if (former) {
      this.take(former, this.rules.position(lineOf(former.tree, former.at)));
      this.edition += 1;
      return;
    }
    const first = this.main[this.last - this.back];
    if (first === undefined) return;
    const edited = this.rules.edit(this.tree, first, { edit: "delete" });
    this.take(edited, this.rules.position(lineOf(edited.tree, edited.at)));
    this.edition += 1;
    this.result = null;
    this.setClock();
  }

  /** The clocks stand as they did after the game's last move. */
  private setClock() {
    const { clock } = this;
    if (!clock) return;
    clock.stop();
    const nodes = this.main.map((node) => this.tree.nodes[node]);
    const begins = this.report.start.split(" ")[1] === "w" ? "white" : "black";
    for (const side of SIDES) {
      const own = nodes.filter((_, index) => (index % 2 === 0) === (side === begins));
      clock.left[side] = own.at(-1)?.clock ?? clock.setting.initial;
    }
    this.startClock();
  }

  finish(result: Result) {
    this.result = result;
    this.over = this.last;
    this.touched = true;
    this.clock?.stop();
  }

  /** The person who has to move resigns, or else the one who waits. */
  resignation(): Result {
    const human = this.sides[this.turn].who === "human" ? this.turn : other(this.turn);
    return { winner: other(human), reason: "resignation" };
  }

  /** Why Kibitz declines a draw: it is too early, or it is ahead by that score; `null` where it accepts. */
  drawDeclined(): "early" | WhiteScore | null {
    const engine = this.sides.white.who === "human" ? "black" : "white";
    const known = [0, ...this.main].map((node) => this.tree.nodes[node].found);
    const last = known.findLast((score) => score) ?? { cp: 0 };
    const white = "mate" in last ? Math.sign(last.mate) * 10_000 : last.cp;
    const ahead = engine === "white" ? white : -white;
    if (Number(this.fen.split(" ")[5]) < DRAW_FROM) return "early";
    return ahead > DRAW_MARGIN ? last : null;
  }

  /** The result if the mover's time is up, else `null`. */
  flagFall(): Result | null {
    const { turn, clock } = this;
    if (!clock || !this.playing || !this.last || clock.now(turn) > 0) return null;
    const bare = this.rules.position(this.game).bare.includes(other(turn));
    return bare ? { winner: null, reason: "timeBare" } : { winner: other(turn), reason: "time" };
  }

  /** The mover's clock runs on. */
  startClock() {
    if (this.last && this.playing && !this.paused) this.clock?.start(this.turn);
  }

  // In and out

  pgn(names: Record<SideName, string>, date: Date): string {
    const result = this.result ? resultCode(this.result) : "*";
    return this.rules.writePgn({ tree: this.tree, tags: tagsOf(date, names.white, names.black), result });
  }

  saved(): Saved {
    const { tree, at, sides, begun, clock, result, over, study, orientation, origin, edited, disposable } = this;
    const left = clock && { white: clock.now("white"), black: clock.now("black") };
    // The moves are for pages that know no trees.
    return {
      version: VERSION, ...this.game, tree, at, ...sides, begun, clock: clock?.setting ?? null, left, result, over, study, orientation,
      origin, edited, disposable, tags: [], theirs: [], found: [],
    };
  }
}

/** The moves that lead to a node. */
function lineOf({ start, nodes }: Tree, at: number): Game {
  const moves = [];
  for (let node = at; node > 0; node = nodes[node].parent) moves.push(nodes[node].uci);
  return { start, moves: moves.reverse() };
}
