/** The evaluation bar beside the board, and the arrows of a search on it. */
import type { DrawShape } from "chessground/draw";
import type { Key } from "chessground/types";
import { $ } from "./dom";
import { chance, resultCode, scoreText } from "./format";
import type { EndingReport, Iteration, WhiteScore } from "./types";

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

/** Shows a score, `unsearched` if it is the net's alone. A game that is over fills the bar, or halves it. */
export function showBar(score: WhiteScore, unsearched: boolean, flipped: boolean, ending: EndingReport | null) {
  const bar = $("bar");
  const text = ending ? resultCode(ending) : scoreText(score);
  const share = ending ? chance(score) : Math.min(0.97, Math.max(0.03, chance(score)));
  bar.style.setProperty("--white", String(share));
  bar.classList.toggle("flipped", flipped);
  const label = bar.querySelector(".bar-text") as HTMLElement;
  if (ending) label.textContent = ending.winner ? "1" : "½";
  else label.textContent = scoreText(score, 1).replace(/[≥≤]/, "");
  if (unsearched) label.append(Object.assign(document.createElement("small"), { textContent: "net" }));
  label.classList.toggle("black-ahead", chance(score) < 0.5);
  bar.setAttribute("aria-label", `Evaluation, White's view: ${text}${unsearched ? ", by the net without search" : ""}`);
  bar.title = unsearched ? "The net’s evaluation, without search" : "";
}
