"""trtexec's shape flags, of which several make a profile."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from trtwidget.errors import OptionError
from trtwidget.shapes import Profile, Shape, make_profile, read_shape, with_fixed
from trtwidget.values import integer

SHAPE_FLAGS = {
    "--shapes": "fixed",
    "--minShapes": "low",
    "--optShapes": "opt",
    "--maxShapes": "high",
}


class ShapeFlags:
    """The shape flags met so far, by the profile that they belong to."""

    def __init__(self) -> None:
        self._ends: dict[int | None, dict[str, dict[str, Shape]]] = {}
        self._fixed: dict[str, Shape] = {}
        self._current: int | None = None

    def begin(self, name: str, value: str) -> None:
        """Take ``--profile=N``: the shape flags that follow belong to profile N."""
        index = integer(0)(value, name)
        if index in self._ends:
            raise OptionError(f"{name}={index} is given twice.", "Number the profiles 0, 1, 2, ….")
        self._current = index
        self._ends[index] = defaultdict(dict)

    def add(self, name: str, value: str) -> None:
        """Take one of the shape flags."""
        end = SHAPE_FLAGS[name]
        if end == "fixed":
            known = self._fixed
        else:
            known = self._ends.setdefault(self._current, defaultdict(dict))[end]
        for tensor, text in pairs(name, value):
            if tensor in known:
                raise OptionError(
                    f"{name} gives a shape for {tensor!r} twice.",
                    "For several profiles, begin each with --profile=N.",
                )
            known[tensor] = read_shape(text, name)

    def profiles(self) -> tuple[Profile, ...]:
        """Join what was given into profiles, in the order of their numbers."""
        numbered = sorted(index for index in self._ends if index is not None)
        if numbered and None in self._ends:
            raise OptionError(
                "A shape flag stands before the first --profile=N.",
                "Put the shape flags of a profile after its --profile=N.",
            )
        if numbered != list(range(len(numbered))):
            raise OptionError(
                f"The profiles are numbered {', '.join(map(str, numbered))}.",
                "Number them 0, 1, 2, … without a gap.",
            )
        profiles = []
        for index in numbered or (None,):
            ends = self._ends.get(index, {})
            label = f"Profile {index}: " if len(numbered) > 1 else ""
            profile = make_profile(
                ends.get("low", {}), ends.get("opt", {}), ends.get("high", {}), label
            )
            # Beside a range, --shapes says in trtexec with what to run the engine.
            rest = {name: shape for name, shape in self._fixed.items() if name not in profile}
            profile = with_fixed(profile, rest)
            if index is not None and not profile:
                raise OptionError(
                    f"Profile {index} has no shapes.", "Give its shape flags after --profile=N."
                )
            profiles.append(profile)
        return tuple(profile for profile in profiles if profile)


def pairs(flag: str, text: str) -> Iterator[tuple[str, str]]:
    """Split ``name:value,'quoted:name':value`` at the commas and at each last colon."""
    for item in re.findall(r"(?:'[^']*'|[^,])+", text):
        found = re.fullmatch(r"(?:'([^']+)'|([^']+)):([^:']+)", item.strip())
        if not found:
            raise OptionError(
                f"{flag} has {item!r}, which is not NAME:VALUE.",
                f"Write {flag}={'workspace:2G' if flag == '--memPoolSize' else 'input:1x3x224x224'}"
                ", with the names of your own; several are separated by commas.",
            )
        yield found[1] or found[2], found[3]
