/** The game on the page: who plays, what was played, which ply is looked at. Nothing here touches the document. */
import { Clock } from "./clock";
import { type Result, lineText, resultCode, resultText } from "./format";
import type { NewGame } from "./newgame";
import type { Rules } from "./rules";
import type { Saved } from "./saved";
import { HUMAN, type Side, other } from "./side";
import type { Game, GameReport, PgnGame, Ply, PositionReport, SearchRequest, SideName, WhiteScore } from "./types";

/** Kibitz accepts a draw where it is ahead by no more than this, in centipawns. */
const DRAW_MARGIN = 30;
/** ... and not before this move. */
const DRAW_FROM = 10;

type Scores = (WhiteScore | null)[];

export class GameState {
  /** From its start to its last move. */
  game: Game = { start: null, moves: [] };
  report: GameReport;
  /** The ply looked at, 0 for the start, and its position. */
  at = 0;
  position: PositionReport;
  sides: Record<SideName, Side> = { white: HUMAN, black: { ...HUMAN, who: "kibitz", strength: { by: "medium" }, evaluator: "" } };
  clock: Clock | null = null;
  result: Result | null = null;
  /** Tags of a game that was read. */
  tags: [string, string][] = [];
  /** What the game's comments say after each ply, and what our net finds there. */
  theirs: Scores = [];
  ours: Scores = [];
  /** What searches have found, by ply, 0 for the start. */
  found: Scores = [];
  /** Moves may be made anywhere, by hand: no game is going on. */
  study = false;
  paused = false;
  /** Whether anything was done with the game since a link or a reload: before, it is not the browser's last. */
  touched = true;
  orientation: SideName = "white";

  constructor(private readonly rules: Rules) {
    this.report = rules.game(this.game);
    this.position = rules.position(this.game);
  }

  // Beginnings

  /** A new game; throws where there is none from here, and leaves all as it was. */
  begin({ white, black, clock, fromHere, analyse }: NewGame) {
    const start = fromHere ? this.position.fen : null;
    this.reset({ start: start === this.report.start && !this.game.start ? null : start, moves: [] });
    this.sides = { white, black };
    this.clock = clock && new Clock(clock);
    this.orientation = white.who !== "human" && black.who === "human" ? "black" : "white";
    this.study = analyse;
  }

  /** A game or a position to study, `touched` unless it came by a link; throws as `begin`. */
  look(game: Game, more: Partial<PgnGame>, at: number, touched: boolean) {
    this.reset(game);
    this.touched = touched;
    this.sides = { white: HUMAN, black: HUMAN };
    this.tags = more.tags ?? [];
    this.theirs = [...(more.evals ?? [])];
    if (more.result && more.result !== "*") {
      const winner = more.result === "1-0" ? "white" : more.result === "0-1" ? "black" : null;
      this.result = { winner, reason: null };
    }
    this.study = true;
    this.clock = null;
    this.show(Math.min(at, game.moves.length));
  }

  /** A game that was kept; throws as `begin`. */
  restore(saved: Saved) {
    this.reset({ start: saved.start, moves: saved.moves });
    this.touched = false;
    this.sides = { white: saved.white, black: saved.black };
    this.clock = saved.clock && new Clock(saved.clock, saved.left ?? undefined);
    ({ result: this.result, tags: this.tags, theirs: this.theirs, found: this.found } = saved);
    ({ study: this.study, orientation: this.orientation } = saved);
    this.paused = this.betweenEngines;
  }

  private reset({ start, moves }: Game) {
    const report = this.rules.game({ start, moves });
    const position = this.rules.position({ start, moves });
    [this.report, this.position] = [report, position];
    this.game = { start, moves: report.plies.map((ply) => ply.uci) };
    this.at = this.last;
    this.touched = true;
    this.result = report.ending;
    this.tags = [];
    [this.theirs, this.ours, this.found] = [[], [], []];
    this.paused = false;
  }

  // What is known of it

  /** The number of plies. */
  get last(): number {
    return this.game.moves.length;
  }

  get atEnd(): boolean {
    return this.at === this.last;
  }

  /** Where the game stands. */
  get fen(): string {
    return this.report.plies.at(-1)?.fen ?? this.report.start;
  }

  /** Whose turn it is there. */
  get turn(): SideName {
    return this.fen.split(" ")[1] === "w" ? "white" : "black";
  }

  /** The game up to the ply looked at. */
  get shown(): Game {
    return { start: this.game.start, moves: this.game.moves.slice(0, this.at) };
  }

  /** The move that led to the ply looked at. */
  get shownPly(): Ply | undefined {
    return this.report.plies[this.at - 1];
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

  /** Whether a move may be made by hand at the ply looked at. */
  get mayMove(): boolean {
    if (this.position.ending) return false;
    if (this.study) return true;
    return this.atEnd && !this.result && this.sides[this.turn].who === "human";
  }

  get status(): string {
    if (this.result && this.atEnd) return resultText(this.result);
    const side = this.position.turn === "white" ? "White" : "Black";
    if (this.paused && !this.study) return "Paused";
    return `${side} to move${this.position.check ? ": check" : ""}`;
  }

  /** What is known of the position looked at without another look at it. */
  get knownScore(): WhiteScore | null {
    const { ending } = this.position;
    if (ending) return ending.winner ? { mate: ending.winner === "white" ? 1 : -1 } : { cp: 0 };
    return this.found[this.at] ?? this.theirs[this.at - 1] ?? this.ours[this.at - 1] ?? null;
  }

  /** Keys of the positions up to the ply looked at. */
  get keys(): string[] {
    return [this.report.startKey, ...this.report.plies.map((ply) => ply.key)].slice(0, this.at + 1);
  }

  /** Every move with its number. */
  get numbered(): string[] {
    const fens = [this.report.start, ...this.report.plies.map((ply) => ply.fen)];
    return this.report.plies.map((ply, index) => lineText(fens[index], [ply.san]));
  }

  /** What an engine is asked for the move of its side. */
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
      default:
        return { ...request, level: strength.by };
    }
  }

  // What is done with it

  /** Looks at a ply. */
  show(ply: number) {
    this.at = Math.max(0, Math.min(ply, this.last));
    this.position = this.rules.position(this.shown);
  }

  /** Plays on from a ply; throws where the move is none, and leaves all as it was. */
  play(uci: string, from = this.last): Ply {
    const { start, moves } = this.game;
    const next = { start, moves: [...moves.slice(0, from), uci] };
    const report = this.rules.game(next);
    const position = this.rules.position(next);
    this.cut(from);
    [this.report, this.position] = [report, position];
    const mover = other(this.turn);
    this.game.moves = report.plies.map((ply) => ply.uci);
    this.at = this.last;
    this.touched = true;
    if (this.clock) {
      if (this.at > 1) this.clock.moved(mover);
      this.clock.start(other(mover));
    }
    this.result = null;
    if (report.ending) this.finish(report.ending);
    return report.plies[this.at - 1];
  }

  /** How many plies *Undo* takes back now; 0 where it cannot. */
  get undoable(): number {
    const back = this.againstEngine && this.sides[this.turn].who === "human" ? 2 : 1;
    return this.last < back ? 0 : back;
  }

  undo() {
    this.cut(this.last - this.undoable);
    this.report = this.rules.game(this.game);
    this.show(this.last);
    this.result = null;
    this.touched = true;
    if (this.clock && this.at > 0) this.clock.start(this.turn);
    else this.clock?.stop();
  }

  /** Drops what was played after a ply. */
  private cut(ply: number) {
    if (ply === this.last) return;
    this.game.moves.length = ply;
    this.theirs.length = Math.min(this.theirs.length, ply);
    this.ours.length = Math.min(this.ours.length, ply);
    this.found.length = Math.min(this.found.length, ply + 1);
  }

  finish(result: Result) {
    this.result = result;
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
    const last = this.found.findLast((score) => score) ?? { cp: 0 };
    const white = "mate" in last ? Math.sign(last.mate) * 10_000 : last.cp;
    const ahead = engine === "white" ? white : -white;
    if (Number(this.fen.split(" ")[5]) < DRAW_FROM) return "early";
    return ahead > DRAW_MARGIN ? last : null;
  }

  /** How the game ends where the mover's time is up; `null` where it is not. */
  flagFall(): Result | null {
    const { turn, clock } = this;
    if (!clock || this.result || !this.last || clock.now(turn) > 0) return null;
    const bare = this.rules.position(this.game).bare.includes(other(turn));
    return bare ? { winner: null, reason: "timeBare" } : { winner: other(turn), reason: "time" };
  }

  /** The mover's clock runs on. */
  startClock() {
    if (this.last) this.clock?.start(this.turn);
  }

  // In and out

  pgn(names: Record<SideName, string>, date: Date): string {
    const result = this.result ? resultCode(this.result) : "*";
    const kept = this.tags.filter(([name]) => !["FEN", "SetUp", "Variant", "Result"].includes(name));
    const day = date.toISOString().slice(0, 10).replaceAll("-", ".");
    const tags: [string, string][] = kept.length
      ? kept
      : [["Event", "Kibitz"], ["Site", "?"], ["Date", day], ["Round", "-"], ["White", names.white], ["Black", names.black]];
    const evals = this.game.moves.map((_, index) => this.theirs[index] ?? this.found[index + 1] ?? null);
    return this.rules.writePgn({ ...this.game, tags: [...tags, ["Result", result]], result, evals });
  }

  saved(): Saved {
    const { game, sides, clock, result, tags, theirs, found, study, orientation } = this;
    const left = clock && { white: clock.now("white"), black: clock.now("black") };
    return { ...game, ...sides, clock: clock?.setting ?? null, left, result, tags, theirs, found, study, orientation };
  }
}
