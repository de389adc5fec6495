"""Reading the value of one option, however it is spelled.

Each reader takes what the user gave (from Python, JSON or a command line) and the name the user
knows it by, and returns the one form that `BuildOptions` keeps, or raises an `OptionError`.
"""

from __future__ import annotations

import math
import operator
import os
import re
from collections.abc import Callable, Iterable
from typing import Any

from trtwidget.errors import OptionError

Reader = Callable[[Any, str], Any]

_SIZE = re.compile(r"(?P<number>\d+\.?\d*|\.\d+)\s*(?P<unit>[KMGT]?)(?P<tail>IB|B|)", re.IGNORECASE)
_POWER = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def key(text: str) -> str:
    """Reduce a name to what its spellings share: ``AMPERE_PLUS`` and ``ampere+`` are one."""
    return text.replace("+", "plus").replace("_", "").replace("-", "").lower()


def switch(value: Any, label: str) -> bool:
    """Read an option that is on or off."""
    if not isinstance(value, bool):
        raise OptionError(f"{label} is {value!r}, but must be True or False.")
    return value


def integer(low: int, high: int | None = None, *, auto: bool = False) -> Reader:
    """Make a reader of whole numbers; with `auto`, -1 means that TensorRT decides."""

    def read(value: Any, label: str) -> int | None:
        try:
            number = int(value) if isinstance(value, str) else operator.index(value)
        except (TypeError, ValueError):
            number = None
        if auto and number == -1:
            return None
        if (
            number is None
            or isinstance(value, bool)
            or number < low
            or (high is not None and number > high)
        ):
            limits = f"of {low} or more" if high is None else f"from {low} to {high}"
            raise OptionError(f"{label} is {value!r}, but must be a whole number {limits}.")
        return number

    return read


def seconds(value: Any, label: str) -> float:
    """Read a time span in seconds."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or not (0 < number < math.inf):
        raise OptionError(f"{label} is {value!r}, but must be a number of seconds above 0.")
    return number


def size(value: Any, label: str) -> int:
    """Read a number of bytes: a whole number, or text with a unit such as ``"2GiB"``.

    ``K``, ``M``, ``G`` and ``T`` are powers of 1024 as in trtexec, with or without ``iB``;
    ``KB``, ``MB``, ``GB`` and ``TB`` are powers of 1000.
    """
    if isinstance(value, str):
        found = _SIZE.fullmatch(value.strip())
        if found and (found["unit"] or found["tail"]):
            base = 1000 if found["unit"] and found["tail"].upper() == "B" else 1024
            return int(float(found["number"]) * base ** _POWER[found["unit"].upper()])
        raise OptionError(
            f"{label} is {value!r}, which is not a size.",
            "Write a number with a unit, such as 512MiB, 1.5G or 2GiB.",
        )
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if number < 0 or isinstance(value, bool):
        raise OptionError(
            f"{label} is {value!r}, but must be a number of bytes.",
            'Give a whole number, or text with a unit such as "2GiB".',
        )
    return number


def size_in_mib(value: str, label: str) -> int:
    """Read a size as trtexec does: a number without a unit is in MiB."""
    text = value.strip()
    return size(text + "M" if text[-1:].isdigit() or text.endswith(".") else text, label)


def path(value: Any, label: str) -> str:
    """Read a file's path; ``~`` is the home folder, as in trtexec."""
    try:
        name = os.fspath(value)
    except TypeError:
        name = ""
    if not isinstance(name, str) or not name:
        raise OptionError(f"{label} is {value!r}, but must be the path of a file.")
    return os.path.expanduser(name)  # noqa: PTH111 - pathlib would drop a leading ./


def choice(*allowed: str) -> Reader:
    """Make a reader of one of a few words, or of TensorRT's own enum member of that name."""
    by_key = {key(word): word for word in allowed}

    def read(value: Any, label: str) -> str:
        word = by_key.get(key(str(getattr(value, "name", value))))
        if word is None:
            raise OptionError(f"{label} is {value!r}, but must be one of {', '.join(allowed)}.")
        return word

    return read


def sparsity(value: Any, label: str) -> str:
    """Read how sparse weights are used."""
    if value == "force":
        raise OptionError(
            f"{label}=force would overwrite the model's weights.",
            "Prune the model first (polygraphy surgeon prune), then use 'enable'.",
        )
    return str(choice("disable", "enable")(value, label))


def compute_capabilities(value: Any, label: str) -> tuple[str, ...]:
    """Read GPU architectures, as ``89``, ``8.9``, ``"SM89"`` or ``"current"``, one or several."""
    names: list[str] = []
    for item in _items(value):
        text = str(getattr(item, "name", item)).strip()
        digits = re.sub(r"^SM_?|\.", "", text.upper())
        if not digits.isdecimal() and digits != "CURRENT":
            raise OptionError(
                f"{label} holds {text!r}, which is not a compute capability.",
                "Give numbers such as 86,89,120, or 'current' for the GPU in this machine.",
            )
        names.append(digits if digits == "CURRENT" else f"SM{digits}")
    if "CURRENT" in names and len(set(names)) > 1:
        raise OptionError(
            f"{label} mixes 'current' with other compute capabilities.",
            "'current' (--useGpu) must stand alone.",
        )
    return tuple(dict.fromkeys(names))


def signed_names(value: Any, label: str) -> tuple[str, ...]:
    """Read names to turn on (``+NAME``) or off (``-NAME``)."""
    names = tuple(str(item).strip() for item in _items(value))
    for name in names:
        if name[:1] not in {"+", "-"} or not name[1:]:
            raise OptionError(
                f"{label} holds {name!r}, which says neither on nor off.",
                f"Write +{name} to turn it on or -{name} to turn it off.",
            )
        if ("-" if name[0] == "+" else "+") + name[1:] in names:
            raise OptionError(f"{label} turns {name[1:]} both on and off.")
    return names


def _items(value: Any) -> list[Any]:
    if isinstance(value, str):
        return value.split(",")
    if isinstance(value, Iterable):
        return list(value)
    return [value]
