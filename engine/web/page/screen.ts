/** The game on the screen: board, moves, clocks, search, net, curves and the state of the controls. */
import type { DrawShape } from "chessground/draw";
import type { Key } from "chessground/types";
import { Board } from "./board";
import { Annotation, changesOf } from "./annotation";
import { arrowsOf, showBar } from "./bar";
import { $ } from "./dom";
import { EnginePanel } from "./enginepanel";
import type { GameState } from "./gamestate";
import { sentence } from "./format";
import { showCurves } from "./graph";
import { openMenu } from "./menu";
import { MoveList } from "./moves";
import type { NetPanel } from "./netpanel";
import type { Openings } from "./openings";
import { glyphOf, showReview } from "./review";
import { shapesOf } from "./shapes";
import { strengthText } from "./side";
import { showStrip } from "./strip";
import type { Choice, Edit, Iteration, Mistake, Ply, PositionEvaluation, PositionReport, Review, SideName, WhiteScore } from "./types";

/** Source of the values on the screen that are not part of the game's state. */
export interface Source {
  name(side: SideName): string;
  /** The side that an engine searches for. */
  readonly thinking: SideName | null;
  /** Whether the curve is being drawn. */
  readonly drawing: boolean;
  /** Nodes of each search behind the curve, where that is known. */
  readonly curveNodes: number | null;
  /** Whether the position is a puzzle. */
  readonly puzzling: boolean;
  /** The evaluator's view of the position looked at. */
  evaluate(): PositionEvaluation;
  /** Verdict of the endgame tables on a position as text, empty if they have none. */
  verdict(position: PositionReport): Promise<string>;
  /** The last of some moves from a node. */
  after(node: number, moves: string[]): Ply | undefined;
}

/** Listener of the visitor's actions. */
export interface ScreenListener {
  moved(uci: string): void;
  go(node: number): void;
  change(change: Edit): void;
  /** Wants a line of the search played from a node. */
  line(node: number, moves: string[]): void;
  /** A circle or arrow was drawn on the board. */
  drew(shape: DrawShape): void;
  /** Wants to find the better moves in place of a side's mistakes. */
  learn(side: SideName, mistakes: Mistake[]): void;
  /** The search of a node's position has come to this score. */
  searched(node: number, score: WhiteScore): void;
  /** Other settings say what is searched or hidden. */
  changed(what: { sameGame: boolean }): void;
  useThreads(threads: number): void;
}

export class Screen {
  readonly board: Board;
  readonly engine: EnginePanel;
  private readonly moves: MoveList;
  private readonly annotation: Annotation;
  private openings: Openings | null = null;
  /** The lines of the last search. */
  private best: Iteration[] = [];
  /** The node that they speak of; -1 where there are none. */
  private bestAt = -1;
  private review: { review: Review; edition: number } | null = null;
  /** The position that endgame tables were last asked about. */
  private judged: PositionReport | null = null;
  /** Circles and arrows of a hint. */
  private hints: DrawShape[] = [];
  private editing = false;
  /** Whether the board shows where a line leads. */
  private previewing = false;

  constructor(
    private readonly state: GameState,
    private readonly source: Source,
    private readonly listener: ScreenListener,
    private readonly net: NetPanel,
  ) {
    this.board = new Board({
      moved: (uci) => listener.moved(uci),
      lifted: (square) => this.net.lift(square),
      drew: (shape) => listener.drew(shape),
    });
    this.annotation = new Annotation((change) => listener.change(change));
    this.moves = new MoveList(
      (node) => listener.go(node),
      (node, at) => {
        listener.go(node);
        openMenu(state.named(node), changesOf(state, (change) => listener.change(change)), at);
      },
    );
    this.engine = new EnginePanel({
      searched: (best) => this.searched(best),
      preview: (moves) => this.preview(moves),
      chosen: (moves) => listener.line(this.bestAt, moves),
      changed: () => listener.changed({ sameGame: true }),
      arrowsChanged: () => this.showSearch(),
      threadsChanged: () => listener.useThreads(this.engine.threads),
    });
  }

  get analysing(): boolean {
    return this.engine.analysing && !this.unaided;
  }

  set analysing(on: boolean) {
    this.engine.analysing = on;
  }

  /** Whether evaluations are hidden: somebody solves a puzzle, or plays without help. */
  private get unaided(): boolean {
    return this.source.puzzling || this.inPlay && !this.engine.help;
  }

  /** Whether the tabs of the net may not tell either; at the usual start they give nothing away. */
  get silent(): boolean {
    return this.unaided && (this.state.last > 0 || this.state.tree.start !== null);
  }

  private get inPlay(): boolean {
    return this.state.playing && !this.state.betweenEngines;
  }

  // Display

  show() {
    const { state } = this;
    this.previewing = false;
    this.hints = [];
    this.showBoard();
    this.moves.show(state.tree, state.report, state.at);
    $("status").textContent = this.source.puzzling ? `Puzzle: find ${sentence(state.position.turn)}’s best move` : state.status;
    this.showOpening();
    void this.showVerdict();
    this.showStrips();
    this.showSearch();
    this.showButtons();
    this.annotation.show(state);
    $<HTMLInputElement>("fen").value = state.position.fen;
    if (!$("panel-report").hidden) this.showReport();
  }

  /** Shows a move that is tried in the position looked at. */
  showTried(uci: string) {
    const ply = this.source.after(this.state.at, [uci]);
    if (ply) this.board.preview(ply.fen, ply.uci);
  }

  showBoard() {
    const { position, shownPly: ply, orientation } = this.state;
    const mayMove = !this.editing && this.state.mayMove;
    const netOpen = !$("panel-net").hidden && !this.silent;
    this.net.show(netOpen ? { fen: position.fen, ...this.source.evaluate() } : null);
    this.board.show({
      fen: position.fen,
      orientation,
      turn: position.turn,
      check: position.check,
      lastMove: ply ? [ply.uci.slice(0, 2) as Key, ply.uci.slice(2, 4) as Key] : null,
      dests: mayMove ? position.dests : {},
      promotions: position.promotions,
      movable: this.editing ? null : this.state.mover,
      notes: this.net.notes,
    });
  }

  /** Shows the position after a line that is pointed at, `null` to end. */
  private preview(moves: string[] | null) {
    if (this.editing || moves === null && !this.previewing) return;
    const ply = moves && this.source.after(this.bestAt, moves);
    this.previewing = Boolean(ply);
    if (ply) this.board.preview(ply.fen, ply.uci);
    else {
      this.showBoard();
      this.showSearch();
    }
  }

  nameOpenings(openings: Openings) {
    this.openings = openings;
    this.showOpening();
  }

  private showOpening() {
    const name = this.source.puzzling ? null : this.openings?.last(this.state.keys);
    $("opening").textContent = name ? `${name.eco} ${name.name}` : "";
  }

  /** Shows the verdict of the endgame tables, unless evaluations are hidden. */
  private async showVerdict() {
    const { position } = this.state;
    const line = $("tables");
    const told = () => !this.unaided && !position.ending;
    if (this.judged !== position || !told()) line.textContent = "";
    this.judged = position;
    const verdict = told() ? await this.source.verdict(position) : "";
    if (this.judged === position && told()) line.textContent = verdict;
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
      note: side.who === "human" ? state.tag(`${color}Elo`) : strengthText(side.strength),
      color,
      fen: state.position.fen,
      whole: state.tree.start === null,
      left: this.clockOf(color),
      active: state.playing && state.turn === color,
      thinking: this.source.thinking === color,
    });
  }

  /** In a game that goes on, the clock; in one that is looked through, what it showed. */
  private clockOf(color: SideName): number | null {
    const { state } = this;
    if (state.playing || (state.clock && state.atEnd)) return state.clock?.now(color) ?? null;
    for (let node = state.at; node > 0; node = state.tree.nodes[node].parent) {
      const { clock } = state.tree.nodes[node];
      if (clock !== null && state.fenOf(node).split(" ")[1] !== color[0]) return clock;
    }
    return state.clock?.setting.initial ?? state.timeControl;
  }

  showButtons() {
    const { state } = this;
    const enable = (id: string, on: boolean) => ($<HTMLButtonElement>(id).disabled = !on);
    const engines = state.betweenEngines;
    const begun = state.last > 0;
    const { unaided } = this;
    document.body.classList.toggle("unaided", unaided);
    document.body.classList.toggle("quiz", this.source.puzzling);
    this.engine.show(unaided, this.inPlay);
    enable("draw-curve", !this.source.drawing && begun && !unaided);
    enable("review", !this.source.drawing && begun && !state.playing);
    $("pause").hidden = !engines || !state.playing;
    $("pause").textContent = state.paused ? "Go on" : "Pause";
    $("undo").hidden = engines && state.playing;
    for (const id of ["draw", "resign"]) $(id).hidden = engines || !state.playing;
    enable("undo", state.undoable);
    enable("draw", begun);
    enable("resign", begun);
    for (const id of ["first", "previous"]) enable(id, state.at > 0);
    for (const id of ["next", "last"]) enable(id, state.report.children[state.at].length > 0);
  }

  // The search

  /** A search of a node's position begins. */
  beginSearch(node: number, fen: string, title: string) {
    this.best = [];
    this.bestAt = node;
    this.engine.begin(fen, title);
  }

  /** The first move of the best line, if it is of the position looked at and not hidden. */
  get bestMove(): string | undefined {
    return this.bestAt === this.state.at && !this.unaided ? this.best[0]?.pv[0] : undefined;
  }

  /** Clears the search's lines and arrows, and the premove. */
  endSearch() {
    this.board.forgetPremove();
    this.best = [];
    this.bestAt = -1;
    this.engine.clear();
  }

  /** Why a weaker player has played this move, and not the one on top of the lines. */
  tellChoice(move: string, { near, margin, best }: Choice) {
    this.engine.note(`It played ${move}. The search likes ${best} best; at this rating it takes any of the ${near} moves within ${(margin / 100).toFixed(1)} pawns of it.`);
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
    const arrows = this.engine.arrows && !this.unaided && here && !state.position.ending;
    this.board.arrows([...(arrows ? arrowsOf(this.best) : []), ...this.hints, ...shapesOf(state.shownNode.comment)]);
    const { ending } = state.position;
    const known = (here && !this.unaided && !ending && this.best[0]?.score) || state.knownScore;
    showBar(known || { cp: Math.round(this.source.evaluate().value * 100) }, !known, state.orientation === "black", ending);
  }

  hint(shapes: DrawShape[]) {
    this.hints = shapes;
    this.showSearch();
  }

  // The study

  /** Takes a comment that is being typed into the tree. */
  commitComment() {
    this.annotation.commit();
  }

  private showReport() {
    if (this.review?.edition !== this.state.edition) this.review = null;
    $("review").textContent = this.review ? "Analyse again" : "Analyse this game";
    $("review").classList.toggle("primary", !this.review);
    // A report draws it.
    $("draw-curve").hidden = this.review !== null;
    showReview(this.review?.review ?? null, this.state, {
      name: (side) => this.source.name(side),
      go: (node) => this.listener.go(node),
      learn: (side) => this.listener.learn(side, this.review?.review.mistakes ?? []),
    });
    this.showGraph();
  }

  private showGraph() {
    const { state } = this;
    const { line } = state;
    const nodes = line.map((node) => state.tree.nodes[node]);
    // Dots show the mistakes that the cards count, or else the game's own glyphs.
    const counted = this.review && new Map(this.review.review.mistakes.map((mistake) => [mistake.node, glyphOf(mistake)]));
    const curves = {
      theirs: nodes.map((node) => node.eval),
      ours: nodes.map((node) => node.curve),
      nodes: this.source.curveNodes,
      names: line.map((node) => state.named(node)),
      glyphs: line.map((node, index) => (counted ? counted.get(node) : nodes[index].glyphs[0])),
      shown: line.indexOf(state.at) + 1,
    };
    showCurves(curves, (ply) => this.listener.go(line[ply - 1] ?? 0));
  }

  /** Shows a review, until the nodes of the tree are renumbered. */
  showReview(review: Review) {
    this.review = { review, edition: this.state.edition };
    this.showReport();
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
