/** The tab *People*: what people of a rating would play, as bars and as arrows on the board. */
import type { DrawShape } from "chessground/draw";
import type { Key } from "chessground/types";
import { render } from "preact";
import { $ } from "./dom";
import { why } from "./format";
import { type People, bandText } from "./people";
import { load, save } from "./storage";
import type { Game, PeopleMove } from "./types";

/** Moves with a bar. */
const MOST_MOVES = 8;
/** Least share of a move with an arrow. */
const LEAST_ARROW = 0.05;

interface Listener {
  /** Wants a move of the position looked at played. */
  chosen(uci: string): void;
  /** Wants arrows on the board. */
  drawn(shapes: DrawShape[]): void;
}

/** The position looked at. */
interface Looked {
  game: Game;
  /** The engine's best move, if it analyses here. */
  best: string | undefined;
  over: boolean;
}

export class PeoplePanel {
  private arrows = load("people-arrows") !== false;
  private rating: number;
  private looked: Looked | null = null;
  private moves: PeopleMove[] = [];
  private trouble = "";
  /** Counts what makes an answer under way pointless. */
  private generation = 0;

  constructor(
    private readonly people: People,
    private readonly listener: Listener,
  ) {
    const { ratings } = people;
    const saved = Number(load("people-rating"));
    this.rating = ratings.includes(saved) ? saved : (ratings[Math.floor(ratings.length / 2)] ?? 0);
  }

  show(looked: Looked) {
    const same = JSON.stringify(looked.game) === JSON.stringify(this.looked?.game);
    this.looked = looked;
    if (!same) this.moves = [];
    this.draw();
    if (!this.moves.length) void this.ask();
  }

  private async ask() {
    const generation = (this.generation += 1);
    if (!this.looked || this.looked.over || !this.people.ratings.length) return;
    try {
      const moves = await this.people.moves(this.looked.game, this.rating);
      if (generation !== this.generation) return;
      this.moves = moves;
      this.trouble = "";
    } catch (error) {
      if (generation !== this.generation) return;
      this.trouble = `${why(error)}.`;
    }
    this.draw();
  }

  private draw() {
    const { moves, rating, trouble, looked } = this;
    const { ratings } = this.people;
    const panel = $("panel-people");
    if (panel.hidden) return;
    if (!ratings.length) return render(<p class="quiet">This host has no policy, and cannot say what people would play.</p>, panel);
    const share = (share: number) => (share < 0.01 ? "<1 %" : `${Math.round(100 * share)} %`);
    render(<>
      <div class="pair">
        <label for="people-rating">People rated</label>
        <span class="slide">
          <input type="range" id="people-rating" min="0" max={ratings.length - 1} value={ratings.indexOf(rating)} aria-valuetext={bandText(rating)} onInput={({ currentTarget }) => {
            this.rating = ratings[Number(currentTarget.value)];
            save("people-rating", this.rating);
            this.draw();
            void this.ask();
          }} />
          <output>{bandText(rating)}</output>
          <label class="switch">
            <input type="checkbox" id="people-arrows" checked={this.arrows} onInput={({ currentTarget }) => {
              this.arrows = currentTarget.checked;
              save("people-arrows", this.arrows);
              this.draw();
            }} />
            Arrows
          </label>
        </span>
      </div>
      {trouble && <p role="alert">{trouble} <button type="button" onClick={() => void this.ask()}>Try again</button></p>}
      {!trouble && !moves.length && <p class="quiet" role="status">{looked?.over ? "The game is over." : "The moves of people are on their way."}</p>}
      <ol id="people-moves" aria-label="Moves of people, the likeliest first">
        {moves.slice(0, MOST_MOVES).map((move) => (
          <li>
            <button type="button" onClick={() => this.listener.chosen(move.uci)}>
              <span class="san">{move.san}</span>
              <span class="bar-of"><span style={{ width: `${100 * move.share}%` }} /></span>
              <span class="share">{share(move.share)}</span>
              {move.uci === looked?.best && <span class="note">engine’s choice</span>}
            </button>
          </li>
        ))}
      </ol>
      <p class="quiet">Foretold by a net that learned from people’s games. It sees the position alone, not the moves before it.</p>
    </>, panel);
    const shown = this.arrows ? moves.filter((move) => move.share >= LEAST_ARROW).slice(0, MOST_MOVES) : [];
    this.listener.drawn(shown.reverse().map(({ uci, share: part }): DrawShape => ({
      orig: uci.slice(0, 2) as Key,
      dest: uci.slice(2, 4) as Key,
      brush: "people",
      modifiers: { lineWidth: 4 + Math.round(9 * part) },
      label: { text: String(Math.round(100 * part)) },
    })));
  }
}
