/** The search: its best lines in fixed rows, a log of all depths, and what follows from them: bar and arrows. */
import type { DrawShape } from "chessground/draw";
import type { Key } from "chessground/types";
import { $, make } from "./dom";
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
  private readonly lines = new WeakMap<Element, Iteration>();
  private waiting: Iteration[] = [];
  /** Iterations of the log, the newest last. */
  private logged: Iteration[] = [];
  private fen = "";
  private best = new Map<number, Iteration>();
  private frame = 0;
  /** Newest line of the log. */
  private last: HTMLElement | null = null;

  constructor(
    private readonly changed: (best: Iteration[]) => void,
    listener: LineListener,
  ) {
    const pointed = ({ target }: Event) => this.pointed(target as Element);
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
      if (on) this.writeLog();
    };
    log.onclick = () => {
      open($("console").hidden === true);
      save("log", log.getAttribute("aria-pressed") === "true");
    };
    open(load("log") === true);
  }

  /** The moves up to the word that is pointed at. */
  private pointed(target: Element): string[] | null {
    const word = target.closest<HTMLElement>("[data-ply]");
    const line = word && this.lines.get(word.closest(".line") as Element);
    return line ? line.pv.slice(0, Number(word.dataset.ply)) : null;
  }

  /** A search of this position begins, for so many lines. */
  begin(fen: string, title: string, rows: number) {
    this.clear();
    this.fen = fen;
    this.reserve(rows);
    $("best").replaceChildren(make("p", { className: "quiet", textContent: title }));
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
    this.logged = [];
    this.last = null;
    this.best.clear();
    $("choice").hidden = true;
    $("speed").textContent = "";
    $("best").replaceChildren(make("p", { className: "quiet", textContent: IDLE }));
    $("console").replaceChildren();
  }

  add(iteration: Iteration) {
    this.waiting.push(iteration);
    this.frame ||= requestAnimationFrame(() => this.flush());
  }

  private flush() {
    this.frame = 0;
    const changed = new Set<number>();
    for (const iteration of this.waiting) {
      if (iteration.bound !== "exact") continue;
      this.best.set(iteration.rank, iteration);
      changed.add(iteration.rank);
      this.logged.push(iteration);
      if (!$("console").hidden) this.log(iteration);
    }
    this.logged = this.logged.slice(-MOST_LINES);
    const last = this.waiting.at(-1);
    this.waiting = [];
    if (last && last.time > 0) {
      $("speed").textContent = `Depth ${last.depth} · ${count((last.nodes / last.time) * 1000)} nodes/s · ${count(last.nodes)} nodes`;
    }
    const best = [...this.best.values()].sort((a, b) => a.rank - b.rank);
    best.forEach((iteration, row) => {
      if (!changed.has(iteration.rank)) return;
      const line = this.line(iteration, []);
      const former = $("best").children[row];
      if (former) former.replaceWith(line);
      else $("best").append(line);
    });
    this.changed(best);
  }

  private writeLog() {
    this.last = null;
    $("console").replaceChildren();
    for (const iteration of this.logged) this.log(iteration);
  }

  /** Adds a line on top of the log, where it is seen, but the lines of one depth in their order. */
  private log(iteration: Iteration) {
    const { depth, nodes, time } = iteration;
    const line = this.line(iteration, [
      ["depth", `d${depth}`],
      ["nodes", `${count(nodes)} n`],
      ["nps", time >= 1 ? `${count((nodes / time) * 1000)}/s` : ""],
    ]);
    if (iteration.rank > 1 && this.last?.isConnected) this.last.after(line);
    else $("console").prepend(line);
    this.last = line;
    while ($("console").childElementCount > MOST_LINES) $("console").lastElementChild?.remove();
  }

  /** A line of the search: its score, further cells, and its moves. */
  private line(iteration: Iteration, cells: [string, string][]): HTMLElement {
    const line = make("div", { className: iteration.rank === 1 ? "line" : "line other" });
    const score = make("span", { className: "score", textContent: scoreText(iteration.score) });
    score.classList.toggle("black-ahead", chance(iteration.score) < 0.5);
    line.append(score, ...cells.map(([className, textContent]) => make("span", { className, textContent })));
    const pv = make("span", { className: "pv" });
    words(this.fen, iteration.san).slice(0, MOST_WORDS).forEach((word, index) => {
      const move = make("span", { className: "word", textContent: word });
      move.dataset.ply = String(index + 1);
      pv.append(index ? " " : "", move);
    });
    line.append(pv);
    this.lines.set(line, iteration);
    return line;
  }
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
