/** The panel *Open*: games from text, links and files, positions from FEN and the editor, and the list of a text's games. */
import type { App } from "./app";
import { $, click, toast } from "./dom";
import { edit } from "./editor";
import { textOf } from "./files";
import { sentence, why } from "./format";
import { readLink } from "./link";
import { digest } from "./recent";
import type { Rules } from "./rules";
import { fields } from "./saved";
import { load, save } from "./storage";
import type { GameText } from "./types";

export function connectOpenPanel(app: App, rules: Rules) {
  const fen = $<HTMLInputElement>("fen");
  const pgn = $<HTMLTextAreaElement>("pgn");
  const pick = $<HTMLSelectElement>("pick-game");
  let games: GameText[] = [];

  const panel = $("open-panel");
  /** Closes the panel; keys then walk through the game. */
  const close = () => {
    if (!panel.matches(":popover-open")) return;
    panel.hidePopover();
    $("moves").focus();
  };
  click("open", () => {
    panel.showPopover();
    pgn.focus();
  });
  click("set-fen", () => {
    try {
      app.look({ start: rules.setUp(fen.value), moves: [] });
      close();
    } catch (error) {
      toast(`${sentence(why(error))}.`);
    }
  });
  fen.onkeydown = ({ key }) => {
    if (key === "Enter") $("set-fen").click();
  };

  const show = (index: number, picked: boolean) => {
    const origin = digest(games[index].text);
    if (picked && app.openChanged(origin)) return toast("As you left it, with your changes.");
    try {
      const game = rules.readPgn(games[index].text);
      const { faults, tree } = game;
      if (faults.length && tree.nodes.length < 2 && !tree.start) return toast(`No move of this game can be read: ${faults[0]}.`);
      app.lookAt(game, origin, picked);
      close();
      if (faults.length) toast(`Read, but for this: ${faults.join(". ")}.`);
      if (tree.nodes.some((node) => node.eval)) void app.drawCurve();
    } catch (error) {
      toast(`No move of this game can be read: ${why(error)}.`);
    }
  };
  // *Undo* and the recent games may bring back a game of the list.
  app.gameReplaced = (origin) => {
    const same = ({ text }: GameText) => origin !== null && origin.endsWith(`-${text.length}`) && digest(text) === origin;
    if (games.length < 2 || same(games[pick.selectedIndex])) return;
    const index = games.findIndex(same);
    if (index >= 0) pick.selectedIndex = index;
  };
  const list = (text: string, chosen: number) => {
    games = rules.listPgn(text);
    pgn.value = text;
    $("pick-game-label").hidden = games.length < 2;
    pick.replaceChildren(...games.map((game, index) => new Option(`${index + 1}. ${titleOf(game)}`, String(index), false, index === chosen)));
  };
  /** Saves the list for a reload. */
  const keep = () => {
    if (save("pgn", { text: pgn.value, chosen: pick.selectedIndex }, "tab") || games.length < 2) return;
    save("pgn", null, "tab");
    toast("This file is too long for the browser to keep: after a reload, open it again.");
  };
  click("read-pgn", () => {
    const link = pgn.value.trim();
    if (URL.canParse(link) && readLink(new URL(link).hash)) {
      pgn.value = "";
      location.hash = new URL(link).hash;
      return close();
    }
    try {
      list(pgn.value, 0);
    } catch (error) {
      return toast(`${sentence(why(error))}.`);
    }
    show(0, false);
    keep();
  });
  pick.onchange = () => {
    show(pick.selectedIndex, true);
    keep();
  };
  const { text, chosen } = fields(load("pgn", "tab"));
  if (typeof text === "string" && text) {
    try {
      list(text, Number(chosen));
    } catch (error) {
      console.warn("the games of this tab:", error);
    }
  }
  click("edit", () => {
    close();
    app.edit(edit);
  });
  connectFiles(app);
}

function connectFiles(app: App) {
  let newest: File;
  const open = async (opened: File) => {
    newest = opened;
    if (opened.name.endsWith(".safetensors")) {
      $("tab-net").click();
      return app.net.take(opened);
    }
    const reading = $("reading");
    reading.hidden = false;
    try {
      const progress = (games: number) => newest === opened && (reading.textContent = `Reading ${opened.name}: ${games} games…`);
      progress(0);
      const { text, firstGames } = await textOf(opened, progress);
      // While it was read another may have been opened.
      if (newest !== opened) return;
      $<HTMLTextAreaElement>("pgn").value = text;
      $("read-pgn").click();
      if (firstGames) toast(`${opened.name} is long: its first ${firstGames} games are listed.`);
    } catch (error) {
      toast(`${opened.name} cannot be read: ${why(error)}.`);
    } finally {
      if (newest === opened) reading.hidden = true;
    }
  };
  const any = $<HTMLInputElement>("open-file");
  any.onchange = () => {
    if (any.files?.[0]) void open(any.files[0]);
    any.value = "";
  };
  document.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
  document.addEventListener("drop", async (event) => {
    const dropped = event.dataTransfer?.files[0];
    if (!dropped) return;
    event.preventDefault();
    await open(dropped);
  });
}

/** Names a game of a list by its players, or where they are unknown by its chapter or event. */
function titleOf({ tags }: GameText): string {
  const tag = (name: string) => tags.find(([key]) => key.toLowerCase() === name)?.[1].replace(/^\?*$/, "") ?? "";
  const [white, black] = [tag("white"), tag("black")];
  const other = white || black ? "" : tag("chaptername") || tag("event");
  return other || `${white || "?"} – ${black || "?"}`;
}
