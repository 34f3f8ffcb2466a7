/** The position editor. What is legal, the rules say at the end. */
import type { Color, Piece, Role } from "chessground/types";
import { type ComponentChild, render } from "preact";
import type { Board } from "./board";
import { $ } from "./dom";
import { Figure } from "./figure";
import { SIDES } from "./side";

const ROLES: Role[] = ["king", "queen", "rook", "bishop", "knight", "pawn"];
const EMPTY = "8/8/8/8/8/8/8/8";
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

const CASTLING = [["K", "White O-O"], ["Q", "White O-O-O"], ["k", "Black O-O"], ["q", "Black O-O-O"]];

type Tool = "move" | "erase" | Piece;

/** The pieces to put down, White's and Black's. */
const MEN = SIDES.map((color) => ROLES.map((role): Piece => ({ color, role })));

/** Opens the position editor at a FEN; calls `done` with the new FEN, or with `null` on cancel. */
export function edit(board: Board, fen: string, orientation: Color, done: (fen: string | null) => string | null) {
  const [placement, side, castling, enPassant] = fen.split(" ");
  let tool: Tool = "move";
  let turn = side;
  const rights = new Set(castling);
  /** File of a pawn that has just gone two squares. */
  let passed = enPassant[0].replace("-", "–");
  let error = "";

  const take = (next: Tool) => {
    tool = next;
    board.capture(next === "move" ? null : (square) => board.put(square, typeof next === "string" ? null : next));
    draw();
  };
  const fill = (text: string, all: string) => {
    board.edit(text, orientation);
    passed = "–";
    rights.clear();
    for (const right of all) rights.add(right);
    draw();
  };
  const leave = (answer: string | null) => {
    error = done(answer) ?? "";
    draw();
  };
  const finish = () => {
    const square = passed === "–" ? "-" : passed + (turn === "w" ? "6" : "3");
    const kept = CASTLING.map(([right]) => right).filter((right) => rights.has(right)).join("");
    leave(`${board.placement} ${turn} ${kept || "-"} ${square} 0 1`);
  };

  const toolButton = (next: Tool, label: string, content: ComponentChild) => (
    <button type="button" class="tool cg-wrap" title={label} aria-label={typeof next === "string" ? undefined : label} aria-pressed={next === tool} onClick={() => take(next)}>{content}</button>
  );
  const draw = () => render(<>
    <div class="palettes">
      {MEN.map((men, black) => (
        <div class="palette">
          {men.map((man) => toolButton(man, `Put a ${man.color} ${man.role}`, <Figure {...man} />))}
          {black ? toolButton("erase", "Take pieces off", <span>Erase</span>) : toolButton("move", "Move pieces", <span>Move</span>)}
        </div>
      ))}
    </div>
    <div class="row wrap">
      <select id="edit-turn" aria-label="Side to move" value={turn} onInput={({ currentTarget }) => (turn = currentTarget.value)}>
        <option value="w">White to move</option>
        <option value="b">Black to move</option>
      </select>
      {CASTLING.map(([right, text]) => (
        <label class="switch"><input type="checkbox" checked={rights.has(right)} onInput={({ currentTarget }) => (currentTarget.checked ? rights.add(right) : rights.delete(right))} />{text}</label>
      ))}
      <label class="inline" title="The file of a pawn that has just gone two squares">
        En passant
        <select id="edit-passed" value={passed} onInput={({ currentTarget }) => (passed = currentTarget.value)}>
          {[..."–abcdefgh"].map((file) => <option>{file}</option>)}
        </select>
      </label>
    </div>
    <div class="row wrap">
      <button type="button" onClick={() => fill(EMPTY, "")}>Clear</button>
      <button type="button" onClick={() => fill(START, "KQkq")}>Start position</button>
      <button type="button" onClick={() => leave(null)}>Cancel</button>
      <button type="button" class="primary" onClick={finish}>Done</button>
    </div>
    <p class="error" role="alert">{error}</p>
  </>, $("editor"));
  draw();
  board.edit(placement, orientation);
}
