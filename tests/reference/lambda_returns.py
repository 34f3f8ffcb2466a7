"""Lambda-returns of made-up games, summed directly with 80 digits: the reference
for `records::games::returns`, which uses doubles and a recursion.

    python tests/reference/lambda_returns.py > tests/data/lambda_returns.tsv

A row is `lambda <tab> result@ply, or ? <tab> ply:label ... <tab> labels`.
"""

import decimal
import random
from decimal import Decimal

decimal.getcontext().prec = 80
K = Decimal("0.00368208")


def chances(label):
    """Returns White's win chance, from -1 to 1."""
    if label.startswith("#"):
        return Decimal(-1 if label[1] == "-" else 1)
    return 2 / (1 + (-K * int(label)).exp()) - 1


def centipawns(value):
    if abs(value) == 1:
        return str(int(value) * 30000)
    exact = ((1 + value) / (1 - value)).ln() / K
    rounded = int(exact.to_integral_value(decimal.ROUND_HALF_UP))
    return str(max(-30000, min(30000, rounded)))


def return_of(lam, game, value, end, i):
    """Returns the lambda-return of the i-th evaluation: the weighted sum of it and all later
    values."""
    total, left = Decimal(0), Decimal(1)
    for j in range(i, len(game)):
        following = game[j + 1][0] if j + 1 < len(game) else end
        if following is None:
            return total + left * chances(game[j][1])
        steps = max(1, following - game[j][0])
        weight = Decimal(lam) ** steps
        total += left * (1 - weight) * chances(game[j][1])
        left *= weight
    return total + left * value


def label(rng):
    kind = rng.random()
    if kind < 0.1:
        return f"#{rng.choice([-1, 1]) * rng.randint(1, 30)}"
    return str(round(rng.gauss(0, 4000 if kind < 0.2 else 300)))


def main():
    rng = random.Random(1)
    for _ in range(200):
        lam = rng.choice(["0.05", "0.3", "0.5", "0.7", "0.9", "0.99", "1"])
        ply, game = 0, []
        for _ in range(rng.randint(1, 40)):
            ply += 1 if rng.random() < 0.8 else rng.randint(2, 9)
            game.append((ply, label(rng)))
        end = ply + rng.choice([0, 0, 1, 5])
        result, value = rng.choice([("1-0", 1), ("1/2-1/2", 0), ("0-1", -1), ("?", None)])
        if value is None:
            end = None
        else:
            value = Decimal(value)
        labels = [
            text if text.startswith("#") else centipawns(return_of(lam, game, value, end, i))
            for i, (_, text) in enumerate(game)
        ]
        print(
            lam,
            result if end is None else f"{result}@{end}",
            " ".join(f"{ply}:{text}" for ply, text in game),
            " ".join(labels),
            sep="\t",
        )


main()
