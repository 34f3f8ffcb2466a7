/** Pop-up menu at a button or at the pointer, with arrow keys. */
import { render } from "preact";
import { $ } from "./dom";

export interface Item {
  name: string;
  act(): void;
  /** Id of its button. */
  id?: string;
  disabled?: boolean;
  /** Whether it is the one chosen of several; absent for an action. */
  checked?: boolean;
}

interface Point {
  x: number;
  y: number;
}

/** Opens the menu; Escape, a click elsewhere or a choice closes it and returns the focus. */
export function openMenu(label: string, items: Item[], at: Element | Point) {
  const menu = $("menu");
  render(items.map(({ name, act, id, disabled, checked }) => (
    <button type="button" id={id} tabIndex={-1} disabled={disabled} role={checked === undefined ? "menuitem" : "menuitemradio"} aria-checked={checked} onClick={() => {
      menu.hidePopover();
      act();
    }}>{name}</button>
  )), menu);
  menu.setAttribute("aria-label", label);
  const enabled = [...menu.querySelectorAll<HTMLButtonElement>("button:enabled")];
  menu.onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: enabled.length - 1 }[event.key];
    if (step) enabled[(enabled.indexOf(document.activeElement as HTMLButtonElement) + step) % enabled.length].focus();
    else if (event.key === "Tab") menu.hidePopover();
    else return;
    event.preventDefault();
  };
  menu.showPopover();
  const { x, y } = at instanceof Element ? below(at) : at;
  const { width, height } = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(4, Math.min(x, innerWidth - width - 4))}px`;
  menu.style.top = `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`;
  enabled[0]?.focus();
}

function below(element: Element): Point {
  const { left, bottom } = element.getBoundingClientRect();
  return { x: left, y: bottom + 4 };
}
