/** What is shown of the game: board, moves, clocks, search, net, curves and the state of the controls. */
import type { Key } from "chessground/types";
import { Board } from "./board";
import { Console, arrowsOf, showBar } from "./console";
import { $ } from "./dom";
import type { GameState } from "./gamestate";
import { showCurves } from "./graph";
import { MoveList } from "./moves";
import * as netview from "./netview";
import type { Openings } from "./openings";
import { strengthText } from "./side";
import { showStrip } from "./strip";
import type { Iteration, PositionEvaluation, SideName, WhiteScore } from "./types";

/** What the screen shows beside the game's state. */
export interface Source {
  name(side: SideName): string;
  /** The side that an engine searches for. */
  readonly thinking: SideName | null;
  /** Whether the curve is being drawn. */
  readonly drawing: boolean;
  /** The evaluator's view of the position looked at. */
  evaluate(): PositionEvaluation;
}

/** Who is told what the visitor does on it. */
export interface ScreenListener {
  moved(uci: string): void;
  go(ply: number): void;
  /** The search of a ply has come to this score. */
  searched(ply: number, score: WhiteScore): void;
}

export class Screen {
  readonly board: Board;
  readonly console: Console;
  private readonly moves: MoveList;
  private openings: Openings | null = null;
  private view: netview.View | null = null;
  private best: Iteration[] = [];
  /** The ply that `best` speaks of. */
  private bestAt = -1;
  private editing = false;

  constructor(
    private readonly state: GameState,
    private readonly source: Source,
    private readonly listener: ScreenListener,
  ) {
    this.board = new Board({
      moved: (uci) => listener.moved(uci),
      lifted: (square) => this.showLifted(square),
    });
    this.moves = new MoveList((ply) => listener.go(ply));
    this.console = new Console((best) => this.searched(best));
    this.console.clear();
  }

  // The controls that say what is shown

  get analysing(): boolean {
    return $<HTMLInputElement>("analyse").checked;
  }

  set analysing(on: boolean) {
    $<HTMLInputElement>("analyse").checked = on;
  }

  /** Lines of a search. */
  get lines(): number {
    return Number($<HTMLSelectElement>("lines").value);
  }

  // What is shown

  show() {
    const { state } = this;
    this.view = null;
    this.showBoard();
    this.moves.show(state.report, state.at, state.theirs);
    $("status").textContent = state.status;
    $("status").classList.toggle("over", state.result !== null && state.atEnd);
    this.showOpening();
    this.showStrips();
    this.showSearch();
    this.showButtons();
    if (!$("panel-study").hidden) this.showStudy();
  }

  showBoard() {
    const { position, shownPly: ply, orientation } = this.state;
    const mayMove = !this.editing && this.state.mayMove;
    const netOpen = !$("panel-net").hidden;
    if (netOpen) {
      this.view = { fen: position.fen, ...this.source.evaluate() };
      netview.showWorths(this.view, (square) => this.showLifted(square));
      netview.showLifted(this.view, null);
    }
    const showNotes = this.view && $<HTMLInputElement>("show-worth").checked;
    this.board.show({
      fen: position.fen,
      orientation,
      turn: position.turn,
      check: position.check,
      lastMove: ply ? [ply.uci.slice(0, 2) as Key, ply.uci.slice(2, 4) as Key] : null,
      dests: mayMove ? position.dests : {},
      promotions: position.promotions,
      movable: mayMove ? position.turn : null,
      notes: showNotes && this.view ? netview.notes(this.view) : new Map(),
    });
  }

  private showLifted(square: Key | null) {
    if (this.view) netview.showLifted(this.view, square);
  }

  nameOpenings(openings: Openings) {
    this.openings = openings;
    this.showOpening();
  }

  private showOpening() {
    const name = this.openings?.last(this.state.keys);
    $("opening").textContent = name ? `${name.eco} ${name.name}` : "";
  }

  showStrips() {
    this.showStrip("white");
    this.showStrip("black");
  }

  private showStrip(color: SideName) {
    const { state } = this;
    const side = state.sides[color];
    showStrip($(color === state.orientation ? "player-bottom" : "player-top"), {
      name: this.source.name(color),
      note: side.who === "human" ? "" : strengthText(side.strength),
      color,
      fen: state.position.fen,
      whole: state.game.start === null,
      left: state.clock ? state.clock.now(color) : null,
      active: state.playing && state.turn === color,
      thinking: this.source.thinking === color,
    });
  }

  showButtons() {
    const { state } = this;
    const enable = (id: string, on: boolean) => ($<HTMLButtonElement>(id).disabled = !on);
    const engines = state.betweenEngines;
    const begun = state.last > 0;
    enable("draw-curve", !this.source.drawing && begun);
    $("pause").hidden = !engines || state.result !== null;
    $("pause").textContent = state.paused ? "Go on" : "Pause";
    for (const id of ["undo", "draw", "resign"]) $(id).hidden = engines;
    for (const id of ["draw", "resign"]) $(id).hidden ||= state.study;
    enable("undo", begun && !engines);
    enable("draw", state.playing && begun);
    enable("resign", state.playing && begun);
    for (const id of ["first", "previous"]) enable(id, state.at > 0);
    for (const id of ["next", "last"]) enable(id, !state.atEnd);
  }

  // The search

  /** A search of a ply's position begins. */
  beginSearch(ply: number, fen: string, title: string) {
    this.best = [];
    this.bestAt = ply;
    this.console.begin(fen, title);
  }

  private searched(best: Iteration[]) {
    this.best = best;
    if (best[0]) this.listener.searched(this.bestAt, best[0].score);
    this.showSearch();
  }

  /** Bar and arrows for the position looked at. */
  showSearch() {
    const { state } = this;
    const here = this.bestAt === state.at;
    const arrows = $<HTMLInputElement>("arrows").checked && here && !state.position.ending;
    this.board.arrows(arrows ? arrowsOf(this.best) : []);
    const score = state.knownScore ?? { cp: Math.round(this.source.evaluate().value * 100) };
    showBar(score, state.orientation === "black");
  }

  // The study

  private showStudy() {
    $<HTMLInputElement>("fen").value = this.state.position.fen;
    this.showGraph();
  }

  private showGraph() {
    const { theirs, ours, numbered: names, at: shown } = this.state;
    showCurves({ theirs, ours, names, shown }, (ply) => this.listener.go(ply));
  }

  /** More of the curve is drawn, or it ends. */
  showCurve() {
    this.showGraph();
    this.showButtons();
  }

  // The position editor

  /** Sets pieces up, or no longer. */
  setEditing(on: boolean) {
    this.editing = on;
    if (!on) this.board.capture(null);
    $("editor").hidden = !on;
    $("play-actions").hidden = on;
    document.body.classList.toggle("editing", on);
  }

  get isEditing(): boolean {
    return this.editing;
  }
}
