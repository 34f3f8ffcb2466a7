"""What is to be made: parts of the sources, and the tree of merges that joins them."""

import hashlib
import json
import math
import os
import re
import urllib.error
import urllib.request
from dataclasses import dataclass

from kibitz_cluster.failure import MISSING, Failure

MERGE_WIDTH = 8
"""How many outputs a merge joins."""

HEAD_SECONDS = 60


@dataclass(frozen=True)
class Source:
    """A dump: its path or URL, its size, and what changes when its content does."""

    place: str
    size: int
    stamp: str

    @property
    def name(self) -> str:
        return self.place.rstrip("/").rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Part:
    """One part of a source, or all of it (1 of 1)."""

    key: str
    source: Source
    number: int
    of: int

    @property
    def size(self) -> int:
        """About how many bytes it has."""
        return self.source.size // self.of


@dataclass(frozen=True)
class Merge:
    """Outputs to be joined to one."""

    key: str
    inputs: tuple["Node", ...]


Node = Part | Merge


def is_url(place: str) -> bool:
    return place.startswith(("http://", "https://"))


def find(place: str) -> Source:
    """Looks at a dump, without reading it."""
    try:
        if not is_url(place):
            stat = os.stat(place)
            return Source(os.path.abspath(place), stat.st_size, str(stat.st_mtime_ns))
        request = urllib.request.Request(place, method="HEAD")
        with urllib.request.urlopen(request, timeout=HEAD_SECONDS) as answer:
            headers = answer.headers
            stamp = headers["ETag"] or headers["Last-Modified"] or ""
            if headers["Content-Length"] is None:
                raise Failure(MISSING, f"{place}: the server does not tell its size")
            return Source(place, int(headers["Content-Length"]), stamp)
    except (OSError, urllib.error.URLError) as error:
        raise Failure(MISSING, f"{place}: {error}") from error


def parts(source: Source, part_bytes: float, command: list[str]) -> list[Part]:
    """Cuts a source into parts of at most so many bytes; `command` is what makes each."""
    # `ingest` reads these from their beginning only.
    whole = source.name.endswith((".gz", ".bz2"))
    of = 1 if whole else max(1, math.ceil(source.size / part_bytes))
    return [
        Part(key(f"{source.name}-{number}-of-{of}", [source, command]), source, number, of)
        for number in range(1, of + 1)
    ]


def tree(nodes: list[Node], width: int = MERGE_WIDTH) -> Node:
    """Merges of so many neighbours, level by level, up to one."""
    while len(nodes) > 1:
        groups = [nodes[i : i + width] for i in range(0, len(nodes), width)]
        nodes = [
            Merge(key("merged", [node.key for node in group]), tuple(group))
            if len(group) > 1
            else group[0]
            for group in groups
        ]
    return nodes[0]


def leaves(node: Node) -> list[Part]:
    """The parts of a tree, in order."""
    if isinstance(node, Part):
        return [node]
    return [part for child in node.inputs for part in leaves(child)]


def key(name: str, of: object) -> str:
    """A file name for what is made: readable, and another one if anything differs."""
    text = json.dumps([name, of], default=lambda thing: vars(thing))
    readable = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    return f"{readable}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
