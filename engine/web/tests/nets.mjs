// Builds net files of any architecture with random weights.

const INPUTS = 902;

/** File of a net; `shape` is the complete metadata of docs/network.md. */
export function randomNet(shape) {
  const { view, first, activation, second, third, buckets } = shape;
  const activations = activation === "pairwise-clipped-relu" ? first / 2 : first;
  const layers = [[first, INPUTS, 32]];
  let inputs = activations * (view === "both" ? 2 : 1);
  for (const outputs of [second, third, 1].filter(Boolean)) {
    layers.push([outputs * buckets, inputs, inputs]);
    inputs = outputs;
  }
  // xorshift32 (Marsaglia): every run has the same net.
  let state = 7;
  const random = (active) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return ((state >>> 0) / 2 ** 31 - 1) / Math.sqrt(active);
  };
  const header = { __metadata__: { kibitz: JSON.stringify({ layout: "kibitz-902-v2", shape, output: "", target: null, training: null, dataset: null, validation: null, tool: "test" }) } };
  const parts = [];
  let end = 0;
  layers.forEach(([outputs, inputs, active], index) => {
    for (const [part, dimensions] of [["weight", [outputs, inputs]], ["bias", [outputs]]]) {
      const values = Float32Array.from({ length: dimensions.reduce((a, b) => a * b) }, () => random(active));
      header[`layers.${index}.${part}`] = { dtype: "F32", shape: dimensions, data_offsets: [end, (end += values.byteLength)] };
      parts.push(Buffer.from(values.buffer));
    }
  });
  const text = Buffer.from(JSON.stringify(header));
  const padded = Buffer.concat([text, Buffer.alloc((8 - (text.length % 8)) % 8, " ")]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  return Buffer.concat([length, padded, ...parts]);
}
