/** The move list. */
import { $, make } from "./dom";
import { scoreText } from "./format";
import type { GameReport, WhiteScore } from "./types";

/** Shows the moves; `shown` is the ply looked at, 0 for the start. */
export class MoveList {
  private listed: string[] = [];
  private buttons: HTMLButtonElement[] = [];

  constructor(private readonly go: (ply: number) => void) {}

  show(game: GameReport, shown: number, evals: (WhiteScore | null)[]) {
    const list = $("moves");
    const sans = game.plies.map((ply, index) => {
      const score = evals[index];
      return `${ply.san}\t${score ? scoreText(score) : ""}`;
    });
    const first = game.start.split(" ");
    let kept = this.listed.findIndex((san, index) => san !== sans[index]);
    if (kept < 0) kept = this.listed.length;
    if (kept < this.listed.length || !kept) {
      this.buttons = [];
      list.replaceChildren();
      kept = 0;
    }
    const offset = first[1] === "b" ? 1 : 0;
    for (let index = kept; index < sans.length; index += 1) {
      const half = index + offset;
      if (half % 2 === 0 || index === 0) {
        const number = Number(first[5]) + Math.floor(half / 2);
        const row = make("li", {}, make("span", { className: "number", textContent: `${number}.` }));
        if (half % 2) row.append(make("span", { className: "gap", textContent: "…" }));
        list.append(row);
      }
      const [san, score] = sans[index].split("\t");
      const button = make("button", { type: "button", textContent: san, onclick: () => this.go(index + 1) });
      if (score) button.append(make("small", { textContent: score }));
      list.lastElementChild?.append(button);
      this.buttons.push(button);
    }
    this.listed = sans;
    this.buttons.forEach((button, index) => {
      if (index + 1 === shown) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    });
    const current = this.buttons[shown - 1];
    if (!current) list.scrollTop = 0;
    else if (shown === sans.length) list.scrollTop = list.scrollHeight;
    else {
      const row = current.parentElement as HTMLElement;
      const top = row.offsetTop;
      if (top < list.scrollTop || top + row.offsetHeight > list.scrollTop + list.clientHeight) {
        list.scrollTop = top - list.clientHeight / 2;
      }
    }
  }
}
