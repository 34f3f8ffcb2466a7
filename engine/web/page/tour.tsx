/** A short tour of a net, step by step, told with the numbers of the position on the board. */
import { $, announce } from "./dom";
import { pawns } from "./format";
import type { NetworkReport } from "./types";

export type Place = "value" | "board" | "flow" | "inputs" | "neurons";

interface Step {
  title: string;
  place: Place;
  text(report: NetworkReport): string;
  link?: [text: string, file: string];
}

/** The single file has no docs beside it. */
const DOCS = import.meta.env.MODE !== "single";

const STEPS: Step[] = [
  {
    title: "What is a net that judges positions?",
    place: "value",
    text: ({ value }) => `A function: a position goes in, and one number comes out, the pawns that White is ahead by. Here it says ${pawns(value)}. It knows no rules and looks no move ahead. The engine’s search does that, and asks the net about every position it comes to.`,
  },
  {
    title: "The position as yes and no",
    place: "inputs",
    text: ({ ofInputs, inputs }) => `The net is asked ${ofInputs} questions, such as “Is there a white knight on f3?”, “Is a black rook en prise?”, “May White castle?”. Here ${inputs.length} have the answer yes. Those inputs are one, all others zero.`,
    link: ["All inputs", "network"],
  },
  {
    title: "Neurons add up weights",
    place: "neurons",
    text: ({ views }) => `Each of the neurons has a number, its weight, for every input. It adds up the weights of those that are on. Below zero it stays off, and at one it is fully on.${views.length > 1 ? " The same neurons look twice: as the side to move sees the board, and as the other does." : ""}`,
  },
  {
    title: "What a neuron looks for",
    place: "neurons",
    text: ({ neurons: [first] }) => `Its weights, drawn as boards, show it: green squares switch it on, orange ones off. The strongest here changes the score by ${pawns(first?.effect ?? 0)}. Nobody chose what it looks for.`,
  },
  {
    title: "From neurons to the score",
    place: "flow",
    text: ({ hidden, bucket }) => `${hidden.length ? "More layers of neurons follow, which add up the neurons before them in the same way. " : ""}The output adds up all neurons, each times a weight: that is the score.${bucket.of > 1 ? ` There are ${bucket.of} outputs, since what counts changes as pieces leave the board; this position has number ${bucket.number}.` : ""}`,
    link: ["The layers", "network"],
  },
  {
    title: "Where the weights come from",
    place: "flow",
    text: () => "At first they are random. Training shows the net millions of positions with an evaluation, and moves every weight a little towards a smaller error, many times over.",
    link: ["How a net is trained", "training"],
  },
  {
    title: "Try it",
    place: "board",
    text: () => "Lift a queen, move a knight to the rim, or add a passed pawn, and see the score and the neurons change. A position by hand need not be legal. What takes a few moves to see, such as a mate, the net misses: that is what the search is for.",
    link: ["How the search works", "search"],
  },
];

export class Tour {
  private at: number | null = null;

  /** `draw` shows the panel anew. */
  constructor(private readonly draw: () => void) {}

  /** The part of the panel that the present step tells of. */
  get place(): Place | null {
    return this.at === null ? null : STEPS[this.at].place;
  }

  private go(at: number | null) {
    this.at = at;
    this.draw();
    const card = $("panel-inside").querySelector(".tour") as HTMLElement;
    if (at !== null) {
      $("panel-inside").querySelector(".told")?.scrollIntoView({ block: "nearest" });
      card.scrollIntoView({ block: "nearest" });
      announce(`${STEPS[at].title} ${card.querySelector("p")?.textContent}`);
    }
    (card.querySelector<HTMLElement>(".primary") ?? card.querySelector("button"))?.focus();
  }

  /** The tour with a position's numbers. */
  view(report: NetworkReport) {
    const { at } = this;
    const act = (text: string, to: number | null, look = "") => <button type="button" class={look} onClick={() => this.go(to)}>{text}</button>;
    if (at === null) return <div class="tour">{act("Tour: what is a net that judges positions?", 0)}</div>;
    const { title, text, link } = STEPS[at];
    const last = at === STEPS.length - 1;
    return (
      <div class="tour card">
        <h2>{title}</h2>
        <p>{text(report)}</p>
        {link && DOCS && <p><a href={`./docs/${link[1]}.txt`} target="_blank">{`${link[0]} (docs/${link[1]}.md)`}</a></p>}
        <div class="row">
          <span class="quiet grow">{`${at + 1} of ${STEPS.length}`}</span>
          {at > 0 && act("Back", at - 1)}
          {act(last ? "Done" : "Next", last ? null : at + 1, "primary")}
          {!last && act("End", null)}
        </div>
      </div>
    );
  }
}
