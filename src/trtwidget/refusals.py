"""trtexec's flags that trtwidget does not have, each with its reason and what to do instead."""

from __future__ import annotations

from typing import NamedTuple

from trtwidget.errors import OptionError


class _Refused(NamedTuple):
    flags: str
    reason: str  # the end of a sentence that begins with the flag
    hint: str


_STRONGLY_TYPED = "was removed in TensorRT 11, where networks are strongly typed."

_REFUSED = (
    _Refused(
        "--fp16 --bf16 --best",
        reason=_STRONGLY_TYPED,
        hint="The precision comes from the model: convert it first, for example with ModelOpt's "
        "AutoCast (python -m modelopt.onnx.autocast --onnx_path model.onnx).",
    ),
    _Refused(
        "--fp8 --int8 --int4 --calib --calibProfile",
        reason=_STRONGLY_TYPED,
        hint="The precision comes from the model: quantize it first, for example with ModelOpt "
        "(python -m modelopt.onnx.quantization --onnx_path model.onnx).",
    ),
    _Refused(
        "--precisionConstraints --layerPrecisions --layerOutputTypes",
        reason=_STRONGLY_TYPED,
        hint="Put Cast nodes into the model where a layer needs another precision; ModelOpt's "
        "AutoCast can keep chosen nodes in FP32.",
    ),
    _Refused(
        "--weightless", reason="was removed in TensorRT 11.", hint="Use --stripWeights instead."
    ),
    _Refused(
        "--workspace",
        reason="was removed in TensorRT 10.",
        hint="Use --memPoolSize=workspace:N instead.",
    ),
    _Refused(
        "--buildOnly",
        reason="was removed in TensorRT 10.",
        hint="Leave it out: trtwidget only builds.",
    ),
    _Refused(
        "--batch --maxBatch --explicitBatch",
        reason="was removed in TensorRT 10.",
        hint="The batch is a dimension of the shapes, as in --optShapes=input:8x3x224x224.",
    ),
    _Refused(
        "--deploy --model --uff --uffInput --uffNHWC --output",
        reason="was removed with the Caffe and UFF parsers.",
        hint="Convert the model to ONNX and give it as --onnx=FILE.",
    ),
    _Refused(
        "--loadEngine --loadInputs --loadRefOutputs --refPair --iterations --duration --warmUp "
        "--sleepTime --idleTime --streams --infStreams --exposeDMA --noDataTransfers "
        "--includeDataTransfers --useManagedMemory --useSpinWait --noSpinWait --threads "
        "--useCudaGraph --noCudaGraph --separateProfileRun --timeDeserialize --timeRefit "
        "--persistentCacheRatio --useProfile --allocationStrategy --weightStreamingBudget "
        "--accuracyAlgorithm --atol --rtol --accuracyThreshold --saveDebugTensors "
        "--saveAllDebugTensors --refitFromOnnx --avgRuns --percentile --dumpRefit --dumpOutput "
        "--dumpRawBindingsToFile --dumpProfile --dumpLayerInfo --dumpOptimizationProfile "
        "--exportTimes --exportOutput --exportProfile --exportLayerInfo --asyncFileReader "
        "--getPlanVersionOnly --useRuntime --leanDLLPath --tempdir --tempfileControls "
        "--specializeStrategyDS --cudaGraphStrategy",
        reason="is about running an engine, and trtwidget only builds.",
        hint="Build with --saveEngine=FILE, then run it with trtexec --loadEngine=FILE.",
    ),
    _Refused(
        "--runtimeCacheFile",
        reason="names a cache that is filled when an engine runs; no builder uses it.",
        hint="Give it when the engine runs: tensorrt_rtx --loadEngine=FILE --runtimeCacheFile=…",
    ),
    _Refused(
        "--inputIOFormats --outputIOFormats --layerDeviceTypes --decomposableAttentions "
        "--markDebug --markUnfusedTensorsAsDebugTensors --pluginInstanceNorm --pi "
        "--uint8AsymmetricQuantizationDLA --reportCapabilityDLA --adjustForDLA "
        "--enablePluginOverride",
        reason="changes how the network is made, and trtwidget takes the model as it is.",
        hint="Make the network yourself, in a %%trtbuild cell or for "
        "trtwidget.build(builder=…, network=…, config=…).",
    ),
    _Refused(
        "--plugins --staticPlugins --dynamicPlugins --setPluginsToSerialize "
        "--ignoreParsedPluginLibs",
        reason="loads plugins, which trtwidget leaves to you.",
        hint="Load the library in Python first (ctypes.CDLL, or the load_library of "
        "TensorRT's get_plugin_registry()) and build in the same process.",
    ),
    _Refused(
        "--safe --safetyPlugins --dumpKernelText --buildDLAStandalone --consistency "
        "--remoteAutoTuningConfig --cpuOnly",
        reason="belongs to safety and DLA standalone builds, which trtwidget does not make.",
        hint="Use trtexec for them.",
    ),
    _Refused(
        "--tuneBuildRoutes --tuneBuildRouteFile --tuningSearch --tuningCacheFile "
        "--tuningTimeOut --tuningResultFile --saveAllEngines --dryRun --continue "
        "--helpBuildRoute --setBuildRoute",
        reason="belongs to trtexec's tuning loop, which builds and measures many engines.",
        hint="Use trtexec for it.",
    ),
)

REFUSED: dict[str, _Refused] = {flag: why for why in _REFUSED for flag in why.flags.split()}
"""Every refused flag."""


def refusal(flag: str, given: str | None = None) -> OptionError | None:
    """Make the error that refuses `flag`, given as `given`; None where it is not refused."""
    why = REFUSED.get(flag)
    return OptionError(f"{given or flag} {why.reason}", why.hint) if why else None
