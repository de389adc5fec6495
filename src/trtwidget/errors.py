"""What can go wrong, each as one clear sentence and a next step."""

from __future__ import annotations


class TrtWidgetError(Exception):
    """The base of every error that trtwidget raises on purpose.

    Parameters
    ----------
    message : str
        What is wrong, in one sentence.
    hint : str, default ""
        What to do about it.

    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class OptionError(TrtWidgetError, ValueError):
    """An option is wrong, unknown, or not possible with this model or this TensorRT."""


class BackendError(TrtWidgetError, ImportError):
    """There is no TensorRT here, or not one that can report progress."""


class BuildFailed(TrtWidgetError, RuntimeError):  # noqa: N818 - names an outcome, as "built" does
    """The build ended without an engine although nobody asked it to stop."""


class BuildStopped(TrtWidgetError):  # noqa: N818 - names an outcome, as "built" does
    """The build was stopped.

    Parameters
    ----------
    reason : str
        Who or what stopped it, such as ``"Stop button"`` or ``"timeout of 300 s"``.

    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"The build was stopped: {reason}.")
        self.args = (reason,)  # what pickle hands back to __init__
        self.reason = reason
