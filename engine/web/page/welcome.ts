/** The four ways to begin, in the header of a first visit. */
import { $ } from "./dom";
import { readLink } from "./link";
import { loadText } from "./storage";

/** Shows the ways, unless the visitor has been here before; to be called before the game is saved. */
export function welcome() {
  // Every visit saves its game, and whoever follows a link wants to see that one.
  if (loadText("game") !== null || readLink(location.hash)) return;
  const ways: Record<string, () => void> = {
    "begin-play": () => $("new").click(),
    "begin-analysis": () => $("open").click(),
    "begin-puzzles": () => open("puzzles", "find-own"),
    "begin-inside": () => open("inside", "tab-inside"),
  };
  for (const [id, go] of Object.entries(ways)) {
    $(id).onclick = () => {
      farewell();
      go();
    };
  }
  $("welcome").hidden = false;
}

/** Hides the ways: one was chosen, or a move made. Their place stays, or the board would move under the pointer. */
export function farewell() {
  $("welcome").style.visibility = "hidden";
}

/** Opens a tab, and moves the focus there. */
function open(tab: string, focus: string) {
  $(`tab-${tab}`).click();
  $(focus).focus();
}
