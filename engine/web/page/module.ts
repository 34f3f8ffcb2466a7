/** The WebAssembly module: fetched once, instantiated wherever it is needed. */
import plainUrl from "../wasm/kibitz-plain.wasm?url";
import simdUrl from "../wasm/kibitz-simd.wasm?url";

/** A module of one function whose result is a vector: valid where simd128 is known. */
const SIMD_PROBE = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253,
  15, 253, 98, 11,
);

/** Whether this visitor gets the build with simd128; `?simd=off` asks for the other. */
export const simd =
  WebAssembly.validate(SIMD_PROBE) && !new URLSearchParams(location.search).has("simd", "off");

/** Fetches a damaged copy anew, once. */
export function compile(): Promise<WebAssembly.Module> {
  return fetchModule("default").catch(() => fetchModule("reload"));
}

async function fetchModule(cache: RequestCache): Promise<WebAssembly.Module> {
  const response = await fetch(simd ? simdUrl : plainUrl, { cache });
  if (!response.ok) throw new Error(`the engine could not be fetched: ${response.status}`);
  // Some hosts do not know the type of .wasm files, and streaming insists on it.
  return response.headers.get("content-type")?.startsWith("application/wasm")
    ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
}
