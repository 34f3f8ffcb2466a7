"""Plan of a run: parts of the sources, and the tree of merges that joins them."""

import hashlib
import json
import math
import os
import re
import urllib.error
import urllib.request
from dataclasses import dataclass

from kibitz_cluster.failure import MISSING, Failure
from kibitz_cluster.objects import access, is_object

MERGE_WIDTH = 8
"""Outputs joined by one merge."""

SHARDED_WIDTH = 64
"""Maximum number of outputs that each shard reads."""

HEAD_SECONDS = 60


@dataclass(frozen=True)
class Source:
    """Dump: path or URL, size in bytes, and a stamp that changes with its content."""

    place: str
    size: int
    stamp: str

    @property
    def name(self) -> str:
        return self.place.rstrip("/").rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Part:
    """Part of a source, or the whole source (1 of 1)."""

    key: str
    source: Source
    number: int
    of: int

    @property
    def size(self) -> int:
        """Approximate size in bytes."""
        return self.source.size // self.of


@dataclass(frozen=True)
class Merge:
    """Merge of outputs into one."""

    key: str
    inputs: tuple["Node", ...]
    shard: str | None = None
    """Shard to make, as in `ingest merge --shard`; None for the whole."""


Node = Part | Merge


def is_url(place: str) -> bool:
    return place.startswith(("http://", "https://"))


def find(place: str) -> Source:
    """Returns the size and stamp of a dump without reading it."""
    if is_object(place):
        return find_object(place)
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


def find_object(place: str) -> Source:
    """Returns the size and stamp of a dump on S3."""
    with access(place) as (client, bucket, key):
        head = client.head_object(Bucket=bucket, Key=key)
    return Source(place, head["ContentLength"], head["ETag"])


def parts(source: Source, part_bytes: float, command: list[str]) -> list[Part]:
    """Cuts a source into parts of at most `part_bytes`; the keys depend on `command`."""
    # `ingest` cannot start in the middle of these.
    whole = source.name.endswith((".gz", ".bz2"))
    of = 1 if whole else max(1, math.ceil(source.size / part_bytes))
    return [
        Part(key(f"{source.name}-{number}-of-{of}", [source, command]), source, number, of)
        for number in range(1, of + 1)
    ]


def tree(nodes: list[Node], width: int = MERGE_WIDTH) -> Node:
    """Returns the root of a tree of merges of up to `width` neighbours."""
    while len(nodes) > 1:
        nodes = level(nodes, width)
    return nodes[0]


def shards(nodes: list[Node], count: int) -> list[Node]:
    """Merges neighbours until few outputs are left; returns `count` shards of these."""
    while len(nodes) > SHARDED_WIDTH:
        nodes = level(nodes, MERGE_WIDTH)
    inputs = tuple(nodes)
    names = [f"{number}/{count}" for number in range(1, count + 1)]
    return [Merge(merge_key(inputs, name), inputs, name) for name in names]


def level(nodes: list[Node], width: int) -> list[Node]:
    """Returns one level of merges of up to `width` neighbours."""
    groups = [tuple(nodes[i : i + width]) for i in range(0, len(nodes), width)]
    return [
        Merge(merge_key(group), group) if len(group) > 1 else group[0] for group in groups
    ]


def merge_key(inputs: tuple[Node, ...], shard: str | None = None) -> str:
    """Returns the key of a merge."""
    of = [node.key for node in inputs]
    return key("merged", of) if shard is None else key("merged-shard", [of, shard])


def nodes_of(roots: list[Node]) -> dict[str, Node]:
    """Returns nodes and all their direct and indirect inputs, by key."""
    found = {}
    for node in roots:
        if node.key not in found:
            found[node.key] = node
            found |= nodes_of(list(node.inputs)) if isinstance(node, Merge) else {}
    return found


def key(name: str, of: object) -> str:
    """Returns a readable file name for an output, unique to its inputs and settings."""
    text = json.dumps([name, of], default=lambda thing: vars(thing))
    readable = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    return f"{readable}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
