"""What the tree must show, by the plain definition: slow and obvious.

Every run of a phase is a record that stays for ever. Rows are worked out anew from all records:
runs with the same path of names are one row.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trtwidget import phases
from trtwidget.events import PhaseFinish, PhaseStart, StepComplete
from trtwidget.phases import Row, Span


@dataclass(eq=False)
class Instance:
    name: str
    parent: Instance | None
    path: tuple[str, ...]  # the names of the row and of all rows above it
    thread: int
    num_steps: int
    start: float
    end: float | None = None
    steps: list[int] = field(default_factory=list)

    @property
    def done(self):
        """`min(step + 1, num_steps)` of the furthest step."""
        furthest = max(self.steps, default=-1)
        return max(min(furthest + 1, self.num_steps), 0)

    def seconds(self, now):
        return (now if self.end is None else self.end) - self.start


class Oracle:
    """Takes the calls that `PhaseTree` takes."""

    def __init__(self):
        self.instances = []  # in order of their start
        self.ended = []  # in order of their end
        self.ids = {}  # path: id, in order of appearance
        self.fraction = None
        self.calls = 0
        self.last = None

    # -- calls ---------------------------------------------------------------------------------

    def phase_start(self, phase, parent, num_steps, *, t, thread=0):
        self._call(t)
        above = None if parent is None else self.find(parent, thread)
        num_steps = min(max(num_steps, 0), phases.MAX_STEPS)
        path = self._path(() if above is None else above.path, phase)
        self.instances.append(Instance(phase, above, path, thread, num_steps, self.last))
        if len(self.open()) > phases.MAX_OPEN:
            self._end(self.open()[0])

    def step_complete(self, phase, step, *, t, thread=0):
        self._call(t)
        instance = self.find(phase, thread)
        if instance is not None:
            instance.steps.append(step)

    def phase_finish(self, phase, *, t, thread=0):
        self._call(t)
        instance = self.find(phase, thread)
        if instance is not None:
            self._end(instance)

    def close(self, *, t):
        self.calls += 1
        for instance in reversed(self.open()):
            instance.end = max(t, self.last)
            self.ended.append(instance)

    # -- what is to be seen --------------------------------------------------------------------

    def open(self):
        return [instance for instance in self.instances if instance.end is None]

    def find(self, name, thread):
        """The last opened with this name: of this thread if there is one, else of any."""
        same = [instance for instance in self.open() if instance.name == name]
        own = [instance for instance in same if instance.thread == thread]
        return (own or same or [None])[-1]

    def current(self):
        return self.open()[-1].name if self.open() else ""

    def rows(self, now):
        """Fold all instances by path; sort each row after the one above it, by first appearance."""
        folded = {path: [] for path in self.ids}
        for instance in self.instances:
            folded[instance.path].append(instance)
        ended = {instance: place for place, instance in enumerate(self.ended)}
        order = sorted(self.ids, key=self._place)
        return tuple(self._row(path, folded[path], ended, now) for path in order)

    def spans(self, now):
        ended = [Span(self.ids[i.path], i.start, i.end) for i in self.ended[: phases.MAX_SPANS]]
        return ended + [Span(self.ids[i.path], i.start, now) for i in self.open()]

    def steps_fraction(self):
        """Steps done and, in part, the step at work: the share of the furthest open child.

        Call it whenever the tree is looked at: it remembers the furthest that was seen.
        """
        for root in self.instances:
            if root.parent is None and root.end is None:
                self._saw(self._share(root))
        return self.fraction

    # -- how -----------------------------------------------------------------------------------

    def _call(self, t):
        self.calls += 1
        self.last = t if self.last is None else max(self.last, t)

    def _end(self, instance):
        instance.end = self.last
        self.ended.append(instance)
        if instance.parent is None:
            self._saw(instance.done / max(instance.num_steps, 1))

    def _path(self, above, name):
        path = (*above, name)
        if path not in self.ids and len(self.ids) >= phases.MAX_ROWS:
            path = above if above[-1:] == (phases.OVERFLOW,) else (*above, phases.OVERFLOW)
        self.ids.setdefault(path, len(self.ids))
        return path

    def _place(self, path):
        return [self.ids[path[:depth]] for depth in range(1, len(path) + 1)]

    def _row(self, path, instances, ended, now):
        running = [instance for instance in instances if instance.end is None]
        finished = [instance for instance in instances if instance.end is not None]
        shown = running[-1] if running else max(finished, key=ended.__getitem__)
        return Row(
            id=self.ids[path],
            parent=self.ids[path[:-1]] if path[:-1] else None,
            depth=len(path) - 1,
            name=path[-1],
            done=shown.done,
            num_steps=shown.num_steps,
            runs=len(finished),
            running=bool(running),
            seconds=sum(instance.seconds(now) for instance in instances),
            run_seconds=shown.seconds(now),
        )

    def _share(self, instance):
        below = [self._share(child) for child in self.open() if child.parent is instance]
        share = (instance.done + max(below, default=0.0)) / max(instance.num_steps, 1)
        return min(share, 1.0)

    def _saw(self, share):
        self.fraction = max(self.fraction or 0.0, min(share, phases.ALMOST))


def check(tree, oracle, now):
    """Compare all that is to be seen of the tree with the oracle."""
    seen = tree.snapshot(t=now)
    assert seen.rows == oracle.rows(now)
    assert seen.version == oracle.calls
    assert seen.last_callback == oracle.last
    assert seen.current == oracle.current()
    fraction = oracle.steps_fraction()
    if fraction is None:
        assert seen.steps_fraction is None
    else:
        assert abs(seen.steps_fraction - fraction) < 1e-9


def tell(target, event):
    """Give a callback event to the tree or to the oracle."""
    match event:
        case PhaseStart():
            target.phase_start(
                event.phase, event.parent, event.num_steps, t=event.t, thread=event.thread
            )
        case StepComplete():
            target.step_complete(event.phase, event.step, t=event.t, thread=event.thread)
        case PhaseFinish():
            target.phase_finish(event.phase, t=event.t, thread=event.thread)
