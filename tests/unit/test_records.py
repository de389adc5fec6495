"""The records of real TensorRT-RTX builds that tests and benchmarks replay."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from trtwidget.events import BuildFinished, BuildStarted, StopRequested, read_events

RECORDS = Path(__file__).parents[1] / "records"


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("rtx-resnet50.jsonl", "built"),
        ("rtx-resnet50-8-profiles.jsonl", "built"),
        ("rtx-resnet50-stopped.jsonl", "stopped"),
    ],
)
def test_record_is_one_whole_build(name, outcome):
    with (RECORDS / name).open(encoding="utf-8") as file:
        events = list(read_events(file))
    times = [event.t for event in events]
    assert times == sorted(times)
    assert isinstance(events[0], BuildStarted)
    assert isinstance(events[-1], BuildFinished)
    assert events[-1].outcome == outcome
    assert any(isinstance(event, StopRequested) for event in events) == (outcome == "stopped")
    kinds = Counter(event.event for event in events)
    assert kinds["phase_start"] == kinds["phase_finish"] > 10
    assert kinds["step_complete"] > 200


def test_each_further_profile_is_one_more_compile():
    def compiles(name):
        with (RECORDS / name).open(encoding="utf-8") as file:
            return sum(
                event.event == "phase_start" and event.phase == "Determining refit engines"
                for event in read_events(file)
            )

    once = compiles("rtx-resnet50.jsonl")
    assert compiles("rtx-resnet50-8-profiles.jsonl") == 8 * once
