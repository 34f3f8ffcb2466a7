/** The engines: one for each side that an engine plays, one for analysis, one for the curve. */
import { Book } from "./book";
import { Endgames } from "./endgames";
import { DEFAULT, type Evaluator, type Evaluators } from "./evaluators";
import type { GameState } from "./gamestate";
import type { People } from "./people";
import { KibitzSearcher } from "./kibitzsearcher";
import type { Rules } from "./rules";
import { REVIEW_NODES, type Searcher, find } from "./searcher";
import { SIDES } from "./side";
import { Stockfish } from "./stockfish";
import type { Finding, Iteration, SearchRequest, SearchResult, SideName } from "./types";

/** Nodes of the search behind each point of the curve. */
const CURVE_NODES = 5000;

/** Whether somebody may be looking: a page that is hidden has slow timers too. */
const isWatched = () => document.visibilityState === "visible";

/** Receives the progress and results of searches. */
export interface SearchListener {
  /** A search begins at a node: for the move of a side, or, with `null`, as an analysis. */
  began(node: number, side: SideName | null): void;
  iteration(iteration: Iteration): void;
  /** An engine has its move. */
  move(uci: string, found: SearchResult): void;
  failed(error: unknown): void;
  curveBegan(): void;
  /** More of the curve is drawn, or it ends. */
  curve(): void;
  curveFailed(error: unknown): void;
}

export class Engines {
  /** The evaluator of the drop-down. */
  evaluator: Evaluator = DEFAULT;
  /** Threads of a search for a move or of an analysis. */
  private threads = 1;
  /** The side that an engine searches for. */
  thinking: SideName | null = null;
  /** Whether the curve is being drawn. */
  drawing = false;
  /** Nodes of each search behind the curve; `null` where a former visit has drawn it. */
  curveNodes: number | null = null;
  private searchers: Record<SideName, Searcher | null> = { white: null, black: null };
  readonly book: Book;
  readonly endgames = new Endgames();
  private readonly analyst: KibitzSearcher;
  private readonly curve: KibitzSearcher;
  /** Request under analysis, as JSON; `null` without one. */
  private analysed: string | null = null;
  /** Counts what makes searches under way pointless. */
  private generation = 0;

  constructor(
    private readonly module: WebAssembly.Module,
    private readonly rules: Rules,
    private readonly evaluators: Evaluators,
    private readonly people: People,
    private readonly state: GameState,
    private readonly listener: SearchListener,
  ) {
    this.book = new Book(rules);
    this.analyst = new KibitzSearcher(module, DEFAULT);
    this.curve = new KibitzSearcher(module, DEFAULT);
  }

  /** Engines for the sides that want them. */
  employ() {
    for (const side of SIDES) {
      const { who, evaluator } = this.state.sides[side];
      this.searchers[side]?.close();
      if (who === "kibitz") {
        this.searchers[side] = new KibitzSearcher(this.module, evaluator ? this.evaluators.present(evaluator) : this.evaluator, this.threads);
      } else this.searchers[side] = who === "stockfish" ? new Stockfish(this.rules) : null;
    }
  }

  /** Searches with another evaluator from now on. */
  use(evaluator: Evaluator) {
    this.evaluator = evaluator;
    this.analyst.use(evaluator);
    this.curve.use(evaluator);
    this.stop();
    for (const side of SIDES) {
      const searcher = this.searchers[side];
      if (searcher instanceof KibitzSearcher && !this.state.sides[side].evaluator) searcher.use(evaluator);
    }
  }

  /** Searches with so many threads from now on. */
  useThreads(threads: number) {
    this.threads = threads;
    this.stop();
    this.analyst.useThreads(threads);
    for (const side of SIDES) {
      const searcher = this.searchers[side];
      if (searcher instanceof KibitzSearcher) searcher.useThreads(threads);
    }
  }

  /** Ends the searches for moves and for analysis. */
  stop() {
    this.generation += 1;
    this.thinking = this.analysed = null;
    this.analyst.stop();
    this.searchers.white?.stop();
    this.searchers.black?.stop();
  }

  stopCurve() {
    this.drawing = false;
    this.curve.stop();
  }

  /** Starts the search that the state asks for, unless it runs already; `stop` ends other searches. */
  think({ analyse, lines, stop }: { analyse: boolean; lines: number; stop: () => void }) {
    // Free the workers and their memory.
    if (!analyse) this.analyst.close();
    if (this.thinking) return;
    const { state } = this;
    const { turn } = state;
    const engine = state.playing && !state.paused ? this.searchers[turn] : null;
    // Phones have batteries: it has no end, but only while somebody looks.
    const wanted = !engine && analyse && !state.position.ending && isWatched();
    const request = { ...state.shown, lines };
    const text = wanted ? JSON.stringify(request) : null;
    if (text && text === this.analysed) return;
    stop();
    if (engine) void this.findMove(turn, engine, lines);
    else if (text) {
      this.analysed = text;
      void this.analyse(request);
    }
  }

  private async findMove(side: SideName, searcher: Searcher, lines: number) {
    const { generation, state } = this;
    const { evaluator } = state.sides[side];
    const begun = performance.now();
    this.thinking = side;
    // The clock is stopped after a reload or a failed engine.
    state.startClock();
    const node = state.end;
    this.listener.began(node, side);
    try {
      if (evaluator && searcher instanceof KibitzSearcher) {
        // After a reload its net may come only now.
        const present = await this.evaluators.get(evaluator);
        // Before it is used: that would end the search of whoever came later.
        if (generation !== this.generation) return;
        searcher.use(present);
      }
      if (searcher instanceof KibitzSearcher && state.sides[side].strength.by === "person") {
        const policy = await this.people.policy();
        if (generation !== this.generation) return;
        searcher.usePolicy(policy);
      }
      const known = searcher instanceof KibitzSearcher ? await this.knownMove(side, searcher) : null;
      if (generation !== this.generation) return;
      const result = known ?? await searcher.search(state.searchRequest(side, lines, Math.random()), this.reporter(generation));
      const wait = state.clock || !isWatched() ? 0 : state.pace - (performance.now() - begun);
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      if (generation !== this.generation || !result) return;
      if (!result.best) throw new Error("it knows no move");
      state.tree.nodes[node].found = result.score;
      this.listener.move(result.best, result);
    } catch (error) {
      if (generation !== this.generation) return;
      state.clock?.stop();
      // After any error the next search gets a new worker.
      searcher.close();
      this.listener.failed(error);
    }
  }

  /** The move of the book, or of the endgame tables. */
  private async knownMove(side: SideName, searcher: KibitzSearcher): Promise<SearchResult | null> {
    return (await this.book.move(this.state, side, searcher)) ?? this.endgames.move(this.state, side);
  }

  private async analyse(request: SearchRequest) {
    const { generation } = this;
    this.listener.began(this.state.at, null);
    try {
      await this.analyst.search(request, this.reporter(generation));
    } catch (error) {
      if (generation === this.generation) this.listener.failed(error);
    }
  }

  private reporter(generation: number) {
    return (iteration: Iteration) => {
      if (generation === this.generation) this.listener.iteration(iteration);
    };
  }

  /** Draws the curve of the shown line, from a short search after every move. */
  async drawCurve() {
    await this.searchLine(this.state.line, CURVE_NODES, 1);
  }

  /** Returns the findings of a longer search at the start and after every move of the game; `null` if interrupted. */
  async review(): Promise<(Finding | null)[] | null> {
    return this.searchLine(this.state.main, REVIEW_NODES, 0);
  }

  /** Searches the positions of a line from a ply on, and draws the curve of what it finds. */
  private async searchLine(line: number[], nodes: number, from: number): Promise<(Finding | null)[] | null> {
    if (this.drawing) return null;
    const { state } = this;
    const { edition } = state;
    const { start } = state.tree;
    const moves = line.map((node) => state.tree.nodes[node].uci);
    const findings: (Finding | null)[] = [];
    this.drawing = true;
    this.curveNodes = nodes;
    for (const node of line) state.tree.nodes[node].curve = null;
    this.listener.curveBegan();
    try {
      for (let ply = from; ply <= line.length; ply += 1) {
        const finding = await find(this.curve, { start, moves: moves.slice(0, ply), nodes });
        if (finding === undefined || !this.drawing || state.edition !== edition) return null;
        findings.push(finding);
        if (finding && ply > 0) state.tree.nodes[line[ply - 1]].curve = finding.score;
        if (ply % 4 === 0) this.listener.curve();
      }
      return findings;
    } catch (error) {
      this.listener.curveFailed(error);
      return null;
    } finally {
      if (state.edition === edition) {
        this.drawing = false;
        this.listener.curve();
      }
    }
  }
}
