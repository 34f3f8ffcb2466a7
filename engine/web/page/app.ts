/** The game on the page: what is played, by whom, and what is shown of it. */
import type { Color, Key } from "chessground/types";
import { Board } from "./board";
import { type Brain, type Brains, DEFAULT } from "./brains";
import { Clock, type ClockSetting } from "./clock";
import { Console, arrowsOf, showBar } from "./console";
import { $, announce, toast } from "./dom";
import { type Result, lineText, resultCode, resultText, scoreText, spoken } from "./format";
import { showCurves } from "./graph";
import { linkTo } from "./link";
import { MoveList } from "./moves";
import * as netview from "./netview";
import type { NewGame } from "./newgame";
import type { Openings } from "./openings";
import { HUMAN, type Side, showStrip, sideName, strengthText } from "./players";
import type { GameReport, Line, PositionReport, ReadGame, Rules, Score } from "./rules";
import { endSound, moveSound } from "./sound";
import { Stockfish } from "./stockfish";
import { load, save } from "./storage";
import { type Report, type Searcher, Thinker, type Wish } from "./thinker";

/** Nodes for each position of the net's curve. */
const CURVE_NODES = 5000;
/** An analysis ends by itself after this, in milliseconds: phones have batteries. */
const ANALYSIS_TIME = 120_000;
/** Kibitz does not answer faster than this where no clock runs, in milliseconds. */
const POLITENESS = 300;
/** Kibitz accepts a draw where it is ahead by no more than this, in centipawns. */
const DRAW_MARGIN = 30;
/** ... and not before this move. */
const DRAW_FROM = 10;

const other = (color: Color): Color => (color === "white" ? "black" : "white");

interface Saved extends Line {
  white: Side;
  black: Side;
  clock: ClockSetting | null;
  left: Record<Color, number> | null;
  result: Result | null;
  tags: [string, string][];
  theirs: (Score | null)[];
  found: (Score | null)[];
  study: boolean;
  orientation: Color;
}

export class App {
  private line: Line = { start: null, moves: [] };
  private game: GameReport;
  /** The ply looked at, 0 for the start. */
  private at = 0;
  private position: PositionReport;
  private sides: Record<Color, Side> = { white: HUMAN, black: { ...HUMAN, who: "kibitz", strength: { by: "medium" }, brain: "" } };
  private searchers: Record<Color, Searcher | null> = { white: null, black: null };
  private clock: Clock | null = null;
  private result: Result | null = null;
  /** Tags of a game that was read. */
  private tags: [string, string][] = [];
  /** What the game's comments say after each ply, and what our net finds there. */
  private theirs: (Score | null)[] = [];
  private ours: (Score | null)[] = [];
  /** What searches have found, by ply, 0 for the start. */
  private found: (Score | null)[] = [];
  /** Moves may be made anywhere, by hand: no game is going on. */
  private study = false;
  private paused = false;
  private editing = false;
  private orientation: Color = "white";
  private thinking: Color | null = null;
  /** What is being analysed. */
  private analysed: string | null = null;
  /** Counts what makes searches under way pointless. */
  private generation = 0;
  private best: Report[] = [];
  /** The ply that `best` speaks of. */
  private bestAt = -1;
  private brain: Brain = DEFAULT;
  private analyst: Thinker;
  private readonly curveThinker: Thinker;
  private drawing = false;
  private openings: Openings | null = null;
  private view: netview.View | null = null;

  private readonly board = new Board({
    moved: (uci) => this.playByHand(uci),
    lifted: (square) => this.showLifted(square),
  });
  private readonly moves = new MoveList((ply) => this.go(ply));
  private readonly console = new Console((best) => this.thought(best));

  constructor(
    private readonly rules: Rules,
    private readonly module: WebAssembly.Module,
    readonly brains: Brains,
  ) {
    this.analyst = new Thinker(module, DEFAULT);
    this.curveThinker = new Thinker(module, DEFAULT);
    this.game = rules.game(this.line);
    this.position = rules.position(this.line);
    this.console.clear();
    this.employ();
    this.describe();
    setInterval(() => this.tick(), 100);
  }

  // What is played

  begin({ white, black, clock, fromHere, analyse }: NewGame) {
    const start = fromHere ? this.position.fen : null;
    const human = white.who === "human" ? "white" : black.who === "human" ? "black" : "white";
    this.reset({ start: start === this.game.start && !this.line.start ? null : start, moves: [] });
    this.sides = { white, black };
    this.clock = clock && new Clock(clock);
    this.orientation = human;
    this.study = analyse;
    $<HTMLInputElement>("analyse").checked = analyse;
    this.employ();
    this.changed();
    announce(`New game. ${this.status()}`);
  }

  /** Studies a game or a position. */
  look(line: Line, more: Partial<ReadGame> = {}, at = line.moves.length) {
    this.rules.game(line);
    this.reset(line);
    this.sides = { white: HUMAN, black: HUMAN };
    this.tags = more.tags ?? [];
    this.theirs = more.evals ?? [];
    if (more.result && more.result !== "*") {
      const winner = more.result === "1-0" ? "white" : more.result === "0-1" ? "black" : null;
      this.result = { winner, reason: null };
    }
    this.study = true;
    this.clock = null;
    this.employ();
    this.at = Math.min(at, line.moves.length);
    this.changed();
  }

  /** Goes on with the game that a former visit left. */
  resume(): boolean {
    const saved = load<Saved | null>("game", null);
    if (!saved) return false;
    try {
      this.rules.game(saved);
    } catch {
      return false;
    }
    this.reset({ start: saved.start, moves: saved.moves });
    this.sides = { white: saved.white, black: saved.black };
    this.clock = saved.clock && new Clock(saved.clock, saved.left ?? undefined);
    ({ result: this.result, tags: this.tags, theirs: this.theirs, found: this.found } = saved);
    ({ study: this.study, orientation: this.orientation } = saved);
    this.paused = this.sides.white.who !== "human" && this.sides.black.who !== "human";
    this.employ();
    this.changed();
    return true;
  }

  private reset(line: Line) {
    this.stopThinking();
    this.console.clear();
    this.line = line;
    this.game = this.rules.game(line);
    this.line.moves = this.game.plies.map((ply) => ply.uci);
    this.at = line.moves.length;
    this.result = this.game.ending;
    this.tags = [];
    [this.theirs, this.ours, this.found] = [[], [], []];
    this.paused = false;
    this.drawing = false;
    this.curveThinker.stop();
  }

  /** Engines for the sides that want them. */
  private employ() {
    for (const color of ["white", "black"] as const) {
      const { who, brain } = this.sides[color];
      this.searchers[color]?.stop();
      if (who === "kibitz") {
        const mind = brain ? this.brains.present(brain) : this.brain;
        this.searchers[color] = new Thinker(this.module, mind);
      } else this.searchers[color] = who === "stockfish" ? new Stockfish(this.rules) : null;
    }
  }

  /** Where the game stands. */
  private get fen(): string {
    return this.game.plies.at(-1)?.fen ?? this.game.start;
  }

  private get turn(): Color {
    return this.fen.split(" ")[1] === "w" ? "white" : "black";
  }

  /** Brains that the sides want; '' stands for the one of the drop-down. */
  get wantedBrains(): string[] {
    return [this.sides.white.brain, this.sides.black.brain].filter(Boolean);
  }

  private get atEnd(): boolean {
    return this.at === this.line.moves.length;
  }

  private playByHand(uci: string) {
    this.cut(this.at);
    this.play(uci);
  }

  /** Drops what was played after a ply. */
  private cut(ply: number) {
    if (ply === this.line.moves.length) return;
    this.line.moves.length = ply;
    this.theirs.length = Math.min(this.theirs.length, ply);
    this.ours.length = Math.min(this.ours.length, ply);
    this.found.length = Math.min(this.found.length, ply + 1);
    this.drawing = false;
    this.curveThinker.stop();
  }

  /** Plays on from the last position. */
  private play(uci: string) {
    this.stopThinking();
    const mover = this.turn;
    this.line.moves.push(uci);
    this.game = this.rules.game(this.line);
    this.line.moves = this.game.plies.map((ply) => ply.uci);
    this.at = this.line.moves.length;
    const ply = this.game.plies[this.at - 1];
    if (this.clock) {
      if (this.at > 1) this.clock.moved(mover);
      this.clock.start(other(mover));
    }
    this.result = null;
    announce(`${mover}: ${spoken(ply)}`);
    if (load("sound", true)) moveSound(ply);
    if (this.game.ending) this.finish(this.game.ending);
    else this.changed();
  }

  /** Plays what was typed; says why not where it cannot. */
  type(text: string): boolean {
    if (!this.mayMove()) {
      toast("It is not your move.");
      return false;
    }
    let uci: string;
    try {
      uci = this.rules.parseMove(this.shownLine(), text);
    } catch {
      toast(`“${text}” is no legal move here.`);
      return false;
    }
    this.playByHand(uci);
    return true;
  }

  private finish(result: Result) {
    this.result = result;
    this.clock?.stop();
    this.stopThinking();
    announce(resultText(result));
    if (load("sound", true)) endSound();
    this.changed();
  }

  undo() {
    const ply = this.line.moves.length;
    const human = this.sides[this.turn].who === "human";
    const back = this.againstEngine() && human ? 2 : 1;
    if (ply < back) return;
    this.stopThinking();
    this.cut(ply - back);
    this.game = this.rules.game(this.line);
    this.at = this.line.moves.length;
    this.result = null;
    if (this.clock && this.at > 0) this.clock.start(this.turn);
    else this.clock?.stop();
    announce(`Taken back. ${this.status()}`);
    this.changed();
  }

  resign() {
    if (this.result) return;
    const human = this.sides[this.turn].who === "human" ? this.turn : other(this.turn);
    this.finish({ winner: other(human), reason: "resignation" });
  }

  offerDraw() {
    if (this.result) return;
    if (!this.againstEngine()) {
      const accepts = confirm(`Does ${other(this.turn)} accept a draw?`);
      if (accepts) this.finish({ winner: null, reason: "agreement" });
      return;
    }
    const engine = this.sides.white.who === "human" ? "black" : "white";
    const last = this.found.findLast((score) => score) ?? { cp: 0 };
    const white = "mate" in last ? Math.sign(last.mate) * 10_000 : last.cp;
    const ahead = engine === "white" ? white : -white;
    if (Number(this.fen.split(" ")[5]) < DRAW_FROM) toast("Kibitz would rather play a little first.");
    else if (ahead > DRAW_MARGIN) toast(`Kibitz declines: it likes its position (${scoreText(last)}).`);
    else this.finish({ winner: null, reason: "agreement" });
  }

  private againstEngine(): boolean {
    return (this.sides.white.who === "human") !== (this.sides.black.who === "human");
  }

  private tick() {
    if (!this.clock || this.result || this.editing) return;
    const { turn } = this;
    for (const color of ["white", "black"] as const) this.strip(color);
    if (this.clock.now(turn) > 0 || !this.line.moves.length) return;
    const bare = this.rules.position(this.line).bare.includes(other(turn));
    this.finish(bare ? { winner: null, reason: "timeBare" } : { winner: other(turn), reason: "time" });
  }

  pause() {
    this.paused = !this.paused;
    this.stopThinking();
    if (this.paused) this.clock?.stop();
    else if (this.line.moves.length) this.clock?.start(this.turn);
    this.changed();
  }

  // Who thinks

  private stopThinking() {
    this.generation += 1;
    this.thinking = this.analysed = null;
    this.analyst.stop();
    this.searchers.white?.stop();
    this.searchers.black?.stop();
  }

  /** Whoever has to think begins to, unless it does already. */
  private think() {
    if (this.thinking) return;
    const { turn } = this;
    const engine = !this.result && !this.study && !this.paused && this.searchers[turn];
    const wanted = !engine && $<HTMLInputElement>("analyse").checked && !this.position.ending;
    const wish = { ...this.shownLine(), movetime: ANALYSIS_TIME, lines: this.lines };
    const text = wanted ? JSON.stringify(wish) : null;
    if (text && text === this.analysed) return;
    this.stopThinking();
    if (engine) void this.engineMoves(turn);
    else if (text) {
      this.analysed = text;
      void this.analyse(wish);
    }
  }

  private async engineMoves(color: Color) {
    const searcher = this.searchers[color] as Searcher;
    const { brain } = this.sides[color];
    // After a reload its net may have come only now.
    if (searcher instanceof Thinker && brain) searcher.use(this.brains.present(brain));
    const { generation } = this;
    const begun = performance.now();
    this.thinking = color;
    this.showStrips();
    const ply = this.line.moves.length;
    this.bestAt = ply;
    this.console.begin(this.fen, `${this.name(color)} thinks about ${color}’s move.`);
    try {
      const found = await searcher.search(this.wishOf(color), (report) => {
        if (generation === this.generation) this.console.add(report);
      });
      const wait = this.clock ? 0 : POLITENESS - (performance.now() - begun);
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      if (generation !== this.generation || !found?.best) return;
      this.found[ply] = found.score;
      this.play(found.best);
    } catch (error) {
      if (generation !== this.generation) return;
      // The next move, or a move taken back, has it try again.
      this.thinking = null;
      toast(`The engine failed: ${(error as Error).message}`);
      this.showStrips();
    }
  }

  private wishOf(color: Color): Wish {
    const { strength } = this.sides[color];
    const clock = this.clock && {
      remaining: this.clock.now(color),
      increment: this.clock.setting.increment,
    };
    const wish: Wish = { ...this.line, lines: this.lines, chance: Math.random() };
    if (clock) wish.clock = clock;
    switch (strength.by) {
      case "full":
        return clock ? wish : { ...wish, movetime: 2000 };
      case "depth":
        return { ...wish, depth: strength.value };
      case "nodes":
        return { ...wish, nodes: strength.value };
      case "time":
        return { ...wish, movetime: strength.value };
      default:
        return { ...wish, level: strength.by };
    }
  }

  private async analyse(wish: Wish) {
    const { generation } = this;
    this.bestAt = this.at;
    this.best = [];
    this.console.begin(this.position.fen, "Analysis, the newest on top.");
    await this.analyst.search(wish, (report) => {
      if (generation === this.generation) this.console.add(report);
    });
  }

  private get lines(): number {
    return Number($<HTMLSelectElement>("lines").value);
  }

  /** The console has something new. */
  private thought(best: Report[]) {
    this.best = best;
    if (best[0]) this.found[this.bestAt] = best[0].score;
    this.showThoughts();
  }

  /** What the net finds after every ply. */
  async drawCurve() {
    if (this.drawing) return;
    const { line } = this;
    this.drawing = true;
    this.ours = line.moves.map(() => null);
    this.showButtons();
    try {
      for (let ply = 1; ply <= line.moves.length; ply += 1) {
        const wish = { start: line.start, moves: line.moves.slice(0, ply), nodes: CURVE_NODES };
        const found = await this.curveThinker.search(wish, () => {});
        if (!found || !this.drawing || this.line !== line) return;
        if (found.best) this.ours[ply - 1] = found.score;
        if (ply % 4 === 0) this.showGraph();
      }
    } finally {
      if (this.line === line) {
        this.drawing = false;
        this.showGraph();
        this.showButtons();
      }
    }
  }

  private describe() {
    $("brain-note").textContent = netview.describe(this.rules.use(this.brain));
  }

  use(brain: Brain) {
    this.rules.use(brain);
    this.brain = brain;
    this.describe();
    this.analyst.use(brain);
    this.curveThinker.use(brain);
    this.stopThinking();
    for (const color of ["white", "black"] as const) {
      const searcher = this.searchers[color];
      if (searcher instanceof Thinker && !this.sides[color].brain) searcher.use(brain);
    }
    this.found = [];
    this.ours = [];
    this.changed();
  }

  // What is shown

  go(ply: number) {
    const next = Math.max(0, Math.min(ply, this.line.moves.length));
    if (next === this.at || this.editing) return;
    this.at = next;
    const shown = this.game.plies[next - 1];
    announce(shown ? `${shown.fen.split(" ")[1] === "w" ? "Black" : "White"}: ${spoken(shown)}` : "Start position");
    this.changed({ sameGame: true });
  }

  step(by: number) {
    this.go(this.at + by);
  }

  get last(): number {
    return this.line.moves.length;
  }

  flip() {
    this.orientation = other(this.orientation);
    this.changed({ sameGame: true });
  }

  private shownLine(): Line {
    return { start: this.line.start, moves: this.line.moves.slice(0, this.at) };
  }

  private mayMove(): boolean {
    if (this.editing || this.position.ending) return false;
    if (this.study) return true;
    return this.atEnd && !this.result && this.sides[this.turn].who === "human";
  }

  private status(): string {
    if (this.result && this.atEnd) return resultText(this.result);
    const side = this.position.turn === "white" ? "White" : "Black";
    if (this.paused && !this.study) return "Paused";
    return `${side} to move${this.position.check ? ": check" : ""}`;
  }

  name(color: Color): string {
    const tag = this.tags.find(([name]) => name.toLowerCase() === color)?.[1];
    if (tag) return tag;
    const side = this.sides[color];
    if (side.who === "human" && !this.againstEngine()) return color === "white" ? "White" : "Black";
    if (side.who === "kibitz" && !side.brain && this.brain !== DEFAULT) return `Kibitz · ${this.brain.name}`;
    return sideName(side, this.brains);
  }

  /** Something has changed: shows it, saves it, and has engines think. */
  changed({ sameGame = false } = {}) {
    if (this.editing) return;
    this.position = this.rules.position(this.shownLine());
    this.view = null;
    this.think();
    this.showBoard();
    this.moves.show(this.game, this.at, this.theirs);
    $("status").textContent = this.status();
    $("status").classList.toggle("over", this.result !== null && this.atEnd);
    this.showOpening();
    this.showStrips();
    this.showThoughts();
    this.showButtons();
    if (!$("panel-study").hidden) this.showStudy();
    if (!sameGame) this.save();
  }

  showBoard() {
    const ply = this.game.plies[this.at - 1];
    const netOpen = !$("panel-net").hidden;
    if (netOpen) {
      this.view = { fen: this.position.fen, ...this.rules.evaluate(this.shownLine()) };
      netview.showWorths(this.view, (square) => this.showLifted(square));
      netview.showLifted(this.view, null);
    }
    const showNotes = this.view && $<HTMLInputElement>("show-worth").checked;
    this.board.show({
      fen: this.position.fen,
      orientation: this.orientation,
      turn: this.position.turn,
      check: this.position.check,
      lastMove: ply ? [ply.uci.slice(0, 2) as Key, ply.uci.slice(2, 4) as Key] : null,
      dests: this.mayMove() ? this.position.dests : {},
      promotions: this.position.promotions,
      movable: this.mayMove() ? this.position.turn : null,
      notes: showNotes && this.view ? netview.notes(this.view) : new Map(),
    });
  }

  private showLifted(square: Key | null) {
    if (this.view) netview.showLifted(this.view, square);
  }

  private showOpening() {
    const keys = [this.game.start_key, ...this.game.plies.map((ply) => ply.key)];
    const name = this.openings?.last(keys.slice(0, this.at + 1));
    $("opening").textContent = name ? `${name.eco} ${name.name}` : "";
  }

  private showStrips() {
    this.strip("white");
    this.strip("black");
  }

  private strip(color: Color) {
    const bottom = color === this.orientation;
    const side = this.sides[color];
    const playing = !this.result && !this.study;
    showStrip($(bottom ? "player-bottom" : "player-top"), {
      name: this.name(color),
      note: side.who === "human" ? "" : strengthText(side.strength),
      color,
      fen: this.position.fen,
      whole: this.line.start === null,
      left: this.clock ? this.clock.now(color) : null,
      active: playing && this.turn === color,
      thinking: this.thinking === color,
    });
  }

  /** Bar and arrows for the position looked at. */
  showThoughts() {
    const here = this.bestAt === this.at;
    const arrows = $<HTMLInputElement>("arrows").checked && here && !this.position.ending;
    this.board.arrows(arrows ? arrowsOf(this.best) : []);
    showBar(this.scoreHere(), this.orientation === "black");
  }

  private scoreHere(): Score {
    const { ending } = this.position;
    if (ending) return ending.winner ? { mate: ending.winner === "white" ? 1 : -1 } : { cp: 0 };
    const known = this.found[this.at] ?? this.theirs[this.at - 1] ?? this.ours[this.at - 1];
    return known ?? { cp: Math.round(this.rules.evaluate(this.shownLine()).value * 100) };
  }

  private showButtons() {
    $<HTMLButtonElement>("draw-curve").disabled = this.drawing || !this.last;
    const enable = (id: string, on: boolean) => ($<HTMLButtonElement>(id).disabled = !on);
    const engines = this.sides.white.who !== "human" && this.sides.black.who !== "human";
    const begun = this.line.moves.length > 0;
    const playing = !this.result && !this.study;
    $("pause").hidden = !engines || this.result !== null;
    $("pause").textContent = this.paused ? "Go on" : "Pause";
    for (const id of ["undo", "draw", "resign"]) $(id).hidden = engines;
    for (const id of ["draw", "resign"]) $(id).hidden ||= this.study;
    enable("undo", begun && !engines);
    enable("draw", playing && begun);
    enable("resign", playing && begun);
    for (const id of ["first", "previous"]) enable(id, this.at > 0);
    for (const id of ["next", "last"]) enable(id, !this.atEnd);
  }

  private showGraph() {
    showCurves(
      { theirs: this.theirs, ours: this.ours, names: this.numbered(), shown: this.at },
      (ply) => this.go(ply),
    );
  }

  /** Every move with its number. */
  private numbered(): string[] {
    const fens = [this.game.start, ...this.game.plies.map((ply) => ply.fen)];
    return this.game.plies.map((ply, index) => lineText(fens[index], [ply.san]));
  }

  showStudy() {
    $<HTMLInputElement>("fen").value = this.position.fen;
    this.showGraph();
  }

  nameOpenings(openings: Openings) {
    this.openings = openings;
    this.showOpening();
  }

  // In and out

  link(): string {
    return linkTo(this.line, this.at);
  }

  pgn(): string {
    const result = this.result ? resultCode(this.result) : "*";
    const kept = this.tags.filter(([name]) => !["FEN", "SetUp", "Variant", "Result"].includes(name));
    const date = new Date().toISOString().slice(0, 10).replaceAll("-", ".");
    const tags: [string, string][] = kept.length
      ? kept
      : [["Event", "Kibitz"], ["Site", "?"], ["Date", date], ["Round", "-"], ["White", this.name("white")], ["Black", this.name("black")]];
    const evals = this.line.moves.map((_, index) => this.theirs[index] ?? this.found[index + 1] ?? null);
    return this.rules.writePgn({ ...this.line, tags: [...tags, ["Result", result]], result, evals });
  }

  /** The board as a place to set pieces up. */
  edit(editor: typeof import("./editor").edit) {
    if (this.editing) return;
    this.stopThinking();
    this.editing = true;
    this.clock?.stop();
    this.showEditing();
    editor(this.board, this.position.fen, this.orientation, (fen) => {
      try {
        if (fen) this.rules.position({ start: fen, moves: [] });
      } catch (error) {
        return (error as Error).message;
      }
      this.editing = false;
      this.showEditing();
      if (fen) this.look({ start: fen, moves: [] });
      else {
        if (this.clock && this.line.moves.length && !this.result && !this.paused) this.clock.start(this.turn);
        this.changed();
      }
      return null;
    });
  }

  private showEditing() {
    $("editor").hidden = !this.editing;
    $("play-actions").hidden = this.editing;
    document.body.classList.toggle("editing", this.editing);
  }

  private save() {
    const left = this.clock && { white: this.clock.now("white"), black: this.clock.now("black") };
    const saved: Saved = {
      ...this.line,
      ...this.sides,
      clock: this.clock?.setting ?? null,
      left,
      result: this.result,
      tags: this.tags,
      theirs: this.theirs,
      found: this.found,
      study: this.study,
      orientation: this.orientation,
    };
    save("game", saved);
  }
}
