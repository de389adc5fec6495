"""Build options on TensorRT's own builder config.

Whatever the TensorRT at hand does not have is found out by asking it, never by its version, and
refused: an option that is silently without effect would cost its user a build.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trtwidget.errors import OptionError
from trtwidget.flags import SPELLING
from trtwidget.options import BuildOptions
from trtwidget.profiles import add_profiles
from trtwidget.values import key

_BUILDER_FLAGS = {
    "no_builder_cache": "DISABLE_TIMING_CACHE",
    "no_compilation_cache": "DISABLE_COMPILATION_CACHE",
    "error_on_timing_cache_miss": "ERROR_ON_TIMING_CACHE_MISS",
    "refit": "REFIT",
    "strip_weights": "STRIP_PLAN",
    "version_compatible": "VERSION_COMPATIBLE",
    "exclude_lean_runtime": "EXCLUDE_LEAN_RUNTIME",
    "direct_io": "DIRECT_IO",
    "allow_weight_streaming": "WEIGHT_STREAMING",
    "distributive_independence": "DISTRIBUTIVE_INDEPENDENCE",
    "monitor_memory": "MONITOR_MEMORY",
    "sparsity": "SPARSE_WEIGHTS",
}
_NUMBERS = {
    "builder_optimization_level": "builder_optimization_level",
    "max_tactics": "max_num_tactics",
    "avg_timing": "avg_timing_iterations",
    "max_aux_streams": "max_aux_streams",
    "l2_limit_for_tiling": "l2_limit_for_tiling",
}
_CHOICES = {
    "tiling_optimization_level": "TilingOptimizationLevel",
    "hardware_compatibility_level": "HardwareCompatibilityLevel",
    "runtime_platform": "RuntimePlatform",
    "profiling_verbosity": "ProfilingVerbosity",
}
_POOLS = {
    "workspace": "WORKSPACE",
    "dla_sram": "DLA_MANAGED_SRAM",
    "dla_local_dram": "DLA_LOCAL_DRAM",
    "dla_global_dram": "DLA_GLOBAL_DRAM",
    "tactic_shared_memory": "TACTIC_SHARED_MEMORY",
}


def configure(trt: Any, builder: Any, network: Any, options: BuildOptions) -> Any:
    """Make the builder config that a build needs.

    The timing cache is not part of it: who reads the file sets it.

    Parameters
    ----------
    trt : module
        ``tensorrt`` or ``tensorrt_rtx``.
    builder, network : TensorRT objects
        The builder and the finished network.
    options : BuildOptions
        The build's options.

    Returns
    -------
    IBuilderConfig
        The config, with its optimization profiles.

    Raises
    ------
    OptionError
        If this TensorRT or this network does not have what an option asks for.

    """
    config = make_config(trt, builder, options)
    add_profiles(builder, network, config, options.profiles)
    return config


def make_config(trt: Any, builder: Any, options: BuildOptions) -> Any:
    """Make a builder config from all options that do not depend on a network."""
    apply = _Apply(trt, builder, options)
    for option in options.to_json():
        value = getattr(options, option)
        if option in _BUILDER_FLAGS:
            apply.flag(option, _BUILDER_FLAGS[option])
        elif option in _NUMBERS:
            apply.attribute(option, _NUMBERS[option], value)
        elif option in _CHOICES:
            apply.attribute(option, option, apply.member(option, _CHOICES[option], value))
        elif option in _POOLS:
            apply.pool(option, _POOLS[option], value)
        elif option in _OTHERS:
            _OTHERS[option](apply)
    return apply.config


class _Apply:
    """Sets one thing at a time, and sees that TensorRT took it."""

    def __init__(self, trt: Any, builder: Any, options: BuildOptions) -> None:
        self.trt = trt
        self.builder = builder
        self.options = options
        self.config = builder.create_builder_config()

    def flag(self, option: str, name: str) -> None:
        member = self.member(option, "BuilderFlag", name)
        self.config.set_flag(member)
        self._taken(option, self.config.get_flag(member), wanted=True)

    def attribute(self, option: str, name: str, value: Any) -> None:
        if not hasattr(type(self.config), name):
            raise self._lacks(option)
        setattr(self.config, name, value)
        self._taken(option, getattr(self.config, name), value)

    def pool(self, option: str, name: str, size: int) -> None:
        if option == "dla_sram":
            size = 1 << max(size.bit_length() - 1, 0)  # only powers of two, as trtexec rounds
        member = self.member(option, "MemoryPoolType", name)
        self.config.set_memory_pool_limit(member, size)
        self._taken(option, self.config.get_memory_pool_limit(member), size)

    def no_tf32(self) -> None:
        member = self.member("no_tf32", "BuilderFlag", "TF32")
        self.config.clear_flag(member)
        self._taken("no_tf32", self.config.get_flag(member), wanted=False)

    def tactic_sources(self) -> None:
        sources = self.config.get_tactic_sources()
        for name in self.options.tactic_sources:
            bit = 1 << int(self.member("tactic_sources", "TacticSource", name[1:]))
            sources = sources | bit if name[0] == "+" else sources & ~bit
        self.config.set_tactic_sources(sources)
        self._taken("tactic_sources", self.config.get_tactic_sources(), sources)

    def preview(self) -> None:
        for name in self.options.preview:
            member = self.member("preview", "PreviewFeature", name[1:])
            self.config.set_preview_feature(member, name[0] == "+")
            self._taken("preview", self.config.get_preview_feature(member), name[0] == "+")

    def compute_capabilities(self) -> None:
        option = "compute_capabilities"
        if not hasattr(type(self.config), "set_compute_capability"):
            raise self._lacks(option)
        members = [
            self.member(option, "ComputeCapability", name)
            for name in self.options.compute_capabilities
        ]
        self.config.num_compute_capabilities = len(members)
        for index, member in enumerate(members):
            self.config.set_compute_capability(member, index)
            self._taken(option, self.config.get_compute_capability(index), member)

    def dla(self) -> None:
        core, cores = self.options.use_dla_core, self.builder.num_DLA_cores
        if core is None or core >= cores:
            there = f"cores 0 to {cores - 1}" if cores else "no DLA core here"
            raise OptionError(
                f"use_dla_core={core} ({SPELLING['use_dla_core']}) is not there: "
                f"{self.trt.__name__} finds {there}.",
                "Leave it out to build for the GPU.",
            )
        self.config.default_device_type = self.trt.DeviceType.DLA
        self.attribute("use_dla_core", "DLA_core", core)
        # Without the GPU nobody could reformat at the network's borders.
        if self.options.allow_gpu_fallback:
            self.flag("allow_gpu_fallback", "GPU_FALLBACK")
        else:
            self.flag("use_dla_core", "DIRECT_IO")

    def member(self, option: str, enum: str, name: str | int) -> Any:
        """Find a member of one of TensorRT's enums by its name (or by trtexec's) or its number."""
        if not hasattr(self.trt, enum):
            raise self._lacks(option)
        members = getattr(self.trt, enum).__members__
        if isinstance(name, int):
            found = next((member for member in members.values() if int(member) == name), None)
        else:
            by_key = {key(full): member for full, member in members.items()}
            # Preview features end with the version that brought them; trtexec leaves that out.
            bare = {full.rstrip("0123456789"): member for full, member in by_key.items()}
            found = by_key.get(key(name), bare.get(key(name)))
        if found is None:
            if enum == "BuilderFlag":
                raise self._lacks(option)
            raise OptionError(
                f"{option} ({SPELLING[option]}) asks for {name}, which {self._title()} does not "
                "know.",
                f"It knows {', '.join(name for name in members if name != 'NONE')}.",
            )
        return found

    def _taken(self, option: str, kept: Any, wanted: Any) -> None:
        if kept != wanted:
            raise OptionError(
                f"{self._title()} does not take {option}={getattr(self.options, option)!r} "
                f"({SPELLING[option]}).",
                f"Leave it out, or {self._elsewhere()}; TensorRT's messages say why.",
            )

    def _lacks(self, option: str) -> OptionError:
        return OptionError(
            f"{self._title()} does not have {option} ({SPELLING[option]}).",
            f"Leave it out, or {self._elsewhere()}.",
        )

    def _title(self) -> str:
        return f"{self.trt.__name__} {self.trt.__version__}"

    def _elsewhere(self) -> str:
        other = "tensorrt" if self.trt.__name__ == "tensorrt_rtx" else "tensorrt_rtx"
        return f"try the other backend (--backend={other})"


_OTHERS: dict[str, Callable[[_Apply], None]] = {
    "no_tf32": _Apply.no_tf32,
    "tactic_sources": _Apply.tactic_sources,
    "preview": _Apply.preview,
    "compute_capabilities": _Apply.compute_capabilities,
    "use_dla_core": _Apply.dla,
}
