"""Progress of a run: a bar on a terminal, lines elsewhere, and an actor that answers queries."""

import sys
import time
from dataclasses import asdict, dataclass, field

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
from tqdm import tqdm

from kibitz_cluster.failure import REFUSED, Failure

NAMESPACE = "kibitz-cluster"
LINE_SECONDS = 10.0


@dataclass
class State:
    """Counts of finished work and of all work. Work of an earlier run counts as done, but not
    for the rates."""

    name: str
    parts: int
    merges: int
    bytes: int
    parts_done: int = 0
    merges_done: int = 0
    bytes_done: int = 0
    parts_before: int = 0
    bytes_before: int = 0
    labels: int = 0
    started: float = field(default_factory=time.time)
    seconds: float = 0.0

    def tick(self) -> None:
        """Updates the elapsed time."""
        self.seconds = time.time() - self.started

    @property
    def bytes_per_second(self) -> float:
        return (self.bytes_done - self.bytes_before) / max(self.seconds, 1e-3)

    @property
    def labels_per_second(self) -> float:
        return self.labels / max(self.seconds, 1e-3)

    def counts(self) -> str:
        """Returns the counts of parts and merges as text."""
        merges = f", merges {self.merges_done}/{self.merges}" if self.merges else ""
        return f"parts {self.parts_done}/{self.parts}{merges}"

    def rates(self) -> str:
        """Returns the rates as text."""
        mega = self.bytes_per_second / 1e6
        speed = f"{mega:.1f} MB/s" if mega < 1000 else f"{mega / 1000:.2f} GB/s"
        return f"{speed}, {self.labels_per_second:,.0f} positions/s"

    def line(self) -> str:
        """Returns counts, rates and the time left as one line."""
        text = f"{self.name}: {self.counts()}, {self.rates()}"
        rate = self.bytes_per_second
        if rate > 0 and self.bytes_done < self.bytes:
            text += f", ETA {clock((self.bytes - self.bytes_done) / rate)}"
        return text


def clock(seconds: float) -> str:
    """Formats a time as `ingest` does: 01:02:03, with days before it if there are any."""
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return (f"{days}d " if days else "") + f"{hours:02}:{minutes:02}:{seconds:02}"


class Display:
    """Display of a state on standard error."""

    def __init__(self, state: State) -> None:
        self.bar = None
        self.shown = 0.0
        if sys.stderr.isatty():
            self.bar = tqdm(total=state.bytes, unit="B", unit_scale=True, dynamic_ncols=True)
            self.bar.initial = self.bar.n = state.bytes_before

    def show(self, state: State) -> None:
        """Updates the bar, or prints a line if one is due."""
        if self.bar is not None:
            self.bar.n = state.bytes_done
            self.bar.set_description(state.counts(), refresh=False)
            self.bar.set_postfix_str(f"{state.labels_per_second:,.0f} positions/s")
        elif state.seconds - self.shown >= LINE_SECONDS:
            self.shown = state.seconds
            print(state.line(), file=sys.stderr, flush=True)

    def close(self) -> None:
        """Closes the bar."""
        if self.bar is not None:
            self.bar.close()


class Teller:
    """Actor that keeps the state of a run for `kibitz-cluster status`."""

    def __init__(self, state: State) -> None:
        self.state = state

    def tell(self) -> State:
        """Returns the last state."""
        return self.state

    def note(self, state: State) -> None:
        """Replaces the state."""
        self.state = state


def announce(state: State, name: str) -> ray.actor.ActorHandle:
    """Starts the actor for a run in the work folder `name`, on the node and for the time of the
    run. Refuses a second run in the same folder."""
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    actor = ray.remote(num_cpus=0)(Teller)
    try:
        return actor.options(name=name, namespace=NAMESPACE, scheduling_strategy=here).remote(state)
    except ValueError as error:
        raise Failure(REFUSED, f"{name}: another run uses this folder") from error


def runs() -> list[State]:
    """Returns the states of all runs on the cluster."""
    names = ray.util.list_named_actors(all_namespaces=True)
    names = [name["name"] for name in names if name["namespace"] == NAMESPACE]
    actors = [ray.get_actor(name, namespace=NAMESPACE) for name in names]
    return ray.get([actor.tell.remote() for actor in actors])


def as_json(state: State) -> dict[str, object]:
    """Returns a state with its rates, for JSON."""
    return {
        **asdict(state),
        "bytes_per_second": state.bytes_per_second,
        "labels_per_second": state.labels_per_second,
    }
