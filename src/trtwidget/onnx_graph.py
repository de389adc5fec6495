"""A small builder of ONNX graphs with the parameter names of PyTorch.

Needs ``onnx`` and NumPy, which the ``lab`` extra brings.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from trtwidget.errors import OptionError, TrtWidgetError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import onnx

# The newest opset and IR that TensorRT 8.6's parser already read: no TensorRT refuses the file.
_OPSET = 17
_IR_VERSION = 8

_FAULTS_SHOWN = 5


class Graph:
    """A network as a list of ONNX nodes and of the named float32 parameters they need.

    Each method adds one node and returns the name of its output. Layers are named as in a
    PyTorch state dict, so ``conv(x, "layer1.0.conv1", …)`` takes ``layer1.0.conv1.weight``.
    """

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        # Name to shape, and to what random weights are made of: a constant, or the standard
        # deviation of a normal distribution.
        self.shapes: dict[str, tuple[int, ...]] = {}
        self._initial: dict[str, tuple[str, float]] = {}

    def parameter(
        self, name: str, shape: tuple[int, ...], *, fill: float = 0.0, std: float | None = None
    ) -> str:
        """Declare a parameter: constant or, with `std`, normally distributed when random."""
        self.shapes[name] = shape
        self._initial[name] = ("fill", fill) if std is None else ("std", std)
        return name

    def node(
        self, op: str, inputs: Sequence[str], name: str, *, output: str = "", **attributes: Any
    ) -> str:
        """Add any ONNX operator with one output."""
        output = output or f"{name}.out"
        self.nodes.append(_onnx().helper.make_node(op, inputs, [output], name, **attributes))
        return output

    def conv(
        self, x: str, name: str, channels: int, out: int, *, kernel: int = 1, stride: int = 1
    ) -> str:
        """Add a square convolution without bias, padded to keep the size at stride 1."""
        # He et al.: what keeps the variance of activations through convolution and ReLU.
        std = math.sqrt(2 / (channels * kernel**2))
        weight = self.parameter(f"{name}.weight", (out, channels, kernel, kernel), std=std)
        return self.node(
            "Conv",
            [x, weight],
            name,
            kernel_shape=[kernel, kernel],
            strides=[stride, stride],
            pads=[kernel // 2] * 4,
        )

    def batch_norm(self, x: str, name: str, channels: int, *, scale: float = 1.0) -> str:
        """Add a batch normalization; `scale` is its weight when the weights are random."""
        fills = {"weight": scale, "bias": 0.0, "running_mean": 0.0, "running_var": 1.0}
        inputs = [self.parameter(f"{name}.{k}", (channels,), fill=v) for k, v in fills.items()]
        return self.node("BatchNormalization", [x, *inputs], name, epsilon=1e-5)

    def relu(self, x: str, name: str) -> str:
        """Add a ReLU."""
        return self.node("Relu", [x], name)

    def linear(self, x: str, name: str, features: int, out: int, *, output: str = "") -> str:
        """Add a fully connected layer with bias."""
        std = math.sqrt(1 / features)
        weight = self.parameter(f"{name}.weight", (out, features), std=std)
        bias = self.parameter(f"{name}.bias", (out,))
        return self.node("Gemm", [x, weight, bias], name, output=output, transB=1)

    def random_values(self, seed: int) -> dict[str, np.ndarray]:
        """Return a value for each parameter, the same for the same seed."""
        import numpy as np

        generator = np.random.default_rng(seed)
        values: dict[str, np.ndarray] = {}
        for name, (kind, number) in self._initial.items():
            if kind == "fill":
                values[name] = np.full(self.shapes[name], number, np.float32)
            else:
                values[name] = generator.standard_normal(self.shapes[name], np.float32)
                values[name] *= np.float32(number)
        return values

    def checked_values(self, weights: Mapping[str, Any], source: str) -> dict[str, np.ndarray]:
        """Return a value for each parameter from a state dict; `source` names it in errors."""
        hint = "Give the state dict of the same model in torchvision."
        # Counters that PyTorch keeps for training: no part of the network.
        given = {k: v for k, v in weights.items() if not str(k).endswith(".num_batches_tracked")}
        missing = [name for name in self.shapes if name not in given]
        unknown = [str(name) for name in given if name not in self.shapes]
        if missing or unknown:
            faults = [f"lacks {_some(missing)}"] if missing else []
            if unknown:
                faults.append(f"has {_some(unknown)}, which this model does not")
            raise OptionError(f"{source} {' and '.join(faults)}.", hint)
        values: dict[str, np.ndarray] = {}
        wrong = []
        for name, shape in self.shapes.items():
            array = _array(given[name])
            if array is None:
                wrong.append(f"{name} is not numbers")
            elif array.shape != shape:
                wrong.append(f"{name} is {array.shape}, not {shape}")
            else:
                values[name] = array
        if wrong:
            raise OptionError(f"{source} does not fit this model: {_some(wrong)}.", hint)
        return values

    def model(
        self,
        name: str,
        values: Mapping[str, np.ndarray],
        inputs: Mapping[str, Sequence[int | str]],
        outputs: Mapping[str, Sequence[int | str]],
    ) -> onnx.ModelProto:
        """Return the ONNX model; `inputs` and `outputs` map float32 tensors to their shapes."""
        package = _onnx()
        helper, float32 = package.helper, package.TensorProto.FLOAT
        ends = [
            [helper.make_tensor_value_info(name, float32, shape) for name, shape in tensors.items()]
            for tensors in (inputs, outputs)
        ]
        initializers = [package.numpy_helper.from_array(v, k) for k, v in values.items()]
        return helper.make_model(
            helper.make_graph(self.nodes, name, *ends, initializers),
            producer_name="trtwidget",
            ir_version=_IR_VERSION,
            opset_imports=[helper.make_opsetid("", _OPSET)],
        )


def _onnx() -> Any:
    try:
        import onnx.helper
        import onnx.numpy_helper
    except ImportError as error:
        raise TrtWidgetError(
            "Making a model needs the Python package onnx, which is not installed.",
            'Install it: pip install "trtwidget[lab]".',
        ) from error
    return onnx


def _array(value: Any) -> np.ndarray | None:
    """Return a tensor, or anything like an array, as float32; None if it is neither."""
    import numpy as np

    if hasattr(value, "detach"):  # a tensor, perhaps on a GPU, perhaps of bfloat16
        value = value.detach().cpu().float().numpy()
    try:
        array: np.ndarray = np.asarray(value, np.float32)
    except (TypeError, ValueError):
        return None
    return array


def _some(faults: Sequence[str]) -> str:
    """Say what is wrong without filling the screen when everything is."""
    shown = ", ".join(faults[:_FAULTS_SHOWN])
    left = len(faults) - _FAULTS_SHOWN
    return f"{shown} and {left} more" if left > 0 else shown
