"""What a build can be told, checked and in one form wherever it came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from difflib import get_close_matches
from typing import Any

from trtwidget import values
from trtwidget.errors import OptionError
from trtwidget.refusals import refusal
from trtwidget.shapes import Profile, make_profile, read_profiles, read_shapes, with_fixed

MAX_OPTIMIZATION_LEVEL = 5
MAX_TILING_LEVEL = 3
DEFAULT_STOP_GRACE = 10.0


def _option(default: Any, read: values.Reader) -> Any:
    return field(default=default, metadata={"read": read})


def _switch() -> Any:
    return _option(default=False, read=values.switch)


@dataclass(frozen=True, kw_only=True, repr=False)
class BuildOptions:
    """Every option of a build.

    The names are those of ``trtwidget.build``; trtexec's spelling of each stands in
    `trtwidget.flags`. ``None`` leaves the choice to TensorRT. Sizes are in bytes and may be given
    as text with a unit, such as ``"2GiB"``.

    Parameters
    ----------
    save_engine : str, optional
        Where the engine is written.
    profiles : tuple of dict
        The optimization profiles: for each the shapes of the dynamic inputs, by name.
    backend : {"auto", "tensorrt", "tensorrt_rtx"}
        Which TensorRT builds.
    device : int, optional
        The GPU to build on.
    timeout : float, optional
        Seconds after which the build is stopped.
    isolate : bool
        Build in a child process.
    stop_grace : float
        Seconds that an isolated build is given to stop by itself.
    min_free_memory : int, optional
        Stop the build before the machine has less free memory than this.
    verbose : bool
        Keep TensorRT's verbose messages too.
    builder_optimization_level : int, optional
        0 (quickest build) to 5 (most time spent in search of a fast engine).
    workspace, dla_sram, dla_local_dram, dla_global_dram, tactic_shared_memory : int, optional
        The limits of TensorRT's memory pools.
    max_tactics, avg_timing, max_aux_streams, tiling_optimization_level, l2_limit_for_tiling : \
int, optional
        As trtexec's flags of these names.
    timing_cache : str, optional
        The timing cache's file.
    no_builder_cache, no_compilation_cache, error_on_timing_cache_miss : bool
        How caches are used.
    no_tf32, refit, strip_weights, version_compatible, exclude_lean_runtime, direct_io, \
allow_weight_streaming, distributive_independence, monitor_memory : bool
        As trtexec's flags of these names.
    sparsity : {"disable", "enable"}
        Whether sparse tactics are tried.
    hardware_compatibility_level : {"none", "ampere+", "sameComputeCapability"}
        Which other GPUs the engine must run on (TensorRT).
    runtime_platform : {"SameAsBuild", "WindowsAMD64"}
        Which system the engine must run on.
    profiling_verbosity : {"layer_names_only", "detailed", "none"}
        What the engine tells about its layers.
    compute_capabilities : tuple of str
        The GPU architectures that the engine is for (TensorRT-RTX).
    tactic_sources, preview : tuple of str
        Names to turn on (``+NAME``) or off (``-NAME``).
    use_dla_core : int, optional
        The DLA core to build for.
    allow_gpu_fallback : bool
        Let layers that the DLA cannot run go to the GPU.

    """

    save_engine: str | None = _option(None, values.path)
    profiles: tuple[Profile, ...] = _option((), read_profiles)

    backend: str = _option("auto", values.choice("auto", "tensorrt", "tensorrt_rtx"))
    device: int | None = _option(None, values.integer(0))
    timeout: float | None = _option(None, values.seconds)
    isolate: bool = _switch()
    stop_grace: float = _option(DEFAULT_STOP_GRACE, values.seconds)
    min_free_memory: int | None = _option(None, values.size)
    verbose: bool = _switch()

    builder_optimization_level: int | None = _option(
        None, values.integer(0, MAX_OPTIMIZATION_LEVEL)
    )
    max_tactics: int | None = _option(None, values.integer(1, auto=True))
    avg_timing: int | None = _option(None, values.integer(1))
    max_aux_streams: int | None = _option(None, values.integer(0, auto=True))
    tiling_optimization_level: int | None = _option(None, values.integer(0, MAX_TILING_LEVEL))
    l2_limit_for_tiling: int | None = _option(None, values.integer(0, auto=True))

    workspace: int | None = _option(None, values.size)
    dla_sram: int | None = _option(None, values.size)
    dla_local_dram: int | None = _option(None, values.size)
    dla_global_dram: int | None = _option(None, values.size)
    tactic_shared_memory: int | None = _option(None, values.size)

    timing_cache: str | None = _option(None, values.path)
    no_builder_cache: bool = _switch()
    no_compilation_cache: bool = _switch()
    error_on_timing_cache_miss: bool = _switch()

    no_tf32: bool = _switch()
    sparsity: str = _option("disable", values.sparsity)
    refit: bool = _switch()
    strip_weights: bool = _switch()
    version_compatible: bool = _switch()
    exclude_lean_runtime: bool = _switch()
    direct_io: bool = _switch()
    allow_weight_streaming: bool = _switch()
    distributive_independence: bool = _switch()
    monitor_memory: bool = _switch()

    hardware_compatibility_level: str = _option(
        "none", values.choice("none", "ampere+", "sameComputeCapability")
    )
    runtime_platform: str = _option("SameAsBuild", values.choice("SameAsBuild", "WindowsAMD64"))
    profiling_verbosity: str = _option(
        "layer_names_only", values.choice("layer_names_only", "detailed", "none")
    )
    compute_capabilities: tuple[str, ...] = _option((), values.compute_capabilities)
    tactic_sources: tuple[str, ...] = _option((), values.signed_names)
    preview: tuple[str, ...] = _option((), values.signed_names)

    use_dla_core: int | None = _option(None, values.integer(0, auto=True))
    allow_gpu_fallback: bool = _switch()

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if value is not option.default:
                read = option.metadata["read"]
                value = option.default if value is None else read(value, option.name)
                object.__setattr__(self, option.name, value)
        self._check_together()

    def _check_together(self) -> None:
        if self.no_builder_cache and self.timing_cache:
            raise OptionError(
                "no_builder_cache (--noBuilderCache) and timing_cache (--timingCacheFile) "
                "contradict each other.",
                "Leave one of them out.",
            )
        if self.allow_gpu_fallback and self.use_dla_core is None:
            raise OptionError(
                "allow_gpu_fallback (--allowGPUFallback) has a meaning only for a DLA build.",
                "Give use_dla_core (--useDLACore) too, or leave it out.",
            )

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.to_json())
        return f"{type(self).__name__}({given})"

    @classmethod
    def from_call(
        cls,
        *,
        shapes: Mapping[str, Any] | None = None,
        min_shapes: Mapping[str, Any] | None = None,
        opt_shapes: Mapping[str, Any] | None = None,
        max_shapes: Mapping[str, Any] | None = None,
        profiles: Iterable[Any] | None = None,
        **options: Any,
    ) -> BuildOptions:
        """Make the options from the arguments of a call in Python.

        Parameters
        ----------
        shapes : mapping of str to sequence of int, optional
            The one shape of each input, by name. Beside `profiles`, it holds in each of them.
        min_shapes, opt_shapes, max_shapes : mapping of str to sequence of int, optional
            The range of shapes of each input. What is missing is filled in as trtexec does.
        profiles : list, optional
            Several optimization profiles, each
            ``{"min": {"input": …}, "opt": {"input": …}, "max": {"input": …}}`` or
            ``{"input": (min, opt, max)}``.
        **options : Any
            The other options, by name.

        Raises
        ------
        OptionError
            If an option is unknown or its value is wrong.

        """
        _refuse_unknown(options, _SHAPE_ARGUMENTS)
        fixed = read_shapes(shapes, "shapes")
        low = read_shapes(min_shapes, "min_shapes")
        opt = read_shapes(opt_shapes, "opt_shapes")
        high = read_shapes(max_shapes, "max_shapes")
        if profiles is None:
            profile = with_fixed(make_profile(low, opt, high), fixed)
            return cls(profiles=(profile,) if profile else (), **options)
        if low or opt or high:
            raise OptionError(
                "Shapes are given both in profiles and in min_shapes, opt_shapes or max_shapes.",
                "Put all of them into profiles.",
            )
        read = read_profiles(profiles, "profiles")
        return cls(profiles=tuple(with_fixed(profile, fixed) for profile in read), **options)

    def to_json(self) -> dict[str, Any]:
        """Give the options that differ from their defaults, as values that JSON can carry.

        `from_json` makes equal options of them. It is also what to show, and to compare.
        """
        return {
            option.name: _plain(getattr(self, option.name))
            for option in fields(self)
            if getattr(self, option.name) != option.default
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BuildOptions:
        """Make the options from what `to_json` gave."""
        _refuse_unknown(data)
        return cls(**data)


_FIELDS: dict[str, Field[Any]] = {option.name: option for option in fields(BuildOptions)}
_SHAPE_ARGUMENTS = ("shapes", "min_shapes", "opt_shapes", "max_shapes")


def read_option(name: str, value: Any, label: str) -> Any:
    """Read the value of the option `name` that the user gave as `label`."""
    return _FIELDS[name].metadata["read"](value, label)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _refuse_unknown(options: Iterable[str], more: tuple[str, ...] = ()) -> None:
    for name in options:
        if name in _FIELDS:
            continue
        head, *tail = name.split("_")
        if refused := refusal(f"--{head}{''.join(word.capitalize() for word in tail)}", name):
            raise refused
        near = get_close_matches(name, (*_FIELDS, *more), n=1, cutoff=0.5)
        hint = f"Did you mean {near[0]!r}?" if near else "help(trtwidget.BuildOptions) lists all."
        raise OptionError(f"There is no option {name!r}.", hint)
