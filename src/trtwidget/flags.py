"""trtexec's spelling of the build options, and trtwidget's own flags, as one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Flag(NamedTuple):
    """One flag of the command line.

    A flag with a `metavar` takes a value for the option that it `sets`; one without is a switch
    that sets each option in `sets` to the value there (none at all, where it changes nothing).
    """

    names: tuple[str, ...]
    sets: str | Mapping[str, Any]
    help: str
    metavar: str | None = None


def _value(name: str, metavar: str, sets: str, text: str) -> Flag:
    return Flag((name,), sets, text, metavar)


def _switch(name: str, text: str, *aliases: str, **sets: Any) -> Flag:
    return Flag((name, *aliases), sets, text)


MEMORY_POOLS = {
    "workspace": "workspace",
    "dlaSRAM": "dla_sram",
    "dlaLocalDRAM": "dla_local_dram",
    "dlaGlobalDRAM": "dla_global_dram",
    "tacticSharedMem": "tactic_shared_memory",
}

GROUPS: dict[str, tuple[Flag, ...]] = {
    "Model and engine": (
        _value("--onnx", "FILE", "model", "the model; the same as giving it without a flag"),
        _value("--saveEngine", "FILE", "save_engine", "where to write the engine"),
        _value("--name", "NAME", "name", "what to call this build"),
        _value("--backend", "NAME", "backend", "auto, tensorrt or tensorrt_rtx"),
        _value("--device", "N", "device", "the GPU to build on"),
    ),
    "Shapes of dynamic inputs": (
        _value("--shapes", "SPEC", "shapes", "one shape an input, as input:1x3x224x224,mask:1x128"),
        _value("--minShapes", "SPEC", "shapes", "the smallest shapes"),
        _value("--optShapes", "SPEC", "shapes", "the shapes to optimize for"),
        _value("--maxShapes", "SPEC", "shapes", "the largest shapes"),
        _value(
            "--profile", "N", "profile", "begin profile N: the shape flags after it are its own"
        ),
    ),
    "Search for tactics": (
        _value(
            "--builderOptimizationLevel",
            "0-5",
            "builder_optimization_level",
            "0 builds fastest, 5 searches longest (TensorRT's default: 3)",
        ),
        _value(
            "--maxTactics", "N", "max_tactics", "time at most N tactics where there is a choice"
        ),
        _value("--avgTiming", "N", "avg_timing", "average over N runs when timing a tactic"),
        _value(
            "--tilingOptimizationLevel",
            "0-3",
            "tiling_optimization_level",
            "0 to 3: how long to search for tiling",
        ),
        _value(
            "--l2LimitForTiling", "BYTES", "l2_limit_for_tiling", "L2 cache that tiling may use"
        ),
        _value("--tacticSources", "±NAME,…", "tactic_sources", "turn sources of tactics on or off"),
        _value("--sparsity", "MODE", "sparsity", "disable, or enable sparse tactics"),
        _value(
            "--memPoolSize",
            "POOL:SIZE,…",
            "memory_pools",
            "limit memory pools, as workspace:2G "
            "(without a unit: MiB); also " + ", ".join(list(MEMORY_POOLS)[1:]),
        ),
        _value("--maxAuxStreams", "N", "max_aux_streams", "at most N auxiliary streams"),
        _value("--preview", "±NAME,…", "preview", "turn preview features on or off"),
    ),
    "Caches": (
        _value("--timingCacheFile", "FILE", "timing_cache", "read and update this timing cache"),
        _switch("--noBuilderCache", "use no timing cache", no_builder_cache=True),
        _switch("--noCompilationCache", "use no compilation cache", no_compilation_cache=True),
        _switch(
            "--errorOnTimingCacheMiss",
            "fail where a tactic is not in the timing cache",
            error_on_timing_cache_miss=True,
        ),
    ),
    "What the engine can do": (
        _switch("--noTF32", "compute float32 without TF32", no_tf32=True),
        _switch("--refit", "make the engine refittable", refit=True),
        _switch("--stripWeights", "leave refittable weights out", strip_weights=True),
        _switch("--stripAllWeights", "--refit and --stripWeights", refit=True, strip_weights=True),
        _switch("--allowWeightStreaming", "let weights be streamed", allow_weight_streaming=True),
        _switch(
            "--versionCompatible", "run with newer TensorRT too", "--vc", version_compatible=True
        ),
        _switch(
            "--excludeLeanRuntime",
            "leave the lean runtime out of a version compatible engine",
            exclude_lean_runtime=True,
        ),
        _value(
            "--hardwareCompatibilityLevel",
            "MODE",
            "hardware_compatibility_level",
            "none, ampere+ or sameComputeCapability",
        ),
        _value("--runtimePlatform", "NAME", "runtime_platform", "SameAsBuild or WindowsAMD64"),
        _value(
            "--computeCapabilities",
            "CC,…",
            "compute_capabilities",
            "TensorRT-RTX: the GPUs the engine is for, as 86,89,120",
        ),
        _switch(
            "--useGpu",
            "TensorRT-RTX: build for the GPU in this machine",
            compute_capabilities=("CURRENT",),
        ),
        _value(
            "--profilingVerbosity",
            "MODE",
            "profiling_verbosity",
            "layer_names_only, detailed or none",
        ),
        _switch("--directIO", "no reformatting at the network's borders", direct_io=True),
        _switch(
            "--distributiveIndependence",
            "equal inputs along a batch give equal outputs",
            distributive_independence=True,
        ),
        _value("--useDLACore", "N", "use_dla_core", "build for DLA core N"),
        _switch(
            "--allowGPUFallback", "what the DLA lacks runs on the GPU", allow_gpu_fallback=True
        ),
    ),
    "The run": (
        _value("--timeout", "SECONDS", "timeout", "stop the build after this time"),
        _switch("--isolate", "build in a child process, which can always be ended", isolate=True),
        _value(
            "--stopGrace",
            "SECONDS",
            "stop_grace",
            "how long an isolated build may take to stop before it is ended (10)",
        ),
        _value(
            "--minFreeMemory",
            "SIZE",
            "min_free_memory",
            "stop before the machine has less free memory (without a unit: MiB)",
        ),
        _switch("--wait", "do not return before the build ends", wait=True),
        _switch("--noPersist", "keep the live widget when the build ends", persist=False),
        _switch("--verbose", "show TensorRT's verbose messages", verbose=True),
        _switch("--quiet", "show TensorRT's errors only", quiet=True),
        _switch("--monitorMemory", "let TensorRT report its use of memory", monitor_memory=True),
        _switch("--skipInference", "accepted for trtexec's sake: nothing is run anyway"),
        _switch("--stronglyTyped", "accepted for trtexec's sake: every network is strongly typed"),
    ),
}

FLAGS: tuple[Flag, ...] = tuple(flag for flags in GROUPS.values() for flag in flags)

SPELLING: dict[str, str] = {
    **{option: f"--memPoolSize={pool}" for pool, option in MEMORY_POOLS.items()},
    **{flag.sets: flag.names[0] for flag in FLAGS if isinstance(flag.sets, str)},
    **{
        option: flag.names[0]
        for flag in FLAGS
        if not isinstance(flag.sets, str) and len(flag.sets) == 1
        for option in flag.sets
        if option != "compute_capabilities"
    },
}
"""The flag for each option, to name both where an error can be met from either side."""
