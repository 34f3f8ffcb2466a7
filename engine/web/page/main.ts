/** Starts the page and connects its controls. */
import "chessground/assets/chessground.base.css";
import "chessground/assets/chessground.cburnett.css";
import "./style.css";
import { App } from "./app";
import { type Brain, Brains, DEFAULT, readBrain } from "./brains";
import { $, make, toast } from "./dom";
import { edit } from "./editor";
import { Kibitz } from "./kibitz";
import { readLink } from "./link";
import { compile } from "./module";
import { askNewGame } from "./newgame";
import { Openings } from "./openings";
import { type ReadGame, Rules } from "./rules";
import { load, save } from "./storage";

const click = (id: string, action: () => unknown) => ($(id).onclick = () => void action());
const why = (error: unknown) => (error instanceof Error ? error.message : String(error));

async function start() {
  const module = await compile();
  const rules = new Rules(await Kibitz.start(module));
  const brains = new Brains();
  const app = new App(rules, module, brains);
  const link = readLink(location.hash);
  if (!(link && follow(app, link)) && !app.resume()) app.changed();
  connect(app, rules);
  document.documentElement.dataset.ready = "true";
  performance.mark("ready");
  // What can wait, waits until the first move could be made.
  setTimeout(() => void later(app, brains));
}

function follow(app: App, link: NonNullable<ReturnType<typeof readLink>>): boolean {
  try {
    app.look(link, {}, link.ply ?? link.moves.length);
    history.replaceState(null, "", location.pathname + location.search);
    return true;
  } catch (error) {
    toast(`This link holds no game: ${why(error)}`);
    return false;
  }
}

async function later(app: App, brains: Brains) {
  const tasks = [
    Openings.fetch().then((openings) => app.nameOpenings(openings)),
    brains.list().then(() => recallBrains(app, brains)),
  ];
  const results = await Promise.allSettled(tasks);
  for (const result of results) if (result.status === "rejected") console.warn(result.reason);
  if (import.meta.env.PROD) await navigator.serviceWorker?.register("./sw.js");
}

/** Fetches the nets that the game of a former visit was played with. */
async function recallBrains(app: App, brains: Brains) {
  const chosen = load("brain", "default");
  listBrains(brains, "default");
  const there = new Set(brains.choices().map(({ id }) => id));
  await Promise.allSettled(app.wantedBrains.filter((id) => there.has(id)).map((id) => brains.get(id)));
  if (app.wantedBrains.length) app.changed({ sameGame: true });
  if (chosen === "default" || !there.has(chosen)) return;
  const select = $<HTMLSelectElement>("brain");
  select.value = chosen;
  select.dispatchEvent(new Event("change"));
}

function listBrains(brains: Brains, chosen: string) {
  $("brain").replaceChildren(
    ...brains.choices().map(({ id, name }) => make("option", { value: id, textContent: name, selected: id === chosen })),
  );
}

function connect(app: App, rules: Rules) {
  click("new", async () => {
    const game = await askNewGame(app.brains);
    if (!game) return;
    try {
      // So that they are at hand when their turn comes.
      await Promise.all([game.white, game.black].map(({ brain }) => brain && app.brains.get(brain)));
      app.begin(game);
    } catch (error) {
      toast(why(error));
    }
  });
  click("undo", () => app.undo());
  click("flip", () => app.flip());
  click("draw", () => app.offerDraw());
  click("resign", () => app.resign());
  click("pause", () => app.pause());
  click("first", () => app.go(0));
  click("previous", () => app.step(-1));
  click("next", () => app.step(1));
  click("last", () => app.go(app.last));
  click("help", () => $<HTMLDialogElement>("help-dialog").showModal());

  const text = $<HTMLInputElement>("move-text");
  $<HTMLFormElement>("type-move").onsubmit = (event) => {
    event.preventDefault();
    if (text.value.trim() && app.type(text.value.trim())) text.value = "";
    else text.select();
  };

  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    const taken = target.closest("input, select, textarea, dialog, [role=tablist], [role=grid]");
    if (taken || event.altKey || event.ctrlKey || event.metaKey) return;
    const action = {
      ArrowLeft: () => app.step(-1),
      ArrowRight: () => app.step(1),
      Home: () => app.go(0),
      End: () => app.go(app.last),
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  connectTabs(app);
  connectSettings(app);
  connectNets(app);
  connectStudy(app, rules);
}

function connectTabs(app: App) {
  const names = ["engine", "net", "study"];
  const choose = (name: string) => {
    for (const other of names) {
      const chosen = other === name;
      $(`tab-${other}`).setAttribute("aria-selected", String(chosen));
      $(`tab-${other}`).tabIndex = chosen ? 0 : -1;
      $(`panel-${other}`).hidden = !chosen;
    }
    save("tab", name);
    app.changed({ sameGame: true });
  };
  for (const name of names) {
    click(`tab-${name}`, () => choose(name));
    $(`tab-${name}`).onkeydown = ({ key }) => {
      const by = { ArrowRight: 1, ArrowLeft: names.length - 1 }[key];
      if (!by) return;
      const next = names[(names.indexOf(name) + by) % names.length];
      choose(next);
      $(`tab-${next}`).focus();
    };
  }
  const kept = load("tab", "engine");
  choose(names.includes(kept) ? kept : "engine");
}

function connectSettings(app: App) {
  const sound = $("sound");
  const showSound = () => sound.setAttribute("aria-pressed", String(load("sound", true)));
  click("sound", () => {
    save("sound", !load("sound", true));
    showSound();
  });
  showSound();

  click("theme", () => {
    const { dataset } = document.documentElement;
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    dataset.theme = (dataset.theme ?? system) === "dark" ? "light" : "dark";
    save("theme", dataset.theme);
  });

  for (const id of ["arrows", "show-worth"]) {
    const box = $<HTMLInputElement>(id);
    box.checked = load(id, true);
    box.onchange = () => {
      save(id, box.checked);
      app.showBoard();
      app.showThoughts();
    };
  }
  const lines = $<HTMLSelectElement>("lines");
  lines.value = load("lines", "1");
  lines.onchange = () => {
    save("lines", lines.value);
    app.changed({ sameGame: true });
  };
  $("analyse").onchange = () => app.changed({ sameGame: true });
}

function connectNets(app: App) {
  const select = $<HTMLSelectElement>("brain");
  const forget = $("forget-net");
  let chosen = "default";
  const choose = (brain: Brain) => {
    app.use(brain);
    chosen = brain.id;
    save("brain", chosen);
    forget.hidden = !app.brains.isOwn(chosen);
  };
  listBrains(app.brains, chosen);
  select.onchange = async () => {
    const id = select.value;
    try {
      choose(await app.brains.get(id));
    } catch (error) {
      toast(`This net cannot be used: ${why(error)}`);
      // A file of another version of the page is of no use to anybody.
      if (app.brains.isOwn(id)) await app.brains.forget(id);
      listBrains(app.brains, chosen);
    }
  };
  const file = $<HTMLInputElement>("net-file");
  const take = async (net: File) => {
    try {
      const brain = await readBrain(net);
      choose(brain);
      const kept = await app.brains.keep(brain);
      toast(`Kibitz now thinks with ${net.name}${kept ? "." : "; the browser will not keep it."}`);
    } catch (error) {
      toast(`${net.name} cannot be used: ${why(error)}`);
    }
    listBrains(app.brains, chosen);
  };
  forget.onclick = async () => {
    if (app.wantedBrains.includes(chosen)) return toast("This net plays in the game on the board.");
    await app.brains.forget(chosen);
    choose(DEFAULT);
    listBrains(app.brains, chosen);
    select.focus();
  };
  file.onchange = () => {
    if (file.files?.[0]) void take(file.files[0]);
    file.value = "";
  };
  document.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
  document.addEventListener("drop", async (event) => {
    const dropped = event.dataTransfer?.files[0];
    if (!dropped) return;
    event.preventDefault();
    if (dropped.name.endsWith(".safetensors")) {
      $("tab-net").click();
      await take(dropped);
    } else {
      $("tab-study").click();
      $<HTMLTextAreaElement>("pgn").value = await dropped.text();
      $("read-pgn").click();
    }
  });
}

function connectStudy(app: App, rules: Rules) {
  const fen = $<HTMLInputElement>("fen");
  const pgn = $<HTMLTextAreaElement>("pgn");
  const pick = $<HTMLSelectElement>("pick-game");
  let games: ReadGame[] = [];

  click("set-fen", () => {
    try {
      app.look({ start: fen.value.trim(), moves: [] });
    } catch (error) {
      toast(why(error));
    }
  });
  fen.onkeydown = ({ key }) => {
    if (key === "Enter") $("set-fen").click();
  };

  const show = (game: ReadGame) => {
    try {
      app.look(game, game, 0);
      if (game.error) toast(`Read up to a mistake: ${game.error}`);
      if (game.evals.some((score) => score)) void app.drawCurve();
    } catch (error) {
      toast(why(error));
    }
  };
  click("read-pgn", () => {
    try {
      games = rules.readPgn(pgn.value);
    } catch (error) {
      return toast(why(error));
    }
    $("pick-game-label").hidden = games.length < 2;
    pick.replaceChildren(
      ...games.map(({ tags }, index) => {
        const tag = (name: string) => tags.find(([key]) => key === name)?.[1] ?? "?";
        return make("option", { value: String(index), textContent: `${index + 1}. ${tag("White")} – ${tag("Black")}` });
      }),
    );
    show(games[0]);
  });
  pick.onchange = () => show(games[Number(pick.value)]);
  click("draw-curve", () => app.drawCurve());
  click("edit", () => app.edit(edit));
  click("copy-link", () => copy(app.link(), "The link"));
  click("copy-pgn", () => copy(app.pgn(), "The game"));
  click("save-pgn", () => {
    const url = URL.createObjectURL(new Blob([app.pgn()], { type: "application/x-chess-pgn" }));
    make("a", { href: url, download: "kibitz.pgn" }).click();
    URL.revokeObjectURL(url);
  });
}

async function copy(text: string, what: string) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} is in the clipboard.`);
  } catch {
    prompt(`${what}:`, text);
  }
}

start().catch((error: unknown) => {
  toast(`The page could not start: ${why(error)}`);
  throw error;
});
