"""The made-up record has what makes a real one hard."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from itertools import islice, pairwise
from pathlib import Path

import pytest
from tests.records import generate
from tests.records.generate import gpu_shaped_events

from trtwidget.events import from_dict, read_events, to_dict

ROOT = Path(__file__).parents[2]
CALLBACKS = 6_439


@pytest.fixture(scope="module")
def events():
    return list(gpu_shaped_events())


@pytest.fixture(scope="module")
def callbacks(events):
    return events[1:-1]


def walk(callbacks):
    """Yield each callback with the phases open before it; an open name is an open phase here."""
    opened = []
    for callback in callbacks:
        yield callback, list(opened)
        if callback["event"] == "phase_start":
            opened.append(callback["phase"])
        elif callback["event"] == "phase_finish":
            opened.remove(callback["phase"])
    assert opened == []


def parents(callbacks):
    """Map each name to how often it starts under which parent."""
    found = {}
    for callback in callbacks:
        if callback["event"] == "phase_start":
            found.setdefault(callback["phase"], Counter())[callback["parent"]] += 1
    return found


def runs(callbacks):
    """Yield the name, the number of steps announced and the steps reported of each run."""
    opened = {}
    for callback in callbacks:
        name = callback["phase"]
        if callback["event"] == "phase_start":
            opened[name] = (callback["num_steps"], [])
        elif callback["event"] == "step_complete":
            opened[name][1].append(callback["step"])
        else:
            yield (name, *opened.pop(name))


def test_is_one_whole_build(events, callbacks):
    assert events[0]["event"] == "build_started"
    assert events[-1]["event"] == "build_finished"
    assert len(callbacks) == CALLBACKS
    assert all(to_dict(from_dict(event)) == event for event in events)


def test_times_go_on_unevenly(events):
    times = [event["t"] for event in events]
    gaps = sorted(later - earlier for earlier, later in pairwise(times))
    assert times[0] == 0
    assert gaps[0] >= 0
    assert 5 < times[-1] < 60
    assert gaps[-1] > 100 * gaps[len(gaps) // 2]  # most callbacks are quick, a few are not


def test_is_eight_levels_deep(callbacks):
    path = max((opened for _, opened in walk(callbacks)), key=len)
    assert len(path) == 8
    assert len(set(path)) == 8


def test_one_name_starts_a_thousand_times_and_others_under_two_parents(callbacks):
    found = parents(callbacks)
    assert found["Measuring tactic time"].total() == 1_107
    assert found["Evaluating tactic times"] == {
        "Timing graph nodes": 14,
        "Computing reformatting costs": 15,
    }


def test_phases_finish_short_and_steps_are_left_out(callbacks):
    every = list(runs(callbacks))
    short = {
        (name, total, max(steps) + 1) for name, total, steps in every if max(steps) + 1 < total
    }
    assert short == {
        ("Building engine", 6, 5),
        ("Optimizing graph", 33, 29),
        ("Timing tactics", 3, 2),
    }
    gaps = [(name, steps) for name, _, steps in every if any(b - a > 1 for a, b in pairwise(steps))]
    assert gaps == [("Computing reformatting costs", [0, 1, 2, 3, 6, 7, 8])] * 2


def test_parent_steps_while_its_child_is_open(callbacks):
    stepped = [
        (callback["phase"], opened[-1])
        for callback, opened in walk(callbacks)
        if callback["event"] == "step_complete" and opened[-1] != callback["phase"]
    ]
    assert stepped == [("Computing profile costs", "Determining refit engines")] * 4


def test_seed_moves_the_times_alone(events):
    assert list(gpu_shaped_events()) == events
    other = list(gpu_shaped_events(seed=1))
    assert other != events
    assert [{**event, "t": 0} for event in other] == [{**event, "t": 0} for event in events]


def test_any_length_is_one_build(callbacks):
    long = list(gpu_shaped_events(repeat=3))[1:-1]
    assert len(long) == CALLBACKS + 2 * 6_358
    assert parents(long)["Building engine"] == {None: 1}
    (costs,) = [
        (total, steps) for name, total, steps in runs(long) if name.endswith("profile costs")
    ]
    assert costs == (30, list(range(30)))


def test_a_million_events_need_no_memory():
    endless = gpu_shaped_events(repeat=10**9)
    assert len(list(islice(endless, 10_000))) == 10_000


def test_command_prints_json_lines(events):
    command = [sys.executable, generate.__file__]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [to_dict(event) for event in read_events(run.stdout.splitlines())] == events


def test_callbacks_are_those_of_the_recorded_build(callbacks):
    folder = Path(os.environ.get("TRTWIDGET_TRACES", ROOT / "../shared/traces"))
    trace = folder / "tensorrt-10.16-gpu-mnist.jsonl"
    if not trace.is_file():
        pytest.skip(f"the recorded GPU build is not there: {trace}")
    recorded = [json.loads(line) for line in trace.read_text().splitlines()]
    assert [{k: v for k, v in c.items() if k != "t"} for c in callbacks] == recorded
