/** The search: its best lines in fixed rows, a log of all depths, and what follows from them: bar and arrows. */
import type { DrawShape } from "chessground/draw";
import type { Key } from "chessground/types";
import { type ComponentChild, type VNode, render } from "preact";
import { $ } from "./dom";
import { chance, count, lineText, resultCode, scoreText } from "./format";
import { load, save } from "./storage";
import type { EndingReport, Iteration, WhiteScore } from "./types";

/** Lines of the log; more are of no use, and slow to lay out. */
const MOST_LINES = 300;

/** Words of a line that can be pointed at; what follows is hardly read. */
const MOST_WORDS = 14;

const IDLE = "Its thoughts appear here while it searches, or while you analyse.";

/** Receives the visitor's actions on a line of moves. */
interface LineListener {
  /** Points at the end of these moves, or at none any more. */
  preview(moves: string[] | null): void;
  /** Wants these moves played. */
  chosen(moves: string[]): void;
}

/** Collects reports and shows them once a frame. */
export class Console {
  private waiting: Iteration[] = [];
  /** Lines of the log, the newest depth first. */
  private log: VNode[] = [];
  /** Index of the newest line in the log. */
  private newest = 0;
  /** Number of lines logged so far; keys of the log. */
  private logged = 0;
  private fen = "";
  private best = new Map<number, Iteration>();
  private frame = 0;

  constructor(
    private readonly changed: (best: Iteration[]) => void,
    listener: LineListener,
  ) {
    for (const box of [$("best"), $("console")]) {
      box.onclick = (event) => {
        const moves = pointed(event);
        if (moves) listener.chosen(moves);
      };
      box.onpointerover = (event) => listener.preview(event.pointerType === "mouse" ? pointed(event) : null);
      box.onpointerleave = () => listener.preview(null);
      // Enter plays the first move of the best line, for those without a mouse.
      box.onkeydown = ({ key, target }) => {
        const [best] = this.best.get(1)?.pv ?? [];
        if (key === "Enter" && target === box && best) listener.chosen([best]);
      };
    }
    const log = $("log");
    const open = (on: boolean) => {
      log.setAttribute("aria-pressed", String(on));
      $("console").hidden = !on;
      this.writeLog();
    };
    log.onclick = () => {
      open($("console").hidden === true);
      save("log", log.getAttribute("aria-pressed") === "true");
    };
    open(load("log") === true);
  }

  /** A search of this position begins, for so many lines. */
  begin(fen: string, title: string, rows: number) {
    this.clear();
    this.fen = fen;
    this.reserve(rows);
    this.showBest(<p class="quiet">{title}</p>);
  }

  /** Keeps the place of so many lines, so that nothing below them moves. */
  reserve(rows: number) {
    $("best").dataset.rows = String(rows);
  }

  /** Says something of the search that is over, above its lines. */
  note(text: string) {
    $("choice").textContent = text;
    $("choice").hidden = false;
  }

  clear() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.waiting = [];
    this.log = [];
    this.best.clear();
    $("choice").hidden = true;
    $("speed").textContent = "";
    this.showBest(<p class="quiet">{IDLE}</p>);
    this.writeLog();
  }

  private showBest(lines: ComponentChild) {
    render(lines, $("best"));
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
    this.log.length = Math.min(this.log.length, MOST_LINES);
    const last = this.waiting.at(-1);
    this.waiting = [];
    if (last && last.time > 0) {
      $("speed").textContent = `Depth ${last.depth} · ${count((last.nodes / last.time) * 1000)} nodes/s · ${count(last.nodes)} nodes`;
    }
    const best = [...this.best.values()].sort((a, b) => a.rank - b.rank);
    if (best.length) this.showBest(best.map((iteration) => this.line(iteration)));
    this.writeLog();
    this.changed(best);
  }

  private writeLog() {
    if (!$("console").hidden) render(this.log, $("console"));
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

const squares = (uci: string): [Key, Key] => [uci.slice(0, 2) as Key, uci.slice(2, 4) as Key];

/** The best line's first two moves, and the other lines' first. */
export function arrowsOf(best: Iteration[]): DrawShape[] {
  const shapes: DrawShape[] = [];
  for (const { pv, rank } of best.toReversed()) {
    if (!pv.length) continue;
    const [orig, dest] = squares(pv[0]);
    if (rank > 1) shapes.push({ orig, dest, brush: "other" });
    else {
      if (pv[1]) {
        const [from, to] = squares(pv[1]);
        shapes.push({ orig: from, dest: to, brush: "reply" });
      }
      shapes.push({ orig, dest, brush: "best" });
    }
  }
  return shapes;
}

/** A game that is over fills the bar, or halves it. */
export function showBar(score: WhiteScore, flipped: boolean, ending: EndingReport | null) {
  const bar = $("bar");
  const text = ending ? resultCode(ending) : scoreText(score);
  const share = ending ? chance(score) : Math.min(0.97, Math.max(0.03, chance(score)));
  bar.style.setProperty("--white", String(share));
  bar.classList.toggle("flipped", flipped);
  const label = bar.querySelector(".bar-text") as HTMLElement;
  if (ending) label.textContent = ending.winner ? "1" : "½";
  else label.textContent = "mate" in score ? text.replace("#−", "#") : Math.abs(score.cp / 100).toFixed(1);
  label.classList.toggle("black-ahead", chance(score) < 0.5);
  bar.setAttribute("aria-label", `Evaluation, White's view: ${text}`);
}
