/** Card on the board at the end of a game: who won and how, and what to do next. */
import { render } from "preact";
import { $ } from "./dom";
import { REASONS, type Result, sentence } from "./format";
import { other } from "./side";
import type { SideName } from "./types";

export interface Ways {
  rematch(): void;
  analyse(): void;
}

/** Shows the card; `name` gives the name of a player. */
export function showOver({ winner, reason }: Result, name: (side: SideName) => string, { rematch, analyse }: Ways) {
  const way = (text: string, act = () => {}, look = {}) => (
    <button type="button" {...look} onClick={() => {
      hideOver();
      act();
    }}>{text}</button>
  );
  render(<>
    {way("×", undefined, { class: "close", "aria-label": "Close" })}
    <h2>{winner ? `${name(winner)} won` : "Draw"}</h2>
    <p>{reason === "resignation" && winner ? `${name(other(winner))} resigned` : reason && sentence(REASONS[reason])}</p>
    <div class="row wrap">{way("Rematch", rematch, { class: "primary" })}{way("Analyse", analyse)}{way("New game", () => $("new").click())}</div>
  </>, $("over"));
  $("over").hidden = false;
}

export function hideOver() {
  $("over").hidden = true;
}
