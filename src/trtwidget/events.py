"""The event records and their JSON Lines form.

One event a line, written as it happens; ``t`` is seconds since the build started::

    {"t": 0.0012, "event": "phase_start", "phase": "Building engine", "parent": null, "num_steps": 6}

The same lines go to files, through a child process's pipe and to whoever else listens. Readers
ignore fields and events that they do not know, and a torn last line is not an error.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Union, get_args, get_type_hints

Severity = Literal["internal_error", "error", "warning", "info", "verbose"]
Outcome = Literal["built", "stopped", "failed"]


@dataclass(slots=True)
class BuildStarted:
    """The build left the queue: parsing and building begin, and ``t`` is 0."""

    event: ClassVar[str] = "build_started"
    t: float
    build: str = ""
    model: str = ""
    backend: str = ""


@dataclass(slots=True)
class PhaseStart:
    """TensorRT opened a phase of `num_steps` steps under `parent` (None: at the root)."""

    event: ClassVar[str] = "phase_start"
    t: float
    phase: str
    parent: str | None
    num_steps: int
    #: Which of the builder's threads called, numbered from 0 in order of appearance.
    thread: int = 0


@dataclass(slots=True)
class StepComplete:
    """TensorRT finished step `step`, counted from 0, of an open phase."""

    event: ClassVar[str] = "step_complete"
    t: float
    phase: str
    step: int
    thread: int = 0


@dataclass(slots=True)
class PhaseFinish:
    """TensorRT closed a phase, perhaps short of its `num_steps`: that is success."""

    event: ClassVar[str] = "phase_finish"
    t: float
    phase: str
    thread: int = 0


@dataclass(slots=True)
class Log:
    """A message of TensorRT's logger, or of trtwidget itself."""

    event: ClassVar[str] = "log"
    t: float
    severity: Severity
    text: str
    source: str = "tensorrt"


@dataclass(slots=True)
class Backend:
    """Which TensorRT builds, known once it is imported."""

    event: ClassVar[str] = "backend"
    t: float
    backend: str


@dataclass(slots=True)
class StopRequested:
    """Somebody asked the build to stop; the first reason is the one that counts."""

    event: ClassVar[str] = "stop_requested"
    t: float
    reason: str


@dataclass(slots=True)
class BuildFinished:
    """The build came to its end."""

    event: ClassVar[str] = "build_finished"
    t: float
    outcome: Outcome
    engine: str | None = None
    bytes: int | None = None
    message: str = ""
    hint: str = ""
    #: A stop was asked for but the engine came out whole before TensorRT listened.
    too_late: bool = False


Event = Union[  # noqa: UP007 - get_args needs the Union at run time on Python 3.10
    BuildStarted,
    PhaseStart,
    StepComplete,
    PhaseFinish,
    Log,
    Backend,
    StopRequested,
    BuildFinished,
]

_ALWAYS = {"t", "parent"}  # written even when they hold their default
_CLASSES: dict[str, Callable[..., Event]] = {cls.event: cls for cls in get_args(Event)}
_FIELDS = {cls.event: [(f.name, f.default) for f in fields(cls)] for cls in get_args(Event)}
#: What JSON can write but some readers take for the end of a line or cannot encode.
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def _values(hint: Any) -> tuple[tuple[type, ...], tuple[str, ...]]:
    """Give the types that a field's annotation allows and, for a Literal, the words."""
    if hint is float:
        return (float, int), ()
    if isinstance(hint, type):
        return (hint,), ()
    args = get_args(hint)
    if all(isinstance(arg, type) for arg in args):
        return args, ()
    return (str,), args


_VALUES = {
    cls.event: {name: _values(hint) for name, hint in get_type_hints(cls).items()}
    for cls in get_args(Event)
}


def to_dict(event: Event) -> dict[str, Any]:
    """Give the event as a plain dictionary, without the optional fields it does not use."""
    record: dict[str, Any] = {"t": round(event.t, 6), "event": event.event}
    for name, default in _FIELDS[event.event]:
        value = getattr(event, name)
        if name != "t" and (value != default or name in _ALWAYS):
            record[name] = value
    return record


def to_line(event: Event) -> str:
    """Give the event as one line of JSON, with its line feed."""
    line = json.dumps(to_dict(event), ensure_ascii=False)
    if not line.isascii():
        line = _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", line)
    return line + "\n"


def from_dict(record: dict[str, Any]) -> Event | None:
    """Make an event of a dictionary.

    Returns
    -------
    Event or None
        None for an event of a kind this version does not know.

    Raises
    ------
    ValueError
        A field that the event cannot do without is missing, or one holds what it cannot hold.

    """
    kind = record.get("event")
    if not isinstance(kind, str) or kind not in _CLASSES:
        return None
    known = {name: record[name] for name, _ in _FIELDS[kind] if name in record}
    known.setdefault("t", 0.0)  # some records carry no times
    for name, value in known.items():
        types, words = _VALUES[kind][name]
        if not isinstance(value, types) or (words and value not in words):
            raise ValueError(f"{name} of a {kind} event cannot be {_short(value)}.")
    if not abs(known["t"]) <= sys.float_info.max:  # nor infinity, nor NaN
        raise ValueError(f"t of a {kind} event cannot be {_short(known['t'])}.")
    try:
        return _CLASSES[kind](**known)
    except TypeError as error:
        raise ValueError(f"A field is missing in this {kind} event: {_short(record)}.") from error


def from_line(line: str | bytes) -> Event | None:
    """Make an event of one line of JSON.

    Returns
    -------
    Event or None
        None for an event of a kind this version does not know.

    Raises
    ------
    ValueError
        The line is not a JSON object, or one that `from_dict` refuses.

    """
    try:
        record = json.loads(line)
    except RecursionError as error:
        raise ValueError(f"This is nested too deeply for an event: {_short(line)}.") from error
    if not isinstance(record, dict):
        raise ValueError(f"An event is a JSON object, not {_short(line)}.")  # noqa: TRY004 - one error for a bad line
    return from_dict(record)


def read_events(lines: Iterable[str | bytes]) -> Iterator[Event]:
    """Read a record line by line; a torn last line ends it quietly.

    Give the lines of a file opened in binary where the last may be torn in mid-character.

    Raises
    ------
    ValueError
        A line other than the last is not an event.

    """
    bad: ValueError | None = None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if bad is not None:
            raise bad
        try:
            event = from_line(line)
        except ValueError as error:
            bad = ValueError(f"Line {number} of the record is not an event. {error}")
            bad.__cause__ = error
            continue
        if event is not None:
            yield event


def _short(value: object, most: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}…"
