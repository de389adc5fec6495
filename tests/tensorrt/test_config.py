"""Every option against the property of the real builder config that it sets.

The module under test is tensorrt_rtx; the last test runs all of this again for tensorrt.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys

import onnx
import pytest
from onnx import TensorProto, helper

from trtwidget.config import configure, make_config
from trtwidget.device import use_device
from trtwidget.errors import OptionError
from trtwidget.flags import FLAGS, MEMORY_POOLS
from trtwidget.options import BuildOptions
from trtwidget.trtexec import Parser

MODULE = os.environ.get("TRTWIDGET_TEST_MODULE", "tensorrt_rtx")
trt = importlib.import_module(MODULE)
rtx_only = pytest.mark.skipif(MODULE != "tensorrt_rtx", reason="about TensorRT-RTX's own answers")
# The library below the tensorrt bindings of these tests is TensorRT-RTX's, where ITensor's virtual
# functions stand in another order: get_dimension_name and is_shape_tensor reach wrong ones.
asks_tensors = pytest.mark.skipif(
    MODULE != "tensorrt_rtx", reason="these bindings cannot ask this library about tensors"
)


class Logger(trt.ILogger):
    """Keeps what TensorRT says, so that expected errors do not clutter the output."""

    def __init__(self):
        trt.ILogger.__init__(self)
        self.texts = []

    def log(self, severity, text):
        self.texts.append((severity, text))


@pytest.fixture(scope="module")
def builder():
    return trt.Builder(Logger())


@pytest.fixture
def network(builder):
    """A dynamic input, a static one, and what makes of them an output."""
    network = builder.create_network(0)
    image = network.add_input("image", trt.float32, (-1, 3, -1, -1))
    scale = network.add_input("scale", trt.float32, (1, 3, 1, 1))
    product = network.add_elementwise(image, scale, trt.ElementWiseOperation.PROD)
    network.mark_output(product.get_output(0))
    return network


def config_of(builder, line):
    return make_config(trt, builder, Parser().parse_line(f"m.onnx {line}").options)


def flag(name):
    return lambda config: config.get_flag(getattr(trt.BuilderFlag, name))


def pool(name):
    return lambda config: config.get_memory_pool_limit(getattr(trt.MemoryPoolType, name))


def attribute(name):
    return lambda config: getattr(config, name)


def source(name):
    return lambda config: config.get_tactic_sources() >> int(getattr(trt.TacticSource, name)) & 1


def feature(name):
    return lambda config: config.get_preview_feature(getattr(trt.PreviewFeature, name))


def capabilities(config):
    count = config.num_compute_capabilities
    return [config.get_compute_capability(index).name for index in range(count)]


SETS = [
    ("--noBuilderCache", flag("DISABLE_TIMING_CACHE"), True),
    ("--noCompilationCache", flag("DISABLE_COMPILATION_CACHE"), True),
    ("--errorOnTimingCacheMiss", flag("ERROR_ON_TIMING_CACHE_MISS"), True),
    ("--noTF32", flag("TF32"), False),
    ("--sparsity=enable", flag("SPARSE_WEIGHTS"), True),
    ("--refit", flag("REFIT"), True),
    ("--stripWeights", flag("STRIP_PLAN"), True),
    ("--stripAllWeights", flag("STRIP_PLAN"), True),
    ("--stripAllWeights", flag("REFIT"), True),
    ("--versionCompatible", flag("VERSION_COMPATIBLE"), True),
    ("--vc", flag("VERSION_COMPATIBLE"), True),
    ("--versionCompatible --excludeLeanRuntime", flag("EXCLUDE_LEAN_RUNTIME"), True),
    ("--allowWeightStreaming", flag("WEIGHT_STREAMING"), True),
    ("--directIO", flag("DIRECT_IO"), True),
    ("--distributiveIndependence", flag("DISTRIBUTIVE_INDEPENDENCE"), True),
    ("--monitorMemory", flag("MONITOR_MEMORY"), True),
    ("--builderOptimizationLevel=0", attribute("builder_optimization_level"), 0),
    ("--builderOptimizationLevel=5", attribute("builder_optimization_level"), 5),
    ("--maxTactics=7", attribute("max_num_tactics"), 7),
    ("--avgTiming=4", attribute("avg_timing_iterations"), 4),
    ("--maxAuxStreams=2", attribute("max_aux_streams"), 2),
    ("--maxAuxStreams=0", attribute("max_aux_streams"), 0),
    ("--l2LimitForTiling=65536", attribute("l2_limit_for_tiling"), 65536),
    (
        "--tilingOptimizationLevel=2",
        attribute("tiling_optimization_level"),
        trt.TilingOptimizationLevel.MODERATE,
    ),
    (
        "--profilingVerbosity=detailed",
        attribute("profiling_verbosity"),
        trt.ProfilingVerbosity.DETAILED,
    ),
    (
        "--profilingVerbosity=none",
        attribute("profiling_verbosity"),
        trt.ProfilingVerbosity.NONE,
    ),
    ("--memPoolSize=workspace:256", pool("WORKSPACE"), 256 << 20),
    ("--memPoolSize=workspace:1.5G", pool("WORKSPACE"), 3 << 29),
    ("--memPoolSize=tacticSharedMem:48K", pool("TACTIC_SHARED_MEMORY"), 48 << 10),
    ("--tacticSources=-JIT_CONVOLUTIONS", source("JIT_CONVOLUTIONS"), 0),
    ("--tacticSources=-JIT_CONVOLUTIONS", source("EDGE_MASK_CONVOLUTIONS"), 1),
    ("--tacticSources=-edge_mask_convolutions", source("EDGE_MASK_CONVOLUTIONS"), 0),
    ("--preview=+aliasedPluginIO1003", feature("ALIASED_PLUGIN_IO_10_03"), True),
    ("--preview=+ALIASED_PLUGIN_IO_10_03", feature("ALIASED_PLUGIN_IO_10_03"), True),
    ("--preview=-runtimeActivationResize", feature("RUNTIME_ACTIVATION_RESIZE_10_10"), False),
]
RTX_SETS = [
    ("--computeCapabilities=89", capabilities, ["SM89"]),
    ("--computeCapabilities=8.6,12.0", capabilities, ["SM86", "SM120"]),
    ("--useGpu", capabilities, ["CURRENT"]),
]
# Where and how to build, the files' names, and what changes nothing.
NOT_CONFIG = """
    --onnx --saveEngine --name --backend --device --timingCacheFile --timeout --isolate --stopGrace
    --minFreeMemory --wait --noPersist --verbose --quiet --skipInference --stronglyTyped
"""
# What needs a network, and what no machine of the tests has: tested further down.
ELSEWHERE = """
    --shapes --minShapes --optShapes --maxShapes --profile
    --useDLACore --allowGPUFallback --hardwareCompatibilityLevel --runtimePlatform
"""


@pytest.mark.parametrize(("line", "look", "expected"), SETS, ids=[line for line, *_ in SETS])
def test_flag_sets_property(builder, line, look, expected):
    assert look(config_of(builder, line)) == expected


@rtx_only
@pytest.mark.parametrize(
    ("line", "look", "expected"), RTX_SETS, ids=[line for line, *_ in RTX_SETS]
)
def test_rtx_flag_sets_property(builder, line, look, expected):
    assert look(config_of(builder, line)) == expected
    assert look(config_of(builder, "")) == []


def test_every_flag_is_tested_here():
    tested = {word.split("=")[0] for line, *_ in SETS + RTX_SETS for word in line.split()}
    elsewhere = {*NOT_CONFIG.split(), *ELSEWHERE.split()}
    assert tested | elsewhere == {name for flag in FLAGS for name in flag.names}
    assert not tested & elsewhere


def test_settings_are_not_the_defaults(builder):
    """Or the test above could not see that a flag does nothing."""
    plain = builder.create_builder_config()
    same = [line for line, look, expected in SETS if look(plain) == expected]
    assert same == ["--tacticSources=-JIT_CONVOLUTIONS"]  # the source that it leaves on


def test_defaults_leave_the_config_alone(builder):
    plain, ours = builder.create_builder_config(), config_of(builder, "")
    for name in (
        "flags",
        "builder_optimization_level",
        "max_num_tactics",
        "avg_timing_iterations",
        "max_aux_streams",
        "tiling_optimization_level",
        "profiling_verbosity",
        "runtime_platform",
        "num_optimization_profiles",
    ):
        assert getattr(ours, name) == getattr(plain, name), name
    assert ours.get_tactic_sources() == plain.get_tactic_sources()


@rtx_only
@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "--hardwareCompatibilityLevel=ampere+",
            (
                r"does not take hardware_compatibility_level='ampere\+' "
                r"\(--hardwareCompatibilityLevel\)\. Leave it out, or .*--backend=tensorrt"
            ),
        ),
        ("--runtimePlatform=WindowsAMD64", "does not take runtime_platform='WindowsAMD64'"),
        ("--computeCapabilities=90", r"asks for SM90, .*It knows CURRENT, SM75, SM80"),
        ("--tacticSources=-CUBLAS", "asks for CUBLAS, .*It knows EDGE_MASK_CONVOLUTIONS, JIT_"),
        ("--preview=+fasterDynamicShapes", "asks for fasterDynamicShapes, .*It knows ALIASED_"),
        ("--useDLACore=0", r"use_dla_core=0 \(--useDLACore\) is not there: .*no DLA core here"),
        *[
            (f"--memPoolSize={name}:64K", f"does not take {option}=65536 .*{name}")
            for name, option in MEMORY_POOLS.items()
            if name.startswith("dla")
        ],
    ],
)
def test_what_tensorrt_lacks_is_refused(builder, line, message):
    with pytest.raises(OptionError, match=message):
        config_of(builder, line)


@pytest.mark.skipif(MODULE != "tensorrt", reason="TensorRT-RTX has it")
def test_compute_capabilities_are_rtx_only(builder):
    with pytest.raises(
        OptionError,
        match=r"^tensorrt 11\.\S+ does not have compute_capabilities \(--computeCapabilities\)\. "
        r"Leave it out, or try the other backend \(--backend=tensorrt_rtx\)\.$",
    ):
        config_of(builder, "--computeCapabilities=89")


@pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="there is a driver here")  # noqa: PTH110
def test_device_without_a_driver():
    with pytest.raises(OptionError, match=r"device=0 .*no NVIDIA driver here"):
        use_device(0)


def build(builder, network, **call):
    return configure(trt, builder, network, BuildOptions.from_call(**call))


def test_profiles_are_added(builder, network):
    config = build(
        builder,
        network,
        profiles=[
            {"image": ((1, 3, 8, 8), (2, 3, 8, 8), (4, 3, 16, 16))},
            {"min": {"image": (4, 3, 8, 8)}, "max": {"image": (8, 3, 8, 8)}},
        ],
    )
    assert config.num_optimization_profiles == 2
    assert builder.build_serialized_network(network, config) is not None


def test_shapes_of_static_inputs_may_be_given(builder, network):
    config = build(builder, network, shapes={"image": (1, 3, 8, 8), "scale": (1, 3, 1, 1)})
    assert config.num_optimization_profiles == 1


def test_static_network_needs_no_profile(builder):
    network = builder.create_network(0)
    x = network.add_input("x", trt.float32, (2, 3))
    network.mark_output(network.add_identity(x).get_output(0))
    assert build(builder, network).num_optimization_profiles == 0
    assert build(builder, network, shapes={"x": (2, 3)}).num_optimization_profiles == 0


def test_wildcard(builder, network):
    config = build(builder, network, shapes={"im*": (1, 3, 8, 8)})
    assert config.num_optimization_profiles == 1
    with pytest.raises(OptionError, match=r"'im\*x', which is not an input"):
        build(builder, network, shapes={"im*x": (1, 3, 8, 8)})


def test_own_profile_of_a_config_counts(builder, network):
    from trtwidget.profiles import add_profiles

    config = builder.create_builder_config()
    profile = builder.create_optimization_profile()
    profile.set_shape("image", *[(1, 3, 8, 8)] * 3)
    config.add_optimization_profile(profile)
    add_profiles(builder, network, config, ())
    assert config.num_optimization_profiles == 1


SHAPE_ERRORS = [
    (
        {"shapes": {"input": (1, 3, 8, 8)}},
        (
            "A shape is given for 'input', which is not an input of the model. "
            "Its inputs are: 'image', 'scale'."
        ),
    ),
    (
        {"shapes": {"image": (3, 8, 8)}},
        (
            "Input 'image' has 4 dimensions in the model (-1x3x-1x-1), but the shape given has 3 "
            "(3x8x8). Give a size for every dimension of the input, the batch too."
        ),
    ),
    (
        {"shapes": {"image": (1, 4, 8, 8)}},
        (
            "Input 'image' has the size 3 in dimension 1 of the model (-1x3x-1x-1), but the shape "
            "given has 4 (1x4x8x8). Only a dimension that is -1 in the model can be chosen; give 3 "
            "there."
        ),
    ),
    (
        {"shapes": {"image": (-1, 3, 8, 8)}},
        (
            "Input 'image' is given the size -1 in dimension 0 (-1x3x8x8). Give real sizes; for a "
            "range, the minimum, the optimum and the maximum."
        ),
    ),
    (
        {"shapes": {"image": (1, 3, 8, 8), "scale": (2, 3, 1, 1)}},
        (
            "Input 'scale' has the size 1 in dimension 0 of the model (1x3x1x1), but the shape given "
            "has 2 (2x3x1x1). Only a dimension that is -1 in the model can be chosen; give 1 there."
        ),
    ),
    (
        {"profiles": [{"image": (1, 3, 8, 8)}, {"image": (1, 3, 8)}]},
        (
            "Profile 1: Input 'image' has 4 dimensions in the model (-1x3x-1x-1), but the shape given "
            "has 3 (1x3x8). Give a size for every dimension of the input, the batch too."
        ),
    ),
]
MISSING = [
    (
        {},
        (
            "The model's dynamic inputs need shapes, and none are given for 'image' (-1x3x-1x-1: "
            "dimensions 0, 2, 3). Give the sizes to build for: --optShapes=image:1x3x224x224 (in "
            "Python: opt_shapes={'image': (1, 3, 224, 224)}); for a range, also "
            "--minShapes=image:1x3x224x224 and --maxShapes=image:8x3x224x224 (min_shapes=…, "
            "max_shapes=…)."
        ),
    ),
    (
        {"shapes": {"scale": (1, 3, 1, 1)}},
        (
            "The model's dynamic inputs need shapes, and none are given for 'image' (-1x3x-1x-1: "
            "dimensions 0, 2, 3)."
        ),
    ),
]


@pytest.mark.parametrize(("call", "text"), SHAPE_ERRORS)
def test_shapes_that_do_not_fit(builder, network, call, text):
    with pytest.raises(OptionError) as raised:
        build(builder, network, **call)
    assert str(raised.value) == text


@asks_tensors
@pytest.mark.parametrize(("call", "text"), MISSING)
def test_dynamic_inputs_without_shapes(builder, network, call, text):
    with pytest.raises(OptionError) as raised:
        build(builder, network, **call)
    assert str(raised.value).startswith(text)


@asks_tensors
def test_what_the_error_says_to_give_works(builder, network):
    with pytest.raises(OptionError) as raised:
        build(builder, network)
    words = raised.value.hint.replace(";", " ").split()
    given = " ".join(word for word in words if word.startswith("--"))
    options = Parser().parse_line(f"m.onnx {given}").options
    assert configure(trt, builder, network, options).num_optimization_profiles == 1


def parse(builder, model):
    logger = Logger()
    network = builder.create_network(0)
    parser = trt.OnnxParser(network, logger)
    assert parser.parse(model.SerializeToString()), logger.texts
    return network


def onnx_model(nodes, inputs, outputs):
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@asks_tensors
def test_onnx_model_names_its_dynamic_dimensions(builder):
    ids = helper.make_tensor_value_info("ids:0", TensorProto.FLOAT, ["batch", "sequence"])
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, ["batch", "sequence"])
    model = onnx_model([helper.make_node("Relu", ["ids:0"], ["out"])], [ids], [out])
    onnx.checker.check_model(model)
    network = parse(builder, model)
    with pytest.raises(OptionError) as raised:
        build(builder, network)
    assert "'ids:0' (-1x-1: dimensions 0 'batch', 1 'sequence')" in raised.value.message
    assert "--optShapes=ids:0:1x128 " in raised.value.hint
    options = Parser().parse(["m.onnx", "--optShapes=ids:0:1x128"]).options
    assert configure(trt, builder, network, options).num_optimization_profiles == 1


@asks_tensors
def test_shape_tensor_takes_values(builder):
    data = helper.make_tensor_value_info("data", TensorProto.FLOAT, ["n", 6])
    shape = helper.make_tensor_value_info("shape", TensorProto.INT64, [3])
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, None)
    model = onnx_model(
        [helper.make_node("Reshape", ["data", "shape"], ["out"])], [data, shape], [out]
    )
    network = parse(builder, model)
    assert network.get_input(1).is_shape_tensor
    with pytest.raises(OptionError, match=r"'shape' \(a shape tensor of 3 values\)"):
        build(builder, network, shapes={"data": (4, 6)})
    with pytest.raises(OptionError, match="holds 3 values of a shape, but 2 are given"):
        build(builder, network, shapes={"data": (4, 6), "shape": (4, 6)})
    config = build(builder, network, shapes={"data": (4, 6), "shape": (4, 3, 2)})
    assert config.num_optimization_profiles == 1
    assert builder.build_serialized_network(network, config) is not None
    ranged = build(
        builder,
        network,
        min_shapes={"data": (1, 6), "shape": (-1, 3, 2)},
        max_shapes={"data": (4, 6), "shape": (4, 3, 2)},
    )
    assert ranged.num_optimization_profiles == 1


def test_empty_dimension_is_a_size(builder, network):
    config = build(
        builder, network, min_shapes={"image": (0, 3, 8, 8)}, max_shapes={"image": (4, 3, 8, 8)}
    )
    assert config.num_optimization_profiles == 1


@rtx_only
def test_all_of_this_with_tensorrt(tensorrt_env):
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__],
        env={**tensorrt_env, "TRTWIDGET_TEST_MODULE": "tensorrt"},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert run.returncode == 0, run.stdout + run.stderr
