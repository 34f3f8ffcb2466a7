#!/usr/bin/env python3
"""Trains a net in PyTorch on a dataset of Kibitz, for Kibitz's engine to play with.

    ingest build games.pgn.zst --keep quiet --out games.dataset
    pip install ./engine/python torch safetensors
    python trainer/examples/pytorch.py games.dataset mine.safetensors
    engine eval "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1" --net mine.safetensors

The net has a first layer of 128 squared neurons, applied to either side's view of the position,
and one output. It is a starting point for nets of your own; `trainer fit` is some ten times as
fast on a processor, and learns more from little data.
"""

import json
import sys

import kibitz
import torch
from safetensors.torch import save_file

HIDDEN = 128
EPOCHS, BATCH, RATE = 12, 4096, 0.002
# Lichess's win chance: docs/network.md.
SLOPE = 0.368208


def batches(dataset, split, **order):
    """Yields inputs of both views, and win chances for the side to move."""
    for batch in dataset.batches(split, BATCH, **order):
        views = (batch.inputs, batch.opposing_inputs)
        yield [torch.from_numpy(view) for view in views], torch.from_numpy(batch.win_chances)


def chance(pawns):
    return 2 * torch.sigmoid(SLOPE * pawns) - 1


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.EmbeddingBag(
            kibitz.INPUTS + 1, HIDDEN, mode="sum", padding_idx=kibitz.INPUTS
        )
        self.bias = torch.nn.Parameter(torch.full((HIDDEN,), 0.1))
        self.last = torch.nn.Linear(2 * HIDDEN, 1)
        torch.nn.init.uniform_(self.first.weight, -0.06, 0.06)

    def forward(self, views):
        views = [(self.first(view) + self.bias).clamp(0, 1).square() for view in views]
        return self.last(torch.cat(views, dim=1))[:, 0]


@torch.no_grad()
def held_out(net, dataset):
    """Returns the mean error on held-out games."""
    errors = [(chance(net(v)) - target).abs() for v, target in batches(dataset, "validation")]
    return torch.cat(errors).mean()


def save(net, path):
    """Writes the net for the engine (docs/network.md)."""
    tensors = {
        "layers.0.weight": net.first.weight.detach()[: kibitz.INPUTS].T.contiguous().half(),
        "layers.0.bias": net.bias.detach().half(),
        "layers.1.weight": net.last.weight.detach().half(),
        "layers.1.bias": net.last.bias.detach().half(),
    }
    metadata = {
        "layout": kibitz.LAYOUT,
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
    dataset = kibitz.Dataset(sys.argv[1])
    net = Net()
    steps = EPOCHS * -(-dataset.count("train") // BATCH)
    optimizer = torch.optim.AdamW(net.parameters(), RATE, weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps)
    for epoch in range(1, EPOCHS + 1):
        for views, target in batches(dataset, "train", seed=1, epoch=epoch):
            loss = (chance(net(views)) - target).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            # Bound of the engine's integers.
            with torch.no_grad():
                net.last.weight.clamp_(-0.99, 0.99)
        print(f"epoch {epoch}: loss {loss:.4f}, held-out games {held_out(net, dataset):.4f}")
    save(net, sys.argv[2])


main()
