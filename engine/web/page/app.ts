/** The game on the page: what is played, by whom, and what is shown of it. */
import type { Color, Key } from "chessground/types";
import { Board } from "./board";
import { type Brain, type Brains, DEFAULT } from "./brains";
import { Clock } from "./clock";
import { Console, arrowsOf, showBar } from "./console";
import { $, announce, toast, trouble, untroubled } from "./dom";
import { type Result, lineText, resultCode, resultText, scoreText, spoken, why } from "./format";
import { showCurves } from "./graph";
import { KibitzSearcher } from "./kibitzsearcher";
import { linkTo } from "./link";
import { MoveList } from "./moves";
import * as netview from "./netview";
import type { NewGame } from "./newgame";
import type { Openings } from "./openings";
import { HUMAN, type Side, showStrip, sideName, strengthText } from "./players";
import type { Rules } from "./rules";
import { type Saved, readGame, readSaved } from "./saved";
import { BrainError, type Searcher } from "./searcher";
import { endSound, moveSound } from "./sound";
import { Stockfish } from "./stockfish";
import { load, save } from "./storage";
import type { Game, GameReport, Iteration, PgnGame, PositionEvaluation, PositionReport, SearchRequest, WhiteScore } from "./types";

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

export class App {
  private line: Game = { start: null, moves: [] };
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
  private theirs: (WhiteScore | null)[] = [];
  private ours: (WhiteScore | null)[] = [];
  /** What searches have found, by ply, 0 for the start. */
  private found: (WhiteScore | null)[] = [];
  /** Moves may be made anywhere, by hand: no game is going on. */
  private study = false;
  private paused = false;
  /** Whether anything was done with the game since a link or a reload: before, it is not the browser's last. */
  private touched = true;
  private told = false;
  private editing = false;
  private orientation: Color = "white";
  private thinking: Color | null = null;
  /** What is being analysed. */
  private analysed: string | null = null;
  /** Counts what makes searches under way pointless. */
  private generation = 0;
  private best: Iteration[] = [];
  /** The ply that `best` speaks of. */
  private bestAt = -1;
  brain: Brain = DEFAULT;
  /** Told where another brain is used, or one is gone. */
  brainsChanged = () => {};
  private analyst: KibitzSearcher;
  private readonly curveSearcher: KibitzSearcher;
  private drawing = false;
  private openings: Openings | null = null;
  private view: netview.View | null = null;

  private readonly board = new Board({
    moved: (uci) => this.playByHand(uci),
    lifted: (square) => this.showLifted(square),
  });
  private readonly moves = new MoveList((ply) => this.go(ply));
  private readonly console = new Console((best) => this.searched(best));

  constructor(
    private readonly rules: Rules,
    private readonly module: WebAssembly.Module,
    readonly brains: Brains,
  ) {
    this.analyst = new KibitzSearcher(module, DEFAULT);
    this.curveSearcher = new KibitzSearcher(module, DEFAULT);
    this.game = rules.game(this.line);
    this.position = rules.position(this.line);
    this.console.clear();
    this.employ();
    $("brain-note").textContent = netview.describe(rules.use(DEFAULT));
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

  /** Studies a game or a position, `touched` unless it came by a link. */
  look(line: Game, more: Partial<PgnGame> = {}, at = line.moves.length, touched = true) {
    this.reset(line);
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
    this.employ();
    this.at = Math.min(at, line.moves.length);
    this.changed();
  }

  /** Goes on with this tab's game, or with the last of a former visit. */
  resume(): boolean {
    const kept = load("game", "tab") ?? load("game");
    if (kept === undefined) return false;
    try {
      this.restore(readSaved(kept));
      return true;
    } catch (error) {
      console.warn("the saved game:", error);
    }
    try {
      this.look(readGame(kept));
      toast("Of your last game only the moves can be read: here they are.");
      return true;
    } catch {
      toast("Your last game cannot be read any more. A new one is on the board.");
      return false;
    }
  }

  private restore(saved: Saved) {
    this.reset({ start: saved.start, moves: saved.moves });
    this.touched = false;
    this.sides = { white: saved.white, black: saved.black };
    this.clock = saved.clock && new Clock(saved.clock, saved.left ?? undefined);
    ({ result: this.result, tags: this.tags, theirs: this.theirs, found: this.found } = saved);
    ({ study: this.study, orientation: this.orientation } = saved);
    this.paused = this.sides.white.who !== "human" && this.sides.black.who !== "human";
    this.employ();
    this.changed();
  }

  /** Begins with another game; throws where it is none, and leaves all as it was. */
  private reset(line: Game) {
    const game = this.rules.game(line);
    if (this.editing) this.leaveEditor();
    this.stopThinking();
    this.console.clear();
    this.game = game;
    this.line = { start: line.start, moves: game.plies.map((ply) => ply.uci) };
    this.at = this.last;
    this.touched = true;
    this.result = this.game.ending;
    this.tags = [];
    [this.theirs, this.ours, this.found] = [[], [], []];
    this.paused = false;
    this.drawing = false;
    this.curveSearcher.stop();
  }

  /** Engines for the sides that want them. */
  private employ() {
    for (const color of ["white", "black"] as const) {
      const { who, brain } = this.sides[color];
      this.searchers[color]?.close();
      if (who === "kibitz") {
        const mind = brain ? this.brains.present(brain) : this.brain;
        this.searchers[color] = new KibitzSearcher(this.module, mind);
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

  /** The board tells of moves a moment later, when the game may be over. */
  private playByHand(uci: string) {
    if (!this.mayMove()) return this.showBoard();
    try {
      this.play(uci, this.at);
    } catch (error) {
      toast(`This move cannot be played: ${why(error)}.`);
      this.showBoard();
    }
  }

  /** Drops what was played after a ply. */
  private cut(ply: number) {
    if (ply === this.line.moves.length) return;
    this.line.moves.length = ply;
    this.theirs.length = Math.min(this.theirs.length, ply);
    this.ours.length = Math.min(this.ours.length, ply);
    this.found.length = Math.min(this.found.length, ply + 1);
    this.drawing = false;
    this.curveSearcher.stop();
  }

  /** Plays on from a ply; throws where the move is none, and leaves all as it was. */
  private play(uci: string, from = this.last) {
    if (this.flagFell()) return;
    const { start, moves } = this.line;
    const game = this.rules.game({ start, moves: [...moves.slice(0, from), uci] });
    this.stopThinking();
    this.cut(from);
    this.game = game;
    const mover = other(this.turn);
    this.line.moves = game.plies.map((ply) => ply.uci);
    this.at = this.last;
    this.touched = true;
    const ply = this.game.plies[this.at - 1];
    if (this.clock) {
      if (this.at > 1) this.clock.moved(mover);
      this.clock.start(other(mover));
    }
    this.result = null;
    announce(`${mover}: ${spoken(ply)}`);
    moveSound(ply);
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
    this.touched = true;
    this.clock?.stop();
    this.stopThinking();
    announce(resultText(result));
    endSound();
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
    this.at = this.last;
    this.result = null;
    this.touched = true;
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
    this.showStrips();
    this.flagFell();
  }

  /** Whether the game is over because the mover's time is up. */
  private flagFell(): boolean {
    const { turn, clock } = this;
    if (!clock || this.result || !this.last || clock.now(turn) > 0) return false;
    const bare = this.rules.position(this.line).bare.includes(other(turn));
    this.finish(bare ? { winner: null, reason: "timeBare" } : { winner: other(turn), reason: "time" });
    return true;
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
    untroubled();
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
    const request = { ...this.shownLine(), movetime: ANALYSIS_TIME, lines: this.lines };
    const text = wanted ? JSON.stringify(request) : null;
    if (text && text === this.analysed) return;
    this.stopThinking();
    if (engine) void this.engineMoves(turn);
    else if (text) {
      this.analysed = text;
      void this.analyse(request);
    }
  }

  private async engineMoves(color: Color) {
    const searcher = this.searchers[color] as Searcher;
    const { brain } = this.sides[color];
    const { generation } = this;
    const begun = performance.now();
    this.thinking = color;
    // It stands still after a reload, or where the engine failed.
    if (this.last) this.clock?.start(color);
    this.showStrips();
    const ply = this.line.moves.length;
    this.bestAt = ply;
    this.console.begin(this.fen, `${this.name(color)} thinks about ${color}’s move.`);
    try {
      if (brain && searcher instanceof KibitzSearcher) {
        // After a reload its net may come only now.
        const mind = await this.brains.get(brain);
        // Before it is used: that would end the search of whoever came later.
        if (generation !== this.generation) return;
        searcher.use(mind);
      }
      const found = await searcher.search(this.searchRequest(color), (report) => {
        if (generation === this.generation) this.console.add(report);
      });
      const wait = this.clock ? 0 : POLITENESS - (performance.now() - begun);
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      if (generation !== this.generation || !found) return;
      if (!found.best) throw new Error("it knows no move");
      this.found[ply] = found.score;
      this.play(found.best);
    } catch (error) {
      if (generation !== this.generation) return;
      this.clock?.stop();
      // Whatever it is, it is tried again with a new worker.
      searcher.close();
      this.failed(error);
    }
  }

  /** A search has failed: says so, and how it can go on. */
  private failed(error: unknown) {
    console.warn(error);
    this.stopThinking();
    this.console.clear();
    if (error instanceof BrainError) this.dismiss(error.brain, error.message);
    else {
      trouble(`The engine failed: ${why(error)}.`, {
        "Try again": () => this.changed({ sameGame: true }),
        "Reload the page": () => refresh(),
      });
    }
    this.showStrips();
  }

  /** A brain that breaks the engine goes, and the default one takes its place. */
  private dismiss(brain: Brain, reason: string) {
    void this.brains.forget(brain.id);
    for (const color of ["white", "black"] as const) {
      if (this.sides[color].brain !== brain.id) continue;
      this.sides[color] = { ...this.sides[color], brain: DEFAULT.id };
      // Whether the match goes on without it, the visitor says.
      this.paused = true;
    }
    if (this.brain === brain) this.use(DEFAULT);
    else {
      this.brainsChanged();
      this.changed();
    }
    toast(`${reason}. It is forgotten, and the default net thinks instead.`);
  }

  private searchRequest(color: Color): SearchRequest {
    const { strength } = this.sides[color];
    const clock = this.clock && {
      remaining: this.clock.now(color),
      increment: this.clock.setting.increment,
    };
    const request: SearchRequest = { ...this.line, lines: this.lines, chance: Math.random() };
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

  private async analyse(request: SearchRequest) {
    const { generation } = this;
    this.bestAt = this.at;
    this.best = [];
    this.console.begin(this.position.fen, "Analysis, the newest on top.");
    try {
      await this.analyst.search(request, (report) => {
        if (generation === this.generation) this.console.add(report);
      });
    } catch (error) {
      if (generation === this.generation) this.failed(error);
    }
  }

  private get lines(): number {
    return Number($<HTMLSelectElement>("lines").value);
  }

  /** The console has something new. */
  private searched(best: Iteration[]) {
    this.best = best;
    if (best[0]) this.found[this.bestAt] = best[0].score;
    this.showSearch();
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
        const request = { start: line.start, moves: line.moves.slice(0, ply), nodes: CURVE_NODES };
        const found = await this.curveSearcher.search(request, () => {});
        if (!found || !this.drawing || this.line !== line) return;
        if (found.best) this.ours[ply - 1] = found.score;
        if (ply % 4 === 0) this.showGraph();
      }
    } catch (error) {
      if (error instanceof BrainError) this.dismiss(error.brain, error.message);
      else toast(`The curve could not be drawn: ${why(error)}.`);
    } finally {
      if (this.line === line) {
        this.drawing = false;
        this.showGraph();
        this.showButtons();
      }
    }
  }

  /** Thinks with another brain; throws where it is of no use, and keeps the one before. */
  use(brain: Brain) {
    $("brain-note").textContent = netview.describe(this.rules.use(brain));
    this.brain = brain;
    this.brainsChanged();
    this.analyst.use(brain);
    this.curveSearcher.use(brain);
    this.stopThinking();
    for (const color of ["white", "black"] as const) {
      const searcher = this.searchers[color];
      if (searcher instanceof KibitzSearcher && !this.sides[color].brain) searcher.use(brain);
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

  private shownLine(): Game {
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
    this.showSearch();
    this.showButtons();
    if (!$("panel-study").hidden) this.showStudy();
    if (!sameGame) this.save();
  }

  showBoard() {
    const ply = this.game.plies[this.at - 1];
    const netOpen = !$("panel-net").hidden;
    if (netOpen) {
      this.view = { fen: this.position.fen, ...this.evaluate() };
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
    const keys = [this.game.startKey, ...this.game.plies.map((ply) => ply.key)];
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
  showSearch() {
    const here = this.bestAt === this.at;
    const arrows = $<HTMLInputElement>("arrows").checked && here && !this.position.ending;
    this.board.arrows(arrows ? arrowsOf(this.best) : []);
    showBar(this.scoreHere(), this.orientation === "black");
  }

  private scoreHere(): WhiteScore {
    const { ending } = this.position;
    if (ending) return ending.winner ? { mate: ending.winner === "white" ? 1 : -1 } : { cp: 0 };
    const known = this.found[this.at] ?? this.theirs[this.at - 1] ?? this.ours[this.at - 1];
    return known ?? { cp: Math.round(this.evaluate().value * 100) };
  }

  /** The brain's view of the position looked at. */
  private evaluate(): PositionEvaluation {
    try {
      return this.rules.evaluate(this.shownLine());
    } catch (error) {
      if (!this.brain.net) throw error;
      this.dismiss(this.brain, new BrainError(this.brain, why(error)).message);
      return this.rules.evaluate(this.shownLine());
    }
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
    this.showEditor();
    editor(this.board, this.position.fen, this.orientation, (fen) => {
      try {
        if (fen) this.rules.position({ start: fen, moves: [] });
      } catch (error) {
        return (error as Error).message;
      }
      this.leaveEditor();
      if (fen) this.look({ start: fen, moves: [] });
      else {
        if (this.clock && this.line.moves.length && !this.result && !this.paused) this.clock.start(this.turn);
        this.changed();
      }
      return null;
    });
  }

  private leaveEditor() {
    this.editing = false;
    this.board.capture(null);
    this.showEditor();
  }

  private showEditor() {
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
    const kept = save("game", saved, "tab") && (!this.touched || save("game", saved));
    if (kept || this.told || !this.last) return;
    this.told = true;
    toast("This browser does not let the page keep the game: it ends with this tab.");
  }
}
