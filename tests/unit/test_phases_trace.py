"""Recorded builds, replayed: after each event the tree shows what the oracle works out."""

from __future__ import annotations

import os
import runpy
from pathlib import Path

import pytest
from oracle import Oracle, check, tell

from trtwidget.events import PhaseFinish, PhaseStart, StepComplete, from_dict, read_events
from trtwidget.phases import PhaseTree

CHECKOUT = Path(__file__).resolve().parents[2]
RECORDS = CHECKOUT / "tests" / "records"
TRACES = Path(os.environ.get("TRTWIDGET_TRACES", CHECKOUT.parent / "shared" / "traces"))
GPU = TRACES / "tensorrt-10.16-gpu-mnist.jsonl"
CALLBACKS = (PhaseStart, StepComplete, PhaseFinish)


def callbacks(path):
    if not path.is_file():
        pytest.skip(f"{path.name} is not in {path.parent}: set TRTWIDGET_TRACES to its folder")
    with path.open("rb") as lines:
        return [event for event in read_events(lines) if isinstance(event, CALLBACKS)]


def replay(events):
    """Check after each event; quarters of a second add up without rounding, in any order."""
    tree, oracle = PhaseTree(), Oracle()
    for number, event in enumerate(events):
        event.t = number / 4
        tell(tree, event)
        tell(oracle, event)
        check(tree, oracle, now=event.t + 0.25)
    assert tree.spans(t=event.t) == oracle.spans(event.t)
    return tree


def test_gpu_trace():
    events = callbacks(GPU)
    assert len(events) == 6_439
    tree = replay(events)
    rows = tree.snapshot().rows
    assert max(row.depth for row in rows) == 7
    assert len(rows) < 30
    assert not any(row.running for row in rows)
    engine = rows[0]
    # Five of six, and a success: phases finish short.
    assert (engine.name, engine.done, engine.num_steps, engine.runs) == ("Building engine", 5, 6, 1)


def test_gpu_trace_counts_each_run_once():
    events = callbacks(GPU)
    tree = PhaseTree()
    for number, event in enumerate(events):
        event.t = number / 4
        tell(tree, event)
    rows = tree.snapshot().rows
    starts = [event.phase for event in events if isinstance(event, PhaseStart)]
    assert sum(row.runs for row in rows) == len(starts) == len(tree.spans())
    # One name under two parents is two rows.
    names = [row.name for row in rows]
    assert any(names.count(name) == 2 for name in names)


@pytest.mark.parametrize("path", sorted(RECORDS.glob("*.jsonl")), ids=lambda path: path.stem)
def test_own_records(path):
    events = callbacks(path)
    assert events
    replay(events)


def test_generated_record():
    generate = runpy.run_path(str(RECORDS / "generate.py"))["gpu_shaped_events"]
    events = [from_dict(record) for record in generate()]
    replay([event for event in events if isinstance(event, CALLBACKS)])
