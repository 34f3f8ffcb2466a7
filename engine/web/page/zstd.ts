/** Zstandard decompression, loaded when the first `.zst` file is opened: browsers have no decoder of their own yet. */
import { Decompress } from "fzstd";

/** Returns a stream that unpacks Zstandard frames and passes over skippable ones. */
export function zstdStream(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let decoder: Decompress;
  return new TransformStream({
    start(controller) {
      // The decoder reuses its buffers, so parts are copied.
      decoder = new Decompress((part) => part.length && controller.enqueue(part.slice()));
    },
    transform: (part) => decoder.push(part),
    flush: () => decoder.push(new Uint8Array(0), true),
  });
}
