/** Small helpers for the document. */
import { render } from "preact";

export function $<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no element #${id}`);
  return element as T;
}

/** Acts when an element is clicked. */
export const click = (id: string, action: () => unknown) => ($(id).onclick = () => void action());

/** Reads a message out to those who listen. */
export function announce(text: string) {
  $("announce").textContent = text;
}

declare global {
  /** Loads the page again, from the host where that can be reached; `first.js` has it. */
  function refresh(): Promise<void>;
}

/** Shows an error that stays until it is mended or overtaken, with a button for each way on. */
export function trouble(text: string, ways: Record<string, () => unknown>) {
  const take = (go: () => unknown) => {
    untroubled();
    void go();
  };
  render(<><p>{text}</p>{Object.entries(ways).map(([name, go]) => <button type="button" onClick={() => take(go)}>{name}</button>)}</>, $("trouble"));
  showTrouble(true);
}

export function untroubled() {
  if (!$("trouble").hidden) showTrouble(false);
}

function showTrouble(on: boolean) {
  $("trouble").hidden = !on;
  // The board may have moved a little, as a scroll bar came or went.
  dispatchEvent(new Event("resize"));
}

let hide = 0;

/** A short message that everybody sees. */
export function toast(text: string) {
  const box = $("toast");
  box.textContent = text;
  box.hidden = false;
  clearTimeout(hide);
  hide = setTimeout(() => (box.hidden = true), 6000);
}

/** Hides the short message: what it tells of is over. */
export function untoast() {
  clearTimeout(hide);
  $("toast").hidden = true;
}

/** Time for which *Undo* of a replacement or deletion is offered, in milliseconds. */
export const UNDO_TIME = 10_000;

let withdraw = 0;

/** Shows a message with a button, for a time in milliseconds, or until it is used or replaced. */
export function offer(text: string, name: string, act: () => void, time?: number) {
  const box = $("offer");
  const take = () => {
    box.hidden = true;
    act();
  };
  render(<><span>{text}</span><button type="button" onClick={take}>{name}</button></>, box);
  box.hidden = false;
  clearTimeout(withdraw);
  if (time !== undefined) withdraw = setTimeout(() => (box.hidden = true), time);
}
