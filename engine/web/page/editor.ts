/** The position editor. What is legal, the rules say at the end. */
import type { Color, Role } from "chessground/types";
import type { Board } from "./board";
import { $, figure, make } from "./dom";

const ROLES: Role[] = ["king", "queen", "rook", "bishop", "knight", "pawn"];
const EMPTY = "8/8/8/8/8/8/8/8";
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

type Tool = "move" | "erase" | { color: Color; role: Role };

/** Opens the position editor at a FEN; calls `done` with the new FEN, or with `null` on cancel. */
export function edit(board: Board, fen: string, orientation: Color, done: (fen: string | null) => string | null) {
  const fields = fen.split(" ");
  let tool: Tool = "move";
  const box = $("editor");

  const take = (next: Tool, button: HTMLElement) => {
    tool = next;
    for (const other of box.querySelectorAll("[aria-pressed]")) other.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-pressed", "true");
    board.capture(tool === "move" ? null : (square) => board.put(square, typeof tool === "string" ? null : tool));
  };
  const toolButton = (next: Tool, label: string, content: Node) => {
    const button = make("button", { type: "button", className: "tool cg-wrap" }, content);
    if (!content.textContent) button.setAttribute("aria-label", label);
    button.title = label;
    button.setAttribute("aria-pressed", String(next === tool));
    button.onclick = () => take(next, button);
    return button;
  };
  const palette = (color: Color, last: HTMLElement) =>
    make("div", { className: "palette" }, ...ROLES.map((role) => toolButton({ color, role }, `Put a ${color} ${role}`, figure(color, role))), last);

  const turn = make("select", { id: "edit-turn" }, make("option", { value: "w", textContent: "White to move" }), make("option", { value: "b", textContent: "Black to move" }));
  turn.value = fields[1];
  turn.setAttribute("aria-label", "Side to move");
  const castling = ([["K", "White O-O"], ["Q", "White O-O-O"], ["k", "Black O-O"], ["q", "Black O-O-O"]] as const).map(([letter, text]) => {
    const input = make("input", { type: "checkbox", value: letter, checked: fields[2].includes(letter) });
    return { input, label: make("label", { className: "switch" }, input, text) };
  });
  const passed = make("select", { id: "edit-passed" }, ...["–", ..."abcdefgh"].map((file) => make("option", { value: file, textContent: file })));
  passed.value = fields[3] === "-" ? "–" : fields[3][0];
  const fill = (text: string, rights: boolean) => {
    board.edit(text, orientation);
    passed.value = "–";
    for (const { input } of castling) input.checked = rights;
  };
  const error = make("p", { className: "error" });
  error.setAttribute("role", "alert");
  const leave = (answer: string | null) => {
    error.textContent = done(answer) ?? "";
  };
  const finish = () => {
    const rights = castling.filter(({ input }) => input.checked).map(({ input }) => input.value).join("");
    const square = passed.value === "–" ? "-" : passed.value + (turn.value === "w" ? "6" : "3");
    leave(`${board.placement} ${turn.value} ${rights || "-"} ${square} 0 1`);
  };
  const button = (text: string, onclick: () => void, className = "") => make("button", { type: "button", textContent: text, onclick, className });

  box.replaceChildren(
    make("div", { className: "palettes" },
      palette("white", toolButton("move", "Move pieces", make("span", { textContent: "Move" }))),
      palette("black", toolButton("erase", "Take pieces off", make("span", { textContent: "Erase" })))),
    make("div", { className: "row wrap" }, turn, ...castling.map(({ label }) => label),
      make("label", { className: "inline", title: "The file of a pawn that has just gone two squares" }, "En passant", passed)),
    make("div", { className: "row wrap" },
      button("Clear", () => fill(EMPTY, false)),
      button("Start position", () => fill(START, true)),
      button("Cancel", () => leave(null)),
      button("Done", finish, "primary")),
    error,
  );
  board.edit(fields[0], orientation);
}
