/** The game on the page: what the visitor and the engines do with it. */
import type { DrawShape } from "chessground/draw";
import type { Key } from "chessground/types";
import { archive } from "./archive";
import { $, UNDO_TIME, announce, offer, toast, trouble, untoast, untroubled } from "./dom";
import { verdictText } from "./endgames";
import { Engines, type SearchListener } from "./engines";
import { DEFAULT, type Evaluator, type Evaluators } from "./evaluators";
import { type Result, chance, resultText, scoreText, sentence, spoken, why } from "./format";
import { GameState } from "./gamestate";
import { Keeper } from "./keeper";
import type { Learn, Lesson } from "./learn";
import { linkTo } from "./link";
import { NetPanel } from "./netpanel";
import type { NewGame } from "./newgame";
import { Panels } from "./panels";
import type { People } from "./people";
import type { Openings } from "./openings";
import { hideOver, showOver } from "./overcard";
import { type RecentGame, recentGames } from "./recent";
import type { Rules } from "./rules";
import { fields, readGame, readSaved } from "./saved";
import { Screen, type ScreenListener, type Source } from "./screen";
import { EvaluatorError } from "./searcher";
import { SIDES, type Side, other, sideName } from "./side";
import { endSound, moveSound } from "./sound";
import { save } from "./storage";
import { farewell } from "./welcome";
import type { Edit, Game, Iteration, Mistake, Ply, PositionEvaluation, PositionReport, ReadGame, SearchResult, SideName, WhiteScore } from "./types";

/** Listener of a match game. */
export interface MatchListener {
  /** The result that both engines agree on by what their searches found, White's view; `null` as long as they do not. */
  agreed(found: (WhiteScore | null)[]): Result | null;
  over(result: Result, moves: string[]): void;
  /** Another game is on the board. */
  left(): void;
}

export class App implements Source, ScreenListener, SearchListener {
  private readonly state: GameState;
  private readonly engines: Engines;
  private readonly screen: Screen;
  private readonly panels: Panels;
  private readonly keeper: Keeper;
  readonly net = new NetPanel(this);
  /** Listener of the puzzle on the board, and the node of its position. */
  private puzzle: { at: number; moved(uci: string): void; left(): void } | null = null;
  /** Listener of the lesson on the board, and the node of its position. */
  private lesson: { at: number; tried(uci: string): void; left(): void } | null = null;
  private learning: Promise<Learn> | null = null;
  /** The match that the game on the board is of, until another one is there, and whether that game goes on. */
  private match: { listener: MatchListener; playing: boolean } | null = null;
  /** Told of another game on the board, with the digest of its PGN text if it was read. */
  gameReplaced = (_origin: string | null) => {};

  constructor(
    private readonly rules: Rules,
    private readonly module: WebAssembly.Module,
    readonly evaluators: Evaluators,
    readonly people: People,
  ) {
    this.state = new GameState(rules);
    this.keeper = new Keeper(this.state, rules, (saved, side) => this.nameIn(saved.tree?.tags ?? saved.tags, saved, side));
    this.engines = new Engines(module, rules, evaluators, people, this.state, this);
    this.screen = new Screen(this.state, this, this, this.net);
    this.panels = new Panels(rules, this.state, module, this.engines, this);
    this.engines.useThreads(this.screen.engine.threads);
    this.engines.employ();
    this.net.used(rules.use(DEFAULT));
    setInterval(() => this.tick(), 100);
    addEventListener("pagehide", () => {
      this.screen.commitComment();
      this.keeper.leave();
    });
  }

  // Other games

  begin(game: NewGame) {
    untoast();
    // An analysis keeps the moves on the board, but ends a game that goes on.
    const keeps = game.analyse && game.fromHere && !this.state.playing;
    this.replace(() => {
      this.state.begin(game);
      this.screen.analysing = game.analyse;
    }, !keeps);
    announce(`New game. ${this.state.status}`);
    if (game.chess960 !== null && !game.fromHere) toast(`Chess960, start ${game.chess960}.`);
  }

  /** Studies a game or a position, `touched` unless it came by a link. */
  look(game: Game, ply = game.moves.length, touched = true, evals: (WhiteScore | null)[] = []) {
    this.replace(() => {
      this.state.look(game, ply, touched);
      this.state.main.forEach((node, index) => (this.state.tree.nodes[node].eval = evals[index] ?? null));
    });
  }

  /** Studies a game read from PGN text of the digest `origin`; `picked` if from the list that the former one is of. */
  lookAt(game: ReadGame, origin: string, picked: boolean) {
    untoast();
    this.replace(() => this.state.lookAt(game, origin), this.mustKeep(origin, picked));
  }

  /** Returns whether the game on the board must be kept: not if it is unchanged, and in the list for another look. */
  private mustKeep(origin: string, picked: boolean): boolean {
    this.screen.commitComment();
    const { edited, origin: former } = this.state;
    return edited || former === null || !(picked || former === origin);
  }

  /** Goes on with this tab's game, or else, unless `own`, with the browser's last. */
  resume(own = false): boolean {
    const kept = this.keeper.load(own);
    return kept !== undefined && this.restore(kept, false);
  }

  /** Puts a saved game on the board, or if it is damaged its moves; `touched` unless it comes by a reload. */
  private restore(kept: unknown, touched: boolean, keep = true): boolean {
    try {
      const saved = readSaved(kept);
      this.replace(() => {
        this.state.restore(saved);
        this.state.touched = touched;
        this.state.startClock();
      }, keep);
      return true;
    } catch (error) {
      console.warn("the saved game:", error);
    }
    try {
      this.look(readGame(kept));
      toast("Of this saved game only the moves can be read: here they are.");
      return true;
    } catch {
      toast(touched ? "This game cannot be read any more." : "Your last game cannot be read any more. A new one is on the board.");
      return false;
    }
  }

  openRecent(recent: RecentGame) {
    this.restore(recent.game, true);
  }

  /** Opens the recent game that was read from a PGN text of a digest and changed; returns whether there is one. */
  openChanged(origin: string): boolean {
    const keep = this.mustKeep(origin, true);
    const changed = recentGames().find((recent) => recent.origin === origin && fields(recent.game).edited === true);
    return changed !== undefined && this.restore(changed.game, true, keep);
  }

  /** Puts another game on the board by `put`; the one there is kept as a recent game, if `keep` and it would be missed. */
  private replace(put: () => void, keep = true) {
    this.screen.commitComment();
    const { state } = this;
    const former = keep && state.worthKeeping ? state.setAside() : null;
    put();
    // Before the new game takes the place of the former in storage.
    const kept = former && this.keeper.keepRecent(former.saved);
    this.replaced();
    if (!former) return;
    const undo = () => {
      this.replace(() => {
        state.putBack(former);
        state.startClock();
      });
      announce(`The former game is back. ${state.status}`);
    };
    if (kept) offer("Game replaced", "Undo", undo, UNDO_TIME);
    else offer("Game replaced, and this browser does not keep it: undo now, or it is lost.", "Undo", undo);
  }

  recentPgn(recent: RecentGame): string {
    return this.keeper.recentPgn(recent);
  }

  // Puzzles

  /** Puts a position on the board in which a side has to find a move. */
  pose(game: Game, side: SideName, puzzle: { moved(uci: string): void; left(): void }) {
    this.look(game, game.moves.length, false);
    this.state.disposable = true;
    this.puzzle = { at: this.state.at, ...puzzle };
    this.state.orientation = side;
    this.changed({ sameGame: true });
  }

  /** Ends the puzzle on the board: it is solved, and may be studied. */
  solved() {
    this.puzzle = null;
    this.changed({ sameGame: true });
  }

  /** Shows the piece that should move, or the move. */
  hint(from: string, to?: string) {
    this.screen.hint([{ orig: from as Key, dest: to as Key | undefined, brush: "green" }]);
  }

  /** Shows arrows over those of the search. */
  drawOver(shapes: DrawShape[]) {
    this.screen.hint(shapes);
  }

  /** The engine's best move of the position looked at, if it analyses there. */
  get bestMove(): string | undefined {
    return this.screen.bestMove;
  }

  get puzzling(): boolean {
    return this.puzzle !== null || this.lesson !== null;
  }

  // Lessons: mistakes of the game on the board

  async learn(side: SideName, mistakes: Mistake[]) {
    const { state } = this;
    const lessons = mistakes.filter((mistake) => mistake.side === side && mistake.better.length).map(({ node, loss, better }): Lesson => {
      const at = state.tree.nodes[node].parent;
      const { found, curve } = state.tree.nodes[at];
      const white = chance(curve ?? found ?? { cp: 0 });
      return { game: state.lineTo(at), at, side, played: state.named(node), loss, better, chance: side === "white" ? white : 1 - white };
    });
    this.learning ??= import("./later").then(({ Learn }) => new Learn(this, this.rules, this.module));
    (await this.learning).start(lessons);
  }

  /** Has a side find a move at a node; until it is answered, evaluations and variations are hidden. */
  ask(node: number, side: SideName, lesson: { tried(uci: string): void; left(): void }) {
    this.screen.commitComment();
    this.lesson = { at: node, ...lesson };
    this.state.orientation = side;
    this.state.show(node);
    this.screen.analysing = false;
    this.changed({ sameGame: true });
  }

  /** Ends the lesson on the board. */
  answered() {
    if (!this.lesson) return;
    this.lesson = null;
    this.changed({ sameGame: true });
  }

  private leaveLesson() {
    const { lesson } = this;
    this.lesson = null;
    lesson?.left();
  }

  /** Whether a person plays a game in which a move was made. */
  get inGame(): boolean {
    return this.state.playing && this.begun && !this.state.betweenEngines;
  }

  /** Whether the tabs of the net may not tell, as somebody plays without help or solves a puzzle. */
  get silent(): boolean {
    return this.screen.silent;
  }

  // Matches

  /** Has two evaluators play a game of a match, from an opening. */
  playMatchGame(white: Side, black: Side, opening: string[], listener: MatchListener) {
    this.match = null;
    this.replace(() => {
      this.state.beginMatchGame(white, black, opening);
      this.state.disposable = true;
      this.screen.analysing = false;
    });
    this.match = { listener, playing: true };
  }

  /** The game of the match that goes on is of none any more, and waits. */
  endMatchGame() {
    if (!this.inMatch) return;
    this.match = null;
    if (!this.paused) this.pause();
  }

  private leaveMatch() {
    const { match } = this;
    this.match = null;
    match?.listener.left();
  }

  /** The match whose game goes on. */
  private get inMatch(): MatchListener | null {
    return this.match?.playing ? this.match.listener : null;
  }

  get paused(): boolean {
    return this.state.paused;
  }

  /** Ends what belongs to the former game, and shows the new one. */
  private replaced() {
    hideOver();
    farewell();
    this.puzzle?.left();
    this.puzzle = null;
    this.leaveLesson();
    this.leaveMatch();
    if (this.screen.isEditing) this.screen.setEditing(false);
    this.stopSearches();
    this.screen.endSearch();
    this.engines.stopCurve();
    this.engines.employ();
    this.changed();
    this.gameReplaced(this.state.origin);
  }

  /** Whether a move has been made. */
  get begun(): boolean {
    return this.state.tree.nodes.length > 1;
  }

  // Moves

  private get mayMove(): boolean {
    return !this.screen.isEditing && this.state.mayMove;
  }

  /** The board tells of moves a moment later, when the game may be over. */
  moved(uci: string) {
    this.screen.commitComment();
    if (!this.mayMove) return this.screen.showBoard();
    if (this.lesson?.at === this.state.at) {
      this.screen.showTried(uci);
      return this.lesson.tried(uci);
    }
    try {
      // The old message goes before the move is played, which may show a new one.
      untoast();
      this.play(uci, this.state.at);
      const { parent, uci: played } = this.state.shownNode;
      if (parent === this.puzzle?.at) this.puzzle.moved(played);
    } catch (error) {
      toast(`This move cannot be played: ${why(error)}.`);
      this.screen.showBoard();
    }
  }

  /** Plays what was typed; says why not where it cannot. */
  type(text: string): boolean {
    if (!this.mayMove) {
      toast("It is not your move.");
      return false;
    }
    let uci: string;
    try {
      uci = this.rules.parseMove(this.state.shown, text);
    } catch (error) {
      toast(`${why(error)}.`);
      return false;
    }
    if (this.state.position.promotions.includes(uci)) this.screen.board.promote(uci);
    else this.moved(uci);
    return true;
  }

  move(uci: string, found: SearchResult) {
    const { state } = this;
    this.play(uci, state.end);
    const played = state.plyOf(state.end)?.san;
    const agreed = this.inMatch?.agreed(state.main.map((node) => state.tree.nodes[node].found));
    if (agreed) this.finish(agreed);
    if (found.choice && played !== found.choice.best) this.screen.tellChoice(state.named(state.end), found.choice);
  }

  /** Plays a move from a node. Throws, and changes nothing, if it is illegal. */
  private play(uci: string, from: number) {
    if (this.flagFell()) return;
    const { state } = this;
    const ply = state.play(uci, from);
    if (!this.puzzle && !this.inMatch) state.disposable = false;
    this.stopSearches();
    // In a match moves come fast: its results are read out.
    if (!this.inMatch) {
      announce(`${sentence(other(state.position.turn))}: ${spoken(ply)}`);
      moveSound(ply);
    }
    if (state.position.ending) this.over(state.position.ending);
    else this.changed();
  }

  private finish(result: Result) {
    this.state.finish(result);
    this.over(result);
  }

  private over(result: Result) {
    const { inMatch } = this;
    if (this.match) this.match.playing = false;
    archive(this.state, result);
    this.stopSearches();
    // The lines are of the position before the last move.
    this.screen.endSearch();
    if (!inMatch) {
      announce(resultText(result));
      endSound();
    }
    inMatch?.over(result, this.state.game.moves);
    this.changed();
    if (!inMatch && !this.state.study && this.state.shownOver) {
      showOver(result, (side) => this.name(side), { rematch: () => this.rematch(), analyse: () => this.analyse() });
    }
  }

  /** Begins a game of the same players from the same start, with colours reversed. */
  private rematch() {
    const { sides: { white, black }, clock } = this.state;
    this.state.show(0);
    this.begin({ white: black, black: white, clock: clock && clock.setting, chess960: null, fromHere: true, analyse: false });
  }

  private analyse() {
    $("tab-report").click();
    void this.review();
  }

  undo() {
    this.screen.commitComment();
    if (!this.state.undoable) return;
    this.leaveLesson();
    this.stopSearches();
    this.engines.stopCurve();
    this.screen.endSearch();
    this.state.undo();
    announce(`Taken back. ${this.state.status}`);
    this.changed();
  }

  /** Plays a line of the search as a variation; in a game that goes on lines are only looked at. */
  line(node: number, moves: string[]) {
    this.screen.commitComment();
    if (this.state.playing || this.screen.isEditing) return;
    try {
      let from = node;
      for (const uci of moves) {
        this.state.play(uci, from);
        from = this.state.at;
      }
    } catch (error) {
      toast(`This line cannot be played: ${why(error)}.`);
    }
    this.stopSearches();
    this.changed();
  }

  /** Draws a circle or arrow at the move looked at. */
  drew(shape: DrawShape) {
    this.screen.commitComment();
    if (this.screen.isEditing) return;
    this.state.draw(shape, this.puzzling);
    this.changed();
  }

  /** Changes the tree at the move looked at. */
  change(change: Edit) {
    if (change.edit !== "comment") this.screen.commitComment();
    if (this.state.playing || this.screen.isEditing) return;
    const moved = change.edit !== "comment" && change.edit !== "glyph";
    if (moved) {
      this.leaveLesson();
      this.stopSearches();
      this.engines.stopCurve();
      this.screen.endSearch();
    }
    this.state.edit(change);
    this.changed();
  }

  resign() {
    if (this.state.playing && confirm("Resign this game?")) this.finish(this.state.resignation());
  }

  offerDraw() {
    const { state } = this;
    if (!state.playing) return;
    if (!state.againstEngine) {
      const accepts = confirm(`Does ${sentence(other(state.turn))} accept a draw?`);
      if (accepts) this.finish({ winner: null, reason: "agreement" });
      return;
    }
    const declined = state.drawDeclined();
    if (declined === "early") toast("Kibitz would rather play a little first.");
    else if (declined) toast(`Kibitz declines: it likes its position (${scoreText(declined)}).`);
    else this.finish({ winner: null, reason: "agreement" });
  }

  private tick() {
    if (!this.state.clock || !this.state.playing || this.screen.isEditing) return;
    this.screen.showStrips();
    this.flagFell();
  }

  /** Whether the game is over because the mover's time is up. */
  private flagFell(): boolean {
    const result = this.state.flagFall();
    if (result) this.finish(result);
    return result !== null;
  }

  pause() {
    const { state } = this;
    state.paused = !state.paused;
    this.stopSearches();
    if (state.paused) state.clock?.stop();
    else state.startClock();
    this.changed();
  }

  // Which move is looked at, and from which side

  go(node: number) {
    this.screen.commitComment();
    const { state } = this;
    if (node === state.at || this.screen.isEditing) return;
    state.show(node);
    const { shownPly } = state;
    announce(shownPly ? `${sentence(other(state.position.turn))}: ${spoken(shownPly)}` : "Start position");
    this.changed({ sameGame: true });
  }

  /** To the start of the line that is looked at, or to its end. */
  leap(end: boolean) {
    this.go(end ? (this.state.line.at(-1) ?? 0) : 0);
  }

  /** A move back, or on along the line. */
  step(by: 1 | -1) {
    const { state } = this;
    const next = by < 0 ? state.shownNode.parent : state.report.children[state.at][0];
    if (next !== undefined) this.go(next);
  }

  /** To the variation before or behind the move looked at; returns whether there is one. */
  aside(by: 1 | -1): boolean {
    const { state } = this;
    const siblings = state.at ? state.report.children[state.shownNode.parent] : [];
    const next = siblings[siblings.indexOf(state.at) + by];
    if (next === undefined) return false;
    this.go(next);
    return true;
  }

  /** Plays the best move that the analysis knows, or else goes a move on. */
  onward() {
    const { bestMove } = this.screen;
    if (bestMove && !this.state.playing) this.line(this.state.at, [bestMove]);
    else this.step(1);
  }

  flip() {
    this.state.orientation = other(this.state.orientation);
    this.changed({ sameGame: true });
  }

  // Searches

  private stopSearches() {
    untroubled();
    this.engines.stop();
  }

  began(node: number, side: SideName | null) {
    const title = side ? `${this.name(side)} thinks about ${sentence(side)}’s move.` : "The analysis begins.";
    this.screen.beginSearch(node, side ? this.state.fen : this.state.position.fen, title);
    if (side) this.screen.showStrips();
  }

  iteration(iteration: Iteration) {
    this.screen.engine.add(iteration);
  }

  searched(node: number, score: WhiteScore) {
    this.state.tree.nodes[node].found = score;
  }

  /** A search has failed: says so, and how it can go on. */
  failed(error: unknown) {
    console.warn(error);
    this.stopSearches();
    this.screen.endSearch();
    if (error instanceof EvaluatorError) this.dismiss(error.evaluator, error.message);
    else {
      trouble(`The engine failed: ${why(error)}.`, {
        "Try again": () => this.changed({ sameGame: true }),
        "Reload the page": () => refresh(),
      });
    }
    this.screen.showStrips();
  }

  /** Searches the position after every move for a moment, for the curve. */
  drawCurve(): Promise<void> {
    return this.engines.drawCurve();
  }

  /** Looks the game through for mistakes, and shows them. */
  async review() {
    this.screen.commitComment();
    const { state } = this;
    if (state.playing || this.screen.isEditing) return;
    const { edition } = state;
    // Mistakes are as common as the policy says; without it that is left out.
    const known = state.ratings.some(Boolean) && this.people.ratings.length > 0;
    const policy = known ? this.people.policy().catch((error: unknown) => console.warn(error)) : null;
    const findings = await this.engines.review();
    await policy;
    if (!findings || state.edition !== edition) return;
    try {
      this.screen.showReview(state.review(findings));
    } catch (error) {
      toast(`The game could not be looked through: ${why(error)}.`);
    }
    this.changed();
  }

  curveBegan() {
    this.screen.showButtons();
  }

  curve() {
    this.screen.showCurve();
  }

  curveFailed(error: unknown) {
    if (error instanceof EvaluatorError) this.dismiss(error.evaluator, error.message);
    else toast(`The curve could not be drawn: ${why(error)}.`);
  }

  get thinking(): SideName | null {
    return this.engines.thinking;
  }

  get curveNodes(): number | null {
    return this.engines.curveNodes;
  }

  get drawing(): boolean {
    return this.engines.drawing;
  }

  // Evaluators

  /** The evaluator of the drop-down. */
  get evaluator(): Evaluator {
    return this.engines.evaluator;
  }

  /** Evaluators that the sides want, but for the one of the drop-down. */
  get wantedEvaluators(): string[] {
    return SIDES.map((side) => this.state.sides[side].evaluator).filter(Boolean);
  }

  /** Evaluates with another evaluator; throws where it is of no use, and keeps the one before. */
  use(evaluator: Evaluator) {
    const description = this.rules.use(evaluator);
    untroubled();
    this.engines.use(evaluator);
    this.net.used(description);
    save("brain", evaluator.id);
    for (const node of this.state.tree.nodes) node.found = node.curve = null;
    this.changed();
  }

  /** Evaluators are listed now: chooses that of the last visit, and fetches the nets of the game that goes on. */
  async recallEvaluators() {
    const { evaluators } = this;
    this.net.recall();
    this.panels.show();
    await Promise.allSettled(this.wantedEvaluators.filter((id) => evaluators.orDefault(id) === id).map((id) => evaluators.get(id)));
    if (this.wantedEvaluators.length) this.changed({ sameGame: true });
  }

  /** Searches for moves and analyses with so many threads. */
  useThreads(threads: number) {
    this.engines.useThreads(threads);
    this.changed({ sameGame: true });
  }

  /** An evaluator that breaks the engine goes, and the default one takes its place. */
  private dismiss(evaluator: Evaluator, reason: string) {
    void this.evaluators.forget(evaluator.id);
    for (const side of SIDES) {
      const player = this.state.sides[side];
      if (player.evaluator !== evaluator.id) continue;
      this.state.sides[side] = { ...player, evaluator: DEFAULT.id };
      // Whether the game goes on without it, the visitor says.
      this.state.paused = true;
      this.leaveMatch();
    }
    if (this.evaluator === evaluator) this.use(DEFAULT);
    else {
      this.net.list();
      this.changed();
    }
    toast(`${reason}. It is forgotten, and the default net thinks instead.`);
  }

  evaluate(): PositionEvaluation {
    try {
      return this.rules.evaluate(this.state.shown);
    } catch (error) {
      if (!this.evaluator.net) throw error;
      this.dismiss(this.evaluator, new EvaluatorError(this.evaluator, why(error)).message);
      return this.rules.evaluate(this.state.shown);
    }
  }

  async verdict({ fen, turn }: PositionReport): Promise<string> {
    const verdict = await this.engines.endgames.ask(fen);
    return verdict ? verdictText(verdict, turn) : "";
  }

  after(node: number, moves: string[]): Ply | undefined {
    const { start, moves: before } = this.state.lineTo(node);
    return this.rules.game({ start, moves: [...before, ...moves] }).plies.at(-1);
  }

  // Display and storage

  name(side: SideName): string {
    return this.nameIn(this.state.tree.tags, this.state.sides, side);
  }

  private nameIn(tags: [string, string][], sides: Record<SideName, Side>, side: SideName): string {
    const tag = tags.find(([name]) => name.toLowerCase() === side)?.[1];
    if (tag) return tag;
    const player = sides[side];
    const againstEngine = (sides.white.who === "human") !== (sides.black.who === "human");
    if (player.who === "human" && !againstEngine) return sentence(side);
    if (player.who === "kibitz" && !player.evaluator && this.evaluator !== DEFAULT) return `Kibitz · ${this.evaluator.name}`;
    return sideName(player, this.evaluators);
  }

  /** Something has changed: shows it, saves it, and has engines think. */
  changed({ sameGame = false } = {}) {
    if (this.screen.isEditing) return;
    if (!this.state.shownOver) hideOver();
    if (this.begun) farewell();
    this.think();
    this.screen.show();
    this.panels.show();
    if (!sameGame) this.keeper.save();
  }

  /** Starts the search of the engine to move, or the analysis, which pauses while the page is hidden. */
  think() {
    if (this.screen.isEditing) return;
    const { analysing, engine } = this.screen;
    this.engines.think({ analyse: analysing, lines: engine.lines, stop: () => this.stopSearches() });
  }

  /** Other settings say what is shown of the net and of the search. */
  settingsChanged() {
    this.screen.showBoard();
    this.screen.showSearch();
  }

  nameOpenings(openings: Openings) {
    this.engines.book.openings = openings;
    this.screen.nameOpenings(openings);
  }

  /** Parts of the game that its link leaves out. */
  get leftOut(): string[] {
    const { tree, line } = this.state;
    const parts: [string, boolean][] = [
      ["variations", tree.nodes.length - 1 > line.length],
      ["comments", tree.nodes.some(({ comment }) => comment)],
      ["marks", tree.nodes.some(({ glyphs }) => glyphs.length > 0)],
      ["players", tree.tags.length > 0],
    ];
    return parts.filter(([, there]) => there).map(([name]) => name);
  }

  link(): string {
    const { tree, line, shown } = this.state;
    const nodes = line.map((node) => tree.nodes[node]);
    const evals = nodes.map((node) => node.eval ?? node.found ?? node.curve);
    return linkTo({ start: tree.start, moves: nodes.map(({ uci }) => uci) }, shown.moves.length, evals);
  }

  pgn(): string {
    this.screen.commitComment();
    return this.state.pgn({ white: this.name("white"), black: this.name("black") }, new Date());
  }

  /** The board as a place to set pieces up. */
  edit(editor: typeof import("./editor").edit) {
    const { state, screen } = this;
    if (screen.isEditing) return;
    this.stopSearches();
    state.clock?.stop();
    screen.setEditing(true);
    editor(screen.board, state.position.fen, state.orientation, (fen) => {
      try {
        if (fen) fen = this.rules.setUp(fen);
      } catch (error) {
        return `${sentence(why(error))}.`;
      }
      screen.setEditing(false);
      if (fen) this.look({ start: fen, moves: [] });
      else {
        state.startClock();
        this.changed();
      }
      return null;
    });
  }
}
