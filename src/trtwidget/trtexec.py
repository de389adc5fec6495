"""The one parser of trtexec's spelling, for ``%trtbuild`` and for the command ``trtbuild``."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, NoReturn

from trtwidget.errors import OptionError
from trtwidget.flags import GROUPS, MEMORY_POOLS, Flag
from trtwidget.options import BuildOptions, read_option
from trtwidget.refusals import refusal
from trtwidget.shape_flags import ShapeFlags, pairs
from trtwidget.values import path, size_in_mib

_HELP = ("--help", "-h")
_EPILOG = """\
Several optimization profiles: --profile=0 --minShapes=… --optShapes=… --maxShapes=… --profile=1 …
A value can follow its flag as --flag=value or as --flag value. A name with a colon or a comma in
it is quoted: --optShapes="'in:0':1x3,'in:1':1x3".
"""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a command line asks for.

    Parameters
    ----------
    model : str, optional
        The path of the ONNX model.
    options : BuildOptions
        The build's options.
    name : str, optional
        What to call the build.
    wait : bool
        Whether to return only when the build has ended.
    persist : bool
        Whether the live view is replaced by one that can be saved when the build has ended.
    quiet : bool
        Whether only TensorRT's errors are shown.
    help : bool
        Whether only help was asked for; the rest is then unset.
    extra : argparse.Namespace
        The values of the flags that the caller added to the parser.

    """

    model: str | None = None
    options: BuildOptions = field(default_factory=BuildOptions)
    name: str | None = None
    wait: bool = False
    persist: bool = True
    quiet: bool = False
    help: bool = False
    extra: argparse.Namespace = field(default_factory=argparse.Namespace)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Shows ``--flag=VALUE``, as trtexec does."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=34)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or not action.metavar:
            return super()._format_action_invocation(action)
        return ", ".join(f"{name}={action.metavar}" for name in action.option_strings)


class _Note(argparse.Action):
    """Notes the flags in their order, which means something to ``--profile``."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002 - argparse's signature
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        namespace.given.append((self.const, option_string, values))


class Parser(argparse.ArgumentParser):
    """Parses a request for a build. It raises `OptionError` and never prints or exits.

    A caller adds its own flags with ``add_argument_group`` and finds them in `Request.extra`.

    Parameters
    ----------
    prog : str, default "trtbuild"
        What the user calls it.

    """

    def __init__(self, prog: str = "trtbuild") -> None:
        super().__init__(
            prog=prog,
            usage="%(prog)s MODEL [flags]",
            description="Build a TensorRT engine from an ONNX model, in trtexec's spelling.",
            epilog=_EPILOG,
            formatter_class=_Formatter,
            add_help=False,
            allow_abbrev=False,
            exit_on_error=False,
        )
        for title, flags in GROUPS.items():
            group = self.add_argument_group(title)
            if flags is GROUPS["Model and engine"]:
                group.add_argument("model", metavar="MODEL", nargs="?", help="the ONNX model")
            for flag in flags:
                group.add_argument(
                    *flag.names,
                    action=_Note,
                    const=flag,
                    nargs=None if flag.metavar else 0,
                    metavar=flag.metavar,
                    help=flag.help,
                    dest=argparse.SUPPRESS,
                )
        group.add_argument(*_HELP, action="help", help="show this text")

    def parse(self, tokens: Sequence[str], *, needs_model: bool = True) -> Request:
        """Parse a command line that has been split into its words.

        Parameters
        ----------
        tokens : sequence of str
            The words, without the command itself.
        needs_model : bool, default True
            Whether a model must be named; where not, none may be.

        Raises
        ------
        OptionError
            If something is unknown, refused, missing or wrong.

        """
        if any(token in _HELP for token in tokens):
            return Request(help=True)
        try:
            found, rest = self.parse_known_intermixed_args(
                tokens, argparse.Namespace(given=[], model=None)
            )
        except argparse.ArgumentError as error:
            raise self._explain(error) from None
        for word in rest:
            if word.startswith("-"):
                raise self._unknown(word.partition("=")[0])
        given, positional = found.__dict__.pop("given"), found.__dict__.pop("model")
        told = _collect(given)
        models = [model for model in (positional, *rest, told.pop("model", None)) if model]
        if "quiet" in told and "verbose" in told:
            raise OptionError("--quiet and --verbose contradict each other.", "Give one of them.")
        self._check_models(models, needs_model=needs_model)
        own = {
            name: told.pop(name) for name in ("name", "wait", "persist", "quiet") if name in told
        }
        return Request(
            model=path(models[0], "The model") if models else None,
            options=BuildOptions(**told),
            extra=found,
            **own,
        )

    def parse_line(self, line: str, *, needs_model: bool = True) -> Request:
        """Parse the line of a magic: quotes are honoured, a trailing ``;`` is not part of it."""
        try:
            tokens = shlex.split(line.rstrip().removesuffix(";"))
        except ValueError:
            raise OptionError(
                f"A quote is not closed in {line.strip()!r}.", "Close it, or leave it out."
            ) from None
        return self.parse(tokens, needs_model=needs_model)

    def flag_names(self) -> list[str]:
        """List the flags for completion; those that take a value end with ``=``."""
        return [
            name + ("" if action.nargs == 0 else "=")
            for action in self._actions
            for name in action.option_strings
        ]

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print."""
        raise OptionError(f"{message[:1].upper()}{message[1:]}.", f"{self.prog} --help lists all.")

    def _explain(self, error: argparse.ArgumentError) -> OptionError:
        name = (error.argument_name or "").split("/")[0]
        action = self._option_string_actions.get(name)
        if action is not None and action.nargs == 0:
            return OptionError(f"{name} takes no value.", f"Write only {name}.")
        if action is not None and "expected" in error.message:
            return OptionError(
                f"{name} needs a value.", f"Write it as {name}={action.metavar or 'VALUE'}"
            )
        return OptionError(f"{name or 'The command line'}: {error.message}.")

    def _unknown(self, flag: str) -> OptionError:
        if refused := refusal(flag):
            return refused
        known = {name.lower(): name for name in self._option_string_actions}
        near = get_close_matches(flag.lower(), known, n=1, cutoff=0.6)
        hint = f"Did you mean {known[near[0]]}?" if near else f"{self.prog} --help lists all."
        return OptionError(f"There is no flag {flag}.", hint)

    def _check_models(self, models: list[str], *, needs_model: bool) -> None:
        if needs_model and not models:
            raise OptionError(
                "No model is given.",
                f"Name an ONNX file: {self.prog} model.onnx --saveEngine=FILE.",
            )
        if models and not needs_model:
            raise OptionError(
                f"A model is given ({models[0]}), but the cell makes the network.",
                "Leave the model out, or use %trtbuild with one %.",
            )
        if len(models) > 1:
            raise OptionError(
                f"More than one model is given: {', '.join(models)}.",
                "Name one; a value with spaces in it needs quotes.",
            )


def _collect(given: list[tuple[Flag, str, Any]]) -> dict[str, Any]:
    """Turn the flags, in their order, into options."""
    told: dict[str, Any] = {}
    shapes = ShapeFlags()
    for flag, name, value in given:
        if value == "":
            raise OptionError(f"{name} needs a value.", f"Write it as {name}={flag.metavar}")
        for option, setting in _settings(flag, name, value, shapes):
            if told.setdefault(option, setting) != setting:
                raise OptionError(
                    f"{name} contradicts what was given before: {told[option]!r}, now {setting!r}.",
                    "Give it once.",
                )
    if profiles := shapes.profiles():
        told["profiles"] = profiles
    return told


def _settings(flag: Flag, name: str, value: Any, shapes: ShapeFlags) -> Iterator[tuple[str, Any]]:
    if not isinstance(flag.sets, str):
        yield from flag.sets.items()
    elif flag.sets == "shapes":
        shapes.add(name, value)
    elif flag.sets == "profile":
        shapes.begin(name, value)
    elif flag.sets == "memory_pools":
        for pool, size in pairs(name, value):
            if pool not in MEMORY_POOLS:
                raise OptionError(
                    f"{name} names the memory pool {pool!r}, which does not exist.",
                    f"The pools are {', '.join(MEMORY_POOLS)}.",
                )
            yield MEMORY_POOLS[pool], size_in_mib(size, f"{name}={pool}")
    elif flag.sets == "min_free_memory":
        yield flag.sets, size_in_mib(value, name)
    elif flag.sets in {"model", "name"}:
        yield flag.sets, value
    else:
        yield flag.sets, read_option(flag.sets, value, name)
