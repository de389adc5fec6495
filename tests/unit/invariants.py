"""What holds from one snapshot of a tree to the next, whatever is called in between."""

from __future__ import annotations

import itertools
import math


class Watcher:
    """Looks at one snapshot after the other; the clock must not go back."""

    def __init__(self):
        self.rows = {}
        self.version = 0
        self.fraction = None

    def look(self, snapshot):
        self._is_a_tree(snapshot.rows)
        self._nothing_lost(snapshot.rows)
        assert snapshot.version >= self.version
        if self.fraction is not None:
            assert snapshot.steps_fraction >= self.fraction
        if snapshot.steps_fraction is not None:
            assert 0 <= snapshot.steps_fraction < 1
        if snapshot.current:
            assert any(row.running for row in snapshot.rows)
        self.rows = {row.id: row for row in snapshot.rows}
        self.version = snapshot.version
        self.fraction = snapshot.steps_fraction

    def _is_a_tree(self, rows):
        above = {None: -1}  # id: depth
        for row in rows:
            assert row.id not in above
            assert row.depth == above[row.parent] + 1
            above[row.id] = row.depth
            assert 0 <= row.done <= row.num_steps
            assert row.runs >= (0 if row.running else 1)
            assert math.isfinite(row.seconds)
            assert 0 <= row.run_seconds <= row.seconds
        places = [(row.parent, row.name) for row in rows]
        assert len(set(places)) == len(places)  # folded
        # Drawing order: a row's subtree follows it without a gap.
        for row, following in itertools.pairwise(rows):
            assert following.depth <= row.depth + 1

    def _nothing_lost(self, rows):
        now = {row.id: row for row in rows}
        for id_, before in self.rows.items():
            row = now[id_]
            assert (row.parent, row.depth, row.name) == (before.parent, before.depth, before.name)
            assert row.runs >= before.runs
            assert row.seconds >= before.seconds
        # Old rows keep their order: nothing jumps about on the screen.
        assert [id_ for id_ in now if id_ in self.rows] == list(self.rows)
