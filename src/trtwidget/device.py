"""Choosing the GPU that a build runs on."""

from __future__ import annotations

import ctypes

from trtwidget.errors import OptionError


def use_device(index: int) -> None:
    """Make a GPU the current one of this thread; TensorRT's builder uses that.

    It goes through the driver, which TensorRT needs anyway, and asks for no CUDA package.

    Raises
    ------
    OptionError
        If there is no driver or no such GPU.

    """
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise OptionError(
            f"device={index} (--device={index}) asks for a GPU, but there is no NVIDIA driver here.",
            "Leave it out to build without a GPU (TensorRT-RTX can), or check nvidia-smi.",
        ) from error
    device, context = ctypes.c_int(), ctypes.c_void_p()
    failed = (
        cuda.cuInit(0)
        or cuda.cuDeviceGet(ctypes.byref(device), index)
        or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        or cuda.cuCtxSetCurrent(context)
    )
    if failed:
        raise OptionError(
            f"device={index} (--device={index}) cannot be used: CUDA error {failed}.",
            "nvidia-smi lists the GPUs of this machine, beginning with 0.",
        )
