/** The network at work on the position: its inputs, its neurons, and its value, also with pieces lifted, moved or added. */
import { read } from "chessground/fen";
import type { Color, Key, Role } from "chessground/types";
import { $, announce, figure, make, refill } from "./dom";
import { pawns, sentence, why } from "./format";
import { inputList, inputName } from "./inputs";
import { EMPTY_CELL, SmallBoard } from "./smallboard";
import { planes, strip } from "./tint";
import { Tour } from "./tour";
import type { Game, InputReport, InsideRequest, NetworkReport, PieceName } from "./types";

/** Pieces that can be placed; kings are always on the board. */
const PALETTE: PieceName[] = ["pawn", "knight", "bishop", "rook", "queen"];
const LETTERS: Record<PieceName, string> = { pawn: "p", knight: "n", bishop: "b", rook: "r", queen: "q", king: "k" };
const ORDER: PieceName[] = ["pawn", "knight", "bishop", "rook", "queen", "king"];

type Figure = { color: Color; role: Role };

/** The position looked at, and from which side. */
export interface Looked {
  game: Game;
  fen: string;
  orientation: Color;
}

export class Inside {
  private looked: Looked | null = null;
  /** Squares changed by hand; `null` marks an emptied square. */
  private readonly changes = new Map<Key, Figure | null>();
  private pass = false;
  /** A square that a piece is taken from, or a piece to be put down. */
  private hand: Key | Figure | null = null;
  private before: NetworkReport | null = null;
  private readonly open = new Set<number>([0]);

  private readonly value = make("p", { className: "inside-value" });
  private readonly board = new SmallBoard("What if: pick a piece and then a square", (square) => this.pick(square));
  private readonly flow = make("ol", { className: "flow" });
  private readonly inputs = make("div");
  private readonly neurons = make("div");
  private readonly hint = make("p", { className: "quiet" });
  private readonly lift = button("Lift", () => this.lifted());
  private readonly passing = button("Other side to move", () => this.passed());
  private readonly back = button("Put all back", () => this.reset());
  private readonly palette = make("div", { className: "puts" });
  private readonly rest: HTMLElement;
  private readonly tour: Tour;

  constructor(private readonly ask: (request: InsideRequest) => NetworkReport | null) {
    for (const color of ["white", "black"] as const) {
      for (const role of PALETTE) {
        const put = button("", () => this.take({ color, role }), figure(color, role));
        put.className = "put cg-wrap";
        put.setAttribute("aria-label", `Put a ${color} ${role}`);
        put.dataset.put = `${color} ${role}`;
        this.palette.append(put);
      }
    }
    const whatIf = make("div", { className: "what-if" }, this.board.element,
      make("div", {}, this.hint, this.palette, make("div", { className: "row wrap" }, this.lift, this.passing, this.back)));
    this.rest = make("div", { className: "inside" }, whatIf, this.flow, this.inputs, this.neurons);
    this.tour = new Tour({ value: this.value, board: whatIf, flow: this.flow, inputs: this.inputs, neurons: this.neurons });
    $("panel-inside").replaceChildren(this.tour.element, this.value, this.rest);
  }

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

  private standing(): Map<Key, Figure> {
    const standing = new Map<Key, Figure>(read(this.looked?.fen ?? ""));
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

  private take(piece: Figure) {
    const { hand } = this;
    const same = hand !== null && typeof hand !== "string" && hand.color === piece.color && hand.role === piece.role;
    this.hand = same ? null : piece;
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
    announce(this.value.textContent ?? "");
  }

  private request(changed: boolean): InsideRequest {
    const { game } = this.looked as Looked;
    const changes = [...this.changes].map(([square, piece]) => ({ square: square as InsideRequest["changes"][number]["square"], piece: piece && letter(piece) }));
    return { ...game, changes: changed ? changes : [], pass: changed && this.pass };
  }

  // Drawing

  private draw() {
    if (!this.looked) return;
    let report: NetworkReport | null;
    const altered = this.changes.size > 0 || this.pass;
    try {
      this.before = this.ask(this.request(false));
      report = altered ? this.ask(this.request(true)) : this.before;
    } catch (error) {
      return this.empty(`The net cannot be looked into: ${why(error)}.`);
    }
    if (!report || !this.before) return this.empty("Material alone has no network. Choose a net in the tab Net.");
    this.rest.hidden = false;
    this.showValue(report, altered ? this.before : null);
    this.showBoard(report);
    refill(this.flow, ...flow(report));
    refill(this.inputs, ...inputs(report, this.looked.orientation));
    this.showNeurons(report);
    this.tour.show(report);
  }

  private empty(text: string) {
    this.value.textContent = text;
    this.rest.hidden = true;
    this.tour.show(null);
  }

  private showValue({ value }: NetworkReport, before: NetworkReport | null) {
    const words = before
      ? [`, before ${pawns(before.value)}: `, make("b", { textContent: pawns(value - before.value) })]
      : [" pawns for White, without a search"];
    this.value.replaceChildren("The net says ", make("b", { textContent: pawns(value) }), ...words, ".");
  }

  private showBoard(report: NetworkReport) {
    const { hand } = this;
    const standing = this.standing();
    const effects = new Map(report.inputs.map((input) => [input.kind === "piece" ? input.square : null, input.effect]));
    this.board.show(this.looked?.orientation ?? "white", (square) => {
      const piece = standing.get(square) ?? null;
      const effect = effects.get(square as never);
      if (!piece || effect === undefined) return { ...EMPTY_CELL, piece, words: this.changes.has(square) ? "emptied" : "" };
      return { piece, tint: strength(effect), note: "", chosen: hand === square, words: `adds ${pawns(effect)}${this.changes.has(square) ? ", put by hand" : ""}` };
    });
    const picked = typeof hand === "string" ? standing.get(hand) : null;
    this.hint.textContent = picked
      ? `The ${picked.color} ${picked.role} from ${hand as string}: click where it goes.`
      : hand ? "Click the squares it is put on." : "What if? Move a piece anywhere, lift it, or add one.";
    this.lift.disabled = !picked || picked.role === "king";
    this.back.disabled = !this.changes.size && !this.pass;
    this.passing.setAttribute("aria-pressed", String(this.pass));
    for (const put of this.palette.querySelectorAll<HTMLElement>("[data-put]")) {
      put.setAttribute("aria-pressed", String(hand !== null && typeof hand !== "string" && put.dataset.put === `${hand.color} ${hand.role}`));
    }
  }

  private showNeurons(report: NetworkReport) {
    const most = Math.max(0.01, ...report.neurons.map(({ effect }) => Math.abs(effect)));
    const on = onPlanes(report);
    const flipped = this.looked?.orientation === "black";
    const rows = report.neurons.map((neuron, rank) => {
      const view = report.views[neuron.view];
      const names = neuron.parts.map((part) => `neuron ${part.neuron}`).join(" times ");
      const bar = make("span", { className: neuron.effect < 0 ? "effect below" : "effect" });
      bar.style.setProperty("--share", String(Math.abs(neuron.effect) / most));
      const summary = make("summary", {}, make("span", { textContent: `${names}${report.views.length > 1 ? `, ${sentence(view.side)}’s view` : ""}` }), bar, make("b", { textContent: pawns(neuron.effect) }));
      const box = make("details", { open: this.open.has(rank) }, summary);
      const fill = () => {
        if (!box.open || box.childElementCount > 1) return;
        box.append(make("p", { className: "quiet", textContent: `On at ${neuron.activation.toFixed(2)} of 1. Without it the net would say ${pawns(report.value - neuron.effect)}.` }));
        for (const part of neuron.parts) {
          const values = part.weights.map((weight) => weight / 127);
          box.append(planes(values, on, flipped, `The weights of neuron ${part.neuron}`), make("p", { className: "quiet", textContent: pushes(part.on, part.bias, part.sum, report.inputs) }));
        }
      };
      box.ontoggle = () => {
        if (box.open) this.open.add(rank);
        else this.open.delete(rank);
        fill();
      };
      fill();
      return box;
    });
    const layer = report.views.length * report.views[0].activations.length;
    const others = report.neurons.length < layer ? ` These are the ${report.neurons.length} of ${layer} that count most here.` : "";
    this.neurons.replaceChildren(
      make("h2", { textContent: "Neurons of the first layer" }),
      make("p", { className: "quiet", textContent: `What each adds to the score.${others} Boards show its weights for every piece on every square, White’s pieces above: green switches it on, orange off; frames are pieces that stand there.` }),
      ...rows,
    );
  }
}

function button(textContent: string, onclick: () => void, ...children: Node[]): HTMLButtonElement {
  return make("button", { type: "button", textContent, onclick }, ...children);
}

const letter = ({ color, role }: Figure) => (color === "white" ? LETTERS[role].toUpperCase() : LETTERS[role]);

/** A pawn's worth is half of the full colour, and more comes near it. */
const strength = (effect: number) => effect / (Math.abs(effect) + 1);

/** The value's way from the inputs to the score. */
function flow(report: NetworkReport): HTMLElement[] {
  const { views, bucket, hidden } = report;
  const on = (activations: number[]) => activations.filter(Boolean).length;
  const step = (text: string, adds: number | null, ...children: Node[]) =>
    make("li", {}, make("span", { textContent: text }), make("b", { textContent: adds === null ? "" : pawns(adds) }), ...children);
  const steps = [step(`${report.inputs.length} of ${report.ofInputs} inputs are on`, null)];
  for (const { side, activations, adds, mirrored } of views) {
    const mover = side === report.turn ? " (to move)" : "";
    const mirror = mirrored ? ", files mirrored" : "";
    const text = `${sentence(side)}’s view${mover}${mirror}: ${on(activations)} of ${activations.length} neurons are on`;
    steps.push(step(text, adds, strip(activations, `Activations, ${sentence(side)}’s view`)));
  }
  hidden.forEach((activations, index) => {
    steps.push(step(`Layer ${index + 2}: ${on(activations)} of ${activations.length} neurons are on`, null, strip(activations, `Activations of layer ${index + 2}`)));
  });
  if (bucket.of > 1) steps.push(step(`Output ${bucket.number} of ${bucket.of}, the one for ${bucket.least} to ${bucket.most} pieces, starts at`, report.bias));
  else steps.push(step("The output starts at", report.bias));
  steps.push(step("Score in pawns, White’s view", report.value));
  return steps;
}

/** The inputs that are on. */
function inputs(report: NetworkReport, orientation: Color): HTMLElement[] {
  const values = new Array<number>(768).fill(0);
  for (const input of report.inputs) {
    const index = planeOf(input);
    if (index !== null) values[index] = Math.sign(input.effect || 1) * Math.max(0.35, Math.abs(strength(input.effect)));
  }
  const others = report.inputs.filter(({ kind }) => kind !== "piece");
  return [
    make("h2", { textContent: `Inputs: ${report.inputs.length} of ${report.ofInputs} are on` }),
    make("p", { className: "quiet", textContent: "A board for each kind of piece, from pawns to kings, White’s above. Green helps White, orange Black." }),
    planes(values, new Set(), orientation === "black", "The inputs of pieces that are on"),
    inputList(others),
  ];
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
