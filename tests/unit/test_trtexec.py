"""trtexec's spelling."""

from __future__ import annotations

import argparse
from contextlib import suppress
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtwidget.errors import OptionError
from trtwidget.flags import FLAGS, SPELLING
from trtwidget.options import BuildOptions
from trtwidget.refusals import REFUSED
from trtwidget.shapes import ShapeRange
from trtwidget.trtexec import Parser

# Every flag of trtexec 11.1's build, system and reporting help, and those of tensorrt_rtx.
TRTEXEC = """
    --onnx --minShapes --optShapes --maxShapes --inputIOFormats --outputIOFormats --memPoolSize
    --profilingVerbosity --avgTiming --refit --stripWeights --stripAllWeights --versionCompatible
    --vc --pluginInstanceNorm --pi --uint8AsymmetricQuantizationDLA --reportCapabilityDLA
    --adjustForDLA --enablePluginOverride --useRuntime --leanDLLPath --excludeLeanRuntime
    --monitorMemory --sparsity --noTF32 --stronglyTyped --directIO --layerDeviceTypes
    --decomposableAttentions --safe --dumpKernelText --buildDLAStandalone --allowGPUFallback
    --consistency --saveEngine --loadEngine --asyncFileReader --getPlanVersionOnly --tacticSources
    --noBuilderCache --noCompilationCache --errorOnTimingCacheMiss --timingCacheFile --preview
    --builderOptimizationLevel --maxTactics --hardwareCompatibilityLevel --runtimePlatform
    --tempdir --tempfileControls --maxAuxStreams --profile --allowWeightStreaming --markDebug
    --markUnfusedTensorsAsDebugTensors --tilingOptimizationLevel --l2LimitForTiling
    --remoteAutoTuningConfig --refitFromOnnx --cpuOnly --distributiveIndependence --setBuildRoute
    --device --useDLACore --staticPlugins --dynamicPlugins --setPluginsToSerialize
    --ignoreParsedPluginLibs --safetyPlugins --plugins --verbose --shapes --skipInference
    --computeCapabilities --useGpu --runtimeCacheFile
"""
REMOVED = """
    --fp16 --bf16 --fp8 --int8 --int4 --best --calib --precisionConstraints --layerPrecisions
    --layerOutputTypes --weightless
"""


@pytest.fixture
def parser():
    return Parser()


def options(line):
    return Parser().parse_line(f"m.onnx {line}").options


def message(line, **how):
    with pytest.raises(OptionError) as raised:
        Parser().parse_line(line, **how)
    return str(raised.value)


def test_a_request_in_full(parser):
    request = parser.parse_line(
        "resnet50.onnx --optShapes=input:8x3x224x224 --saveEngine=resnet50.plan --name 'my net' "
        "--wait --noPersist --timeout=90 --isolate --stopGrace 2.5 --minFreeMemory=2G --verbose "
        "--backend=tensorrt_rtx --timingCacheFile=t.cache --computeCapabilities=89,12.0;"
    )
    assert (request.model, request.name, request.wait, request.persist) == (
        "resnet50.onnx",
        "my net",
        True,
        False,
    )
    shape = (8, 3, 224, 224)
    assert request.options == BuildOptions(
        profiles=({"input": ShapeRange(shape, shape, shape)},),
        save_engine="resnet50.plan",
        timeout=90.0,
        isolate=True,
        stop_grace=2.5,
        min_free_memory=2 << 30,
        verbose=True,
        backend="tensorrt_rtx",
        timing_cache="t.cache",
        compute_capabilities=("SM89", "SM120"),
    )


@pytest.mark.parametrize("at", range(4))
def test_the_model_may_stand_anywhere(parser, at):
    words = ["--refit", "--saveEngine", "m.plan"]
    if at != 2:
        request = parser.parse([*words[:at], "m.onnx", *words[at:]])
        assert (request.model, request.options.save_engine) == ("m.onnx", "m.plan")


def test_every_flag_of_trtexec_works_or_is_refused_with_a_reason():
    known = {name for flag in FLAGS for name in flag.names}
    for name in TRTEXEC.split():
        assert (name in known) != (name in REFUSED), name
    for name in REMOVED.split():
        assert name in REFUSED, name
        assert "removed in TensorRT 11" in REFUSED[name].reason


@pytest.mark.parametrize("name", sorted(REFUSED))
@pytest.mark.parametrize("form", ["m.onnx {}", "{} m.onnx", "m.onnx {}=1", "m.onnx {} 1"])
def test_refusals(name, form):
    text = message(form.format(name))
    assert text.startswith(f"{name} ")
    assert REFUSED[name].hint in text


def test_half_precision_is_refused_with_the_way_that_replaces_it():
    assert message("m.onnx --fp16") == (
        "--fp16 was removed in TensorRT 11, where networks are strongly typed. The precision comes "
        "from the model: convert it first, for example with ModelOpt's AutoCast (python -m "
        "modelopt.onnx.autocast --onnx_path model.onnx)."
    )


def test_no_ops_change_nothing():
    assert options("--stronglyTyped --skipInference") == BuildOptions()


def test_every_option_has_a_flag():
    spelled = {*SPELLING, "profiles"}
    assert {option.name for option in fields(BuildOptions)} <= spelled


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("", "No model is given. Name an ONNX file: trtbuild model.onnx --saveEngine=FILE."),
        ("m.onnx --optShape=x:1", "There is no flag --optShape. Did you mean --optShapes?"),
        ("m.onnx --useGPU", "There is no flag --useGPU. Did you mean --useGpu?"),
        ("m.onnx --qqq", "There is no flag --qqq. trtbuild --help lists all."),
        ("m.onnx --refit=true", "--refit takes no value. Write only --refit."),
        ("m.onnx --saveEngine", "--saveEngine needs a value. Write it as --saveEngine=FILE"),
        ("m.onnx --optShapes=", "--optShapes needs a value. Write it as --optShapes=SPEC"),
        ("m.onnx --name ''", "--name needs a value. Write it as --name=NAME"),
        (
            "m.onnx --saveEngine --refit",
            "--saveEngine needs a value. Write it as --saveEngine=FILE",
        ),
        (
            "m.onnx --tacticSources -JIT_CONVOLUTIONS",
            "--tacticSources needs a value. Write it as --tacticSources=±NAME,…",
        ),
        (
            "m.onnx n.onnx",
            (
                "More than one model is given: m.onnx, n.onnx. Name one; a value with spaces in it "
                "needs quotes."
            ),
        ),
        (
            "m.onnx --onnx=n.onnx",
            (
                "More than one model is given: m.onnx, n.onnx. Name one; a value with spaces in it "
                "needs quotes."
            ),
        ),
        (
            "m.onnx --name='a",
            'A quote is not closed in "m.onnx --name=\'a". Close it, or leave it out.',
        ),
        (
            "m.onnx --avgTiming=2 --avgTiming=3",
            "--avgTiming contradicts what was given before: 2, now 3. Give it once.",
        ),
        (
            "m.onnx --quiet --verbose",
            "--quiet and --verbose contradict each other. Give one of them.",
        ),
        (
            "m.onnx --builderOptimizationLevel=9",
            "--builderOptimizationLevel is '9', but must be a whole number from 0 to 5.",
        ),
        (
            "m.onnx --optShapes=1x3",
            (
                "--optShapes has '1x3', which is not NAME:VALUE. Write --optShapes=input:1x3x224x224, "
                "with the names of your own; several are separated by commas."
            ),
        ),
        (
            "m.onnx --optShapes=x:1X3",
            (
                "--optShapes has '1X3', which is not a shape. A shape is whole numbers, such as "
                "(1, 3, 224, 224) or 1x3x224x224."
            ),
        ),
        (
            "m.onnx --memPoolSize=2048",
            (
                "--memPoolSize has '2048', which is not NAME:VALUE. Write --memPoolSize=workspace:2G, "
                "with the names of your own; several are separated by commas."
            ),
        ),
        (
            "m.onnx --memPoolSize=work:2",
            (
                "--memPoolSize names the memory pool 'work', which does not exist. The pools are "
                "workspace, dlaSRAM, dlaLocalDRAM, dlaGlobalDRAM, tacticSharedMem."
            ),
        ),
        (
            "m.onnx --memPoolSize=workspace:-1",
            (
                "--memPoolSize=workspace is '-1M', which is not a size. Write a number with a unit, "
                "such as 512MiB, 1.5G or 2GiB."
            ),
        ),
        (
            "m.onnx --minShapes=x:4 --maxShapes=x:1",
            (
                "Input 'x' has min 4 above opt and max 1 in dimension 0 (4 > 1). Every dimension needs "
                "min <= opt <= max."
            ),
        ),
        (
            "m.onnx --minShapes=x:1 --maxShapes=x:2 --minShapes=x:2 --maxShapes=x:4",
            (
                "--minShapes gives a shape for 'x' twice. For several profiles, begin each with "
                "--profile=N."
            ),
        ),
        (
            "m.onnx --minShapes=x:1 --profile=0 --optShapes=x:1",
            (
                "A shape flag stands before the first --profile=N. Put the shape flags of a profile "
                "after its --profile=N."
            ),
        ),
        (
            "m.onnx --profile=0 --optShapes=x:1 --profile=2 --optShapes=x:2",
            "The profiles are numbered 0, 2. Number them 0, 1, 2, … without a gap.",
        ),
        (
            "m.onnx --profile=0 --optShapes=x:1 --profile=0 --optShapes=x:2",
            "--profile=0 is given twice. Number the profiles 0, 1, 2, ….",
        ),
        (
            "m.onnx --profile=0 --profile=1 --optShapes=x:2",
            "Profile 0 has no shapes. Give its shape flags after --profile=N.",
        ),
        (
            "m.onnx --profile=0 --optShapes=x:1 --profile=1 --minShapes=x:2 --optShapes=x:1",
            (
                "Profile 1: Input 'x' has min 2 above opt and max 1 in dimension 0 (2 > 1). Every "
                "dimension needs min <= opt <= max."
            ),
        ),
    ],
)
def test_errors(line, text):
    assert message(line) == text


def test_a_cell_has_no_model(parser):
    assert parser.parse_line("--refit", needs_model=False).options.refit
    assert message("m.onnx", needs_model=False) == (
        "A model is given (m.onnx), but the cell makes the network. Leave the model out, or use "
        "%trtbuild with one %."
    )


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("workspace:2048", {"workspace": 2048 << 20}),
        ("workspace:2048K", {"workspace": 2048 << 10}),
        ("workspace:0.25", {"workspace": 1 << 18}),
        ("workspace:1.5g", {"workspace": 3 << 29}),
        ("workspace:7B", {"workspace": 7}),
        ("workspace:1G,tacticSharedMem:48K", {"workspace": 1 << 30, "tactic_shared_memory": 49152}),
        (
            "dlaSRAM:1,dlaLocalDRAM:2,dlaGlobalDRAM:3",
            {"dla_sram": 1 << 20, "dla_local_dram": 2 << 20, "dla_global_dram": 3 << 20},
        ),
    ],
)
def test_memory_pools(spec, expected):
    assert options(f"--memPoolSize={spec}").to_json() == expected


def test_min_free_memory_is_in_mib():
    assert options("--minFreeMemory=100").min_free_memory == 100 << 20


def test_several_profiles():
    profiles = options(
        "--profile=1 --optShapes=x:9 --refit --profile=0 --minShapes=x:1 --maxShapes=x:4 "
        "--shapes=mask:2x2"
    ).profiles
    mask = ShapeRange((2, 2), (2, 2), (2, 2))
    assert profiles == (
        {"x": ShapeRange((1,), (4,), (4,)), "mask": mask},
        {"x": ShapeRange((9,), (9,), (9,)), "mask": mask},
    )


def test_shapes_beside_a_range_are_for_inference_as_in_trtexec():
    ranged = "--minShapes=x:1 --optShapes=x:2 --maxShapes=x:4"
    assert options(f"{ranged} --shapes=x:3") == options(ranged)


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ("x:1x2,y:1x2", ["x", "y"]),
        ("in:0:1x2", ["in:0"]),
        ("\"'in:0':1x2\"", ["in:0"]),
        ("\"'a,b':1x2,c:1x2\"", ["a,b", "c"]),
        ("model/in:1x2", ["model/in"]),
        ("past_*:1x2", ["past_*"]),
    ],
)
def test_names_of_inputs(spec, names):
    (profile,) = options(f"--optShapes={spec}").profiles
    assert list(profile) == names
    assert {shapes.opt for shapes in profile.values()} == {(1, 2)}


def test_scalar_and_negative_values():
    (profile,) = options("--shapes=x:scalar,y:-1x3").profiles
    assert profile["x"].opt == ()
    assert profile["y"].opt == (-1, 3)


def test_aliases_and_combined_flags():
    assert options("--vc") == options("--versionCompatible")
    assert options("--stripAllWeights --refit") == options("--refit --stripWeights")
    assert options("--useGpu").compute_capabilities == ("CURRENT",)
    assert options("--maxTactics -1") == BuildOptions()


def test_help_is_text_and_never_exits(parser, capsys):
    for words in (["--help"], ["-h"], ["m.onnx", "--fp16", "--help"]):
        assert parser.parse(words).help
    text = parser.format_help()
    assert text.startswith("usage: trtbuild MODEL [flags]")
    for name in ("--saveEngine=FILE", "--memPoolSize=POOL:SIZE,…", "--noTF32", "--isolate"):
        assert name in text
    assert "--fp16" not in text
    assert capsys.readouterr() == ("", "")


def test_errors_print_nothing(capsys):
    for line in ("", "m.onnx --qqq", "m.onnx --refit=1", "m.onnx --saveEngine"):
        message(line)
    assert capsys.readouterr() == ("", "")


def test_prog_with_a_percent_sign():
    parser = Parser("%trtbuild")
    assert parser.format_help().startswith("usage: %trtbuild MODEL [flags]")
    with pytest.raises(OptionError, match=r"%trtbuild model\.onnx"):
        parser.parse([])


def test_a_caller_adds_its_own_flags(parser):
    group = parser.add_argument_group("The view")
    group.add_argument("--json", action="store_true", help="print one JSON object")
    group.add_argument("--events", metavar="FILE", help="write events")
    group.add_argument("--colour", choices=["on", "off"], help="colours")
    request = parser.parse(["--json", "m.onnx", "--events=-", "--refit"])
    assert request.extra == argparse.Namespace(json=True, events="-", colour=None)
    assert request.options.refit
    assert parser.parse(["m.onnx"]).extra == argparse.Namespace(
        json=False, events=None, colour=None
    )
    assert "The view:" in parser.format_help()
    assert "--events=" in parser.flag_names()
    with pytest.raises(OptionError, match=r"^--colour: invalid choice: 'red'"):
        parser.parse(["m.onnx", "--colour=red"])
    with pytest.raises(OptionError, match=r"^--events needs a value\. Write it as --events=FILE$"):
        parser.parse(["m.onnx", "--events"])


def test_flag_names(parser):
    names = parser.flag_names()
    assert {"--saveEngine=", "--profile=", "--noTF32", "--vc", "--help"} <= set(names)
    assert not {name.rstrip("=") for name in names} & set(REFUSED)
    assert len(names) == len(set(names))


def test_a_parser_can_be_used_again(parser):
    first = parser.parse(["a.onnx", "--refit", "--optShapes=x:1"])
    second = parser.parse(["b.onnx"])
    assert (second.model, second.options) == ("b.onnx", BuildOptions())
    assert first == parser.parse(["a.onnx", "--refit", "--optShapes=x:1"])


WORDS = st.sampled_from(
    [name + value for name in Parser().flag_names() for value in ("", "1", "x:1", "a,b")]
)


@given(st.lists(st.one_of(WORDS, st.text(max_size=5)), max_size=6))
def test_nothing_but_option_errors(words):
    with suppress(OptionError):
        Parser().parse(words)


@given(st.text(max_size=40))
def test_nothing_but_option_errors_from_a_line(line):
    with suppress(OptionError):
        Parser().parse_line(line)
