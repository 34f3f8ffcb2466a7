/** *Learn from mistakes*: a run through one side's mistakes in the game on the board, each with the better move to find. */
import { render } from "preact";
import type { App } from "./app";
import { $, announce } from "./dom";
import { why } from "./format";
import { PuzzleSearch, taskText } from "./puzzles";
import type { Rules } from "./rules";
import type { Game, SideName } from "./types";

/** A mistake of the game on the board. */
export interface Lesson {
  /** The game up to the position, and the node of that. */
  game: Game;
  at: number;
  side: SideName;
  /** Move that was played, with its number, such as `12. Nf3`. */
  played: string;
  loss: number;
  better: string[];
  /** The mover's chance by the better move. */
  chance: number;
}

export class Learn {
  private readonly judge: PuzzleSearch;
  private lessons: Lesson[] = [];
  private place = 0;
  private found = 0;
  private hints = 0;
  /** Whether the present lesson waits for its move. */
  private open = false;

  constructor(
    private readonly app: App,
    rules: Rules,
    module: WebAssembly.Module,
  ) {
    this.judge = new PuzzleSearch(module, rules);
  }

  start(lessons: Lesson[]) {
    this.lessons = lessons;
    this.found = 0;
    this.ask(0);
  }

  private ask(place: number) {
    this.place = place;
    const lesson = this.lessons[place];
    if (!lesson) return this.end();
    this.hints = 0;
    this.open = true;
    this.app.ask(lesson.at, lesson.side, { tried: (uci) => void this.tried(uci), left: () => this.left() });
    this.show(taskText(lesson));
  }

  private async tried(uci: string) {
    const { place } = this;
    const lesson = this.lessons[place];
    let right: boolean | null;
    try {
      right = await this.judge.solves({ ...lesson, solved: 0 }, uci);
    } catch (error) {
      right = null;
      this.show(`The move could not be judged: ${why(error)}.`);
    }
    if (!this.open || this.place !== place) return;
    if (!right) {
      this.app.settingsChanged();
      if (right === false) this.show("That is not it: try again, or ask for a hint.");
      return;
    }
    if (!this.hints) this.found += 1;
    const best = this.nameOf(lesson);
    this.close([uci]);
    this.show(uci === lesson.better[0] ? "Right, that is the best move." : `Right, that is as good as ${best}.`);
  }

  /** The better move of a lesson in SAN. */
  private nameOf({ at, better }: Lesson): string {
    return this.app.after(at, better.slice(0, 1))?.san ?? better[0];
  }

  private hint() {
    const lesson = this.lessons[this.place];
    const [from] = lesson.better[0].match(/^../) ?? [];
    this.hints += 1;
    if (this.hints === 1 && from) {
      this.app.hint(from);
      return this.show(`The piece on ${from} moves.`);
    }
    this.close(lesson.better.slice(0, 1));
    this.show(`It is ${this.nameOf(lesson)}.`);
  }

  /** Ends the lesson, and plays a move in its position. */
  private close(moves: string[]) {
    this.open = false;
    this.app.answered();
    this.app.line(this.lessons[this.place].at, moves);
  }

  /** The run is over, or another game on the board. */
  private left() {
    this.open = false;
    this.judge.stop();
    $("learn").hidden = true;
  }

  private end() {
    this.app.answered();
    this.judge.stop();
    const number = this.lessons.length;
    this.fill(`${this.found} of ${number} found without help.`, [
      ["Again", () => this.start(this.lessons), true],
      ["Close", () => this.left()],
    ]);
  }

  private show(text: string) {
    const last = this.place + 1 === this.lessons.length;
    this.fill(text, [
      ...(this.open ? [[this.hints ? "Show the move" : "Hint", () => this.hint()] as const] : []),
      [this.open ? "Skip" : last ? "Finish" : "Next", () => this.ask(this.place + 1), !this.open],
      ["End", () => {
        this.app.answered();
        this.left();
      }],
    ]);
  }

  private fill(text: string, ways: (readonly [string, () => void, boolean?])[]) {
    const { place, lessons } = this;
    render(<>
      <progress max={lessons.length} value={place + (this.open ? 0 : 1)} aria-label="Mistakes gone through" />
      <b>{place < lessons.length ? `Mistake ${place + 1} of ${lessons.length}` : "Done"}</b>
      <p>{text}</p>
      <div class="row wrap">
        {ways.map(([name, act, primary]) => <button type="button" class={primary ? "primary" : ""} onClick={act}>{name}</button>)}
      </div>
    </>, $("learn"));
    $("learn").hidden = false;
    $("learn").querySelector("button")?.focus({ preventScroll: true });
    announce(text);
  }
}
