"""Record: everything that is known of one build, written by any thread and read by any view.

Writers append to a queue and return: no lock, no I/O, about a tenth of a microsecond. Whoever
looks folds the queue into the state first. So the builder's threads never wait for a view.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from trtwidget.events import (
    Backend,
    BuildFinished,
    BuildStarted,
    Event,
    Log,
    PhaseFinish,
    PhaseStart,
    StepComplete,
    StopRequested,
)
from trtwidget.phases import PhaseTree, Row, TreeSnapshot

Status = Literal["queued", "building", "stopping", "built", "stopped", "failed"]
ENDS: frozenset[Status] = frozenset({"built", "stopped", "failed"})

#: What the monitor writes in place of an event's class: a tuple of plain values alone is
#: nothing to the garbage collector, which would otherwise run inside the callbacks.
START, STEP, FINISH = 0, 1, 2
_KINDS: tuple[Callable[..., Event], ...] = (PhaseStart, StepComplete, PhaseFinish)

#: A writer folds by itself when nobody has looked for this many events.
FOLD_AT = 4_096
#: How many distinct warnings, and how many of TensorRT's last messages, are kept.
MAX_WARNINGS = 20
MAX_MESSAGES = 200
#: TensorRT says this of every second logger in a process; it asks nothing of the user.
_NOISE = "The logger passed into create"


@dataclass(frozen=True, slots=True)
class Estimate:
    """How far the build is and how long it may still take, as far as there is ground to say.

    Attributes
    ----------
    fraction : float or None
        The whole build's share of time, 0 to 1; None without ground.
    remaining : tuple of float or None
        The range in which the remaining seconds lie; None without ground.
    text : str
        What the estimate stands on.
    usual_quiet : float or None
        For how many seconds the present row has been without a step at most, in builds before.

    """

    fraction: float | None = None
    remaining: tuple[float, float] | None = None
    text: str = ""
    usual_quiet: float | None = None


class Estimator(Protocol):
    """What turns a tree and the time since the start into an `Estimate`."""

    def __call__(self, tree: TreeSnapshot, elapsed: float) -> Estimate:
        """Estimate at `elapsed` seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildSnapshot:
    """One build at one moment: all that a view needs.

    Attributes
    ----------
    name, model, backend : str
        What is built, of which model, by which TensorRT.
    status : {"queued", "building", "stopping", "built", "stopped", "failed"}
        Where it stands.
    rows : tuple of Row
        The tree, in drawing order.
    elapsed : float
        Seconds since the build started; its whole length once it has ended.
    fraction, remaining, estimate, usual_quiet
        See `Estimate`; `fraction` is 1 only when the engine exists.
    idle_for : float
        Seconds since TensorRT called last.
    idle_in : str
        The phase it is in.
    message, hint : str
        What went wrong or is being waited for, and what to do about it.
    stop_reason : str or None
        Who asked to stop.
    too_late : bool
        A stop was asked for, but the engine came out whole first.
    engine : str or None
        The plan file's path.
    nbytes : int or None
        The engine's size.
    warnings : tuple of str
        TensorRT's and trtwidget's warnings, each once.
    queue_place : int or None
        1 for the next; None when not queued.
    end_in : float or None
        Seconds until a child process that does not listen is ended.
    can_end_now : bool
        Whether asking again ends the build at once.

    """

    name: str
    model: str
    backend: str
    status: Status
    rows: tuple[Row, ...]
    elapsed: float
    fraction: float | None
    remaining: tuple[float, float] | None
    estimate: str
    usual_quiet: float | None
    idle_for: float
    idle_in: str
    message: str
    hint: str
    stop_reason: str | None
    too_late: bool
    engine: str | None
    nbytes: int | None
    warnings: tuple[str, ...]
    queue_place: int | None
    end_in: float | None
    can_end_now: bool

    @property
    def ended(self) -> bool:
        """Whether the build is over."""
        return self.status in ENDS


class Record:
    """One build's events, folded into what a view shows.

    Parameters
    ----------
    name, model : str
        What is built, of which model.
    clock : callable, default time.monotonic
        Where the time comes from.
    sees_the_end : bool, default True
        False for a monitor by itself: no one tells it how the build ended, so the end of the
        outermost phase must do.

    """

    def __init__(
        self,
        name: str = "",
        model: str = "",
        *,
        clock: Callable[[], float] = time.monotonic,
        sees_the_end: bool = True,
    ) -> None:
        self.name = name
        self.model = model
        self.backend = ""
        self.clock = clock
        self.tree = PhaseTree(self._now)
        self.status: Status = "queued"
        self.started: float | None = None  # by the clock
        self.length: float | None = None  # seconds, once ended
        self.stop_reason: str | None = None
        self.end: BuildFinished | None = None
        self.warnings: dict[str, None] = {}  # an ordered set
        self.messages: deque[Log] = deque(maxlen=MAX_MESSAGES)
        self.errors: deque[str] = deque(maxlen=MAX_WARNINGS)
        self.version = 0
        self.estimator: Estimator | None = None
        # What only the runner knows:
        self.queue_place: int | None = None
        self.end_at: float | None = None
        self.can_end_now = False
        self.waits_for = ""
        #: Where writers put ``(kind, clock time, *fields)`` or a whole event.
        self.pending: deque[tuple[Any, ...] | Event] = deque()
        self._lock = threading.RLock()
        self._sees_the_end = sees_the_end
        self._threads: dict[int, int] = {}
        self._subscribers: list[deque[Event]] = []

    # -- writing: any thread -----------------------------------------------------------------

    def put(self, kind: Callable[..., Event], *args: Any) -> None:
        """Add an event that happens now; `args` are its fields after ``t``."""
        self.pending.append((kind, self.clock(), *args))

    def warn(self, text: str) -> None:
        """Add a warning of trtwidget's own."""
        self.put(Log, "warning", text, "trtwidget")

    def warn_directly(self, text: str) -> None:
        """Add a warning without the queue or the clock, which may be what is broken."""
        self._warn(text)
        self.version += 1

    def feed(self, event: Event) -> None:
        """Add an event made elsewhere, whose ``t`` counts from the build's start."""
        self.pending.append(event)

    # -- reading: any thread -----------------------------------------------------------------

    def subscribe(self) -> deque[Event]:
        """Give a queue that every later event is put into; the caller empties it."""
        queue: deque[Event] = deque()
        with self._lock:
            self._subscribers.append(queue)
        return queue

    def fold(self) -> None:
        """Bring the state up to date with what was written."""
        with self._lock:
            while self.pending:
                item = self.pending.popleft()
                event = self._event(*item) if isinstance(item, tuple) else item
                self._apply(event)
                for queue in self._subscribers:
                    queue.append(event)

    def snapshot(self) -> BuildSnapshot:
        """Give the build as it stands now."""
        with self._lock:
            self.fold()
            now = self._now()
            tree = self.tree.snapshot(t=now)
            estimate = self._estimate(tree, now)
            end = self.end
            return BuildSnapshot(
                name=self.name,
                model=self.model,
                backend=self.backend,
                status=self.status,
                rows=tree.rows,
                elapsed=now,
                fraction=estimate.fraction,
                remaining=estimate.remaining,
                estimate=estimate.text,
                usual_quiet=estimate.usual_quiet,
                idle_for=0.0 if end else now - (tree.last_callback or 0.0),
                idle_in=tree.current,
                message=end.message if end else self._waiting_text(),
                hint=end.hint if end else "",
                stop_reason=self.stop_reason,
                too_late=bool(end and end.too_late),
                engine=end.engine if end else None,
                nbytes=end.bytes if end else None,
                warnings=tuple(self.warnings),
                queue_place=self.queue_place if self.status == "queued" else None,
                end_in=None if end or self.end_at is None else max(self.end_at - self.clock(), 0.0),
                can_end_now=self.can_end_now and self.status == "stopping",
            )

    # -- with the lock held ------------------------------------------------------------------

    def _now(self) -> float:
        if self.length is not None:
            return self.length
        return 0.0 if self.started is None else max(self.clock() - self.started, 0.0)

    def _event(self, kind: int | Callable[..., Event], at: float, *args: Any) -> Event:
        if self.started is None and kind is not StopRequested and kind is not BuildFinished:
            self.started = at
        t = 0.0 if self.started is None else at - self.started
        if isinstance(kind, int):
            # The system's thread numbers mean nothing to a reader.
            thread = self._threads.setdefault(args[-1], len(self._threads))
            return _KINDS[kind](t, *args[:-1], thread)
        return kind(t, *args)

    def _apply(self, event: Event) -> None:  # noqa: C901 - one case an event
        self.version += 1
        match event:
            case StepComplete():
                self.tree.step_complete(event.phase, event.step, t=event.t, thread=event.thread)
            case PhaseStart():
                self._begin(event.t)
                self.tree.phase_start(
                    event.phase, event.parent, event.num_steps, t=event.t, thread=event.thread
                )
            case PhaseFinish():
                self.tree.phase_finish(event.phase, t=event.t, thread=event.thread)
                if not self._sees_the_end and not self.tree.open_runs:
                    self._finish(BuildFinished(event.t, "stopped" if self.stop_reason else "built"))
            case Log():
                self._log(event)
            case BuildStarted():
                self._begin(event.t)
                self.name = event.build or self.name
                self.model = event.model or self.model
                self.backend = event.backend or self.backend
            case Backend():
                self.backend = event.backend
            case StopRequested():
                self.stop_reason = self.stop_reason or event.reason
                if self.status == "building":
                    self.status = "stopping"
            case BuildFinished():
                self._finish(event)

    def _finish(self, event: BuildFinished) -> None:
        self.tree.close(t=event.t)
        self.end = event
        self.length = event.t
        self.status = event.outcome

    def _begin(self, t: float) -> None:
        if self.started is None:
            self.started = self.clock() - t
        if self.status == "queued" or (self.end and not self._sees_the_end):
            self.status = "stopping" if self.stop_reason else "building"
            self.end = self.length = None

    def _log(self, event: Log) -> None:
        if event.severity != "verbose":
            self.messages.append(event)
        if event.severity in {"error", "internal_error"}:
            self.errors.append(event.text)
        elif event.severity == "warning" and _NOISE not in event.text:
            self._warn(event.text)

    def _warn(self, text: str) -> None:
        if len(self.warnings) < MAX_WARNINGS:
            self.warnings.setdefault(text)

    def _estimate(self, tree: TreeSnapshot, now: float) -> Estimate:
        if self.status == "built":
            return Estimate(fraction=1.0)
        if self.estimator is None or self.status not in {"building", "stopping"}:
            return Estimate()
        return self.estimator(tree, now)

    def _waiting_text(self) -> str:
        if self.status == "stopping":
            return self.waits_for or "TensorRT stops at its next step."
        return ""
