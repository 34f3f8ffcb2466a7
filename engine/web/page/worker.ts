/** The search, away from the page. It is stopped by ending this worker. */
import type { Brain } from "./brains";
import { why } from "./format";
import { Breakdown, Kibitz } from "./kibitz";
import type { Found, Report, Wish } from "./thinker";

export type Task =
  | { task: "start"; module: WebAssembly.Module; brain: Pick<Brain, "kind" | "net">; lock: string }
  | { task: "search"; wish: Wish };

export type Answer =
  | { ready: true }
  | { report: Report }
  | { found: Found }
  /** Of no use any more; by the `brain` where it began well without it. */
  | { failed: string; by: "engine" | "brain" };

const post = (answer: Answer) => postMessage(answer);

let started: Promise<Kibitz | null>;

self.onmessage = async ({ data }: MessageEvent<Task>) => {
  if (data.task === "start") {
    started = start(data);
    return;
  }
  const kibitz = await started;
  if (!kibitz) return;
  try {
    post({ found: kibitz.ask({ op: "search", ...data.wish }) });
  } catch (error) {
    post({ failed: why(error), by: error instanceof Breakdown ? "brain" : "engine" });
  }
};
self.onmessageerror = () => post({ failed: "the engine did not reach its worker", by: "engine" });

/** An instance with its brain; `null` where there is none, which the page has been told. */
async function start({ module, brain, lock }: Extract<Task, { task: "start" }>): Promise<Kibitz | null> {
  let by: "engine" | "brain" = "engine";
  try {
    await hold(lock);
    const kibitz = await Kibitz.start(module, (json) => post({ report: JSON.parse(json) }));
    by = "brain";
    if (brain.net) kibitz.loadNet(brain.net);
    kibitz.ask({ op: "use", kind: brain.kind, embedded: !brain.net });
    post({ ready: true });
    return kibitz;
  } catch (error) {
    post({ failed: why(error), by });
    return null;
  }
}

/** Holds a lock as long as this worker lives, so that the page learns of its end. */
function hold(lock: string): Promise<void> {
  return new Promise((resolve) => {
    const granted = () => {
      resolve();
      return new Promise<never>(() => {});
    };
    // Locks are of secure pages only.
    if (navigator.locks) navigator.locks.request(lock, granted).catch(() => resolve());
    else resolve();
  });
}
