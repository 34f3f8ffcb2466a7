/** The tab of puzzles from mistakes in the visitor's own games. */
import { render } from "preact";
import type { App } from "./app";
import { keepGames, playedGames } from "./archive";
import { $, announce, toast } from "./dom";
import { why } from "./format";
import { type Puzzle, PuzzleSearch, joined, keepPuzzles, keptPuzzles, taskText } from "./puzzles";
import type { Rules } from "./rules";
import { SIDES } from "./side";
import type { Game, GameText, SideName } from "./types";

/** Games of a file that are searched at most. */
const MOST_OF_FILE = 50;

/** A game to search, and whose mistakes count. */
interface Source {
  game: Game;
  sides: SideName[];
  /** Start time of a game on this device, its id. */
  begun?: number;
}

export class Practice {
  private puzzles = keptPuzzles();
  private current: Puzzle | null = null;
  /** Whether the puzzle on the board is solved. */
  private done = false;
  /** Hints given: 0 none, 1 the piece, 2 the move. */
  private hints = 0;
  private searching = false;
  private told = "";
  private readonly search: PuzzleSearch;
  /** Judges the moves that are tried, while games may be searched. */
  private readonly judge: PuzzleSearch;

  constructor(
    private readonly app: App,
    private readonly rules: Rules,
    module: WebAssembly.Module,
  ) {
    this.search = new PuzzleSearch(module, rules);
    this.judge = new PuzzleSearch(module, rules);
    this.show();
  }

  private keep(puzzles: Puzzle[]) {
    this.puzzles = puzzles;
    keepPuzzles(puzzles);
    this.show();
  }

  /** Shows and reads out a text. */
  private tell(text: string) {
    this.told = text;
    this.show();
    announce(text);
  }

  private show() {
    const { puzzles, current, done, searching } = this;
    const solved = puzzles.filter((puzzle) => puzzle.solved).length;
    const number = puzzles.length === 1 ? "1 puzzle" : `${puzzles.length} puzzles`;
    render(<>
      <p id="puzzle-count" class="quiet">{puzzles.length ? `${number}, ${solved} solved.` : "Positions of your games where a move gave away a fifth of the chance to win."}</p>
      <p id="puzzle-told">{this.told || (puzzles.length ? "" : "Puzzles come from your own mistakes: play a game to its end, or open a PGN.")}</p>
      <div class="row wrap">
        <button id="puzzle-hint" class="primary" type="button" hidden={!current} disabled={!current} onClick={() => this.hint()}>Hint</button>
        <button id="puzzle-next" class={current ? "" : "primary"} type="button" disabled={!puzzles.length} onClick={() => this.next()}>{current ? "Skip" : done ? "Next" : "Solve"}</button>
      </div>
      <div class="row wrap">
        <button id="find-own" type="button" onClick={() => this.find(ownGames())}>{searching ? "Stop" : "Find puzzles in my games"}</button>
        <button id="find-pgn" type="button" disabled={searching} onClick={() => this.find(this.gamesOfFile())}>Find puzzles in the PGN</button>
        <button id="puzzle-forget" type="button" hidden={Boolean(current)} disabled={!puzzles.length} onClick={() => confirm("Forget all puzzles?") && this.keep([])}>Forget puzzles</button>
      </div>
    </>, $("panel-puzzles"));
  }

  // Where puzzles come from

  /** The games of the PGN in the study: one player's mistakes where one has played all of them. */
  private gamesOfFile(): Source[] {
    const text = $<HTMLTextAreaElement>("pgn").value;
    if (!text.trim()) {
      toast("Open a PGN first, or drop a file on the page.");
      return [];
    }
    let games: GameText[];
    try {
      games = this.rules.listPgn(text).slice(0, MOST_OF_FILE);
    } catch (error) {
      toast(`${why(error)}.`);
      return [];
    }
    const name = (game: GameText, side: string) => game.tags.find(([key]) => key.toLowerCase() === side)?.[1] ?? "";
    const common = SIDES.map((side) => name(games[0], side)).find((player) => player && games.every((game) => SIDES.some((side) => name(game, side) === player)));
    return games.flatMap((game): Source[] => {
      const sides = SIDES.filter((side) => games.length < 2 || !common || name(game, side) === common);
      try {
        const { tree, report } = this.rules.readPgn(game.text);
        const moves: string[] = [];
        for (let node = report.children[0][0]; node; node = report.children[node][0]) moves.push(tree.nodes[node].uci);
        return [{ game: { start: tree.start, moves }, sides }];
      } catch {
        return [];
      }
    });
  }

  private async find(sources: Source[]) {
    if (this.searching) return this.search.stop();
    if (!sources.length) return this.tell("No games to search: play one to its end, or read a PGN.");
    this.searching = true;
    let found = 0;
    try {
      for (const [index, { game, sides, begun }] of sources.entries()) {
        this.told = `Game ${index + 1} of ${sources.length}…`;
        this.show();
        const puzzles = await this.search.find(game, sides);
        if (!puzzles) break;
        const before = this.puzzles.length;
        this.keep(joined(this.puzzles, puzzles));
        found += this.puzzles.length - before;
        if (begun !== undefined) keepGames(playedGames().map((played) => (played.begun === begun ? { ...played, searched: true } : played)));
      }
    } catch (error) {
      toast(`The search for puzzles failed: ${why(error)}.`);
    }
    this.searching = false;
    this.search.stop();
    this.tell(found === 1 ? "1 new puzzle." : `${found} new puzzles.`);
  }

  // Solving

  /** The next one, of those that were solved least. */
  private next() {
    if (this.app.inGame) return toast("A game is going on: end it first.");
    const least = Math.min(...this.puzzles.map(({ solved }) => solved));
    const open = this.puzzles.filter((puzzle) => puzzle.solved === least);
    const place = this.current ? open.indexOf(this.current) : -1;
    const puzzle = open[(place + 1) % open.length];
    try {
      this.app.pose(puzzle.game, puzzle.side, { moved: (uci) => void this.tried(uci), left: () => this.left() });
    } catch (error) {
      // A puzzle that cannot be read goes.
      console.warn("a puzzle:", error);
      return this.keep(this.puzzles.filter((other) => other !== puzzle));
    }
    this.current = puzzle;
    this.done = false;
    this.hints = 0;
    this.tell(taskText(puzzle));
  }

  private left() {
    this.current = null;
    this.judge.stop();
    this.told = "";
    this.show();
  }

  private async tried(uci: string) {
    const puzzle = this.current;
    if (!puzzle) return;
    const right = await this.judge.solves(puzzle, uci).catch(() => null);
    if (right === null || this.current !== puzzle) return;
    if (!right) {
      this.app.undo();
      return this.tell("That is not it: try again, or ask for a hint.");
    }
    puzzle.solved += 1;
    this.judge.stop();
    this.app.solved();
    this.current = null;
    this.done = true;
    this.tell(this.hints > 1 ? "That is the move." : "Right.");
    this.keep(this.puzzles);
  }

  private hint() {
    const { current: puzzle } = this;
    if (!puzzle) return;
    this.hints += 1;
    const [from, to] = [puzzle.better[0].slice(0, 2), puzzle.better[0].slice(2, 4)];
    this.app.hint(from, this.hints > 1 ? to : undefined);
    this.tell(this.hints > 1 ? `It is ${from}–${to}.` : `The piece on ${from} moves.`);
  }
}

/** Games on this device that were not searched yet. */
function ownGames(): Source[] {
  return playedGames().filter(({ searched }) => !searched).map(({ start, moves, side, begun }) => ({ game: { start, moves }, sides: [side], begun }));
}
