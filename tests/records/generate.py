"""Events as a long GPU build gives them, made up on the spot, as many as wanted.

The order of the callbacks is that of a real build by TensorRT 10.16 on a GPU, from a log that
NVIDIA publishes in its TensorRT Cookbook: eight levels deep, one phase name started over a thousand
times under two parents, phases that finish short, steps left out, a parent that steps while its
child is open. The log has no times: those here are drawn at random, the same for the same seed.

``python tests/records/generate.py --repeat 158`` prints a million of them.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from typing import Any

# The tactics to evaluate before each step of "Timing graph nodes", which has 12. The first round
# measures them; in the second nearly everything is known.
NODES: tuple[dict[int, tuple[int, ...]], ...] = (
    {1: (28, 33, 32, 153), 3: (18, 5), 5: (28, 33, 15, 153), 7: (18, 5), 9: (1,)},
    {9: (1,)},
)
# The "Computing reformatting costs" before each step of "Timing tensor reformats", also of 12: how
# many steps they have, and after which of them tactics are evaluated in the first round.
REFORMATS: dict[int, tuple[int, set[int]]] = {
    0: (3, {0, 1}),
    2: (6, {0, 1, 2, 3}),
    4: (9, {0, 1, 3, 6}),
    6: (6, {0, 1, 2, 3}),
    8: (2, {0}),
    10: (1, set()),
    11: (1, set()),
}
NOT_REPORTED = {9: {4, 5}}  # the steps that "Computing reformatting costs" of nine leaves out
ROUNDS_STEPS = 5  # steps of "Computing profile costs" in each round

# The median seconds before a callback of each phase; what is not named takes QUICK.
QUICK = 0.000_05
PACE = {
    "Cloning network graph": 0.000_2,
    "Optimizing graph": 0.003,
    "Measuring tactic time": 0.001,
    "Determining refit engines": 0.15,
}

Events = Iterator[dict[str, Any]]


class _Clock:
    """A time that moves on by itself, as unevenly as in a real build."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._now = 0.0

    def after(self, phase: str) -> float:
        self._now += PACE.get(phase, QUICK) * self._random.lognormvariate(0, 0.7)
        return round(self._now, 6)


def gpu_shaped_events(repeat: int = 1, seed: int = 0) -> Events:
    """Yield the events of one build, as the dictionaries of its JSON Lines.

    By default 6,439 callbacks between ``build_started`` and ``build_finished``. Each further
    `repeat` adds another two rounds of tactics, 6,358 callbacks, to the same build, as further
    optimization profiles do. Nothing is kept: take as many as you like.
    """
    build = _Build(seed)
    yield {
        "t": 0.0,
        "event": "build_started",
        "build": "generated-1",
        "model": "generated.onnx",
        "backend": "tensorrt 10.16",
    }
    yield from build.engine(repeat)
    yield {
        "t": build.clock.after("the end"),
        "event": "build_finished",
        "outcome": "built",
        "engine": "generated.plan",
        "bytes": 1_000_000,
    }


class _Build:
    """The phases, each as a generator of its events."""

    def __init__(self, seed: int) -> None:
        self.clock = _Clock(seed)

    def start(self, phase: str, parent: str | None, num_steps: int) -> dict[str, Any]:
        return {
            "t": self.clock.after(phase),
            "event": "phase_start",
            "phase": phase,
            "parent": parent,
            "num_steps": num_steps,
        }

    def step(self, phase: str, step: int) -> dict[str, Any]:
        return {
            "t": self.clock.after(phase),
            "event": "step_complete",
            "phase": phase,
            "step": step,
        }

    def finish(self, phase: str) -> dict[str, Any]:
        return {"t": self.clock.after(phase), "event": "phase_finish", "phase": phase}

    def plain(self, phase: str, parent: str, num_steps: int, *, short: int = 0) -> Events:
        """A phase without children, finished `short` steps before its end."""
        yield self.start(phase, parent, num_steps)
        for step in range(num_steps - short):
            yield self.step(phase, step)
        yield self.finish(phase)

    def engine(self, repeat: int) -> Events:
        name = "Building engine"
        yield self.start(name, None, 6)
        yield from self.plain("Cloning network graph", name, 30)
        yield self.step(name, 0)
        yield self.step(name, 1)
        yield from self.plain("Preparing graph for optimization", name, 4)
        yield self.step(name, 2)
        yield self.step(name, 3)
        subgraph = "Building engine from subgraph"
        yield self.start(subgraph, name, 1)
        yield from self.plain("Optimizing graph", subgraph, 33, short=4)
        yield from self.profile_costs(subgraph, repeat)
        yield self.step(subgraph, 0)
        yield self.finish(subgraph)
        yield self.step(name, 4)
        yield self.finish(name)

    def profile_costs(self, parent: str, repeat: int) -> Events:
        name, refit = "Computing profile costs", "Determining refit engines"
        rounds = 2 * repeat
        yield self.start(name, parent, ROUNDS_STEPS * rounds)
        for number in range(rounds):
            first = ROUNDS_STEPS * number
            yield from self.tactics(name, nodes=NODES[number % 2], measures=number % 2 == 0)
            yield from (self.step(name, first + i) for i in range(3))
            yield self.start(refit, name, 5)
            yield from (self.step(refit, i) for i in range(5))
            # The parent moves on before its child is closed.
            yield from (self.step(name, first + i) for i in range(3, ROUNDS_STEPS))
            yield self.finish(refit)
        yield self.finish(name)

    def tactics(self, parent: str, *, nodes: dict[int, tuple[int, ...]], measures: bool) -> Events:
        name, graph_nodes, reformats = (
            "Timing tactics",
            "Timing graph nodes",
            "Timing tensor reformats",
        )
        yield self.start(name, parent, 3)  # of which the last is never reported
        yield self.start(graph_nodes, name, 12)
        for step in range(12):
            for tactics in nodes.get(step, ()):
                yield from self.evaluate(graph_nodes, tactics)
            yield self.step(graph_nodes, step)
        yield self.finish(graph_nodes)
        yield self.step(name, 0)
        yield self.start(reformats, name, 12)
        for step in range(12):
            if step in REFORMATS:
                yield from self.reformat(reformats, *REFORMATS[step], measures=measures)
            yield self.step(reformats, step)
        yield self.finish(reformats)
        yield self.step(name, 1)
        yield self.finish(name)

    def reformat(
        self, parent: str, num_steps: int, evaluated: set[int], *, measures: bool
    ) -> Events:
        name = "Computing reformatting costs"
        yield self.start(name, parent, num_steps)
        for step in range(num_steps):
            if step in NOT_REPORTED.get(num_steps, ()):
                continue
            yield self.step(name, step)
            if measures and step in evaluated:
                yield from self.evaluate(name, 3)
        yield self.finish(name)

    def evaluate(self, parent: str, tactics: int) -> Events:
        name, measuring = "Evaluating tactic times", "Measuring tactic time"
        yield self.start(name, parent, tactics)
        for tactic in range(tactics):
            if tactic > 0:
                yield from self.plain(measuring, name, 2)
            yield from self.plain(measuring, name, 4)
            yield self.step(name, tactic)
        yield self.finish(name)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=1, help="how long (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the times (default %(default)s)")
    arguments = parser.parse_args()
    for event in gpu_shaped_events(arguments.repeat, arguments.seed):
        sys.stdout.write(json.dumps(event) + "\n")


if __name__ == "__main__":
    main()
