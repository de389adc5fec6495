"""Models to build engines from, made on the spot: nothing is downloaded.

Needs ``onnx`` and NumPy, which the ``lab`` extra brings.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import threading
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trtwidget.errors import OptionError
from trtwidget.onnx_graph import Graph

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["resnet50"]


def resnet50(
    path: str | os.PathLike[str],
    batch: int | str = "dynamic",
    weights: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    seed: int = 0,
) -> Path:
    """Write ResNet-50 v1.5 as an ONNX file.

    The graph is torchvision's: input ``input`` (N, 3, 224, 224), output ``logits`` (N, 1000),
    float32, the stride in the 3x3 convolution of each bottleneck, 25,557,032 parameters under
    torchvision's names. BatchNormalization is kept, so that any torchvision state dict fits as it
    is; TensorRT folds it into the convolutions anyway.

    Parameters
    ----------
    path : path-like
        The file to write. It appears whole or not at all.
    batch : int or "dynamic", default "dynamic"
        The batch size, fixed in the model, or left to the optimization profile.
    weights : mapping or path-like, optional
        torchvision's state dict (name to array or tensor), or a ``.npz``, ``.pt`` or ``.pth``
        file of it. By default the weights are random: good for timing builds, not for pictures.
    seed : int, default 0
        The seed of the random weights.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    OptionError
        If `batch`, `path` or `weights` cannot be used; the text says why.
    TrtWidgetError
        If ``onnx`` is not installed.

    Examples
    --------
    >>> resnet50("resnet50.onnx")  # doctest: +SKIP
    PosixPath('resnet50.onnx')

    """
    if batch != "dynamic" and (not isinstance(batch, int) or batch < 1):
        raise OptionError(
            f"The batch size must be a whole number from 1 on, or 'dynamic', not {batch!r}."
        )
    target = Path(path)
    if target.is_dir():
        raise OptionError(f"{str(target)!r} is a folder.", "Give the name of a file in it.")
    if not target.parent.is_dir():
        raise OptionError(
            f"There is no folder {str(target.parent)!r} to write {target.name} to.",
            "Create it first, or choose another path.",
        )
    graph = _resnet50_graph()
    if weights is None:
        values = graph.random_values(seed)
    elif isinstance(weights, Mapping):
        values = graph.checked_values(weights, "The state dict")
    else:
        values = graph.checked_values(_read_weights(Path(weights)), Path(weights).name)
    size = "batch" if batch == "dynamic" else batch
    model = graph.model(
        "resnet50", values, {"input": [size, 3, 224, 224]}, {"logits": [size, 1000]}
    )
    _write(target, model.SerializeToString())
    return target


def _resnet50_graph() -> Graph:
    graph = Graph()
    x = graph.conv("input", "conv1", 3, 64, kernel=7, stride=2)
    x = graph.relu(graph.batch_norm(x, "bn1", 64), "relu")
    x = graph.node("MaxPool", [x], "maxpool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, (blocks, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)], start=1):
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 1 else 1
            name = f"layer{stage}.{block}"
            x = _bottleneck(graph, x, name, channels=channels, width=width, stride=stride)
            channels = 4 * width
    x = graph.node("GlobalAveragePool", [x], "avgpool")
    x = graph.node("Flatten", [x], "flatten", axis=1)
    graph.linear(x, "fc", channels, 1000, output="logits")
    return graph


def _bottleneck(graph: Graph, x: str, name: str, *, channels: int, width: int, stride: int) -> str:
    y = graph.conv(x, f"{name}.conv1", channels, width)
    y = graph.relu(graph.batch_norm(y, f"{name}.bn1", width), f"{name}.relu1")
    y = graph.conv(y, f"{name}.conv2", width, width, kernel=3, stride=stride)
    y = graph.relu(graph.batch_norm(y, f"{name}.bn2", width), f"{name}.relu2")
    y = graph.conv(y, f"{name}.conv3", width, 4 * width)
    # At full scale random activations would grow with each of the 16 additions, to hundreds.
    y = graph.batch_norm(y, f"{name}.bn3", 4 * width, scale=0.2)
    if stride != 1 or channels != 4 * width:
        x = graph.conv(x, f"{name}.downsample.0", channels, 4 * width, stride=stride)
        x = graph.batch_norm(x, f"{name}.downsample.1", 4 * width)
    return graph.relu(graph.node("Add", [y, x], f"{name}.add"), f"{name}.relu3")


def _read_weights(path: Path) -> Mapping[str, Any]:
    readers: dict[str, Callable[[Path], Any]] = {
        ".npz": _read_npz,
        ".pt": _read_torch,
        ".pth": _read_torch,
    }
    if path.suffix not in readers:
        raise OptionError(
            f"Weights cannot be read from {str(path)!r}.",
            "Give a .npz, .pt or .pth file, or the state dict itself.",
        )
    if not path.is_file():
        raise OptionError(f"There is no weights file {str(path)!r}.")
    weights = readers[path.suffix](path)
    if not isinstance(weights, Mapping):
        raise OptionError(
            f"{path.name} holds no state dict but a {type(weights).__name__}.",
            "Save what model.state_dict() returns.",
        )
    return weights


def _read_npz(path: Path) -> Any:
    import numpy as np

    try:
        loaded = np.load(path, allow_pickle=False)
        # A single array, saved by numpy.save, is given back as it is for the caller to refuse.
        return dict(loaded) if isinstance(loaded, Mapping) else loaded
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise OptionError(f"{path.name} is not a readable .npz file: {error}.") from error


def _read_torch(path: Path) -> Any:
    try:
        # Not a dependency, and so by name: type checkers need not know it.
        torch = importlib.import_module("torch")
    except ImportError as error:
        raise OptionError(
            f"Reading {path.name} needs PyTorch, which is not installed.",
            "Install torch, or save the state dict as a .npz file where it is installed.",
        ) from error
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    # torch.load raises whatever the archive, the pickle or a tensor in it happens to raise.
    except Exception as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise OptionError(
            f"{path.name} holds no state dict that PyTorch can read: {reason}",
            "Save what model.state_dict() returns.",
        ) from error


def _write(target: Path, data: bytes) -> None:
    # Beside the target, so that the rename stays within one file system.
    temporary = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(target)
    except OSError as error:
        raise OptionError(
            f"{str(target)!r} cannot be written: {error.strerror}.", "Choose another path."
        ) from error
    finally:
        with contextlib.suppress(OSError):  # what there is to say has been said
            temporary.unlink(missing_ok=True)
