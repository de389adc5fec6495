"""Fixtures for every kind of test."""

from __future__ import annotations

import os

import pytest

from tests.tensorrt_over_rtx import Unavailable, prepare


@pytest.fixture(scope="session")
def tensorrt_env() -> dict[str, str]:
    """Environment for a subprocess in which ``import tensorrt`` works.

    What is imported there are TensorRT's real bindings over TensorRT-RTX's library; see
    tests/tensorrt_over_rtx for what that is good for.
    """
    try:
        home = prepare()
    except Unavailable as error:
        if os.environ.get("CI"):
            pytest.fail(f"CI must have what this test needs: {error}")
        pytest.skip(str(error))
    paths = [str(home), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
