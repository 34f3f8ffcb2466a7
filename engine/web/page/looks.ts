/** Menus of the board's colours and of piece sets. */
import { $, toast } from "./dom";
import { type Item, openMenu } from "./menu";
import { load, save } from "./storage";

const LOOKS = {
  /** Colours, as `style.css` names them. */
  board: ["Green", "Brown", "Blue", "Grey"],
  /** Piece sets: the first is part of the page, the others are styles of `pieces/`, which the single file carries. */
  pieces: ["Cburnett", "Merida", "Fantasy"],
};

export function connectLooks() {
  for (const what of ["board", "pieces"] as const) {
    const kept = String(load(what));
    dress(what, LOOKS[what].includes(kept) ? kept : LOOKS[what][0]);
  }
  const more = { name: "Pieces…", act: () => openMenu("Pieces", choices("pieces"), $("colours")) };
  $("colours").onclick = () => openMenu("Colours of the board", [...choices("board"), more], $("colours"));
}

function choices(what: keyof typeof LOOKS): Item[] {
  return LOOKS[what].map((name) => ({
    name,
    checked: document.documentElement.dataset[what] === name,
    act: () => {
      dress(what, name);
      save(what, name);
    },
  }));
}

function dress(what: keyof typeof LOOKS, name: string) {
  document.documentElement.dataset[what] = name;
  if (what === "board" || name === LOOKS.pieces[0] || document.getElementById(`pieces-${name}`)) return;
  const style = Object.assign(document.createElement("link"), { id: `pieces-${name}`, rel: "stylesheet", href: `./pieces/${name}.css` });
  style.onerror = () => {
    style.remove();
    toast(`The pieces ${name} could not be loaded.`);
  };
  document.head.append(style);
}
