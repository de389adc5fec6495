"""Print the folder to put on ``PYTHONPATH``, making it first where it is not there yet."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.tensorrt_over_rtx import CACHE, Unavailable, prepare

parser = argparse.ArgumentParser(prog="python -m tests.tensorrt_over_rtx", description=__doc__)
parser.add_argument("--cache", type=Path, default=CACHE, help="where to keep it (%(default)s)")
try:
    print(prepare(parser.parse_args().cache))  # noqa: T201 - a command prints
except Unavailable as error:
    sys.exit(str(error))
