/** The tab *Engine*: settings of searches, the best lines in fixed rows, and a log of all depths. */
import { type VNode, render } from "preact";
import { $ } from "./dom";
import { chance, count, lineText, scoreText } from "./format";
import { load, save } from "./storage";
import { mostThreads } from "./team";
import type { Iteration } from "./types";

/** The most lines of a search. */
const MOST_LINES = 5;

/** Entries of the log; more are of no use, and slow to lay out. */
const MOST_ENTRIES = 300;

/** Words of a line that can be pointed at; what follows is hardly read. */
const MOST_WORDS = 14;

const IDLE = "Its thoughts appear here while it searches, or while you analyse.";

/** Receives the visitor's actions, and the best lines as they change. */
interface Listener {
  searched(best: Iteration[]): void;
  /** Points at the end of these moves, or at none any more. */
  preview(moves: string[] | null): void;
  /** Wants these moves played. */
  chosen(moves: string[]): void;
  /** Another search is wanted, or evaluations are hidden or shown. */
  changed(): void;
  /** Arrows are wanted, or not any more. */
  arrowsChanged(): void;
  threadsChanged(): void;
}

const numbers = (most: number) => Array.from({ length: most }, (_, index) => index + 1);

/** Returns a saved number if it is offered, else another one. */
const offered = (saved: unknown, most: number, otherwise: number) => numbers(most).find((number) => number === Number(saved)) ?? otherwise;

/** Collects reports and shows them once a frame. */
export class EnginePanel {
  /** Whether an analysis is wanted. */
  analysing = false;
  arrows = load("arrows") !== false;
  /** Whether evaluations are shown in a game too. */
  help = load("playing-help") === true;
  /** Lines of a search. */
  lines = offered(load("lines"), MOST_LINES, 1);
  /** Threads of a search: by default half, as the page and other programs want to run too. */
  threads = offered(load("threads"), mostThreads, Math.ceil(mostThreads / 2));
  private logging = load("log") === true;
  /** Whether evaluations are hidden, and whether a visitor plays. */
  private unaided = false;
  private inPlay = false;
  private waiting: Iteration[] = [];
  /** Lines of the log, the newest depth first. */
  private log: VNode[] = [];
  /** Index of the newest line in the log. */
  private newest = 0;
  /** Number of lines logged so far; keys of the log. */
  private logged = 0;
  private fen = "";
  private title = IDLE;
  private choice = "";
  private speed = "";
  private best = new Map<number, Iteration>();
  private frame = 0;

  constructor(private readonly listener: Listener) {}

  /** Shows the settings that there are while evaluations are hidden or not, in a game or not. */
  show(unaided: boolean, inPlay: boolean) {
    this.unaided = unaided;
    this.inPlay = inPlay;
    this.draw();
  }

  /** A search of this position begins. */
  begin(fen: string, title: string) {
    this.fen = fen;
    this.clear(title);
  }

  /** Says something of the search that is over, above its lines. */
  note(text: string) {
    this.choice = text;
    this.draw();
  }

  clear(title = IDLE) {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.waiting = [];
    this.log = [];
    this.best.clear();
    this.choice = this.speed = "";
    this.title = title;
    this.draw();
  }

  add(iteration: Iteration) {
    this.waiting.push(iteration);
    this.frame ||= requestAnimationFrame(() => this.flush());
  }

  private flush() {
    this.frame = 0;
    for (const iteration of this.waiting) {
      if (iteration.bound !== "exact") continue;
      this.best.set(iteration.rank, iteration);
      // The newest depth is on top, its lines in the order of their ranks.
      this.newest = iteration.rank > 1 && this.log.length ? this.newest + 1 : 0;
      this.log.splice(this.newest, 0, this.line(iteration, true));
    }
    this.log.length = Math.min(this.log.length, MOST_ENTRIES);
    const last = this.waiting.at(-1);
    this.waiting = [];
    if (last && last.time > 0) {
      this.speed = `Depth ${last.depth} · ${count((last.nodes / last.time) * 1000)} nodes/s · ${count(last.nodes)} nodes`;
    }
    this.draw();
    this.listener.searched(this.ranked());
  }

  /** The lines, the best first. */
  private ranked(): Iteration[] {
    return [...this.best.values()].sort((a, b) => a.rank - b.rank);
  }

  private draw() {
    const { listener, unaided, logging } = this;
    const ranked = this.ranked();
    const pointing = {
      onClick: (event: Event) => {
        const moves = pointed(event);
        if (moves) listener.chosen(moves);
      },
      onPointerOver: (event: PointerEvent) => listener.preview(event.pointerType === "mouse" ? pointed(event) : null),
      onPointerLeave: () => listener.preview(null),
      // Enter plays the first move of the best line, for those without a mouse.
      onKeyDown: ({ key, target, currentTarget }: KeyboardEvent) => {
        const [best] = this.best.get(1)?.pv ?? [];
        if (key === "Enter" && target === currentTarget && best) listener.chosen([best]);
      },
    };
    const select = (id: "lines" | "threads", text: string, most: number, chosen: () => void) => (
      <label class="inline">
        {text}
        <select id={id} value={this[id]} onInput={({ currentTarget }) => {
          this[id] = Number(currentTarget.value);
          save(id, this[id]);
          chosen();
        }}>
          {numbers(most).map((number) => <option>{number}</option>)}
        </select>
      </label>
    );
    render(<>
      <div class="row wrap">
        {!unaided && <>
          <label class="switch toggle">
            <input type="checkbox" role="switch" id="analyse" checked={this.analysing} onInput={({ currentTarget }) => {
              this.analysing = currentTarget.checked;
              listener.changed();
            }} />
            Analyse
          </label>
          <label class="switch" title="Blue: the best moves. Orange: the reply to expect.">
            <input type="checkbox" id="arrows" checked={this.arrows} onInput={({ currentTarget }) => {
              this.arrows = currentTarget.checked;
              save("arrows", this.arrows);
              listener.arrowsChanged();
            }} />
            Arrows
          </label>
        </>}
        {select("lines", "Lines", MOST_LINES, () => listener.changed())}
        {mostThreads > 1 && select("threads", "Threads", mostThreads, () => listener.threadsChanged())}
      </div>
      {this.inPlay && <label class="switch">
        <input type="checkbox" id="playing-help" checked={this.help} onInput={({ currentTarget }) => {
          this.help = currentTarget.checked;
          save("playing-help", this.help);
          listener.changed();
        }} />
        Bar, arrows and thoughts while I play
      </label>}
      {this.choice && <p id="choice">{this.choice}</p>}
      <div id="best" data-rows={this.lines} tabIndex={0} role="region" aria-label="The best lines" {...pointing}>
        {ranked.length ? ranked.map((iteration) => this.line(iteration)) : <p class="quiet">{this.title}</p>}
      </div>
      <div class="row" id="progress">
        <p id="speed" class="quiet">{this.speed}</p>
        <button id="log" type="button" aria-pressed={logging} aria-controls="console" onClick={() => {
          this.logging = !logging;
          save("log", this.logging);
          this.draw();
        }}>Log</button>
      </div>
      <div id="console" tabIndex={0} role="region" aria-label="The search, depth by depth" hidden={!logging} {...pointing}>{logging && this.log}</div>
    </>, $("panel-engine"));
    render(ranked[0] && this.line(ranked[0]), $("line"));
  }

  /** A line of the search: its score, in the log further cells, and its moves. */
  private line({ rank, score, depth, nodes, time, san, pv }: Iteration, log = false) {
    return (
      <div key={log ? (this.logged += 1) : rank} class={rank === 1 ? "line" : "line other"} data-pv={pv.join(" ")}>
        <span class={chance(score) < 0.5 ? "score black-ahead" : "score"}>{scoreText(score)}</span>
        {log && <>
          <span class="depth">{`d${depth}`}</span>
          <span class="nodes">{`${count(nodes)} n`}</span>
          <span class="nps">{time >= 1 && `${count((nodes / time) * 1000)}/s`}</span>
        </>}
        <span class="pv">{words(this.fen, san).slice(0, MOST_WORDS).map((word, index) => <>{index > 0 && " "}<span class="word" data-ply={index + 1}>{word}</span></>)}</span>
      </div>
    );
  }
}

/** Returns the moves of a line up to the word under the pointer. */
function pointed({ target }: Event): string[] | null {
  const word = (target as Element).closest<HTMLElement>("[data-ply]");
  return word && (word.closest<HTMLElement>(".line")?.dataset.pv?.split(" ").slice(0, Number(word.dataset.ply)) ?? null);
}

/** A line's moves, each with its number where it needs one. */
function words(fen: string, san: string[]): string[] {
  const words: string[] = [];
  for (const word of lineText(fen, san).split(" ")) {
    const number = words.at(-1) ?? "";
    if (/^\d+(\.|…)$/.test(number)) words[words.length - 1] = `${number} ${word}`;
    else words.push(word);
  }
  return words;
}
