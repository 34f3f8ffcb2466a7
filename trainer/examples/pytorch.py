#!/usr/bin/env python3
"""Trains a net in PyTorch on a dataset of Kibitz, for Kibitz's engine to play with.

    ingest build games.pgn.zst --quiet --out games.dataset
    ingest export games.dataset --format parquet --split all --out games.parquet
    python trainer/examples/pytorch.py games.parquet mine.safetensors   # torch, pyarrow, safetensors
    engine eval "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1" --model mine.safetensors

The net has pieces and castling rights as inputs, seen by either side through one first layer of
128 squared neurons, and one output. It is where a net of your own can begin; `trainer fit` has more
inputs, is some ten times as fast on a processor, and learns more from little.
"""

import json
import sys

import pyarrow.parquet as parquet
import torch
from safetensors.torch import save_file

INPUTS, HIDDEN = 902, 128
EPOCHS, BATCH, RATE = 12, 4096, 0.002
# Lichess's win chance: docs/network.md.
SLOPE = 0.368208
# An input that is never on fills up the lists.
NONE = INPUTS


def features(fen):
    """The inputs that are on, as the side to move sees them and as the other one does."""
    placement, mover, castling = fen.split(" ")[:3]
    views = ([], [])
    for rank, row in enumerate(placement.split("/")):
        file = 0
        for symbol in row:
            if symbol.isdigit():
                file += int(symbol)
                continue
            white, kind = symbol.isupper(), "pnbrqk".index(symbol.lower())
            square = 8 * (7 - rank) + file
            for view, own in zip(views, (mover == "w", mover == "b")):
                seen = square if own else square ^ 56
                view.append(64 * (kind if white == own else kind + 6) + seen)
            file += 1
    # Files of rooks, which Chess960 has, are beyond this example.
    for place, symbol in enumerate("KQkq"):
        if symbol in castling:
            for view, own in zip(views, (mover == "w", mover == "b")):
                view.append(896 + (place if own else place ^ 2))
    return [view + [NONE] * (36 - len(view)) for view in views]


def read(path, split):
    """Inputs of both views, and win chances for the side to move."""
    rows = parquet.read_table(path, filters=[("split", "=", split)])
    fens, cp, mate = (rows[name].to_pylist() for name in ("fen", "cp", "mate"))
    sign = torch.tensor([1.0 if " w " in fen else -1.0 for fen in fens])
    pawns = torch.tensor([c / 100 if m is None else (100.0 if m > 0 else -100.0)
                          for c, m in zip(cp, mate)])
    inputs = torch.tensor([features(fen) for fen in fens])
    return inputs, chance(sign * pawns)


def chance(pawns):
    return 2 * torch.sigmoid(SLOPE * pawns) - 1


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.EmbeddingBag(INPUTS + 1, HIDDEN, mode="sum", padding_idx=NONE)
        self.bias = torch.nn.Parameter(torch.full((HIDDEN,), 0.1))
        self.last = torch.nn.Linear(2 * HIDDEN, 1)
        torch.nn.init.uniform_(self.first.weight, -0.06, 0.06)

    def forward(self, inputs):
        views = [(self.first(inputs[:, view]) + self.bias).clamp(0, 1).square() for view in (0, 1)]
        return self.last(torch.cat(views, dim=1))[:, 0]


def save(net, path):
    """The file that the engine reads (docs/network.md): what was never on in training adds nothing."""
    weight = net.first.weight.detach()[:INPUTS].clone()
    weight[768:896] = 0
    weight[900:] = 0
    tensors = {
        "layers.0.weight": weight.T.contiguous().half(),
        "layers.0.bias": net.bias.detach().half(),
        "layers.1.weight": net.last.weight.detach().half(),
        "layers.1.bias": net.last.bias.detach().half(),
    }
    metadata = {
        "layout": "kibitz-902-v1",
        "shape": {"view": "both", "first": HIDDEN, "activation": "squared-clipped-relu"},
        "output": "pawns, from the view of the side to move",
        "target": {"name": "winchance", "k": SLOPE, "loss": "L1"},
        "training": {"epochs": EPOCHS, "batch": BATCH, "rate": RATE, "seed": 1},
        "dataset": {}, "validation": {}, "tool": "trainer/examples/pytorch.py",
    }
    save_file(tensors, path, {"kibitz": json.dumps(metadata)})


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    torch.manual_seed(1)
    inputs, target = read(sys.argv[1], "train")
    held_out, held_out_target = read(sys.argv[1], "validation")
    net = Net()
    steps = EPOCHS * -(-len(inputs) // BATCH)
    optimizer = torch.optim.AdamW(net.parameters(), RATE, weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps)
    for epoch in range(1, EPOCHS + 1):
        for batch in torch.randperm(len(inputs)).split(BATCH):
            loss = (chance(net(inputs[batch])) - target[batch]).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            # The integers of the engine hold no more.
            with torch.no_grad():
                net.last.weight.clamp_(-0.99, 0.99)
        with torch.no_grad():
            error = (chance(net(held_out)) - held_out_target).abs().mean()
        print(f"epoch {epoch}: loss {loss:.4f}, held-out games {error:.4f}")
    save(net, sys.argv[2])


main()
