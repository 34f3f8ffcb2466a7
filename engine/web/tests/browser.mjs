// Helpers for tests in a real browser with the built page.
import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { chromium } from "playwright-core";
import { serve } from "./server.mjs";

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

/** Timeout in milliseconds, generous for busy machines. */
export const PATIENCE = 300_000;

/** Records a skipped test for the list at the end of `tests/all.sh`. */
export function skip(why) {
  if (process.env.KIBITZ_SKIPS) appendFileSync(process.env.KIBITZ_SKIPS, `${why}\n`);
  return why;
}

/** Starts a browser and a server; `leave` closes all visits, `close` stops both. */
export async function open() {
  const server = await serve();
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: FLAGS,
    timeout: PATIENCE,
  });
  const leave = async () => {
    // A search left running would slow down the next test.
    await Promise.all(browser.contexts().map((context) => context.close()));
    server.restore();
  };
  const close = async () => {
    await browser.close();
    await server.close();
  };
  return { ...server, browser, leave, close };
}

/**
 * Keeps messages that the page hides after 6 s, and offers to undo, after 10 s, for longer: a busy
 * machine may be slower to look. An offer may lie over a button that a test waits for.
 */
function keepMessages() {
  const start = window.setTimeout;
  const longer = new Map([[6000, 2 ** 31 - 1], [10_000, 40_000]]);
  window.setTimeout = (act, delay, ...rest) => start(act, longer.get(delay) ?? delay, ...rest);
}

/**
 * Opens the page with empty storage; its exceptions and console errors are in `errors`.
 * `init` runs in the page before any other script.
 */
export async function visit(site, { path = "", init, ...options } = {}) {
  const context = await site.browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  await context.addInitScript(keepMessages);
  if (init) await context.addInitScript(init);
  return { context, ...(await tab(site, context, path)) };
}

/** Opens another tab in a context; `ready: false` does not wait for the page to start. */
export async function tab({ url }, context, path = "", { ready = true } = {}) {
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.goto(url + path);
  if (ready) await page.waitForSelector("[data-ready]");
  return { page, errors };
}

export async function reload(page) {
  await page.reload();
  await page.waitForSelector("[data-ready]");
}

/** Screen coordinates of a square's centre. */
export async function square(page, key) {
  const box = await page.locator(`[data-square=${key}]`).boundingBox();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

export async function clickMove(page, from, to) {
  await page.mouse.click(...(await square(page, from)));
  await page.mouse.click(...(await square(page, to)));
}

export async function dragMove(page, from, to) {
  await page.mouse.move(...(await square(page, from)));
  await page.mouse.down();
  await page.mouse.move(...(await square(page, to)), { steps: 5 });
  await page.mouse.up();
}

/** Plays moves by the input field. */
export async function type(page, ...moves) {
  for (const move of moves) {
    await page.fill("#move-text", move);
    await page.press("#move-text", "Enter");
  }
}

/** Answers all dialogs of the page. */
export const answer = (page, yes) => page.on("dialog", (dialog) => (yes ? dialog.accept() : dialog.dismiss()));

/** Moves of the main line in SAN. */
export const mainLine = (page) =>
  page.$$eval("#moves li:not(.aside) button", (buttons) => buttons.map((button) => button.firstChild.textContent));

/** Variations, one text each. */
export const variations = (page) =>
  page.$$eval("#moves .aside:not(.comment)", (items) => items.map((item) => [...item.children].map((word) => [...word.children].map((part) => part.textContent).join("") || word.textContent).join(" ")));

/** Waits for a message that contains `text`. */
export const toast = (page, text) =>
  page.waitForFunction((text) => document.getElementById("toast").checkVisibility() && document.getElementById("toast").textContent.includes(text), text);

/** Drops a file on the page. */
export async function drop(page, name, bytes) {
  const files = await page.evaluateHandle(
    ([name, base64]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
      return transfer;
    },
    [name, bytes.toString("base64")],
  );
  await page.dispatchEvent("body", "drop", { dataTransfer: files });
}

/** Groups of the tabs that stand within another one. */
const GROUPS = { engine: "analyse", report: "analyse", why: "analyse", people: "analyse", net: "lab", inside: "lab", match: "lab" };

/** Opens a tab, and before it the one around it; `press` is `click` or `tap`. */
export async function openTab(page, name, press = "click") {
  if (GROUPS[name]) await page[press](`#tab-${GROUPS[name]}`);
  await page[press](`#tab-${name}`);
}

/** Opens the panel that reads games and positions, unless it is open. */
export async function openPanel(page) {
  if (!(await page.isVisible("#open-panel"))) await page.click("#open");
}

/** Loads a PGN. */
export async function readPgn(page, text) {
  await openPanel(page);
  await page.fill("#pgn", text);
  await page.click("#read-pgn");
}

/** Text that an item of the menu *Share* copies to the clipboard; in the same moment another button may be pressed first. */
export const copied = (page, id, first = null) =>
  page.evaluate(async ([id, first]) => {
    let copied = "";
    navigator.clipboard.writeText = async (text) => void (copied = text);
    if (first) document.getElementById(first).click();
    document.getElementById("share").click();
    document.getElementById(id).click();
    await new Promise((resolve) => setTimeout(resolve, 50));
    return copied;
  }, [id, first]);

/** Chooses what becomes of the line looked at. */
export async function changeLine(page, id) {
  await page.click("#move-menu");
  await page.click(`#menu #${id}`);
}

/** Moves of the move list in SAN. */
export const sans = (page) =>
  page.$$eval("#moves button", (buttons) => buttons.map((button) => button.firstChild.textContent));

/** Asserts the move list, after waiting for it: the board reports moves with a delay. */
export async function played(page, ...expected) {
  await page.waitForFunction((number) => document.querySelectorAll("#moves button").length === number, expected.length).catch(() => {});
  assert.deepEqual(await sans(page), expected);
}

/** Waits until the page shows a text. */
export const seen = (page, text) => page.waitForFunction((text) => document.body.innerText.includes(text), text);

/** Waits until what the page had to draw has been drawn. */
export const drawn = (page) => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

/** Waits for an answer that stays the same for `time` milliseconds, and returns it. */
export async function settled(page, ask, time = 300) {
  let before = await ask();
  for (let waited = 0; waited < PATIENCE; waited += time) {
    await page.waitForTimeout(time);
    const now = await ask();
    if (isDeepStrictEqual(now, before)) return now;
    before = now;
  }
  assert.fail("it does not settle");
}

export const waitForMoves = (page, number) =>
  page.waitForFunction((number) => document.querySelectorAll("#moves button").length >= number, number);

/** Starts a game by the dialog; `choices` maps field names to values. */
export async function newGame(page, choices) {
  await page.click("#new");
  for (const [name, value] of Object.entries(choices)) {
    const radio = page.locator(`#new-dialog input[type=radio][name=${name}][value="${value}"]`);
    if (await radio.count()) await radio.check({ force: true });
    else if (name === "slider") await page.locator("#slider").fill(String(value));
    else if (name === "fromHere") await page.check("#from-here");
    else if (await page.locator(`#new-dialog select[name=${name}]`).count()) await page.selectOption(`#new-dialog select[name=${name}]`, value);
    else await page.fill(`#new-dialog input[name=${name}]`, String(value));
  }
  await page.evaluate(() => (document.getElementById("announce").textContent = ""));
  await page.click("#new-dialog button.primary");
  await page.waitForFunction(() => document.getElementById("announce").textContent !== "");
}
