"""Datasets of chess positions as numpy arrays, evaluation and search."""

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

__version__: Final[str]

INPUTS: Final[int]
"""Number of inputs of a net; also the padding value of `Batch.inputs`."""
MAX_ACTIVE: Final[int]
"""Largest number of active inputs: the width of `Batch.inputs`."""
LAYOUT: Final[str]
"""Name of the input layout, as in the metadata of a net."""

Split = Literal["train", "validation"]

class DatasetError(Exception):
    """A dataset is missing, damaged or of another version."""

class Dataset:
    """A sealed dataset, opened for reading."""

    def __new__(cls, path: str | PathLike[str]) -> Dataset: ...
    @property
    def fingerprint(self) -> str:
        """Fingerprint: SHA-256 over the positions. Equal data have equal fingerprints."""
    @property
    def manifest(self) -> dict[str, Any]:
        """Manifest: filters, counts, sources."""
    def count(self, split: Split = "train") -> int:
        """Returns the number of positions of a split."""
    def batches(
        self, split: Split = "train", size: int = 4096, *, seed: int | None = None, epoch: int = 0
    ) -> Batches:
        """Iterates once over the positions of a split, in batches.

        With a seed they are shuffled: the same seed and epoch give the same order. Without one
        they come in the order of the dataset.
        """

class Batches(Iterator[Batch]):
    """Iterator of `Dataset.batches`. A reader thread reads ahead."""

    def __iter__(self) -> Batches: ...
    def __next__(self) -> Batch: ...

class Batch:
    """Positions with their labels, one a row."""

    def __len__(self) -> int: ...
    @property
    def records(self) -> NDArray[np.uint8]:
        """The stored records, 32 bytes each: shape `(n, 32)`."""
    @property
    def inputs(self) -> NDArray[np.int32]:
        """Active inputs from the side to move's point of view: shape `(n, MAX_ACTIVE)`.

        Rows are padded with `INPUTS`, which is not a valid input.
        """
    @property
    def opposing_inputs(self) -> NDArray[np.int32]:
        """Active inputs from the point of view of the side not to move."""
    @property
    def scores(self) -> NDArray[np.int16]:
        """Labels from the side to move's point of view: centipawns up to 30,000.

        Mate in n moves is 32,000 - n, being mated n - 32,000.
        """
    @property
    def win_chances(self) -> NDArray[np.float32]:
        """Labels as win chances of the side to move, from -1 to 1."""
    @property
    def results(self) -> NDArray[np.float32]:
        """Results of the games for the side to move: 1 won, 0 drawn, -1 lost, NaN unknown."""
    @property
    def white_to_move(self) -> NDArray[np.bool_]:
        """White is to move."""
    @property
    def plies(self) -> NDArray[np.uint16]:
        """Plies played before the position."""
    @property
    def depths(self) -> NDArray[np.uint8]:
        """Depths of the evaluations in plies, 0 if unknown."""
    @property
    def months(self) -> NDArray[np.datetime64]:
        """Months in which the games were played, NaT if unknown: `datetime64[M]`."""
    def fens(self) -> list[str]:
        """Returns the positions as FENs."""

class Engine:
    """A net, and the state that its searches share.

    `net` is a safetensors file; default: the net that ships with Kibitz. `hash` is the size of
    the transposition table in MiB.
    """

    def __new__(
        cls, net: str | PathLike[str] | None = None, *, hash: int = 16, threads: int = 1
    ) -> Engine: ...
    def evaluate(self, fens: Sequence[str]) -> NDArray[np.int32]:
        """Evaluates in integers, like the engine: centipawns, side to move's point of view."""
    def evaluate_float(self, fens: Sequence[str]) -> NDArray[np.float32]:
        """Evaluates in floats, like training: centipawns, side to move's point of view."""
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

        `moves` are played from `fen`, in UCI notation. `lines` is the number of principal
        variations (MultiPV). Ctrl-C ends a search.
        """
    def clear(self) -> None:
        """Clears the transposition table and all other state of earlier searches."""

class Line:
    """Principal variation of a search."""

    @property
    def score(self) -> int:
        """Centipawns from the side to move's point of view.

        Mate in n moves is 32,000 - n, being mated n - 32,000.
        """
    @property
    def mate(self) -> int | None:
        """Moves to mate, negative if the side to move is mated; None for centipawns."""
    @property
    def pv(self) -> list[str]:
        """Moves in UCI notation."""

class Outcome:
    """Result of a search."""

    @property
    def move(self) -> str | None:
        """Best move in UCI notation; None if the side to move has no legal move."""
    @property
    def score(self) -> int:
        """Score of the best line."""
    @property
    def mate(self) -> int | None:
        """Moves to mate in the best line; None for centipawns."""
    @property
    def pv(self) -> list[str]:
        """Moves of the best line in UCI notation."""
    @property
    def depth(self) -> int:
        """Depth of the last finished iteration, in plies."""
    @property
    def nodes(self) -> int:
        """Nodes searched."""
    @property
    def lines(self) -> list[Line]:
        """All requested lines, best first."""

def inputs(fen: str) -> NDArray[np.int32]:
    """Returns the active inputs of a position, ascending, from the side to move's point of view."""
