"""Many dumps on a cluster, two nodes of which are killed while one joins, against one build.

    for seed in $(seq 60); do
        target/debug/generate_dump --seed $seed --games 2000 --annotated 30 --level 1 \\
            --frame-mib 1 --out dumps/$seed.pgn.zst
    done
    KIBITZ_INGEST=target/debug/ingest python ingest/cluster/tests/big.py dumps/*.pgn.zst

CI leaves it out. Prints figures; ends with code 1 if the datasets differ.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from machines import Machines
from test_cluster import INGEST, contents, wait_until

KILLS = [0.25, 0.5]
"""Shares of finished parts at which a node is killed."""

HOUR = 3600


def main() -> int:
    """Runs the comparison in a temporary folder."""
    dumps = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        machines = Machines(3)
        try:
            return compare(machines, dumps, Path(folder))
        finally:
            machines.stop()


def compare(machines: Machines, dumps: list[str], folder: Path) -> int:
    """Builds on the cluster and in one process, and compares the datasets."""
    size = sum(Path(dump).stat().st_size for dump in dumps)
    mega = size / len(dumps) / 2 / 1e6
    out, done = folder / "out", folder / "out.work" / "done"
    arguments = ["--out", out, "--ingest", INGEST, "--part-size", mega, "--json"]
    running = machines.start("build", *dumps, *arguments)
    seen: set[str] = set()

    def built(count: float) -> bool:
        names = [path.name for path in done.glob("*") if not path.name.startswith("merged")]
        seen.update(names)
        return len(seen) >= count

    for number, share in enumerate(KILLS):
        wait_until(lambda share=share: built(share * 2 * len(dumps)), HOUR)
        machines.kill()
        print(f"killed a node after {len(seen)} parts", flush=True)
        if number == 0:
            machines.join()
            print("a node joined", flush=True)
    printed, said = running.communicate()
    if running.returncode != 0:
        print(said)
        return 1
    result = json.loads(printed)
    print(f"{len(dumps)} dumps, {size / 1e6:.1f} MB; parts {result['parts']}, ", end="")
    print(f"merges {result['merges']}; {result['labels']} labels in {result['seconds']:.1f} s")

    start = time.monotonic()
    alone = folder / "alone"
    subprocess.run([INGEST, "build", *dumps, "--out", alone], capture_output=True, check=True)
    print(f"ingest build alone: {time.monotonic() - start:.1f} s")
    equal = contents(out) == contents(alone)
    print("the datasets are equal" if equal else "the datasets DIFFER")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
