"""Which TensorRT is here, and what it can do. Nothing is imported before it is asked for."""

from __future__ import annotations

import importlib
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trtwidget.errors import BackendError, OptionError
from trtwidget.events import Severity

NAMES = ("tensorrt", "tensorrt_rtx")
INSTALL = (
    'Install one: pip install "trtwidget[rtx]" for TensorRT-RTX, which also builds without a GPU, '
    'or pip install "trtwidget[tensorrt]".'
)
_TITLES = {"tensorrt": "TensorRT", "tensorrt_rtx": "TensorRT-RTX"}

_log = logging.getLogger("trtwidget.tensorrt")
_lock = threading.Lock()
_found: dict[str, Backend] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Backend:
    """One TensorRT.

    Attributes
    ----------
    name : {"tensorrt", "tensorrt_rtx"}
        The module's name.
    module : module
        The imported module.
    logger : ILogger
        The one logger of this process: TensorRT wants no second one.

    """

    name: str
    module: Any
    logger: Any

    @property
    def version(self) -> str:
        """The version, such as ``"1.7.1.116"``."""
        return str(self.module.__version__)

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def title(self) -> str:
        """The name and version as people write them, such as ``"TensorRT-RTX 1.7.1.116"``."""
        return f"{_TITLES[self.name]} {self.version}"


def find_backend(name: str = "auto") -> Backend:
    """Import a TensorRT and see that it can report progress.

    Parameters
    ----------
    name : {"auto", "tensorrt", "tensorrt_rtx"}
        "auto" takes `tensorrt` where it imports and its builder can be made, else
        `tensorrt_rtx`.

    Raises
    ------
    BackendError
        It is not installed, cannot be used here, or is too old.
    OptionError
        There is no backend of that name.

    """
    if name not in {"auto", *NAMES}:
        raise OptionError(
            f"There is no backend {name!r}.", f"Use one of: auto, {', '.join(NAMES)}."
        )
    with _lock:
        if name in _found:
            return _found[name]
        found = _first_usable() if name == "auto" else _load(name)
        _found[found.name] = _found[name] = found
        return found


def _first_usable() -> Backend:
    troubles = []
    for name in NAMES:
        try:
            backend = _found.get(name) or _load(name)
            _check_builder(backend)
        except BackendError as error:  # noqa: PERF203 - twice at most
            troubles.append(error)
        else:
            return backend
    present = [error for error in troubles if not isinstance(error.__cause__, ModuleNotFoundError)]
    if present:
        raise present[0]
    raise BackendError("No TensorRT is installed here.", INSTALL)


def _load(name: str) -> Backend:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise BackendError(f"{name} cannot be imported: {error}.", INSTALL) from ImportError(
                name
            )
        raise BackendError(f"{name} is not installed here.", INSTALL) from error
    except Exception as error:  # a broken installation raises whatever its loader raises
        raise BackendError(
            f"{name} is installed but cannot be imported: {error}.",
            "Reinstall it, or choose another with backend=.",
        ) from error
    if not hasattr(module, "IProgressMonitor"):
        raise BackendError(
            f"{_TITLES[name]} {getattr(module, '__version__', '(no version)')} cannot report "
            "progress: it has no IProgressMonitor.",
            "Use a newer TensorRT (10 or later).",
        )
    return Backend(name, module, _make_logger(module))


def _check_builder(backend: Backend) -> None:
    """See that a builder can be made: full TensorRT refuses where there is no driver."""
    errors: list[str] = []
    backend.logger.target = lambda _severity, text: errors.append(text)
    try:
        backend.module.Builder(backend.logger)
    except Exception as error:
        raise BackendError(
            f"{backend.title} is installed, but its builder cannot be made here: "
            f"{errors[-1] if errors else error}.",
            "Check the GPU driver with nvidia-smi, or use TensorRT-RTX, which builds without a "
            'GPU: pip install "trtwidget[rtx]".',
        ) from error
    finally:
        backend.logger.target = None


def _make_logger(module: Any) -> Any:
    severities: dict[int, Severity] = {
        int(module.ILogger.INTERNAL_ERROR): "internal_error",
        int(module.ILogger.ERROR): "error",
        int(module.ILogger.WARNING): "warning",
        int(module.ILogger.INFO): "info",
        int(module.ILogger.VERBOSE): "verbose",
    }

    class Logger(module.ILogger):  # type: ignore[misc]
        """Hand TensorRT's messages to the build that is under way, or else to logging."""

        def __init__(self) -> None:
            module.ILogger.__init__(self)
            self.target: Callable[[Severity, str], None] | None = None

        def log(self, severity: Any, text: str) -> None:
            """Take one message; called by TensorRT from any thread."""
            try:
                target = self.target
                name = severities.get(int(severity), "info")
                if target is not None:
                    target(name, text)
                else:
                    _log.log(LEVELS[name], "%s", text)
            except Exception:  # noqa: BLE001 - nothing of ours may reach TensorRT
                _log.exception("A message of TensorRT's could not be handled")

    return Logger()


#: TensorRT's severities as levels of `logging`.
LEVELS: dict[Severity, int] = {
    "internal_error": logging.CRITICAL,
    "error": logging.ERROR,
    "warning": logging.WARNING,
    "info": logging.INFO,
    "verbose": logging.DEBUG,
}
