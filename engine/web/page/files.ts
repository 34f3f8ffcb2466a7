/** Files of games that the visitor brings. */

/** Larger files of games would keep the page busy for long. */
const LARGEST = 10e6;

/** Formats by their first bytes: what unpacks them in a browser, if anything does. */
const PACKED: { bytes: number[]; name: string; format: string; command: string }[] = [
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], name: "Zstandard", format: "zstd", command: "zstd -d" },
  { bytes: [0x1f, 0x8b], name: "gzip", format: "gzip", command: "gunzip" },
  { bytes: [0x42, 0x5a, 0x68], name: "bzip2", format: "bzip2", command: "bunzip2" },
  { bytes: [0x50, 0x4b, 0x03, 0x04], name: "ZIP", format: "zip", command: "unzip" },
];

/** A file's text, unpacked where the browser can; throws with the reason where it cannot be had. */
export async function textOf(file: File): Promise<string> {
  const first = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const packed = PACKED.find(({ bytes }) => bytes.every((byte, index) => first[index] === byte));
  if (file.size > LARGEST) throw new Error("it is too large, the page reads 10 MB of games at most");
  if (!packed) return file.text();
  let unpack: DecompressionStream;
  try {
    unpack = new DecompressionStream(packed.format as CompressionFormat);
  } catch {
    throw new Error(`it is packed by ${packed.name}, which this browser cannot unpack. Unpack it first: ${packed.command} ${file.name}`);
  }
  return textUpTo(file.stream().pipeThrough(unpack));
}

/** The text of a stream; small files may unpack to much. */
async function textUpTo(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = stream.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    size += part.value.length;
    if (size > LARGEST) {
      void reader.cancel();
      throw new Error("it is too large unpacked, the page reads 10 MB of games at most");
    }
  }
  return new Blob(parts).text();
}
