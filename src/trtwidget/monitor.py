"""TensorRT's callbacks to the record, and the stop flag back to TensorRT."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from threading import get_ident
from typing import Any

from trtwidget.backend import find_backend
from trtwidget.events import StopRequested
from trtwidget.record import FINISH, FOLD_AT, START, STEP, BuildSnapshot, Record
from trtwidget.stopflag import StopFlag


class ProgressMonitor:
    """A progress monitor for code that has its own builder config.

    ``config.progress_monitor = trtwidget.ProgressMonitor()``, or Polygraphy's
    ``CreateConfig(progress_monitor=...)``. Instances derive from the `IProgressMonitor` of the
    TensorRT in use, besides this class. Use one for each build; ``trtwidget.BuildWidget(monitor)``
    shows it.

    Parameters
    ----------
    backend : {"auto", "tensorrt", "tensorrt_rtx"}
        Whose `IProgressMonitor` to be.
    record : Record, optional
        Where to write; a new one by default.
    stop_flag : StopFlag, optional
        What to obey; a new one by default.
    forward_to : IProgressMonitor, optional
        Another monitor that gets every call too. When its `step_complete` returns False, or
        raises, the build is stopped, as TensorRT would.

    Raises
    ------
    BackendError
        No TensorRT that can report progress is here.

    Notes
    -----
    TensorRT cancels a build when `step_complete` raises or returns None, and swallows what
    `phase_start` and `phase_finish` raise (pyCore.cpp of TensorRT 11.1). Here an exception is
    kept, shown once as a warning, and never reaches TensorRT; a `KeyboardInterrupt` becomes a
    stop request.

    """

    # TensorRT's own interface, on the instance because closures take half the time of methods.
    phase_start: Callable[[str, str | None, int], None]
    step_complete: Callable[[str, int], bool]
    phase_finish: Callable[[str], None]

    def __new__(  # noqa: PYI034 - Self is not in Python 3.10
        cls,
        backend: str = "auto",
        *,
        record: Record | None = None,
        stop_flag: StopFlag | None = None,
        forward_to: Any = None,
    ) -> ProgressMonitor:
        """Make an instance of the class that fits the TensorRT in use."""
        del record, stop_flag, forward_to
        native = find_backend(backend).module.IProgressMonitor
        concrete = _join(cls, native)  # type: ignore[arg-type]  # a class is hashable
        made: ProgressMonitor = native.__new__(concrete)
        native.__init__(made)  # pybind11 insists on it
        return made

    def __init__(
        self,
        backend: str = "auto",
        *,
        record: Record | None = None,
        stop_flag: StopFlag | None = None,
        forward_to: Any = None,
    ) -> None:
        del backend
        self.record = record or Record("TensorRT build", sees_the_end=False)
        self.stop_flag = stop_flag or StopFlag()
        if stop_flag is None:
            self.stop_flag.on_set(lambda reason: self.record.put(StopRequested, reason))
        self._failed = False
        _install_callbacks(self)
        if forward_to is not None:
            _forward(self, forward_to)

    def stop(self, reason: str = "stop()") -> bool:
        """Ask TensorRT to stop at its next step.

        Returns
        -------
        bool
            True for the first to ask; the first reason is kept.

        """
        return self.stop_flag.set(reason)

    def snapshot(self) -> BuildSnapshot:
        """Give the build as it stands now."""
        return self.record.snapshot()

    def _keep(self, error: BaseException, where: str) -> None:
        if isinstance(error, KeyboardInterrupt):
            self.stop_flag.set("Ctrl-C")
        elif not self._failed:
            self._failed = True
            self.record.warn_directly(
                f"{where} of a progress monitor raised {error!r}; the build goes on."
            )


def _install_callbacks(monitor: ProgressMonitor) -> None:
    record, flag, keep = monitor.record, monitor.stop_flag, monitor._keep  # noqa: SLF001 - one class in two parts
    pending, append, clock, fold = record.pending, record.pending.append, record.clock, record.fold

    def phase_start(phase: str, parent: str | None, num_steps: int) -> None:
        try:
            append((START, clock(), phase, parent, num_steps, get_ident()))
            if len(pending) > FOLD_AT:
                fold()
        except BaseException as error:  # noqa: BLE001 - nothing of ours may reach TensorRT
            keep(error, "phase_start")

    def step_complete(phase: str, step: int) -> bool:
        try:
            append((STEP, clock(), phase, step, get_ident()))
        except BaseException as error:  # noqa: BLE001 - nothing of ours may reach TensorRT
            keep(error, "step_complete")
        return flag.reason is None

    def phase_finish(phase: str) -> None:
        try:
            append((FINISH, clock(), phase, get_ident()))
        except BaseException as error:  # noqa: BLE001 - nothing of ours may reach TensorRT
            keep(error, "phase_finish")

    monitor.phase_start = phase_start
    monitor.step_complete = step_complete
    monitor.phase_finish = phase_finish


def _forward(monitor: ProgressMonitor, other: Any) -> None:
    """Let another monitor hear every call, after ours."""
    flag, keep = monitor.stop_flag, monitor._keep  # noqa: SLF001 - one class in two parts
    start, step_done, finish = monitor.phase_start, monitor.step_complete, monitor.phase_finish
    name = f"the config's own progress monitor, {type(other).__name__}"

    def phase_start(phase: str, parent: str | None, num_steps: int) -> None:
        start(phase, parent, num_steps)
        try:
            other.phase_start(phase, parent, num_steps)
        except BaseException as error:  # noqa: BLE001 - TensorRT would print and go on
            keep(error, "phase_start")

    def step_complete(phase: str, step: int) -> bool:
        step_done(phase, step)
        try:
            if not other.step_complete(phase, step):
                flag.set(name)
        except BaseException as error:  # noqa: BLE001 - TensorRT would print and cancel
            keep(error, "step_complete")
            flag.set(f"{name}, raised {error!r}")
        return flag.reason is None

    def phase_finish(phase: str) -> None:
        finish(phase)
        try:
            other.phase_finish(phase)
        except BaseException as error:  # noqa: BLE001 - TensorRT would print and go on
            keep(error, "phase_finish")

    monitor.phase_start = phase_start
    monitor.step_complete = step_complete
    monitor.phase_finish = phase_finish


@cache
def _join(ours: Any, native: Any) -> Any:
    """Make the class that is both; pybind11's metaclass must make it."""
    return type(native)(
        ours.__name__, (ours, native), {"__module__": ours.__module__, "__doc__": ours.__doc__}
    )
