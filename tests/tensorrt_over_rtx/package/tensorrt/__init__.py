"""TensorRT's real Python bindings over TensorRT-RTX's library: for tests, not TensorRT."""

import ctypes
import importlib.util
from pathlib import Path

_bindings = Path(importlib.util.find_spec("tensorrt_bindings").origin).parent
# The parser's library finds TensorRT's functions only among those open to the whole process.
ctypes.CDLL(str(_bindings / "libnvinfer.so.11"), mode=ctypes.RTLD_GLOBAL)

from tensorrt_bindings import *  # noqa: E402, F403 - the library comes first; the real package does the same
from tensorrt_bindings import __version__  # noqa: E402, F401 - as the real package
