"""The network's outputs by PyTorch, from the safetensors file alone: the reference
for `models`.

    pip install torch==2.15.0 safetensors==0.8.0 chess==1.11.2 zstandard==0.25.0
    python tests/reference/torch_outputs.py models/default.safetensors \
        tests/data/dump_2021-10_first499.rows.zst --every 5 > tests/data/torch_outputs.tsv

Reads the positions of a rows file (see labels.py), builds the 902 inputs from
their EPD (see inputs.py), and prints `EPD <tab> pawns <tab> inputs`, mover's
view, the inputs that are on by their indices. First line: the net's SHA-256.
"""

import argparse
import hashlib
import json
import pathlib

import chess
import torch
import zstandard
from safetensors import safe_open

from inputs import inputs, seen_by_other


def mirrored(i):
    """Returns the index of an input on the board mirrored by files."""
    return i ^ 7 if i < 832 else i ^ 1 if 896 <= i < 900 else i


# Both maps are involutions.
OTHER, MIRRORED = (torch.tensor([f(i) for i in range(902)]) for f in (seen_by_other, mirrored))
# Inputs of the own king on the files e to h.
ON_RIGHT = [i for i in range(320, 384) if i & 4]


class Net(torch.nn.Module):
    """Net of any architecture, read from its file."""

    def __init__(self, path):
        super().__init__()
        with safe_open(path, "pt") as file:
            metadata = json.loads(file.metadata()["kibitz"])
            tensors = {name: file.get_tensor(name).float() for name in file.keys()}
        assert metadata["layout"] == "kibitz-902-v2"
        shape = metadata["shape"]
        self.activation = shape.get("activation", "clipped-relu")
        self.mirrored = shape.get("mirrored", False)
        self.both = shape.get("view", "mover") == "both"
        self.buckets = shape.get("buckets", 1)
        self.linears = torch.nn.ModuleList()
        for i in range(len(tensors) // 2):
            weight = tensors[f"layers.{i}.weight"]
            linear = torch.nn.Linear(weight.shape[1], weight.shape[0])
            linear.weight.data, linear.bias.data = weight, tensors[f"layers.{i}.bias"]
            self.linears.append(linear)

    def first(self, on):
        if self.mirrored:
            mirrors = on[:, ON_RIGHT].any(dim=1, keepdim=True)
            on = torch.where(mirrors, on[:, MIRRORED], on)
        x = self.linears[0](on).clamp(0, 1)
        if self.activation == "squared-clipped-relu":
            return x.square()
        if self.activation == "pairwise-clipped-relu":
            return torch.mul(*x.chunk(2, dim=1))
        assert self.activation == "clipped-relu", self.activation
        return x

    def forward(self, on):
        x = self.first(on)
        if self.both:
            x = torch.cat([x, self.first(on[:, OTHER])], dim=1)
        pieces = on[:, :768].sum(1).long()
        bucket = (pieces - 2) // -(-32 // self.buckets)
        for i, linear in enumerate(self.linears[1:]):
            x = linear(x if i == 0 else x.clamp(0, 1))
            # Select the output bucket of each position.
            x = x.view(len(x), self.buckets, -1)[torch.arange(len(x)), bucket]
        return x


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("net", type=pathlib.Path)
    parser.add_argument("rows", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    net = Net(args.net)
    with open(args.rows, "rb") as file:
        rows = zstandard.ZstdDecompressor().stream_reader(file).read().decode().splitlines()
    epds = [row.split("\t")[0] for row in rows[:: args.every]]
    print(hashlib.sha256(args.net.read_bytes()).hexdigest())
    on = torch.zeros(len(epds), 902)
    for row, epd in zip(on, epds):
        row[inputs(chess.Board(epd + " 0 1"))] = 1
    with torch.no_grad():
        outputs = net(on)
    for epd, output, row in zip(epds, outputs[:, 0].tolist(), on):
        indices = " ".join(map(str, row.nonzero()[:, 0].tolist()))
        print(f"{epd}\t{output:.7f}\t{indices}")


main()
