"""``import tensorrt`` on a machine that can only have TensorRT-RTX.

TensorRT's own libraries come from a registry of NVIDIA's, are gigabytes, and want a GPU to build
anything. TensorRT-RTX's do not, and share TensorRT's C++ interface. So here the real Python
bindings of TensorRT (``tensorrt-cu13-bindings``, the module ``tensorrt_bindings``) run over
TensorRT-RTX's library. That exercises the name ``tensorrt``, its classes, its signatures and its
progress monitor. It is **not** TensorRT: what is built is a TensorRT-RTX engine, phases and errors
are TensorRT-RTX's, and flags that only TensorRT knows do nothing.

``python -m tests.tensorrt_over_rtx`` prints a folder to put on ``PYTHONPATH``; the fixture
``tensorrt_env`` gives the environment for a subprocess.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from filelock import FileLock

BINDINGS = "tensorrt-cu13-bindings==11.4.0.106"
CACHE = Path(__file__).parents[2] / ".venvs"

_SOURCES = Path(__file__).parent
_STUB = _SOURCES / "nvinfer_plugin.c"
_PACKAGE = _SOURCES / "package" / "tensorrt"


class Unavailable(Exception):  # noqa: N818 - a reason to skip, not a fault
    """Something that the preparation needs is not on this machine."""


def prepare(cache: Path = CACHE) -> Path:
    """Return a folder for ``PYTHONPATH`` in which ``tensorrt`` can be imported.

    It is made once for each interpreter and each TensorRT-RTX and kept in `cache`; any number of
    processes may ask at the same time.
    """
    libraries = _rtx_libraries()
    ingredients = [
        BINDINGS,
        sys.implementation.cache_tag,
        *map(str, libraries.values()),
        _STUB.read_text(),
        (_PACKAGE / "__init__.py").read_text(),
    ]
    digest = hashlib.sha256("\0".join(ingredients).encode()).hexdigest()[:12]
    home = cache / f"tensorrt-over-rtx-{digest}"
    if not home.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{home}.lock"):
            if not home.is_dir():
                _make(home, libraries)
    return home


def _rtx_libraries() -> dict[str, Path]:
    """Return where TensorRT-RTX's libraries are, by the names the bindings look for."""
    spec = importlib.util.find_spec("tensorrt_rtx_libs")
    if spec is None or not spec.submodule_search_locations:
        raise Unavailable("TensorRT-RTX is not installed (tensorrt-rtx-cu13)")
    folder = Path(spec.submodule_search_locations[0])
    patterns = {
        "libnvinfer.so.11": "libtensorrt_rtx.so.*",
        "libnvonnxparser.so.11": "libtensorrt_onnxparser_rtx.so.*",
    }
    found = {name: next(folder.glob(pattern), None) for name, pattern in patterns.items()}
    if None in found.values():
        raise Unavailable(f"TensorRT-RTX has no Linux libraries in {folder}")
    return {name: path for name, path in found.items() if path}


def _make(home: Path, libraries: dict[str, Path]) -> None:
    compiler = shutil.which("gcc")
    if compiler is None:
        raise Unavailable("gcc is not installed")
    if importlib.util.find_spec("pip") is None:
        raise Unavailable("pip is not installed")
    # Made elsewhere and renamed: a preparation that is interrupted leaves no half a folder.
    with tempfile.TemporaryDirectory(dir=home.parent, prefix=f".{home.name}-") as parent:
        new = Path(parent, "new")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*pip, "--target", str(new), "--no-deps", "--only-binary", ":all:", BINDINGS])
        # The bindings look beside themselves first.
        bindings = new / "tensorrt_bindings"
        for name, library in libraries.items():
            (bindings / name).symlink_to(library)
        plugins = str(bindings / "libnvinfer_plugin.so.11")
        _run([compiler, "-shared", "-fPIC", "-Wall", "-Wextra", "-o", plugins, str(_STUB)])
        shutil.copytree(_PACKAGE, new / "tensorrt", ignore=shutil.ignore_patterns("__pycache__"))
        new.rename(home)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(command)} failed:\n{done.stderr.strip()}")
