/** The search, away from the page. It is stopped by ending this worker; help, by the team's memory. */
import { why } from "./format";
import { Breakdown, Kibitz } from "./kibitz";
import type { FromWorker, ToWorker } from "./workermessages";

const post = (message: FromWorker) => postMessage(message);

let started: Promise<Kibitz | null>;

self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  if (data.task === "start") {
    started = start(data);
    return;
  }
  const kibitz = await started;
  if (!kibitz) return;
  try {
    if (data.task === "search") post({ result: kibitz.ask({ op: "search", ...data.request }) });
    else kibitz.ask({ op: "help", ...data.request });
  } catch (error) {
    post({ failed: why(error), by: error instanceof Breakdown ? "evaluator" : "engine" });
  }
};
self.onmessageerror = () => post({ failed: "the engine did not reach its worker", by: "engine" });

/** An instance with its evaluator; `null` where there is none, which the page has been told. */
async function start({ module, evaluator, policy, memory, lock }: Extract<ToWorker, { task: "start" }>): Promise<Kibitz | null> {
  let by: "engine" | "evaluator" = "engine";
  try {
    if (lock) await hold(lock);
    const kibitz = await Kibitz.start(module, (iteration) => post({ iteration }), memory);
    by = "evaluator";
    if (evaluator.net) kibitz.loadNet(evaluator.net);
    if (policy) kibitz.loadPolicy(policy);
    kibitz.ask({ op: "use", kind: evaluator.kind, embedded: !evaluator.net });
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
