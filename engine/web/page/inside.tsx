/** The network at work on the position: its inputs, its neurons, and its value, also with pieces lifted, moved or added. */
import { read } from "chessground/fen";
import type { Color, Key, Piece } from "chessground/types";
import { render } from "preact";
import { $, announce } from "./dom";
import { Figure } from "./figure";
import { pawns, sentence, why } from "./format";
import { InputList, inputName } from "./inputs";
import { SIDES } from "./side";
import { type Cell, EMPTY_CELL, SmallBoard } from "./smallboard";
import { Planes, Strip } from "./tint";
import { type Place, Tour } from "./tour";
import type { Game, InputReport, InsideRequest, NetworkReport, PieceName } from "./types";

/** Pieces that can be placed; kings are always on the board. */
const PALETTE: PieceName[] = ["pawn", "knight", "bishop", "rook", "queen"];
const LETTERS: Record<PieceName, string> = { pawn: "p", knight: "n", bishop: "b", rook: "r", queen: "q", king: "k" };
const ORDER: PieceName[] = ["pawn", "knight", "bishop", "rook", "queen", "king"];

/** The position looked at, and from which side. */
export interface Looked {
  game: Game;
  fen: string;
  orientation: Color;
}

export class Inside {
  private looked: Looked | null = null;
  /** Squares changed by hand; `null` marks an emptied square. */
  private readonly changes = new Map<Key, Piece | null>();
  private pass = false;
  /** A square that a piece is taken from, or a piece to be put down. */
  private hand: Key | Piece | null = null;
  /** Ranks of the neurons that are shown whole. */
  private readonly open = new Set<number>([0]);
  private readonly tour = new Tour(() => this.draw());

  constructor(private readonly ask: (request: InsideRequest) => NetworkReport | null) {}

  show(looked: Looked) {
    if (looked.fen !== this.looked?.fen) this.forget();
    this.looked = looked;
    this.draw();
  }

  private forget() {
    this.changes.clear();
    this.pass = false;
    this.hand = null;
  }

  private reset() {
    this.forget();
    this.draw();
    this.tell();
  }

  // Changes by hand

  private standing(): Map<Key, Piece> {
    const standing = read(this.looked?.fen ?? "");
    for (const [square, piece] of this.changes) {
      if (piece) standing.set(square, piece);
      else standing.delete(square);
    }
    return standing;
  }

  private pick(square: Key) {
    const standing = this.standing();
    const piece = standing.get(square);
    const { hand } = this;
    if (hand === null) {
      if (!piece) return;
      this.hand = square;
    } else if (hand === square) this.hand = null;
    else if (piece?.role === "king") this.hand = typeof hand === "string" ? square : hand;
    else {
      const put = typeof hand === "string" ? standing.get(hand) : hand;
      if (typeof hand === "string") this.changes.set(hand, null);
      this.changes.set(square, put ?? null);
      if (typeof hand === "string") this.hand = null;
      return this.changed();
    }
    this.draw();
  }

  /** Returns whether a piece to be put down is in the hand. */
  private holds({ color, role }: Piece): boolean {
    const { hand } = this;
    return hand !== null && typeof hand !== "string" && hand.color === color && hand.role === role;
  }

  private take(piece: Piece) {
    this.hand = this.holds(piece) ? null : piece;
    this.draw();
  }

  private lifted() {
    if (typeof this.hand !== "string") return;
    this.changes.set(this.hand, null);
    this.hand = null;
    this.changed();
  }

  private passed() {
    this.pass = !this.pass;
    this.changed();
  }

  private changed() {
    this.draw();
    this.tell();
  }

  private tell() {
    announce($("panel-inside").querySelector(".inside-value")?.textContent ?? "");
  }

  private request({ game }: Looked, changed: boolean): InsideRequest {
    const changes = [...this.changes].map(([square, piece]) => ({ square: square as InsideRequest["changes"][number]["square"], piece: piece && letter(piece) }));
    return { ...game, changes: changed ? changes : [], pass: changed && this.pass };
  }

  // Drawing

  private draw() {
    render(this.view(), $("panel-inside"));
  }

  private view() {
    const { looked } = this;
    if (!looked) return null;
    const altered = this.changes.size > 0 || this.pass;
    let before: NetworkReport | null;
    let report: NetworkReport | null;
    try {
      before = this.ask(this.request(looked, false));
      report = altered ? this.ask(this.request(looked, true)) : before;
    } catch (error) {
      return <p class="inside-value">{`The net cannot be looked into: ${why(error)}.`}</p>;
    }
    if (!report || !before) return <p class="inside-value">Material alone has no network. Choose a net in the tab Net.</p>;
    const { value } = report;
    const told = (place: Place, look = "") => (this.tour.place === place ? `${look} told` : look);
    return <>
      {this.tour.view(report)}
      <p class={told("value", "inside-value")}>
        The net says <b>{pawns(value)}</b>
        {altered ? <>, before {pawns(before.value)}: <b>{pawns(value - before.value)}</b></> : " pawns for White, without a search"}.
      </p>
      <div class="inside">
        <div class={told("board", "what-if")}>{this.whatIf(report, looked)}</div>
        <ol class={told("flow", "flow")}>{flow(report)}</ol>
        <div class={told("inputs")}>{inputs(report, looked.orientation)}</div>
        <div class={told("neurons")}>{this.neurons(report, looked.orientation)}</div>
      </div>
    </>;
  }

  private whatIf(report: NetworkReport, { orientation }: Looked) {
    const { hand } = this;
    const standing = this.standing();
    const effects = new Map(report.inputs.map((input) => [input.kind === "piece" ? input.square : null, input.effect]));
    const at = (square: Key): Cell => {
      const piece = standing.get(square) ?? null;
      const effect = effects.get(square as never);
      if (!piece || effect === undefined) return { ...EMPTY_CELL, piece, words: this.changes.has(square) ? "emptied" : "" };
      return { piece, tint: strength(effect), note: "", chosen: hand === square, words: `adds ${pawns(effect)}${this.changes.has(square) ? ", put by hand" : ""}` };
    };
    const put = (color: Color, role: PieceName) => (
      <button type="button" class="put cg-wrap" data-put={`${color} ${role}`} aria-label={`Put a ${color} ${role}`} aria-pressed={this.holds({ color, role })} onClick={() => this.take({ color, role })}><Figure color={color} role={role} /></button>
    );
    const picked = typeof hand === "string" ? standing.get(hand) : null;
    return <>
      <SmallBoard label="What if: pick a piece and then a square" orientation={orientation} at={at} pick={(square) => this.pick(square)} />
      <div>
        <p class="quiet">
          {picked
            ? `The ${picked.color} ${picked.role} from ${hand as string}: click where it goes.`
            : hand ? "Click the squares it is put on." : "What if? Move a piece anywhere, lift it, or add one. Green pieces help White, orange ones Black."}
        </p>
        <div class="puts">{SIDES.map((color) => PALETTE.map((role) => put(color, role)))}</div>
        <div class="row wrap">
          <button type="button" disabled={!picked || picked.role === "king"} onClick={() => this.lifted()}>Lift</button>
          <button type="button" aria-pressed={this.pass} onClick={() => this.passed()}>Other side to move</button>
          <button type="button" disabled={!this.changes.size && !this.pass} onClick={() => this.reset()}>Put all back</button>
        </div>
      </div>
    </>;
  }

  private neurons(report: NetworkReport, orientation: Color) {
    const { open } = this;
    const most = Math.max(0.01, ...report.neurons.map(({ effect }) => Math.abs(effect)));
    const on = onPlanes(report);
    const layer = report.views.length * report.views[0].activations.length;
    const others = report.neurons.length < layer ? ` These are the ${report.neurons.length} of ${layer} that count most here.` : "";
    const toggle = (rank: number, opened: boolean) => {
      if (opened === open.has(rank)) return;
      if (opened) open.add(rank);
      else open.delete(rank);
      this.draw();
    };
    return <>
      <h2>Neurons of the first layer</h2>
      <p class="quiet">{`What each adds to the score.${others} Boards show its weights for every piece on every square, White’s pieces above: green switches it on, orange off; frames are pieces that stand there.`}</p>
      {report.neurons.map(({ view, parts, effect, activation }, rank) => (
        <details open={open.has(rank)} onToggle={({ currentTarget }) => toggle(rank, currentTarget.open)}>
          <summary>
            <span>{parts.map((part) => `neuron ${part.neuron}`).join(" times ")}{report.views.length > 1 && `, ${sentence(report.views[view].side)}’s view`}</span>
            <span class={effect < 0 ? "effect below" : "effect"} style={{ "--share": Math.abs(effect) / most }} />
            <b>{pawns(effect)}</b>
          </summary>
          {open.has(rank) && <>
            <p class="quiet">{`On at ${activation.toFixed(2)} of 1. Without it the net would say ${pawns(report.value - effect)}.`}</p>
            {parts.map((part) => <>
              <Planes values={part.weights.map((weight) => weight / 127)} on={on} flipped={orientation === "black"} label={`The weights of neuron ${part.neuron}`} />
              <p class="quiet">{pushes(part.on, part.bias, part.sum, report.inputs)}</p>
            </>)}
          </>}
        </details>
      ))}
    </>;
  }
}

const letter = ({ color, role }: Piece) => (color === "white" ? LETTERS[role].toUpperCase() : LETTERS[role]);

/** A pawn's worth is half of the full colour, and more comes near it. */
const strength = (effect: number) => effect / (Math.abs(effect) + 1);

/** The value's way from the inputs to the score. */
function flow({ turn, inputs, ofInputs, views, hidden, bucket, bias, value }: NetworkReport) {
  const on = (activations: number[]) => `${activations.filter(Boolean).length} of ${activations.length} neurons are on`;
  const step = (text: string, adds: number | null, layer?: string, activations: number[] = []) => (
    <li><span>{text}</span><b>{adds !== null && pawns(adds)}</b>{layer && <Strip activations={activations} label={`Activations${layer}`} />}</li>
  );
  return <>
    {step(`${inputs.length} of ${ofInputs} inputs are on`, null)}
    {views.map(({ side, activations, adds, mirrored }) => {
      const view = `${sentence(side)}’s view`;
      return step(`${view}${side === turn ? " (to move)" : ""}${mirrored ? ", files mirrored" : ""}: ${on(activations)}`, adds, `, ${view}`, activations);
    })}
    {hidden.map((activations, index) => step(`Layer ${index + 2}: ${on(activations)}`, null, ` of layer ${index + 2}`, activations))}
    {step(bucket.of > 1 ? `Output ${bucket.number} of ${bucket.of}, the one for ${bucket.least} to ${bucket.most} pieces, starts at` : "The output starts at", bias)}
    {step("Score in pawns, White’s view", value)}
  </>;
}

/** The inputs that are on. */
function inputs({ inputs, ofInputs }: NetworkReport, orientation: Color) {
  const values = new Array<number>(768).fill(0);
  for (const input of inputs) {
    const index = planeOf(input);
    if (index !== null) values[index] = Math.sign(input.effect || 1) * Math.max(0.35, Math.abs(strength(input.effect)));
  }
  return <>
    <h2>{`Inputs: ${inputs.length} of ${ofInputs} are on`}</h2>
    <p class="quiet">A board for each kind of piece, from pawns to kings, White’s above. Green helps White, orange Black.</p>
    <Planes values={values} on={new Set()} flipped={orientation === "black"} label="The inputs of pieces that are on" />
    <InputList inputs={inputs.filter(({ kind }) => kind !== "piece")} />
  </>;
}

/** Where a piece's input is among the boards; `null` for another input. */
function planeOf(input: InputReport): number | null {
  if (input.kind !== "piece" || !input.square || !input.piece) return null;
  const square = input.square.charCodeAt(0) - 97 + 8 * (Number(input.square[1]) - 1);
  return 64 * (6 * Number(input.color === "black") + ORDER.indexOf(input.piece)) + square;
}

function onPlanes(report: NetworkReport): Set<number> {
  return new Set(report.inputs.map(planeOf).filter((index) => index !== null));
}

/** Returns a sentence on the inputs that raise and lower a neuron most. */
function pushes(on: number[], bias: number, sum: number, inputs: InputReport[]): string {
  const ranked = on.map((weight, index) => ({ weight, name: inputName(inputs[index]) })).sort((a, b) => b.weight - a.weight);
  const said = (some: typeof ranked) => some.map(({ weight, name }) => `${name} ${pawns(weight)}`).join(", ");
  const up = said(ranked.filter(({ weight }) => weight > 0).slice(0, 3));
  const down = said(ranked.filter(({ weight }) => weight < 0).slice(-3).reverse());
  return `Starts at ${pawns(bias)}, comes to ${pawns(sum)}.${up ? ` Most for it: ${up}.` : ""}${down ? ` Most against: ${down}.` : ""}`;
}
