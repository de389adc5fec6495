"""Arbitrary callbacks: nothing raises, nothing is lost, nothing goes back."""

from __future__ import annotations

import itertools
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invariants import Watcher
from oracle import Oracle, check

from trtwidget import phases
from trtwidget.phases import PhaseTree

NAMES = st.sampled_from(["Building engine", "Timing tactics", "a", "b", "", phases.OVERFLOW])
PARENTS = st.none() | NAMES | st.just("unknown")
NUM_STEPS = st.integers(-2, 6) | st.sampled_from([-(2**31), 2**31 - 1, 10**400])
STEPS = st.integers(-2, 8) | st.sampled_from([-(2**31), 2**31 - 1, 10**400, -(10**400)])
THREADS = st.integers(0, 3)

STARTS = st.tuples(st.just("phase_start"), st.tuples(NAMES, PARENTS, NUM_STEPS))
STEPPINGS = st.tuples(st.just("step_complete"), st.tuples(NAMES | st.just("unknown"), STEPS))
FINISHES = st.tuples(st.just("phase_finish"), st.tuples(NAMES | st.just("unknown")))
CALLS = STARTS | STEPPINGS | FINISHES
LIMITS = {
    "MAX_ROWS": st.integers(1, 5),
    "MAX_OPEN": st.integers(1, 4),
    "MAX_SPANS": st.integers(0, 5),
}


def against_the_oracle(calls):
    tree, oracle, watcher = PhaseTree(), Oracle(), Watcher()
    latest = -100.0
    for (method, arguments), thread, t in calls:
        for target in (tree, oracle):
            getattr(target, method)(*arguments, t=t, thread=thread)
        latest = max(latest, t)
        check(tree, oracle, now=latest)
        watcher.look(tree.snapshot(t=latest))
        assert tree.spans(t=latest) == oracle.spans(latest)
    assert tree.spans_dropped == max(len(oracle.ended) - phases.MAX_SPANS, 0)
    if calls:
        for target in (tree, oracle):
            target.close(t=latest + 1)
        check(tree, oracle, now=latest + 2)
        watcher.look(tree.snapshot(t=latest + 2))
        assert sum(row.runs for row in watcher.rows.values()) == len(oracle.instances)


# Threads that take the time themselves bring it slightly out of order. Quarters add up exactly.
TIMES = st.integers(-8, 400).map(lambda quarters: quarters / 4)
TIMED_CALLS = st.lists(st.tuples(CALLS, THREADS, TIMES), max_size=60)


@given(calls=TIMED_CALLS)
@settings(max_examples=300, deadline=None)
def test_any_calls(calls):
    against_the_oracle(calls)


@given(calls=TIMED_CALLS, limits=st.fixed_dictionaries(LIMITS))
@settings(max_examples=300, deadline=None)
def test_any_calls_beyond_the_limits(calls, limits):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in limits.items():
            patch.setattr(phases, name, value)
        against_the_oracle(calls)


@st.composite
def nested_builds(draw):
    """Calls as TensorRT makes them: a walk down and up, in each of several threads.

    Unlike calls drawn one by one, they nest deeply, and most names that they use are open.
    """
    calls, open_phases = [], {}
    for number in range(draw(st.integers(1, 80))):
        thread = draw(THREADS)
        stack = open_phases.setdefault(thread, [])
        kind = draw(st.sampled_from(["start", "start", "step", "step", "finish", "orphan"]))
        if kind == "start" or not stack:
            name, parent = draw(NAMES), stack[-1] if stack else None
            stack.append(name)
            call = ("phase_start", (name, parent, draw(st.integers(1, 4))))
        elif kind == "step":
            call = ("step_complete", (draw(st.sampled_from(stack)), draw(st.integers(0, 4))))
        else:  # an orphan: its parent closes first
            name = stack.pop(-1 if kind == "finish" else 0)
            call = ("phase_finish", (name,))
        calls.append((call, thread, number / 4))
    return calls


@given(calls=nested_builds())
@settings(max_examples=200, deadline=None)
def test_nested_builds(calls):
    against_the_oracle(calls)


@pytest.fixture
def busy_threads():
    """Switch threads as often as can be, so that a missing lock shows."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def throw_from_threads(scripts):
    """Run each script in a thread of its own while another one looks."""
    ticks = itertools.count()  # next() is atomic
    tree = PhaseTree(clock=lambda: next(ticks) / 4)
    watcher = Watcher()
    together = Barrier(len(scripts) + 1)
    over = Event()

    def throw(thread, script):
        together.wait()
        for method, arguments in script:
            getattr(tree, method)(*arguments, thread=thread)

    def look():
        together.wait()
        while not over.is_set():
            watcher.look(tree.snapshot())
            spans = tree.spans()
            assert all(span.start <= span.end for span in spans)

    with ThreadPoolExecutor(len(scripts) + 1) as pool:
        looking = pool.submit(look)
        throwing = [pool.submit(throw, *script) for script in enumerate(scripts)]
        try:
            for thrown in throwing:
                thrown.result()
        finally:
            over.set()
        looking.result()

    calls = [call for script in scripts for call in script]
    watcher.look(tree.snapshot())
    assert tree.version == len(calls)
    tree.close()
    watcher.look(tree.snapshot())
    starts = sum(method == "phase_start" for method, _ in calls)
    assert sum(row.runs for row in watcher.rows.values()) == starts == len(tree.spans())
    assert not any(row.running for row in watcher.rows.values())


@given(scripts=st.lists(st.lists(CALLS, max_size=40), min_size=2, max_size=4))
@settings(max_examples=60, deadline=None)
def test_any_calls_from_threads(scripts):
    throw_from_threads(scripts)


def test_many_calls_from_threads(busy_threads):
    names = ("a", "b", "c")
    script = []
    for number in range(2_000):
        inner, outer = names[number % 3], names[number % 2]
        script += [
            ("phase_start", (outer, None, 2)),
            ("phase_start", (inner, outer, 3)),
            ("step_complete", (inner, number % 3)),
            ("phase_finish", (outer,)),
            ("step_complete", (inner, 2)),
            ("phase_finish", (inner,)),
        ]
    throw_from_threads([script] * 4)
