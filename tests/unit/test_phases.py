"""The tree by example, with a clock that stands still until it is told to move."""

from __future__ import annotations

import gc
import itertools
import runpy
import sys
import threading
import tracemalloc
from pathlib import Path
from types import BuiltinFunctionType, FunctionType

import pytest

from trtwidget import phases
from trtwidget.events import PhaseFinish, PhaseStart, StepComplete, from_dict
from trtwidget.phases import OVERFLOW, PhaseTree, Span

RECORDS = Path(__file__).resolve().parents[1] / "records"


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def tree(clock):
    return PhaseTree(clock)


def rows(tree):
    return {row.name: row for row in tree.snapshot().rows}


def drawn(tree):
    """The tree as text: indented names, in drawing order."""
    return [f"{'  ' * row.depth}{row.name}" for row in tree.snapshot().rows]


# -- one phase -----------------------------------------------------------------------------------


def test_nothing_yet(tree):
    snapshot = tree.snapshot()
    assert snapshot.version == 0
    assert snapshot.rows == ()
    assert snapshot.steps_fraction is None
    assert snapshot.last_callback is None
    assert snapshot.current == ""
    assert tree.spans() == []
    assert tree.open_runs == 0


def test_a_phase_from_start_to_finish(tree, clock):
    clock.now = 2.0
    tree.phase_start("Building engine", None, 6)
    clock.now = 5.0
    tree.step_complete("Building engine", 0)
    clock.now = 6.0

    row = rows(tree)["Building engine"]
    assert (row.id, row.parent, row.depth) == (0, None, 0)
    assert (row.done, row.num_steps, row.runs, row.running) == (1, 6, 0, True)
    assert (row.seconds, row.run_seconds) == (4.0, 4.0)
    snapshot = tree.snapshot()
    assert snapshot.current == "Building engine"
    assert snapshot.last_callback == 5.0
    assert snapshot.version == 2

    tree.phase_finish("Building engine")
    clock.now = 60.0
    row = rows(tree)["Building engine"]
    assert (row.done, row.num_steps, row.runs, row.running) == (1, 6, 1, False)
    assert (row.seconds, row.run_seconds) == (4.0, 4.0)
    assert tree.snapshot().current == ""
    assert tree.spans() == [Span(row=0, start=2.0, end=6.0)]


def test_steps_count_from_zero_and_never_past_the_end(tree):
    tree.phase_start("a", None, 3)
    for step, done in [(-5, 0), (0, 1), (2, 3), (1, 3), (3, 3), (10**400, 3)]:
        tree.step_complete("a", step)
        assert rows(tree)["a"].done == done


def test_steps_may_be_skipped(tree):
    tree.phase_start("a", None, 10)
    tree.step_complete("a", 3)
    tree.step_complete("a", 6)
    assert rows(tree)["a"].done == 7


@pytest.mark.parametrize("num_steps", [0, -1, -(2**31)])
def test_a_phase_without_steps(tree, num_steps):
    tree.phase_start("a", None, num_steps)
    tree.step_complete("a", 0)
    assert (rows(tree)["a"].done, rows(tree)["a"].num_steps) == (0, 0)
    assert tree.snapshot().steps_fraction == 0.0


def test_what_is_not_open_is_ignored(tree):
    tree.step_complete("never opened", 3)
    tree.phase_finish("never opened")
    tree.phase_start("a", None, 2)
    tree.phase_finish("a")
    tree.step_complete("a", 1)
    tree.phase_finish("a")
    assert drawn(tree) == ["a"]
    assert (rows(tree)["a"].done, rows(tree)["a"].runs) == (0, 1)
    assert tree.version == 6  # but it was a sign of life


# -- nesting and folding ---------------------------------------------------------------------------


def test_runs_fold_into_one_row(tree, clock):
    tree.phase_start("Building engine", None, 3)
    for run in range(1_000):
        tree.phase_start("Measuring tactic time", "Building engine", 4)
        clock.now += 0.5
        tree.step_complete("Measuring tactic time", run % 4)
        tree.phase_finish("Measuring tactic time")
    tree.phase_start("Measuring tactic time", "Building engine", 2)
    clock.now += 0.25

    assert drawn(tree) == ["Building engine", "  Measuring tactic time"]
    row = rows(tree)["Measuring tactic time"]
    assert (row.runs, row.running) == (1_000, True)
    assert (row.done, row.num_steps) == (0, 2)
    assert (row.seconds, row.run_seconds) == (500.25, 0.25)


def test_one_name_under_two_parents_is_two_rows(tree):
    tree.phase_start("a", None, 2)
    tree.phase_start("measure", "a", 1)
    tree.phase_finish("measure")
    tree.phase_start("b", "a", 2)
    tree.phase_start("measure", "b", 1)
    assert drawn(tree) == ["a", "  measure", "  b", "    measure"]


def test_a_row_comes_before_those_below_it_whenever_they_appear(tree):
    tree.phase_start("a", None, 2)
    tree.phase_start("b", "a", 2)
    tree.phase_start("c", "a", 2)
    tree.phase_start("under b", "b", 2)
    assert drawn(tree) == ["a", "  b", "    under b", "  c"]
    assert [row.id for row in tree.snapshot().rows] == [0, 1, 3, 2]


def test_a_phase_may_hold_one_of_its_own_name(tree):
    tree.phase_start("a", None, 2)
    tree.phase_start("a", "a", 3)
    tree.step_complete("a", 0)
    tree.phase_finish("a")
    assert drawn(tree) == ["a", "  a"]
    outer, inner = tree.snapshot().rows
    assert (outer.running, outer.done) == (True, 0)
    assert (inner.running, inner.done) == (False, 1)


def test_an_unknown_parent_puts_it_at_the_root(tree):
    tree.phase_start("a", None, 2)
    tree.phase_start("b", "never opened", 2)
    assert drawn(tree) == ["a", "b"]


def test_a_parent_may_finish_first(tree, clock):
    """As "Computing profile costs" does not, but "Determining refit engines" nearly does."""
    tree.phase_start("a", None, 2)
    tree.phase_start("b", "a", 2)
    tree.phase_start("c", "b", 2)
    tree.phase_finish("b")
    clock.now = 3.0
    tree.step_complete("c", 1)
    assert [(row.name, row.running) for row in tree.snapshot().rows] == [
        ("a", True),
        ("b", False),
        ("c", True),
    ]
    assert rows(tree)["c"].done == 2
    tree.phase_finish("c")
    assert rows(tree)["c"].seconds == 3.0
    assert drawn(tree) == ["a", "  b", "    c"]


def test_several_phases_at_the_root(tree):
    for name in ("a", "b"):
        tree.phase_start(name, None, 1)
        tree.phase_finish(name)
    assert drawn(tree) == ["a", "b"]


# -- the number for the whole build ----------------------------------------------------------------


def test_steps_fraction_weighs_nested_phases(tree):
    tree.phase_start("a", None, 4)
    assert tree.snapshot().steps_fraction == 0.0
    tree.step_complete("a", 0)
    assert tree.snapshot().steps_fraction == 0.25
    tree.phase_start("b", "a", 2)
    tree.step_complete("b", 0)
    assert tree.snapshot().steps_fraction == 0.25 + 0.125
    tree.phase_start("c", "b", 2)
    tree.step_complete("c", 0)
    assert tree.snapshot().steps_fraction == 0.25 + 0.125 + 0.0625


def test_steps_fraction_does_not_go_back_with_a_new_run(tree):
    tree.phase_start("a", None, 2)
    tree.phase_start("b", "a", 2)
    tree.step_complete("b", 0)
    assert tree.snapshot().steps_fraction == 0.25
    tree.phase_finish("b")  # short
    tree.phase_start("b", "a", 2)
    assert tree.snapshot().steps_fraction == 0.25
    tree.phase_finish("b")
    tree.phase_finish("a")
    tree.phase_start("a", None, 2)
    assert tree.snapshot().steps_fraction == 0.25


def test_steps_fraction_never_claims_the_end(tree):
    tree.phase_start("a", None, 2)
    tree.step_complete("a", 1)
    assert tree.snapshot().steps_fraction == 0.99
    tree.phase_finish("a")
    tree.close()
    assert tree.snapshot().steps_fraction == 0.99


def test_steps_fraction_counts_what_passed_between_two_looks(tree):
    tree.phase_start("a", None, 4)
    tree.step_complete("a", 2)
    tree.phase_finish("a")
    assert tree.snapshot().steps_fraction == 0.75


@pytest.mark.parametrize("ahead", ["b", "c"])
def test_steps_fraction_takes_the_furthest_of_several_children(tree, ahead):
    tree.phase_start("a", None, 4)
    tree.phase_start("b", "a", 2, thread=1)
    tree.phase_start("c", "a", 2, thread=2)
    tree.step_complete(ahead, 0)
    assert tree.snapshot().steps_fraction == 0.125


def test_steps_fraction_leaves_out_what_outlives_its_parent(tree):
    tree.phase_start("a", None, 4)
    tree.phase_start("b", "a", 1)
    tree.phase_start("c", "b", 1)
    tree.phase_finish("b")
    tree.step_complete("c", 0)
    assert tree.snapshot().steps_fraction == 0.0


def test_steps_fraction_with_numbers_beyond_any_float(tree):
    tree.phase_start("a", None, 10**400)
    tree.phase_start("b", "a", 3)
    tree.step_complete("b", 0)
    assert tree.snapshot().steps_fraction == pytest.approx(0.0, abs=1e-6)
    tree.step_complete("a", 10**400)
    assert tree.snapshot().steps_fraction == 0.99


# -- time ------------------------------------------------------------------------------------------


def test_the_callers_time_counts_instead_of_the_clock(tree, clock):
    clock.now = 1_000.0
    tree.phase_start("a", None, 2, t=1.0)
    tree.step_complete("a", 0, t=2.0)
    tree.phase_finish("a", t=4.0)
    assert tree.spans() == [Span(0, 1.0, 4.0)]
    assert tree.snapshot().last_callback == 4.0


def test_times_out_of_order_give_no_negative_seconds(tree):
    tree.phase_start("a", None, 2, t=10.0)
    tree.phase_start("b", "a", 2, t=9.5)
    tree.phase_finish("b", t=9.0)
    assert tree.snapshot(t=1.0).rows[0].seconds == 0.0
    tree.phase_finish("a", t=9.9)
    assert tree.spans() == [Span(1, 10.0, 10.0), Span(0, 10.0, 10.0)]
    tree.phase_start("c", None, 2, t=12.0)
    tree.close(t=11.0)
    assert rows(tree)["c"].seconds == 0.0
    assert tree.snapshot().last_callback == 12.0


def test_spans_of_what_still_runs_end_now(tree, clock):
    tree.phase_start("a", None, 2)
    clock.now = 1.0
    tree.phase_start("b", "a", 2)
    clock.now = 2.0
    tree.phase_finish("b")
    tree.phase_start("b", "a", 2)
    clock.now = 5.0
    assert tree.spans() == [Span(1, 1.0, 2.0), Span(0, 0.0, 5.0), Span(1, 2.0, 5.0)]
    assert tree.spans(t=7.0)[-1] == Span(1, 2.0, 7.0)


def test_close_ends_everything_innermost_first(tree, clock):
    tree.phase_start("a", None, 2)
    clock.now = 1.0
    tree.phase_start("b", "a", 2)
    clock.now = 3.0
    tree.close()
    assert [(row.runs, row.running) for row in tree.snapshot().rows] == [(1, False), (1, False)]
    assert tree.spans() == [Span(1, 1.0, 3.0), Span(0, 0.0, 3.0)]
    assert tree.snapshot().last_callback == 1.0  # closing is not TensorRT's doing
    clock.now = 9.0
    tree.close()
    assert rows(tree)["a"].seconds == 3.0
    assert tree.open_runs == 0


# -- threads ---------------------------------------------------------------------------------------


def test_one_name_open_in_two_threads(tree, clock):
    tree.phase_start("a", None, 2, thread=0)
    tree.phase_start("b", "a", 4, thread=1)
    clock.now = 1.0
    tree.phase_start("b", "a", 8, thread=2)
    assert drawn(tree) == ["a", "  b"]
    tree.step_complete("b", 2, thread=1)
    row = rows(tree)["b"]
    assert (row.done, row.num_steps) == (0, 8)  # the run that opened last
    clock.now = 2.0
    assert (rows(tree)["b"].seconds, rows(tree)["b"].run_seconds) == (3.0, 1.0)
    tree.phase_finish("b", thread=2)
    row = rows(tree)["b"]
    assert (row.done, row.num_steps, row.runs, row.running) == (3, 4, 1, True)
    tree.phase_finish("b", thread=1)
    row = rows(tree)["b"]
    assert (row.done, row.num_steps, row.runs, row.running) == (3, 4, 2, False)


def test_a_thread_that_did_not_open_the_phase_may_step_and_finish_it(tree):
    tree.phase_start("a", None, 2, thread=0)
    tree.step_complete("a", 0, thread=7)
    assert rows(tree)["a"].done == 1
    tree.phase_finish("a", thread=8)
    assert not rows(tree)["a"].running


def test_each_thread_nests_below_its_own_parent(tree):
    tree.phase_start("x", None, 1, thread=0)
    tree.phase_start("a", "x", 1, thread=1)
    tree.phase_start("y", None, 1, thread=0)
    tree.phase_start("a", "y", 1, thread=2)
    tree.phase_start("under a", "a", 1, thread=1)
    assert drawn(tree) == ["x", "  a", "    under a", "y", "  a"]


def test_steps_out_of_order_from_threads(tree):
    tree.phase_start("a", None, 4, thread=0)
    tree.step_complete("a", 2, thread=1)
    tree.step_complete("a", 1, thread=2)
    assert rows(tree)["a"].done == 3


def test_nobody_waits_for_a_reader_of_spans(tree, monkeypatch):
    """Half a million spans take a while to make."""
    tree.phase_start("a", None, 1)
    tree.phase_finish("a")
    called = threading.Event()

    def make(*fields):
        thread = threading.Thread(target=tree.phase_start, args=("b", None, 1))
        thread.start()
        thread.join(timeout=30)
        if not thread.is_alive():
            called.set()
        return fields

    monkeypatch.setattr(phases, "Span", make)
    tree.spans()
    assert called.is_set()


# -- bounds ----------------------------------------------------------------------------------------


def test_rows_beyond_the_limit_share_one_under_their_parent(tree, monkeypatch):
    monkeypatch.setattr(phases, "MAX_ROWS", 3)
    tree.phase_start("a", None, 9)
    for number in range(5):
        tree.phase_start(f"layer {number}", "a", 1)
        tree.phase_start("inner", f"layer {number}", 1)
        tree.phase_finish("inner")
        tree.phase_finish(f"layer {number}")
    assert drawn(tree) == ["a", "  layer 0", "    inner", f"  {OVERFLOW}"]
    assert rows(tree)[OVERFLOW].runs == 8  # layers 1 to 4, each with its inner
    tree.phase_start("at the root", None, 1)
    assert drawn(tree)[-1] == OVERFLOW


def test_rows_known_before_the_limit_go_on(tree, monkeypatch):
    monkeypatch.setattr(phases, "MAX_ROWS", 2)
    tree.phase_start("a", None, 9)
    for name in ("b", "c", "b"):
        tree.phase_start(name, "a", 1)
        tree.phase_finish(name)
    assert rows(tree)["b"].runs == 2


def test_the_oldest_ends_when_too_many_are_open(tree, monkeypatch):
    monkeypatch.setattr(phases, "MAX_OPEN", 2)
    for name in ("a", "b", "c"):
        tree.phase_start(name, None, 1)
    assert [(row.name, row.running) for row in tree.snapshot().rows] == [
        ("a", False),
        ("b", True),
        ("c", True),
    ]
    assert tree.open_runs == 2


def test_spans_beyond_the_limit_are_counted(tree, monkeypatch):
    monkeypatch.setattr(phases, "MAX_SPANS", 2)
    for _ in range(5):
        tree.phase_start("a", None, 1)
        tree.phase_finish("a")
    assert len(tree.spans()) == 2
    assert tree.spans_dropped == 3
    assert rows(tree)["a"].runs == 5


def test_nesting_deeper_than_recursion(tree):
    for _ in range(5_000):
        tree.phase_start("a", "a", 2)
    snapshot = tree.snapshot()
    assert len(snapshot.rows) == phases.MAX_ROWS + 1
    assert tree.open_runs == phases.MAX_OPEN


A_MILLION = 1_000_000


def gpu_shaped():
    generate = runpy.run_path(str(RECORDS / "generate.py"))["gpu_shaped_events"]
    for record in generate(repeat=158):
        match from_dict(record):
            case PhaseStart(phase=phase, parent=parent, num_steps=num_steps):
                yield "phase_start", (phase, parent, num_steps)
            case StepComplete(phase=phase, step=step):
                yield "step_complete", (phase, step)
            case PhaseFinish(phase=phase):
                yield "phase_finish", (phase,)


def each_name_new():
    """As TensorRT 8.7 did, which put layer names into phase names."""
    yield "phase_start", ("Building engine", None, 6)
    for number in range(A_MILLION // 2):
        name = f"Finding fastest tactic for layer {number} of a network with long names"
        yield "phase_start", (name, "Building engine", 3)
        yield "phase_finish", (name,)


def never_closed():
    for number in range(A_MILLION):
        yield "phase_start", (f"phase {number}", f"phase {number - 1}", 3)


def outlived():
    """Phases that close innermost first, each time with one below them left open."""
    for first in range(0, A_MILLION, 2_000):
        depth = 990 - first // 2_000  # so that those left open are never too many
        for level in range(depth):
            yield "phase_start", (f"level {level}", f"level {level - 1}", 3)
        yield "phase_start", (f"left open {first}", f"level {depth - 1}", 3)
        for level in reversed(range(depth)):
            yield "phase_finish", (f"level {level}",)


def size(tree):
    """The bytes of all objects that the tree holds on to.

    Tracing each allocation instead would take minutes for a million events.
    """
    seen, todo, total = set(), [vars(tree)], 0
    while todo:
        thing = todo.pop()
        if id(thing) in seen or isinstance(thing, type | FunctionType | BuiltinFunctionType):
            continue
        seen.add(id(thing))
        total += sys.getsizeof(thing)
        todo += gc.get_referents(thing)
    return total


def feed(tree, calls):
    """Give the calls; yield now and then."""
    for number, (method, arguments) in enumerate(calls):
        getattr(tree, method)(*arguments, t=float(number))
        if number % 20_000 == 0:
            yield number


HOSTILE = [each_name_new, never_closed, outlived]


@pytest.mark.parametrize("calls", [gpu_shaped, *HOSTILE])
def test_a_million_events_stay_small(calls):
    tree = PhaseTree()
    assert max(size(tree) for _ in feed(tree, calls())) < 20e6
    assert tree.version > 0.7 * A_MILLION
    assert len(tree.snapshot().rows) < 2 * phases.MAX_ROWS


@pytest.mark.parametrize("calls", [gpu_shaped, *HOSTILE])
def test_size_is_what_was_allocated(calls):
    """The measure above leaves nothing out."""
    script = list(itertools.islice(calls(), 20_001))
    tracemalloc.start()
    try:
        tree = PhaseTree()
        for _ in feed(tree, script):
            pass
        allocated, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size(tree) > 0.9 * allocated
