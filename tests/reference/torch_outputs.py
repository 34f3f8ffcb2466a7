"""The network's outputs by PyTorch, from the safetensors file alone: the
reference that `models` is compared with.

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

from inputs import inputs


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("net", type=pathlib.Path)
    parser.add_argument("rows", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    with safe_open(args.net, "pt") as file:
        metadata = json.loads(file.metadata()["kibitz"])
        assert metadata["layout"] == "kibitz-902-v2"
        shape = metadata["shape"]
        assert shape.get("activation", "clipped-relu") == "clipped-relu"
        assert None not in (shape.get("second"), shape.get("third")), "three hidden layers"
        assert shape.get("view", "mover") == "mover" and shape.get("buckets", 1) == 1
        layers = []
        for i in range(4):
            weight = file.get_tensor(f"layers.{i}.weight").float()
            linear = torch.nn.Linear(weight.shape[1], weight.shape[0])
            linear.weight.data = weight
            linear.bias.data = file.get_tensor(f"layers.{i}.bias").float()
            layers += [linear, torch.nn.Hardtanh(0, 1)]
    net = torch.nn.Sequential(*layers[:-1])
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
