"""Datasets of chess positions as numpy arrays, evaluation and search."""

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

__version__: Final[str]

INPUTS: Final[int]
"""How many inputs a net has. It also fills up rows of `Batch.inputs`."""
MAX_ACTIVE: Final[int]
"""The most inputs that are on at once: the width of `Batch.inputs`."""
LAYOUT: Final[str]
"""The name of the inputs' layout, as in a net's metadata."""

Split = Literal["train", "validation"]

class DatasetError(Exception):
    """A dataset is missing, damaged or of another version."""

class Dataset:
    """A sealed dataset, open to read."""

    def __new__(cls, path: str | PathLike[str]) -> Dataset: ...
    @property
    def fingerprint(self) -> str:
        """SHA-256 over the positions: equal data, equal fingerprint."""
    @property
    def manifest(self) -> dict[str, Any]:
        """What the dataset says about itself: filters, counts, sources."""
    def count(self, split: Split = "train") -> int:
        """How many positions a split has."""
    def batches(
        self, split: Split = "train", size: int = 4096, *, seed: int | None = None, epoch: int = 0
    ) -> Batches:
        """The positions of a split once, in batches.

        With a seed they are shuffled: the same seed and epoch give the same order. Without one
        they come in the order of the dataset.
        """

class Batches(Iterator[Batch]):
    """The batches of `Dataset.batches`. A thread of its own reads ahead."""

    def __iter__(self) -> Batches: ...
    def __next__(self) -> Batch: ...

class Batch:
    """Positions with their labels, a row each."""

    def __len__(self) -> int: ...
    @property
    def records(self) -> NDArray[np.uint8]:
        """The records as they are stored, 32 bytes each: shape `(n, 32)`."""
    @property
    def inputs(self) -> NDArray[np.int32]:
        """The inputs that are on, as the side to move sees them: shape `(n, MAX_ACTIVE)`.

        `INPUTS`, which is no input, fills up each row.
        """
    @property
    def opposing_inputs(self) -> NDArray[np.int32]:
        """The same inputs as the other side sees them."""
    @property
    def scores(self) -> NDArray[np.int16]:
        """The labels from the view of the side to move: centipawns up to 30,000.

        Mate in n moves is 32,000 - n, being mated n - 32,000.
        """
    @property
    def win_chances(self) -> NDArray[np.float32]:
        """The labels as win chances of the side to move, from -1 to 1."""
    @property
    def results(self) -> NDArray[np.float32]:
        """Results of the games for the side to move: 1 won, 0 drawn, -1 lost, NaN unknown."""
    @property
    def white_to_move(self) -> NDArray[np.bool_]:
        """Whether White is to move."""
    @property
    def plies(self) -> NDArray[np.uint16]:
        """Half-moves played before the position."""
    @property
    def depths(self) -> NDArray[np.uint8]:
        """Depths of the evaluations in plies, 0 where unknown."""
    @property
    def months(self) -> NDArray[np.datetime64]:
        """Months in which the games were played, NaT where unknown: `datetime64[M]`."""
    def fens(self) -> list[str]:
        """The positions as FENs."""

class Engine:
    """A net, and what a search with it remembers.

    Without `net`, a safetensors file, it is the net that ships with Kibitz. `hash` is the
    size of the transposition table in MiB.
    """

    def __new__(
        cls, net: str | PathLike[str] | None = None, *, hash: int = 16, threads: int = 1
    ) -> Engine: ...
    def evaluate(self, fens: Sequence[str]) -> NDArray[np.int32]:
        """Values in centipawns from the view of the side to move, as the engine computes them."""
    def evaluate_float(self, fens: Sequence[str]) -> NDArray[np.float32]:
        """The same as training computes them, in floats."""
    def search(
        self,
        fen: str,
        moves: Sequence[str] = (),
        *,
        depth: int | None = None,
        nodes: int | None = None,
        time: float | None = None,
        lines: int = 1,
    ) -> Outcome:
        """Searches a position until the first limit: plies, nodes, seconds.

        `moves` were played from `fen` on, as UCI writes them. `lines` is how many lines are
        wanted. Ctrl-C ends a search.
        """
    def clear(self) -> None:
        """Forgets all earlier searches."""

class Line:
    """A line that a search found."""

    @property
    def score(self) -> int:
        """Centipawns from the view of the side to move.

        Mate in n moves is 32,000 - n, being mated n - 32,000.
        """
    @property
    def mate(self) -> int | None:
        """Moves to mate, negative for the side that is mated; None for centipawns."""
    @property
    def pv(self) -> list[str]:
        """The moves, as UCI writes them."""

class Outcome:
    """What a search found."""

    @property
    def move(self) -> str | None:
        """The best move, as UCI writes it; None if there is no legal one."""
    @property
    def score(self) -> int:
        """The score of the best line."""
    @property
    def mate(self) -> int | None:
        """Moves to mate in it."""
    @property
    def pv(self) -> list[str]:
        """Its moves."""
    @property
    def depth(self) -> int:
        """Plies of the last finished iteration."""
    @property
    def nodes(self) -> int:
        """Positions that were looked at."""
    @property
    def lines(self) -> list[Line]:
        """All lines that were asked for, the best first."""

def inputs(fen: str) -> NDArray[np.int32]:
    """The inputs of a net that are on in a position, ascending, as the side to move sees them."""
