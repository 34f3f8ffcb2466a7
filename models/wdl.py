#!/usr/bin/env python3
"""Fits the win, draw and loss chances of `UCI_ShowWDL` to self-play games.

    arena generate --engine net=embedded --nodes 5000 --positions 130000 --seed 7 --out games.pgn.zst
    ingest build games.pgn.zst --out games.dataset
    ingest export games.dataset --format text --split all --out games.txt
    python3 models/wdl.py games.txt          # needs numpy and scipy

The side to move wins with the chance 1 / (1 + exp((a - score) / b)), and loses with that of the
opposite score; the rest is drawn. a and b, in centipawns, are polynomials of the material on the
board. Prints their coefficients, as engine/src/evaluation/chances.rs has them, the mean
logarithmic loss, and the predicted and actual frequency of each outcome.
"""

import sys

import numpy
from scipy.optimize import minimize
from scipy.special import expit

# Piece values of models/src/material.rs.
VALUES = {"p": 100, "n": 320, "b": 330, "r": 500, "q": 900}
# Material of the start position; material is divided by it.
FULL = 8000
DEGREE = 3
# Larger scores add no information about chances.
MOST = 2000


def read(path):
    """Material (0 to 1), score and result (0, 0.5, 1) of each position, for the side to move."""
    rows = []
    with open(path) as lines:
        for line in lines:
            fen, score, result = line.split(" | ")
            placement, mover = fen.split(" ")[:2]
            if abs(int(score)) > MOST:
                continue
            material = sum(VALUES.get(symbol, 0) for symbol in placement.lower())
            sign = 1 if mover == "w" else -1
            rows.append((min(material / FULL, 1), sign * int(score), 0.5 + sign * (float(result) - 0.5)))
    return numpy.array(rows).T


def chances(parameters, material, score):
    a, b = (numpy.polyval(half, material) for half in numpy.split(parameters, 2))
    b = numpy.maximum(b, 1)
    return expit((score - a) / b), expit((-score - a) / b)


def loss(parameters, material, score, result):
    win, lose = chances(parameters, material, score)
    draw = numpy.maximum(1 - win - lose, 0)
    right = numpy.select([result == 1, result == 0], [win, lose], draw)
    return -numpy.mean(numpy.log(numpy.maximum(right, 1e-6)))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    data = read(sys.argv[1])
    start = numpy.zeros(2 * (DEGREE + 1))
    start[DEGREE], start[-1] = 2, 1
    # In pawns, so that the numbers are near to one.
    fitted = minimize(lambda pawns: loss(100 * pawns, *data), start, method="BFGS")
    parameters = 100 * fitted.x
    for name, half in zip("ab", numpy.split(parameters, 2)):
        print(name, ", ".join(f"{coefficient:.1f}" for coefficient in half))
    print(f"{data.shape[1]} positions, loss {fitted.fun:.4f}")
    material, score, result = data
    win, lose = chances(parameters, material, score)
    print("score          positions   won: foretold, came   lost: foretold, came")
    for low in range(-400, 400, 100):
        part = (score >= low) & (score < low + 100)
        print(
            f"{low:5} to {low + 100:4} {part.sum():12} {win[part].mean():12.3f}"
            f" {(result[part] == 1).mean():7.3f} {lose[part].mean():14.3f}"
            f" {(result[part] == 0).mean():7.3f}"
        )


main()
