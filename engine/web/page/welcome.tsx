/** A first visit: a sentence on the page, and four ways to begin. */
import { render } from "preact";
import { $ } from "./dom";
import { readLink } from "./link";
import { RATINGS } from "./side";
import { loadText } from "./storage";

/** Ratings to play at, by name. */
const LEVELS: [string, number][] = [["Beginner", 500], ["Casual", 900], ["Club", RATINGS.usual], ["Strong", 1800], ["Master", 2400]];

/** Shows the ways, unless the visitor has been here before; to be called before the game is saved. */
export function welcome(play: (rating: number) => void) {
  // Every visit saves its game, and whoever follows a link wants to see that one.
  if (loadText("game") !== null || readLink(location.hash)) return;
  const box = $("welcome");
  // In place of the open panel; on a phone under the board, on its side in the header.
  if (matchMedia("(min-width: 901px) and (min-height: 601px)").matches) $("tab-analyse").parentElement?.after(box);
  else if (!matchMedia("(min-width: 621px) and (max-height: 600px)").matches) $("player-bottom").after(box);
  const act = (go: () => void) => () => {
    farewell();
    go();
  };
  const way = (id: string, name: string, note: string, go: () => void) => (
    <button id={`begin-${id}`} type="button" onClick={act(go)}>{name}<small>{note}</small></button>
  );
  const level = ([name, rating]: (typeof LEVELS)[number]) => (
    <button type="button" class="level" aria-current={rating === RATINGS.usual} title={`Play Kibitz, rated ${rating}`} onClick={act(() => {
      play(rating);
      $("squares").querySelector<HTMLElement>("[tabindex='0']")?.focus();
    })}>{name}<small>{rating}</small></button>
  );
  render(<>
    <p>A chess engine that runs in your browser.</p>
    <div class="row" role="group" aria-label="Play">
      <button id="begin-play" class="primary" type="button" onClick={act(() => $("new").click())}>Play</button>
      <span class="levels">{LEVELS.map(level)}</span>
    </div>
    <div class="ways">
      {way("analysis", "Analyse a game", "Paste a PGN or a shared link, or drop a file", () => $("open").click())}
      {way("puzzles", "Puzzles", "From mistakes in your own games", () => open("puzzles", "find-own"))}
      {way("inside", "How it thinks", "The network at work, neuron by neuron", () => open("inside", "tab-inside"))}
    </div>
  </>, box);
  box.hidden = false;
}

/** Hides the ways: one was chosen, a tab opened, or a move made. */
export function farewell() {
  if ($("welcome").hidden) return;
  $("welcome").hidden = true;
  // On a small screen the board has moved.
  dispatchEvent(new Event("resize"));
}

/** Opens a tab, and moves the focus there. */
function open(tab: string, focus: string) {
  $(`tab-${tab}`).click();
  $(focus).focus();
}
