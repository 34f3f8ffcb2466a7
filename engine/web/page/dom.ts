/** Small helpers for the document. */

export function $<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no element #${id}`);
  return element as T;
}

type Child = Node | string;

/** An element with properties and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** A piece, as chessground's style draws it. */
export function figure(color: string, role: string): HTMLElement {
  const piece = document.createElement("piece");
  piece.className = `${role} ${color}`;
  return piece;
}

/** Replaces what is in an element; the button that had the focus keeps it. */
export function refill(box: HTMLElement, ...children: Child[]) {
  const place = [...box.querySelectorAll("button")].indexOf(document.activeElement as HTMLButtonElement);
  box.replaceChildren(...children);
  if (place >= 0) box.querySelectorAll("button")[place]?.focus();
}

export function svg(tag: string, attributes: Record<string, string | number>): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

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
  const buttons = Object.entries(ways).map(([name, go]) =>
    make("button", {
      type: "button",
      textContent: name,
      onclick: () => {
        untroubled();
        void go();
      },
    }),
  );
  $("trouble").replaceChildren(make("p", { textContent: text }), ...buttons);
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
  const button = make("button", {
    type: "button",
    textContent: name,
    onclick: () => {
      box.hidden = true;
      act();
    },
  });
  box.replaceChildren(make("span", { textContent: text }), button);
  box.hidden = false;
  clearTimeout(withdraw);
  if (time !== undefined) withdraw = setTimeout(() => (box.hidden = true), time);
}
