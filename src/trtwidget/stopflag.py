"""One stop flag, many hands on it."""

from __future__ import annotations

import threading
from collections.abc import Callable


class StopFlag:
    """Whether a build was asked to stop, and by whom.

    The first to set it wins and its reason is kept. The monitor reads `reason` at every step.

    Attributes
    ----------
    reason : str or None
        Who or what asked, such as ``"Stop button"``; None while nobody has.

    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self._lock = threading.RLock()  # a signal handler may set it while its thread holds it
        self._callbacks: list[Callable[[str], None]] = []

    def __repr__(self) -> str:
        return f"StopFlag(reason={self.reason!r})"

    @property
    def is_set(self) -> bool:
        """Whether somebody asked."""
        return self.reason is not None

    def set(self, reason: str) -> bool:
        """Ask to stop.

        Returns
        -------
        bool
            True for the first, False when somebody had asked before.

        """
        with self._lock:
            if self.reason is not None:
                return False
            self.reason = reason or "stop requested"
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self.reason)
        return True

    def on_set(self, callback: Callable[[str], None]) -> None:
        """Call `callback(reason)` once when the flag is set, at once if it is set already."""
        with self._lock:
            if self.reason is None:
                self._callbacks.append(callback)
                return
        callback(self.reason)
