"""PhaseTree: what TensorRT says of its phases, folded into the few rows a person reads.

Instances, never names, are the identity: within one build the same phase name is started over a
thousand times, under several parents. Runs with the same name under the same row fold into one
row, which counts them and sums their time, so that the tree stays some twenty rows however long
the build. Anything the callbacks may say is legal here, and nothing raises.
"""

from __future__ import annotations

import threading
import time
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

#: Rows beyond this many share one row under their parent. Real builds have some twenty; TensorRT
#: 8.7 wrote layer names into phase names, and a large model then has thousands.
MAX_ROWS = 1_000
#: Runs open at once beyond this many end the oldest. Real builds have eight.
MAX_OPEN = 1_000
#: Spans kept for the timeline (20 bytes each); later ones are only counted.
MAX_SPANS = 500_000
#: TensorRT counts steps in a C++ int32; a record may claim anything.
MAX_STEPS = 2**31 - 1
#: The name of the row that takes the phases beyond `MAX_ROWS`.
OVERFLOW = "(more phases)"
#: The whole build's share of steps never claims the end; only an engine does.
ALMOST = 0.99


@dataclass(frozen=True, slots=True)
class Row:
    """One place in the tree as drawn.

    Attributes
    ----------
    id : int
        Stable for the life of the build.
    parent : int or None
        The id of the row above, None at the root.
    depth : int
        0 at the root.
    name : str
        The phase's name.
    done, num_steps : int
        Steps of the current run, or of the last one when none is open.
    runs : int
        Finished runs.
    running : bool
        Whether a run is open.
    seconds, run_seconds : float
        Time in all runs and in the current (or last) one.

    """

    id: int
    parent: int | None
    depth: int
    name: str
    done: int
    num_steps: int
    runs: int
    running: bool
    seconds: float
    run_seconds: float


@dataclass(frozen=True, slots=True)
class TreeSnapshot:
    """The tree at one moment.

    Attributes
    ----------
    version : int
        Moves with every callback.
    rows : tuple of Row
        In drawing order: each row before those below it.
    steps_fraction : float or None
        The share of steps done, weighting nested phases; it never goes backwards and never
        reaches 1. Steps say little about time. None before the first phase.
    last_callback : float or None
        The clock's time of the latest callback.
    current : str
        The phase opened last of those still open; empty when none is.

    """

    version: int
    rows: tuple[Row, ...]
    steps_fraction: float | None
    last_callback: float | None
    current: str


class Span(NamedTuple):
    """One run of a phase.

    `row` is the row's id, `start` and `end` are the clock's seconds.
    """

    row: int
    start: float
    end: float


class _Row:
    """A row's running state."""

    __slots__ = (
        "children",
        "depth",
        "done",
        "id",
        "last",
        "name",
        "num_steps",
        "open",
        "parent",
        "runs",
        "seconds",
    )

    def __init__(self, id_: int, parent: _Row | None, name: str) -> None:
        self.id = id_
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.name = name
        self.children: dict[str, _Row] = {}
        self.open: list[_Run] = []
        self.runs = 0
        self.seconds = 0.0  # in finished runs
        self.last = 0.0  # the last finished run alone
        self.done = 0  # of the last finished run
        self.num_steps = 0


@dataclass(slots=True, eq=False)
class _Run:
    """A run of a phase that is still open."""

    name: str
    thread: int
    row: _Row
    parent: _Run | None
    num_steps: int
    start: float
    done: int = 0


class PhaseTree:
    """Events in, rows and spans out.

    Parameters
    ----------
    clock : callable, default time.monotonic
        Where the time comes from when a caller gives none.

    Notes
    -----
    Safe to use from any number of threads. Memory is bounded whatever is called: see
    `MAX_ROWS`, `MAX_OPEN` and `MAX_SPANS`.

    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._version = 0
        self._roots: dict[str, _Row] = {}
        self._row_count = 0
        self._runs: dict[_Run, None] = {}  # the open runs, oldest first
        self._by_name: dict[str, list[_Run]] = {}  # the same runs, oldest first
        self._fraction: float | None = None
        self._last: float | None = None
        self._span_rows = array("i")
        self._span_starts = array("d")
        self._span_ends = array("d")
        self._spans_dropped = 0

    # -- what TensorRT says ------------------------------------------------------------------

    def phase_start(
        self,
        phase: str,
        parent: str | None,
        num_steps: int,
        *,
        t: float | None = None,
        thread: int = 0,
    ) -> None:
        """Open a run of `phase`; an unknown `parent` puts it at the root."""
        with self._lock:
            t = self._touch(t)
            above = None if parent is None else self._find(parent, thread)
            row = self._row(phase, above.row if above else None)
            num_steps = min(max(num_steps, 0), MAX_STEPS)
            run = _Run(phase, thread, row, above, num_steps, t)
            row.open.append(run)
            self._runs[run] = None
            self._by_name.setdefault(phase, []).append(run)
            if len(self._runs) > MAX_OPEN:
                self._finish(next(iter(self._runs)), t)

    def step_complete(
        self, phase: str, step: int, *, t: float | None = None, thread: int = 0
    ) -> None:
        """Count step `step`, from 0, of the open run of `phase`; ignore it when none is open."""
        with self._lock:
            self._touch(t)
            run = self._find(phase, thread)
            # Steps of one phase may come from several threads, and so out of order.
            if run is not None and step >= run.done:
                run.done = min(step + 1, run.num_steps)

    def phase_finish(self, phase: str, *, t: float | None = None, thread: int = 0) -> None:
        """Close the open run of `phase`; phases still open below it go on."""
        with self._lock:
            t = self._touch(t)
            run = self._find(phase, thread)
            if run is not None:
                self._finish(run, t)

    def close(self, *, t: float | None = None) -> None:
        """End every run that is still open: the build is over."""
        with self._lock:
            t = self._now(t)
            self._version += 1
            for run in reversed(list(self._runs)):
                self._finish(run, t)

    # -- what people read --------------------------------------------------------------------

    @property
    def version(self) -> int:
        """A number that moves with every callback."""
        return self._version

    @property
    def open_runs(self) -> int:
        """How many runs are open."""
        return len(self._runs)

    def snapshot(self, *, t: float | None = None) -> TreeSnapshot:
        """Give the tree as it stands at time `t`."""
        with self._lock:
            t = self._now(t)
            current = next(reversed(self._runs), None)
            return TreeSnapshot(
                version=self._version,
                rows=tuple(_draw(self._roots, t)),
                steps_fraction=self._steps_fraction(),
                last_callback=self._last,
                current=current.name if current else "",
            )

    def spans(self, *, t: float | None = None) -> list[Span]:
        """Give the runs in order of their end, those still open last and ending at `t`."""
        with self._lock:
            t = self._now(t)
            ended = self._span_rows[:], self._span_starts[:], self._span_ends[:]
            running = [Span(run.row.id, run.start, t) for run in self._runs]
        # Half a million spans take a while to make: no callback may wait for that.
        return [*map(Span, *ended), *running]

    @property
    def spans_dropped(self) -> int:
        """How many runs came after `MAX_SPANS` and are in the rows but not in the spans."""
        return self._spans_dropped

    # -- with the lock held ------------------------------------------------------------------

    def _touch(self, t: float | None) -> float:
        self._version += 1
        self._last = self._now(t)
        return self._last

    def _now(self, t: float | None) -> float:
        """Never go back: threads that take the time themselves may bring it out of order."""
        if t is None:
            t = self._clock()
        last = self._last
        return t if last is None or t > last else last

    def _find(self, name: str, thread: int) -> _Run | None:
        """Find the run opened last under this name, by this thread if it has one."""
        runs = self._by_name.get(name)
        if not runs:
            return None
        if runs[-1].thread == thread:
            return runs[-1]
        return next((run for run in reversed(runs) if run.thread == thread), runs[-1])

    def _row(self, name: str, parent: _Row | None) -> _Row:
        siblings = self._roots if parent is None else parent.children
        row = siblings.get(name)
        if row is None and self._row_count >= MAX_ROWS:
            if parent is not None and parent.name == OVERFLOW:
                return parent
            name = OVERFLOW
            row = siblings.get(name)
        if row is None:
            row = siblings[name] = _Row(self._row_count, parent, name)
            self._row_count += 1
        return row

    def _finish(self, run: _Run, t: float) -> None:
        del self._runs[run]
        named = self._by_name[run.name]
        _drop(named, run)
        if not named:
            del self._by_name[run.name]
        if run.parent is None:
            self._raise_fraction(run.done / max(run.num_steps, 1))
        run.parent = None  # or runs that outlive their parents would keep them all alive
        row = run.row
        _drop(row.open, run)
        row.runs += 1
        row.last = t - run.start
        row.seconds += row.last
        row.done = run.done
        row.num_steps = run.num_steps
        if len(self._span_rows) < MAX_SPANS:
            self._span_rows.append(row.id)
            self._span_starts.append(run.start)
            self._span_ends.append(t)
        else:
            self._spans_dropped += 1

    def _steps_fraction(self) -> float | None:
        inner: dict[_Run, float] = {}  # the share of the furthest open child
        for run in reversed(self._runs):  # children before their parents
            share = min((run.done + inner.get(run, 0.0)) / max(run.num_steps, 1), 1.0)
            if run.parent is None:
                self._raise_fraction(share)
            else:
                inner[run.parent] = max(inner.get(run.parent, 0.0), share)
        return self._fraction

    def _raise_fraction(self, share: float) -> None:
        self._fraction = max(self._fraction or 0.0, min(share, ALMOST))


def _drop(runs: list[_Run], run: _Run) -> None:
    """Remove a run; most often it is the last, and a search from the front would be long."""
    if runs[-1] is run:
        runs.pop()
    else:
        runs.remove(run)


def _draw(rows: dict[str, _Row], t: float) -> Iterator[Row]:
    """Walk the rows in drawing order; a stack, because nesting may be deeper than recursion."""
    stack = list(reversed(rows.values()))
    while stack:
        row = stack.pop()
        stack.extend(reversed(row.children.values()))
        current = row.open[-1] if row.open else None
        yield Row(
            id=row.id,
            parent=None if row.parent is None else row.parent.id,
            depth=row.depth,
            name=row.name,
            done=current.done if current else row.done,
            num_steps=current.num_steps if current else row.num_steps,
            runs=row.runs,
            running=current is not None,
            seconds=row.seconds + sum(t - run.start for run in row.open),
            run_seconds=t - current.start if current else row.last,
        )
