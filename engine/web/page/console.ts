/** The search, depth by depth, and what follows from it: bar and arrows. */
import type { DrawShape } from "chessground/draw";
import type { Key } from "chessground/types";
import { $, make } from "./dom";
import { chance, count, lineText, scoreText } from "./format";
import type { Iteration, WhiteScore } from "./types";

/** More lines than that are of no use, and slow to lay out. */
const MOST_LINES = 300;

/** Collects reports and shows them once a frame. */
export class Console {
  private waiting: Iteration[] = [];
  private fen = "";
  private best = new Map<number, Iteration>();
  private frame = 0;
  private last: HTMLElement | null = null;

  constructor(private readonly changed: (best: Iteration[]) => void) {}

  /** A search of this position begins. */
  begin(fen: string, title: string) {
    this.clear();
    this.fen = fen;
    $("console").replaceChildren(make("p", { className: "quiet", textContent: title }));
  }

  clear() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.waiting = [];
    this.best.clear();
    $("speed").textContent = "";
    $("console").replaceChildren(
      make("p", { className: "quiet", textContent: "Its thoughts appear here while it searches, or while you analyse." }),
    );
  }

  add(iteration: Iteration) {
    this.waiting.push(iteration);
    this.frame ||= requestAnimationFrame(() => this.flush());
  }

  private flush() {
    this.frame = 0;
    const box = $("console");
    // The newest stands on top, where it is seen.
    for (const iteration of this.waiting) {
      if (iteration.bound !== "exact") continue;
      this.best.set(iteration.rank, iteration);
      // ... but the lines of one depth in their order.
      const line = this.line(iteration);
      const below = iteration.rank > 1 && this.last?.isConnected ? this.last : box.firstElementChild;
      below?.after(line);
      this.last = line;
    }
    while (box.childElementCount > MOST_LINES) box.lastElementChild?.remove();
    const last = this.waiting.at(-1);
    this.waiting = [];
    if (last && last.time > 0) {
      $("speed").textContent = `${count((last.nodes / last.time) * 1000)} nodes/s`;
    }
    this.changed([...this.best.values()].sort((a, b) => a.rank - b.rank));
  }

  private line(iteration: Iteration): HTMLElement {
    const cells: [string, string][] = [
      ["depth", `d${iteration.depth}`],
      ["score", scoreText(iteration.score)],
      ["nodes", `${count(iteration.nodes)} n`],
      ["nps", iteration.time >= 1 ? `${count((iteration.nodes / iteration.time) * 1000)}/s` : ""],
      ["pv", lineText(this.fen, iteration.san)],
    ];
    const line = make("div", { className: iteration.rank === 1 ? "line" : "line other" });
    for (const [className, textContent] of cells) line.append(make("span", { className, textContent }));
    return line;
  }
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

export function showBar(score: WhiteScore, flipped: boolean) {
  const bar = $("bar");
  const text = scoreText(score);
  const share = Math.min(0.97, Math.max(0.03, chance(score)));
  bar.style.setProperty("--white", String(share));
  bar.classList.toggle("flipped", flipped);
  const label = bar.querySelector(".bar-text") as HTMLElement;
  label.textContent = "mate" in score ? text.replace("#−", "#") : Math.abs(score.cp / 100).toFixed(1);
  label.classList.toggle("black-ahead", chance(score) < 0.5);
  bar.setAttribute("aria-label", `Evaluation, White's view: ${text}`);
}
