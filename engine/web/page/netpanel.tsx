/** The tab *Net*: which evaluator judges positions, and what it takes each piece on the board to be worth. */
import { read } from "chessground/fen";
import type { Key, Piece } from "chessground/types";
import { render } from "preact";
import type { App } from "./app";
import { $, toast } from "./dom";
import { DEFAULT, type Evaluator, readEvaluator } from "./evaluators";
import { Figure } from "./figure";
import { pawns, why } from "./format";
import { SIDES } from "./side";
import { load, save } from "./storage";
import type { NetDescription, PieceValue, PositionEvaluation, SideName } from "./types";

/** Largest file accepted as a net, in bytes. */
const LARGEST_NET = 100e6;

/** Evaluation of the position `fen`. */
interface View extends PositionEvaluation {
  fen: string;
}

export class NetPanel {
  private description = "";
  /** Id of the evaluator chosen in the drop-down; its net may be on its way. */
  private chosen = DEFAULT.id;
  /** The position looked at, while the tab is open and may tell. */
  private view: View | null = null;
  private lifted: Key | null = null;
  private noting = load("show-worth") !== false;

  constructor(private readonly app: App) {}

  // Evaluators

  /** Shows the evaluator in use; `description` is of its net. */
  used(description: NetDescription) {
    this.description = describe(description);
    this.list();
  }

  /** Shows the evaluators that there are, with the one in use as the chosen one. */
  list() {
    this.chosen = this.app.evaluator.id;
    this.draw();
  }

  /** Chooses the evaluator of the last visit, once evaluators are listed. */
  recall() {
    this.list();
    const kept = String(load("brain") ?? DEFAULT.id);
    if (kept !== this.chosen && this.app.evaluators.orDefault(kept) === kept) void this.choose(kept);
  }

  private async choose(id: string) {
    const { app } = this;
    const { evaluators } = app;
    this.chosen = id;
    this.draw();
    let evaluator: Evaluator | null = null;
    try {
      evaluator = await evaluators.get(id);
      // While it was fetched another may have been chosen.
      if (this.chosen === id) app.use(evaluator);
      return;
    } catch (error) {
      if (!evaluator) toast(`This net cannot be had: ${why(error)}.`);
      else {
        const own = evaluators.isOwn(id);
        toast(`${evaluator.name} cannot be used: ${why(error)}.${own ? " It is forgotten." : ""}`);
        if (own) await evaluators.forget(id);
      }
    }
    if (this.chosen === id) this.chosen = app.evaluator.id;
    this.draw();
  }

  /** Evaluates with the net of a file. */
  async take(file: File) {
    const { app } = this;
    try {
      if (file.size > LARGEST_NET) throw new Error("it is too large for a net");
      const evaluator = await readEvaluator(file);
      app.use(evaluator);
      // The first evaluation may have failed, and the evaluator been dismissed.
      if (app.evaluator !== evaluator) return;
      const keeping = app.evaluators.keep(evaluator);
      this.list();
      toast(`Kibitz now thinks with ${file.name}${(await keeping) ? "." : "; the browser will not keep it."}`);
    } catch (error) {
      toast(`${file.name} cannot be used: ${why(error)}`);
    }
  }

  private async forget() {
    const { app } = this;
    const { id } = app.evaluator;
    if (app.wantedEvaluators.includes(id)) return toast("This net plays in the game on the board.");
    await app.evaluators.forget(id);
    app.use(DEFAULT);
    $("evaluator").focus();
  }

  // The position

  /** Shows a position; `null` while the tab is closed or may not tell. */
  show(view: View | null) {
    this.view = view;
    this.lifted = null;
    this.draw();
  }

  /** Shows the score without the piece on a square. */
  lift(square: Key | null) {
    this.lifted = square;
    this.draw();
  }

  /** The label of each square: the piece's worth from its owner's view. */
  get notes(): Map<Key, { text: string; good: boolean }> {
    const { view, noting } = this;
    if (!view || !noting) return new Map();
    const standing = read(view.fen);
    return new Map(
      view.pieces.map(({ square, value }) => {
        const own = standing.get(square)?.color === "white" ? value : -value;
        return [square, { text: own.toFixed(1).replace("-", "−"), good: own >= 0 }];
      }),
    );
  }

  private draw() {
    const { app, view, chosen, noting } = this;
    const { evaluators, evaluator } = app;
    render(<>
      <div class="row">
        <label class="inline grow">
          Evaluator
          <select id="evaluator" value={chosen} onInput={({ currentTarget }) => this.choose(currentTarget.value)}>
            {evaluators.options().map(([id, text]) => <option value={id}>{text}</option>)}
          </select>
        </label>
        <label class="button" for="net-file">
          Load a net
          <input id="net-file" type="file" accept=".safetensors" class="hidden-file" onChange={({ currentTarget }) => {
            if (currentTarget.files?.[0]) void this.take(currentTarget.files[0]);
            currentTarget.value = "";
          }} />
        </label>
        {evaluators.isOwn(evaluator.id) && <button id="forget-net" type="button" title="Remove this net from the browser" onClick={() => this.forget()}>Forget</button>}
      </div>
      <label class="switch">
        <input type="checkbox" id="show-worth" checked={noting} onInput={({ currentTarget }) => {
          this.noting = currentTarget.checked;
          save("show-worth", this.noting);
          app.settingsChanged();
        }} />
        Show each piece’s worth on the board
      </label>
      <p id="lifted">{view && liftedText(view, this.lifted)}</p>
      <div id="worths" tabIndex={0} role="region" aria-label="What each piece is worth">{view && worths(view, (square) => this.lift(square))}</div>
      <p id="evaluator-note" class="quiet">{this.description}</p>
      <p id="evaluator-strength" class="quiet">{evaluators.strengthNote(evaluator.id)}</p>
    </>, $("panel-net"));
  }
}

/** The score with all pieces, and without the one in hand. */
function liftedText(view: View, square: Key | null) {
  const piece = square && read(view.fen).get(square);
  const entry = view.pieces.find((piece) => piece.square === square);
  const value = `The net’s value, without search: ${pawns(view.value)}.`;
  if (!piece) return `${value} Pick up a piece to see what it is worth.`;
  if (!entry) return `${value} A king cannot be lifted.`;
  return <>Without the {piece.color} {piece.role} on {square}: {pawns(view.value)} → <b>{pawns(entry.without)}</b>.</>;
}

/** The pieces of both sides, each with its worth. */
function worths(view: View, pick: (square: Key) => void) {
  const standing = read(view.fen);
  const own = ({ square, value }: PieceValue) => (standing.get(square)?.color === "white" ? value : -value);
  const most = Math.max(1, ...view.pieces.map((entry) => Math.abs(own(entry))));
  const row = (entry: PieceValue) => {
    const { color, role } = standing.get(entry.square) as Piece;
    return (
      <li key={entry.square}>
        <button type="button" class="worth" onClick={() => pick(entry.square)}>
          <span class="cg-wrap mini"><Figure color={color} role={role} /></span>
          <span><span class="sr">{`${color} ${role} on `}</span>{entry.square}</span>
          <span class={own(entry) < 0 ? "worth-bar bad" : "worth-bar"} style={{ "--share": Math.abs(own(entry)) / most }} />
          <b>{own(entry).toFixed(2).replace("-", "−")}</b>
        </button>
      </li>
    );
  };
  const of = (color: SideName) => view.pieces.filter(({ square }) => standing.get(square)?.color === color).sort((a, b) => own(b) - own(a));
  return SIDES.map((color) => <ul>{of(color).map(row)}</ul>);
}

function describe({ kind, architecture, parameters, training }: NetDescription): string {
  if (kind === "material") return "Counts pieces and nothing else: the yardstick that a net has to beat.";
  const { positions, fromAnotherNet } = training;
  const last = fromAnotherNet ? "last " : "";
  const learned = positions === null ? "" : `, ${last}fitted to ${positions.toLocaleString("en")} positions`;
  return `${architecture}: ${parameters.toLocaleString("en")} parameters${learned}.`;
}
