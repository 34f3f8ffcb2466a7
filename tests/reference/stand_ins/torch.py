"""As much of PyTorch as the script of docs/network.md needs, in plain Python,
so that the tests can run that very script where PyTorch is not installed."""

from types import SimpleNamespace


class Tensor:
    """A row of numbers, or a list of rows."""

    def __init__(self, values):
        self.values = values

    def __setitem__(self, indices, value):
        for index in indices:
            self.values[index] = value

    def float(self):
        return self

    def clamp(self, low, high):
        return Tensor([min(max(value, low), high) for value in self.values])

    def item(self):
        (value,) = self.values
        return value


def zeros(count):
    return Tensor([0.0] * count)


def linear(x, weight, bias):
    on = [(i, value) for i, value in enumerate(x.values) if value]
    return Tensor(
        [b + sum(row[i] * value for i, value in on) for row, b in zip(weight.values, bias.values)]
    )


nn = SimpleNamespace(functional=SimpleNamespace(linear=linear))
