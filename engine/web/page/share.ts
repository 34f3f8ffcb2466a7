/** The menu *Share*: the game and its position as link, PGN and FEN. */
import type { App } from "./app";
import { $, toast } from "./dom";
import { openMenu } from "./menu";
import { saveFile } from "./savefile";

export function connectShare(app: App) {
  const share = $("share");
  const words = new Intl.ListFormat("en");
  share.onclick = () => {
    const { leftOut } = app;
    openMenu("Share", [
      { id: "copy-link", name: "Copy link", act: () => copy(app.link(), "The link", leftOut.length ? ` It leaves out ${words.format(leftOut)}.` : "") },
      { id: "copy-pgn", name: "Copy PGN", act: () => copy(app.pgn(), "The game") },
      { id: "copy-fen", name: "Copy FEN", act: () => copy($<HTMLInputElement>("fen").value, "The position") },
      { id: "save-pgn", name: "Save PGN", act: () => saveFile(app.pgn(), "kibitz.pgn") },
    ], share);
  };
}

async function copy(text: string, what: string, note = "") {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} is in the clipboard.${note}`);
  } catch {
    prompt(`${what}:`, text);
  }
}
