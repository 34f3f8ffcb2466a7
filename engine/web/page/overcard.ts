/** Card on the board at the end of a game: who won and how, and what to do next. */
import { $, make } from "./dom";
import { REASONS, type Result, sentence } from "./format";
import type { SideName } from "./types";

export interface Ways {
  rematch(): void;
  analyse(): void;
}

/** Shows the card; `name` gives the name of a player. */
export function showOver({ winner, reason }: Result, name: (side: SideName) => string, { rematch, analyse }: Ways) {
  const way = (textContent: string, act: () => void, className = "") =>
    make("button", {
      type: "button",
      textContent,
      className,
      onclick: () => {
        hideOver();
        act();
      },
    });
  const close = way("×", () => {}, "close");
  close.setAttribute("aria-label", "Close");
  $("over").replaceChildren(
    close,
    make("h2", { textContent: winner ? `${name(winner)} won` : "Draw" }),
    make("p", { textContent: reason ? sentence(REASONS[reason]) : "" }),
    make("div", { className: "row wrap" }, way("Rematch", rematch, "primary"), way("Analyse", analyse), way("New game", () => $("new").click())),
  );
  $("over").hidden = false;
}

export function hideOver() {
  $("over").hidden = true;
}
