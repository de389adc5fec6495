"""Shapes of inputs and optimization profiles, by trtexec's rules."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from trtwidget.errors import OptionError

Shape = tuple[int, ...]
EXAMPLE = '{"input": (1, 3, 224, 224)}'


class ShapeRange(NamedTuple):
    """The shapes that one input takes in one optimization profile."""

    min: Shape
    opt: Shape
    max: Shape


Profile = dict[str, ShapeRange]
"""One optimization profile: the shapes of each dynamic input, by the input's name."""


def dims(shape: Iterable[int]) -> str:
    """Spell a shape as trtexec does: ``1x3x224x224``, or ``scalar``."""
    return "x".join(map(str, shape)) or "scalar"


def read_shape(value: Any, label: str) -> Shape:
    """Read one shape: a sequence of whole numbers, or trtexec's ``1x3x224x224``."""
    try:
        if isinstance(value, str):
            text = value.strip()
            return () if text == "scalar" else tuple(int(size) for size in text.split("x"))
        return tuple(operator.index(size) for size in value)
    except (TypeError, ValueError):
        raise OptionError(
            f"{label} has {value!r}, which is not a shape.",
            "A shape is whole numbers, such as (1, 3, 224, 224) or 1x3x224x224.",
        ) from None


def read_shapes(value: Any, label: str) -> dict[str, Shape]:
    """Read a mapping of inputs' names to shapes."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise OptionError(
            f"{label} is {value!r}, but must map the inputs' names to shapes.",
            f"Write {label}={EXAMPLE}.",
        )
    return {str(name): read_shape(shape, f"{label}[{name!r}]") for name, shape in value.items()}


def make_profile(
    low: Mapping[str, Shape],
    opt: Mapping[str, Shape],
    high: Mapping[str, Shape],
    label: str = "",
) -> Profile:
    """Join minimum, optimum and maximum shapes into a profile, filling gaps as trtexec does.

    A missing minimum or maximum is the optimum or, without one, its counterpart; a missing
    optimum is the maximum or, without one, the minimum.
    """
    profile: Profile = {}
    for name in {**low, **opt, **high}:
        ends = low.get(name), opt.get(name), high.get(name)
        profile[name] = ShapeRange(
            _first(ends[0], ends[1], ends[2]),
            _first(ends[1], ends[2], ends[0]),
            _first(ends[2], ends[1], ends[0]),
        )
        _check(name, profile[name], label)
    return profile


def _first(*shapes: Shape | None) -> Shape:
    # Not `or`: the empty shape of a scalar is a shape.
    return next(shape for shape in shapes if shape is not None)


def with_fixed(profile: Profile, fixed: Mapping[str, Shape]) -> Profile:
    """Add inputs of one shape to a profile."""
    for name in fixed:
        if name in profile:
            raise OptionError(
                f"Input {name!r} has both one fixed shape and a range of shapes.",
                "Give either shapes, or min_shapes, opt_shapes and max_shapes.",
            )
    return profile | {name: ShapeRange(shape, shape, shape) for name, shape in fixed.items()}


def read_profiles(value: Any, label: str) -> tuple[Profile, ...]:
    """Read several optimization profiles.

    A profile maps inputs' names to ``(min, opt, max)``, or to one shape for all three; or it
    maps ``"min"``, ``"opt"`` and ``"max"`` to shapes by name, as the build's arguments do.
    """
    if isinstance(value, (Mapping, str)) or not isinstance(value, Iterable):
        raise OptionError(
            f"{label} is {value!r}, but must be a list of profiles.",
            'Write profiles=[{"min": {...}, "opt": {...}, "max": {...}}, ...].',
        )
    profiles = list(value)
    several = len(profiles) > 1
    return tuple(
        _read_profile(profile, f"Profile {index}: " if several else "", f"{label}[{index}]")
        for index, profile in enumerate(profiles)
    )


def _read_profile(value: Any, prefix: str, label: str) -> Profile:
    if not isinstance(value, Mapping) or not value:
        raise OptionError(
            f"{label} is {value!r}, but must map inputs to shapes.",
            'Write {"input": (min_shape, opt_shape, max_shape)}, or '
            '{"min": {...}, "opt": {...}, "max": {...}}.',
        )
    if set(value) <= {"min", "opt", "max"} and all(isinstance(v, Mapping) for v in value.values()):
        low, opt, high = (
            read_shapes(value.get(end), f"{label}[{end!r}]") for end in ("min", "opt", "max")
        )
        return make_profile(low, opt, high, prefix)
    ranges = {
        str(name): _read_range(shapes, f"{label}[{name!r}]") for name, shapes in value.items()
    }
    for name, shapes in ranges.items():
        _check(name, shapes, prefix)
    return ranges


def _read_range(value: Any, label: str) -> ShapeRange:
    several = not isinstance(value, str) and isinstance(value, Iterable)
    if not several or not any(isinstance(item, Iterable) for item in value):
        shape = read_shape(value, label)
        return ShapeRange(shape, shape, shape)
    shapes = [read_shape(shape, label) for shape in value]
    if len(shapes) != len(ShapeRange._fields):
        raise OptionError(
            f"{label} has {len(shapes)} shapes, but must have three.",
            "Give the minimum, the optimum and the maximum, in this order.",
        )
    return ShapeRange(*shapes)


def _check(name: str, shapes: ShapeRange, label: str) -> None:
    if not len(shapes.min) == len(shapes.opt) == len(shapes.max):
        raise OptionError(
            f"{label}Input {name!r} has shapes of different ranks: "
            f"min {dims(shapes.min)}, opt {dims(shapes.opt)}, max {dims(shapes.max)}.",
            "Give all three the same number of dimensions.",
        )
    for smaller, larger in ((shapes.min, shapes.opt), (shapes.opt, shapes.max)):
        for index, (low, high) in enumerate(zip(smaller, larger, strict=True)):
            if low > high:
                raise OptionError(
                    f"{label}Input {name!r} has {_ends(shapes, smaller)} above "
                    f"{_ends(shapes, larger)} in dimension {index} ({low} > {high}).",
                    "Every dimension needs min <= opt <= max.",
                )


def _ends(shapes: ShapeRange, shape: Shape) -> str:
    """Name a shape: who gave a maximum only may know nothing of an optimum that equals it."""
    names = [end for end in ShapeRange._fields if getattr(shapes, end) == shape]
    return f"{' and '.join(names)} {dims(shape)}"
