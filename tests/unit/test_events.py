"""The event records: what is written is read back, and what is foreign does no harm."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trtwidget.events import (
    Backend,
    BuildFinished,
    BuildStarted,
    Event,
    Log,
    Outcome,
    PhaseFinish,
    PhaseStart,
    Severity,
    StepComplete,
    StopRequested,
    from_dict,
    from_line,
    read_events,
    to_dict,
    to_line,
)

# The lines of the format's description, each with the event that it is.
DESCRIBED = [
    (
        '{"t": 0.0, "event": "build_started", "build": "resnet50-1", "model": "resnet50.onnx", "backend": "tensorrt_rtx 1.7.1.116"}',
        BuildStarted(0.0, "resnet50-1", "resnet50.onnx", "tensorrt_rtx 1.7.1.116"),
    ),
    (
        '{"t": 0.0012, "event": "phase_start", "phase": "Building engine", "parent": null, "num_steps": 6}',
        PhaseStart(0.0012, "Building engine", None, 6),
    ),
    (
        '{"t": 0.0031, "event": "step_complete", "phase": "Cloning network graph", "step": 0}',
        StepComplete(0.0031, "Cloning network graph", 0),
    ),
    (
        '{"t": 0.9001, "event": "phase_finish", "phase": "Building engine"}',
        PhaseFinish(0.9001, "Building engine"),
    ),
    (
        '{"t": 0.5, "event": "log", "severity": "warning", "text": "…"}',
        Log(0.5, "warning", "…"),
    ),
    (
        '{"t": 0.7, "event": "stop_requested", "reason": "Stop button"}',
        StopRequested(0.7, "Stop button"),
    ),
    (
        '{"t": 0.91, "event": "build_finished", "outcome": "built", "engine": "resnet50.plan", "bytes": 102534348}',
        BuildFinished(0.91, "built", "resnet50.plan", 102534348),
    ),
]
LINES = [line for line, _ in DESCRIBED]
EVENTS = [event for _, event in DESCRIBED]

# Every kind of event with anything in its fields. Times are written to the microsecond.
TIMES = st.floats(0, 1e6).map(lambda t: round(t, 6))
TEXTS = st.text() | st.sampled_from(["a\u2028b\u2029c", "a\x85b\x0b\x0c\x1c\r\nc", '"\\'])
COUNTS = st.integers(-(2**31), 2**31 - 1)
VALUES = {
    "float": TIMES,
    "str": TEXTS,
    "int": COUNTS,
    "bool": st.booleans(),
    "str | None": st.none() | TEXTS,
    "int | None": st.none() | st.integers(0, 2**40),
    "Severity": st.sampled_from(get_args(Severity)),
    "Outcome": st.sampled_from(get_args(Outcome)),
}
ANY_EVENT = st.one_of(
    st.builds(kind, **{field.name: VALUES[field.type] for field in fields(kind)})
    for kind in get_args(Event)
)


@pytest.mark.parametrize(("line", "event"), DESCRIBED, ids=[event.event for event in EVENTS])
def test_described_lines(line, event):
    assert from_line(line) == event
    assert to_line(event) == line + "\n"


@given(event=ANY_EVENT)
@example(event=Log(0.0, "error", "\ud800 and \udfff: half a character each"))
@example(event=Backend(0.0, "tensorrt 10.16"))
def test_round_trip(event):
    line = to_line(event)
    assert from_line(line) == event
    assert from_line(line.encode()) == event
    assert from_dict(to_dict(event)) == event


@given(event=ANY_EVENT)
@example(event=Log(0.0, "error", "\ud800"))
def test_an_event_is_one_line_whoever_splits(event):
    line = to_line(event)
    assert line.splitlines() == [line[:-1]]
    assert len(line.encode().splitlines()) == 1


@given(events=st.lists(ANY_EVENT, max_size=8))
def test_record_round_trip(events):
    text = "".join(map(to_line, events))
    assert list(read_events(text.splitlines())) == events
    assert list(read_events(text.encode().splitlines(keepends=True))) == events


def test_what_is_not_used_is_not_written():
    assert to_dict(PhaseStart(1.0, "a", None, 6)) == {
        "t": 1.0,
        "event": "phase_start",
        "phase": "a",
        "parent": None,
        "num_steps": 6,
    }
    assert to_dict(BuildFinished(1.0, "stopped")) == {
        "t": 1.0,
        "event": "build_finished",
        "outcome": "stopped",
    }
    assert to_dict(StepComplete(1.0, "a", 0, thread=2))["thread"] == 2
    assert to_dict(BuildFinished(1.0, "built", too_late=True))["too_late"] is True


def test_times_are_written_to_the_microsecond():
    assert to_line(PhaseFinish(1 / 3, "a")) == (
        '{"t": 0.333333, "event": "phase_finish", "phase": "a"}\n'
    )


# -- what other versions and other writers may do -------------------------------------------------


@given(
    event=ANY_EVENT,
    foreign=st.dictionaries(
        st.text().filter(lambda name: not name.isidentifier()), st.integers() | st.lists(st.text())
    ),
)
def test_unknown_fields_are_ignored(event, foreign):
    assert from_line(json.dumps(to_dict(event) | foreign)) == event


def test_a_field_of_another_event_is_ignored():
    line = '{"t": 1, "event": "phase_finish", "phase": "a", "step": 3, "severity": "x"}'
    assert from_line(line) == PhaseFinish(1, "a")


@pytest.mark.parametrize(
    "line",
    [
        '{"t": 0.1, "event": "gpu_temperature", "celsius": 61}',
        '{"t": 0.1, "event": ["phase_start"]}',
        '{"t": 0.1, "event": null}',
        '{"t": 0.1}',
        "{}",
    ],
)
def test_unknown_events_are_ignored(line):
    assert from_line(line) is None
    assert list(read_events([LINES[0], line, LINES[1]])) == EVENTS[:2]


def test_a_record_without_times():
    line = '{"event": "phase_start", "phase": "a", "parent": null, "num_steps": 6}'
    assert from_line(line) == PhaseStart(0.0, "a", None, 6)


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ("", "Expecting value"),
        ("{", "Expecting property name"),
        ("[1, 2]", r"JSON object, not '\[1, 2\]'"),
        ("17", "JSON object, not '17'"),
        ('{"event": "phase_start", "phase": "a"}', "field is missing in this phase_start event"),
        ('{"event": "step_complete", "phase": 3, "step": 1}', "phase of a step_complete .* be 3"),
        ('{"event": "step_complete", "phase": "a", "step": 1.5}', "step of .* cannot be 1.5"),
        ('{"event": "step_complete", "phase": "a", "step": null}', "step of .* cannot be None"),
        ('{"event": "log", "severity": "loud", "text": ""}', "severity of a log .* be 'loud'"),
        ('{"event": "build_finished", "outcome": []}', "outcome of a build_finished"),
        ('{"event": "phase_finish", "phase": "a", "t": "1"}', "t of a phase_finish event"),
        ('{"event": "phase_finish", "phase": "a", "t": NaN}', "t of .* cannot be nan"),
        ('{"event": "phase_finish", "phase": "a", "t": 1e999}', "t of .* cannot be inf"),
        ('{"event": "phase_finish", "phase": "a", "t": 1' + "0" * 400 + "}", "t of .* be 1000"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_bad_lines(line, match):
    with pytest.raises(ValueError, match=match) as caught:
        from_line(line)
    assert len(str(caught.value)) < 200


@given(st.text() | st.binary())
def test_any_line_is_an_event_or_nothing_or_a_value_error(line):
    try:
        event = from_line(line)
    except ValueError:
        return
    assert event is None or isinstance(event, get_args(Event))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(event=ANY_EVENT, data=st.data())
def test_any_value_in_any_field_is_read_or_a_value_error(event, data):
    record = to_dict(event)
    record[data.draw(st.sampled_from(sorted(record)))] = data.draw(JSON)
    try:
        read = from_dict(record)
    except ValueError:
        return
    # What is read holds what its fields say, so it can be written again.
    assert read is None or from_line(to_line(read)) == from_dict(to_dict(read))


# -- records that were cut off or damaged ---------------------------------------------------------


@given(event=ANY_EVENT, data=st.data())
@example(event=Log(0.5, "warning", "…"), data=None)
def test_a_torn_last_line_ends_the_record(event, data):
    """Wherever it is torn, in mid-character too."""
    whole = to_line(event).encode()
    cuts = range(len(whole) - 1) if data is None else [data.draw(st.integers(0, len(whole) - 2))]
    for cut in cuts:
        lines = [*LINES, whole[:cut]]
        assert list(read_events(lines)) == EVENTS


def test_blank_lines_are_no_lines():
    lines = ["\n", *LINES, "  \n", '{"t": 0.1, "event": "phase_fin', "\n", ""]
    assert list(read_events(lines)) == EVENTS


def test_nothing_is_a_record():
    assert list(read_events([])) == []


@pytest.mark.parametrize("bad", ["{", "[]", '{"event": "log"}', b"\xff\xfe\xff", "\0\0\0"])
def test_a_bad_line_in_the_middle_is_an_error(bad):
    reading = read_events([LINES[0], bad, LINES[1]])
    assert next(reading) == EVENTS[0]
    with pytest.raises(ValueError, match=r"^Line 2 of the record is not an event\. "):
        next(reading)


def test_a_damaged_tail_is_torn_too():
    """What is left of the last block after a power cut."""
    assert list(read_events([LINES[0].encode(), b"\0" * 512])) == EVENTS[:1]


def test_reads_as_it_comes():
    """A follower sees each event before the next line is there."""
    arrived = []

    def lines():
        for line in LINES:
            arrived.append(line)
            yield line

    for number, event in enumerate(read_events(lines())):
        assert event == EVENTS[number]
        assert len(arrived) == number + 1
