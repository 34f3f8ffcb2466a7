/** The tabs, and those within *Analyse* and *Lab*. */
import type { App } from "./app";
import { $ } from "./dom";
import { load, save } from "./storage";
import { farewell } from "./welcome";

/** Tabs of today for those that former versions saved. */
const TABS: Record<string, string> = { study: "report", own: "games" };

/** Connects the tabs, and opens the one of the last visit. */
export function connectTabs(app: App) {
  const nameOf = ({ id }: Element) => id.slice("tab-".length);
  const tabsIn = (list: Element) => [...list.children].map(nameOf);
  /** Opens a tab and the one around it; a tab with tabs within opens the last of those. */
  const choose = (name: string) => {
    const list = $(`tab-${name}`).parentElement as HTMLElement;
    for (const other of tabsIn(list)) {
      const chosen = other === name;
      $(`tab-${other}`).setAttribute("aria-selected", String(chosen));
      $(`tab-${other}`).tabIndex = chosen ? 0 : -1;
      $(`panel-${other}`).hidden = !chosen;
    }
    const around = list.closest(".group");
    if (around) choose(around.id.slice("panel-".length));
    else for (const within of document.querySelectorAll<HTMLElement>(".group")) hideWithin(within);
  };
  /** Panels within a closed one are hidden too: whoever asks for one need not look around it. */
  const hideWithin = (group: HTMLElement) => {
    for (const tab of group.querySelectorAll("[role=tab]")) {
      $(`panel-${nameOf(tab)}`).hidden = group.hidden || tab.getAttribute("aria-selected") !== "true";
    }
  };
  const open = (name: string) => {
    choose(name);
    const within = $(`panel-${name}`).querySelector("[role=tab][aria-selected=true]");
    save("tab", within ? nameOf(within) : name);
    app.changed({ sameGame: true });
  };
  for (const list of document.querySelectorAll("[role=tablist]")) {
    const names = tabsIn(list);
    for (const name of names) {
      $(`tab-${name}`).onclick = () => {
        farewell();
        open(name);
        // On a phone the panels are below the screen's edge.
        $("panels").scrollIntoView({ block: "start" });
      };
      $(`tab-${name}`).onkeydown = ({ key }) => {
        const by = { ArrowRight: 1, ArrowLeft: names.length - 1 }[key];
        if (!by) return;
        const next = $(`tab-${names[(names.indexOf(name) + by) % names.length]}`);
        next.click();
        next.focus();
      };
    }
  }
  for (const name of ["net", "engine"]) choose(name);
  const former = load("tab");
  open(TABS[String(former)] ?? (typeof former === "string" && document.getElementById(`tab-${former}`) ? former : "engine"));
}
