"""Optimization profiles for a network, checked against its inputs before TensorRT sees them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from trtwidget.errors import OptionError
from trtwidget.shapes import Profile, Shape, ShapeRange, dims

_IMAGE_RANK = 4
_IMAGE_SIZE = 224
_SEQUENCE_LENGTH = 128


def add_profiles(builder: Any, network: Any, config: Any, profiles: Sequence[Profile]) -> None:
    """Add optimization profiles to a builder config.

    Parameters
    ----------
    builder, network, config : TensorRT objects
        The builder, the finished network and the builder config.
    profiles : sequence of dict
        The shapes of the dynamic inputs, by name. As in trtexec, a name may hold one ``*``.

    Raises
    ------
    OptionError
        If the shapes do not fit the network's inputs, or dynamic inputs have none.

    """
    inputs = [network.get_input(index) for index in range(network.num_inputs)]
    dynamic = [tensor for tensor in inputs if _holds_shape(tensor) or -1 in tensor.shape]
    if not profiles and dynamic and not config.num_optimization_profiles:
        raise _missing(dynamic, "")
    for index, profile in enumerate(profiles):
        label = f"Profile {index}: " if len(profiles) > 1 else ""
        _refuse_unknown(profile, inputs, label)
        given = {tensor.name: _find(profile, tensor.name) for tensor in inputs}
        if missing := [tensor for tensor in dynamic if given[tensor.name] is None]:
            raise _missing(missing, label)
        for tensor in inputs:
            for shape in given[tensor.name] or ():
                _check(tensor, shape, label)
        if dynamic:
            _add(builder, config, [(tensor, given[tensor.name]) for tensor in dynamic], label)


def _add(
    builder: Any, config: Any, shapes: list[tuple[Any, ShapeRange | None]], label: str
) -> None:
    profile = builder.create_optimization_profile()
    for tensor, given in shapes:
        set_shapes = profile.set_shape_input if _holds_shape(tensor) else profile.set_shape
        try:
            set_shapes(tensor.name, *(given or ()))
        except (RuntimeError, ValueError) as error:
            raise OptionError(
                f"{label}TensorRT does not take the shapes of input {tensor.name!r}: {error}",
                "TensorRT's messages say why.",
            ) from error
    if config.add_optimization_profile(profile) < 0:
        raise OptionError(
            f"{label}TensorRT does not take this optimization profile.",
            "TensorRT's messages say why.",
        )


def _find(profile: Profile, name: str) -> ShapeRange | None:
    """Find an input's shapes: an exact name first, then one with a ``*`` in it."""
    return profile.get(name) or next(
        (shapes for pattern, shapes in profile.items() if _matches(pattern, name)), None
    )


def _matches(pattern: str, name: str) -> bool:
    head, star, tail = pattern.partition("*")
    if not star:
        return pattern == name
    return name.startswith(head) and name.endswith(tail) and len(name) >= len(head) + len(tail)


def _refuse_unknown(profile: Mapping[str, Any], inputs: list[Any], label: str) -> None:
    for pattern in profile:
        if not any(_matches(pattern, tensor.name) for tensor in inputs):
            names = ", ".join(repr(tensor.name) for tensor in inputs)
            raise OptionError(
                f"{label}A shape is given for {pattern!r}, which is not an input of the model.",
                f"Its inputs are: {names}." if names else "It has no inputs.",
            )


def _check(tensor: Any, shape: Shape, label: str) -> None:
    """Check one given shape; a shape tensor is given its values, which may be any numbers."""
    wanted = (_length(tensor),) if _holds_shape(tensor) else tuple(tensor.shape)
    where = f"{label}Input {tensor.name!r}"
    if _holds_shape(tensor):
        if wanted[0] not in (-1, len(shape)):
            raise OptionError(
                f"{where} holds {wanted[0]} values of a shape, but {len(shape)} are given "
                f"({dims(shape)}).",
                "It is a shape tensor: give the values that it will have.",
            )
        return
    if len(shape) != len(wanted):
        raise OptionError(
            f"{where} has {len(wanted)} dimensions in the model ({dims(wanted)}), but the shape "
            f"given has {len(shape)} ({dims(shape)}).",
            "Give a size for every dimension of the input, the batch too.",
        )
    for index, (size, fixed) in enumerate(zip(shape, wanted, strict=True)):
        if size < 0:
            raise OptionError(
                f"{where} is given the size {size} in dimension {index} ({dims(shape)}).",
                "Give real sizes; for a range, the minimum, the optimum and the maximum.",
            )
        if fixed not in (-1, size):
            raise OptionError(
                f"{where} has the size {fixed} in dimension {index} of the model "
                f"({dims(wanted)}), but the shape given has {size} ({dims(shape)}).",
                f"Only a dimension that is -1 in the model can be chosen; give {fixed} there.",
            )


def _missing(tensors: list[Any], label: str) -> OptionError:
    """Say which dynamic inputs lack shapes, and spell out what to give for this model."""
    least = {tensor.name: _example(tensor, 1) for tensor in tensors}
    most = {tensor.name: _example(tensor, 8) for tensor in tensors}
    return OptionError(
        f"{label}The model's dynamic inputs need shapes, and none are given for "
        f"{'; '.join(_describe(tensor) for tensor in tensors)}.",
        f"Give the sizes to build for: {_flag('--optShapes', least)} (in Python: "
        f"opt_shapes={least!r}); for a range, also {_flag('--minShapes', least)} and "
        f"{_flag('--maxShapes', most)} (min_shapes=…, max_shapes=…).",
    )


def _flag(name: str, shapes: dict[str, Shape]) -> str:
    spelled = (
        f"'{tensor}':{dims(shape)}" if "," in tensor else f"{tensor}:{dims(shape)}"
        for tensor, shape in shapes.items()
    )
    return shlex.quote(f"{name}={','.join(spelled)}")


def _describe(tensor: Any) -> str:
    if _holds_shape(tensor):
        return f"{tensor.name!r} (a shape tensor of {_length(tensor)} values)"
    free = [
        f"{index} {name!r}" if (name := tensor.get_dimension_name(index)) else str(index)
        for index, size in enumerate(tensor.shape)
        if size == -1
    ]
    word = "dimension" if len(free) == 1 else "dimensions"
    return f"{tensor.name!r} ({dims(tensor.shape)}: {word} {', '.join(free)})"


def _example(tensor: Any, batch: int) -> Shape:
    """Make a shape to show: sizes that are usual for images and for sequences."""
    if _holds_shape(tensor):
        return (1,) * max(_length(tensor), 1)
    shape = tuple(tensor.shape)
    usual = _IMAGE_SIZE if len(shape) == _IMAGE_RANK else _SEQUENCE_LENGTH
    return tuple(
        size if size != -1 else batch if index == 0 else usual for index, size in enumerate(shape)
    )


def _holds_shape(tensor: Any) -> bool:
    """Tell whether an input is a shape tensor: only a scalar or a vector of integers can be."""
    integers = {"INT32", "INT64"}
    return len(tensor.shape) <= 1 and tensor.dtype.name in integers and bool(tensor.is_shape_tensor)


def _length(tensor: Any) -> int:
    """Give the number of values in a shape tensor, which is a scalar or a vector."""
    return int(tensor.shape[0]) if len(tensor.shape) else 1
