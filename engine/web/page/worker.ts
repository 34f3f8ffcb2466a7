/** The search, away from the page. It is stopped by ending this worker. */
import { Kibitz } from "./kibitz";

export type Task =
  | { task: "start"; module: WebAssembly.Module; kind: "network" | "material"; net: ArrayBuffer | null }
  | { task: "search"; wish: object };

let kibitz: Promise<Kibitz>;

self.onmessage = async ({ data }: MessageEvent<Task>) => {
  if (data.task === "start") {
    kibitz = Kibitz.start(data.module, (json) => postMessage({ report: JSON.parse(json) }));
    const started = await kibitz;
    if (data.net) started.loadNet(data.net);
    if (data.net || data.kind !== "network") {
      started.ask({ op: "use", kind: data.kind, embedded: !data.net });
    }
    return;
  }
  const started = await kibitz;
  try {
    postMessage({ found: started.ask({ op: "search", ...data.wish }) });
  } catch (error) {
    postMessage({ error: String(error) });
  }
};
