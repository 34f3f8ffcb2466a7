"""Rates players by games in PGN files: players named `Stockfish ELO` keep that rating, others get
the maximum-likelihood ratings (Bradley and Terry, 1952). Prints a table with 95 % errors, from
the curvature of the likelihood. Used by `models/levels.sh`.
"""

import math
import re
import sys
from collections import Counter

import numpy
from scipy.optimize import minimize

# Elo's scale: ten times the odds for 400 points.
SCALE = math.log(10) / 400
POINTS = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}


def read(paths):
    """Returns the points of each player against each other."""
    points = Counter()
    for path in paths:
        tags = {}
        with open(path) as lines:
            for line in lines:
                if tag := re.match(r'\[(White|Black|Result) "(.*)"\]', line):
                    tags[tag[1]] = tag[2]
                elif tags and not line.strip():
                    if (share := POINTS.get(tags["Result"])) is not None:
                        points[tags["White"], tags["Black"]] += share
                        points[tags["Black"], tags["White"]] += 1 - share
                    tags = {}
    return points


points = read(sys.argv[1:])
names = sorted({name for pair in points for name in pair})
taken = numpy.array([[points[one, other] for other in names] for one in names])
games = taken + taken.T
# Adds a tenth of a draw to each pair that has met, so that all ratings are finite.
taken = taken + 0.05 * (games > 0)
fixed = [int(name.split()[1]) if name.startswith("Stockfish ") else None for name in names]
free = [index for index, rating in enumerate(fixed) if rating is None]


def ratings(unknown):
    all_of_them = numpy.array([rating or 0.0 for rating in fixed])
    all_of_them[free] = unknown
    return all_of_them


def loss(unknown):
    rating = ratings(unknown)
    against = SCALE * (rating[:, None] - rating[None, :])
    expected = (taken + taken.T) / (1 + numpy.exp(-against))
    return (taken * numpy.log1p(numpy.exp(-against))).sum(), SCALE * (expected - taken).sum(1)[free]


found = ratings(minimize(loss, numpy.full(len(free), 2000.0), jac=True, method="L-BFGS-B").x)
chance = 1 / (1 + numpy.exp(-SCALE * (found[:, None] - found[None, :])))
weight = (taken + taken.T) * chance * (1 - chance) * SCALE**2
curvature = (numpy.diag(weight.sum(1)) - weight)[numpy.ix_(free, free)]
errors = dict(zip(free, 1.96 * numpy.sqrt(numpy.diag(numpy.linalg.inv(curvature)))))
print("| player, `UCI_Elo` | measured | error, 95 % | games |\n|---|---|---|---|")
for index in sorted(errors, key=found.__getitem__):
    print(f"| {names[index]} | {found[index]:.0f} | {errors[index]:.0f} | {games[index].sum():.0f} |")
