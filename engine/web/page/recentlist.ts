/** List of the recent games, in the tab *Your games*: open, save, delete. */
import type { App } from "./app";
import { $, UNDO_TIME, make, offer, toast } from "./dom";
import { why } from "./format";
import { type RecentGame, deleteRecent, keep, recentGames, recentNames, titleOf } from "./recent";
import { joinedPgn, saveFile } from "./results";
import { saveable } from "./storage";

/** Names of the games shown: the list is made anew only for others. */
let shown: string | null = null;

/** Shows the games, if they are others than before. */
export function showRecent(app: App) {
  const names = recentNames().join();
  if (names === shown) return;
  shown = names;
  const games = recentGames();
  const none = saveable() ? "None yet. A game that another one replaces on the board is kept here." : "This browser does not let the page keep games.";
  $("recent-count").textContent = games.length ? "Games that were replaced on the board; of more than 50 the oldest is deleted." : none;
  $("recent-list").hidden = !games.length;
  $("recent-list").replaceChildren(...games.map((game) => row(game, app)));
  const all = $<HTMLButtonElement>("recent-save");
  all.disabled = !games.length;
  all.onclick = () => void saveGames(games, app, "recent-games.pgn");
}

function row(game: RecentGame, app: App): HTMLElement {
  const date = new Date(game.replaced).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
  const moves = Math.ceil(game.plies / 2);
  const details = [game.result === "*" ? "" : game.result, moves === 1 ? "1 move" : `${moves} moves`, date].filter(Boolean).join(" · ");
  const title = titleOf(game);
  const button = (name: string, onclick: () => void) => {
    const button = make("button", { type: "button", textContent: name, onclick });
    button.setAttribute("aria-label", `${name}: ${title}, ${date}`);
    return button;
  };
  const open = make("button", { type: "button", className: "open", onclick: () => app.openRecent(game) }, make("span", { textContent: title }), make("small", { textContent: details }));
  return make("li", {}, open, button("Save", () => void saveGames([game], app, "kibitz.pgn")), button("Delete", () => {
    deleteRecent(game);
    showRecent(app);
    offer(`Deleted: ${title}`, "Undo", () => {
      if (!keep(game).kept) toast("This browser has no room for the game any more.");
      showRecent(app);
    }, UNDO_TIME);
  }));
}

async function saveGames(games: RecentGame[], app: App, name: string) {
  try {
    saveFile(await joinedPgn(games, (game) => app.recentPgn(game)), name);
  } catch (error) {
    toast(`A game cannot be read: ${why(error)}.`);
  }
}
