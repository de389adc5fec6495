"""Build options from Python and JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields
from enum import Enum
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtwidget.errors import OptionError
from trtwidget.options import BuildOptions
from trtwidget.shapes import ShapeRange


class Level(Enum):
    """As TensorRT's enums: what counts is a member's name."""

    AMPERE_PLUS = 1


READS = [
    ({"workspace": 4096}, 4096),
    ({"workspace": "2GiB"}, 2 << 30),
    ({"workspace": "2G"}, 2 << 30),
    ({"workspace": "2GB"}, 2 * 10**9),
    ({"workspace": " 1.5 MiB "}, 3 << 19),
    ({"workspace": "512k"}, 512 << 10),
    ({"workspace": "7B"}, 7),
    ({"workspace": np.int64(5)}, 5),
    ({"min_free_memory": "1TiB"}, 1 << 40),
    ({"save_engine": Path("a/b.plan")}, "a/b.plan"),
    ({"save_engine": "~/b.plan"}, str(Path("~/b.plan").expanduser())),
    ({"timing_cache": "./t.cache"}, "./t.cache"),
    ({"timeout": 5}, 5.0),
    ({"stop_grace": 0.5}, 0.5),
    ({"builder_optimization_level": 0}, 0),
    ({"max_tactics": -1}, None),
    ({"max_aux_streams": 0}, 0),
    ({"hardware_compatibility_level": "AMPERE+"}, "ampere+"),
    ({"hardware_compatibility_level": Level.AMPERE_PLUS}, "ampere+"),
    ({"runtime_platform": "WINDOWS_AMD64"}, "WindowsAMD64"),
    ({"compute_capabilities": 89}, ("SM89",)),
    ({"compute_capabilities": 8.9}, ("SM89",)),
    ({"compute_capabilities": "8.6, 12.0"}, ("SM86", "SM120")),
    ({"compute_capabilities": ["SM89", "sm_80", 89]}, ("SM89", "SM80")),
    ({"compute_capabilities": "current"}, ("CURRENT",)),
    ({"tactic_sources": ["-JIT_CONVOLUTIONS"]}, ("-JIT_CONVOLUTIONS",)),
    ({"preview": "+a,-b"}, ("+a", "-b")),
    ({"no_tf32": True}, True),
    ({"workspace": None}, None),
    ({"compute_capabilities": None}, ()),
    ({"backend": None}, "auto"),
]


@pytest.mark.parametrize(("call", "expected"), READS)
def test_reads(call, expected):
    options = BuildOptions.from_call(**call)
    (name,) = call
    assert getattr(options, name) == expected
    assert type(getattr(options, name)) is type(expected)


WRONG = [
    ({"workspace": "2"}, "workspace is '2', which is not a size."),
    ({"workspace": "2 gallons"}, "workspace is '2 gallons', which is not a size."),
    ({"workspace": -1}, "workspace is -1, but must be a number of bytes."),
    ({"workspace": True}, "workspace is True, but must be a number of bytes."),
    ({"workspace": 1.5}, "workspace is 1.5, but must be a number of bytes."),
    (
        {"builder_optimization_level": 6},
        "builder_optimization_level is 6, but must be a whole number from 0 to 5.",
    ),
    (
        {"builder_optimization_level": True},
        "builder_optimization_level is True, but must be a whole number from 0 to 5.",
    ),
    ({"max_tactics": 0}, "max_tactics is 0, but must be a whole number of 1 or more."),
    ({"avg_timing": "many"}, "avg_timing is 'many', but must be a whole number of 1 or more."),
    ({"timeout": 0}, "timeout is 0, but must be a number of seconds above 0."),
    ({"timeout": float("nan")}, "timeout is nan, but must be a number of seconds above 0."),
    ({"timeout": "soon"}, "timeout is 'soon', but must be a number of seconds above 0."),
    ({"refit": "yes"}, "refit is 'yes', but must be True or False."),
    ({"save_engine": 3}, "save_engine is 3, but must be the path of a file."),
    ({"save_engine": ""}, "save_engine is '', but must be the path of a file."),
    ({"backend": "trt"}, "backend is 'trt', but must be one of auto, tensorrt, tensorrt_rtx."),
    ({"sparsity": "force"}, "sparsity=force would overwrite the model's weights."),
    (
        {"compute_capabilities": "hopper"},
        "compute_capabilities holds 'hopper', which is not a compute capability.",
    ),
    (
        {"compute_capabilities": ["current", 89]},
        "compute_capabilities mixes 'current' with other compute capabilities.",
    ),
    ({"preview": "a"}, "preview holds 'a', which says neither on nor off."),
    ({"preview": "+a,-a"}, "preview turns a both on and off."),
    (
        {"no_builder_cache": True, "timing_cache": "t.cache"},
        (
            "no_builder_cache (--noBuilderCache) and timing_cache (--timingCacheFile) contradict each "
            "other."
        ),
    ),
    (
        {"allow_gpu_fallback": True},
        "allow_gpu_fallback (--allowGPUFallback) has a meaning only for a DLA build.",
    ),
    (
        {"shapes": (1, 3)},
        "shapes is (1, 3), but must map the inputs' names to shapes.",
    ),
    ({"shapes": {"x": "1x?"}}, "shapes['x'] has '1x?', which is not a shape."),
    ({"shapes": {"x": (1.5,)}}, "shapes['x'] has (1.5,), which is not a shape."),
    ({"shapes": {"x": 3}}, "shapes['x'] has 3, which is not a shape."),
    (
        {"min_shapes": {"x": (2, 9)}, "max_shapes": {"x": (4, 8)}},
        "Input 'x' has min 2x9 above opt and max 4x8 in dimension 1 (9 > 8).",
    ),
    (
        {"opt_shapes": {"x": (5,)}, "max_shapes": {"x": (4,)}},
        "Input 'x' has min and opt 5 above max 4 in dimension 0 (5 > 4).",
    ),
    (
        {"min_shapes": {"x": (1, 3)}, "max_shapes": {"x": (4, 3, 2)}},
        "Input 'x' has shapes of different ranks: min 1x3, opt 4x3x2, max 4x3x2.",
    ),
    (
        {"shapes": {"x": (1,)}, "min_shapes": {"x": (1,)}},
        "Input 'x' has both one fixed shape and a range of shapes.",
    ),
    (
        {"profiles": [{"x": (1,)}], "shapes": {"x": (1,)}},
        "Input 'x' has both one fixed shape and a range of shapes.",
    ),
    (
        {"profiles": [{"x": (1,)}], "opt_shapes": {"x": (1,)}},
        "Shapes are given both in profiles and in min_shapes, opt_shapes or max_shapes.",
    ),
    ({"profiles": {"x": (1,)}}, "profiles is {'x': (1,)}, but must be a list of profiles."),
    ({"profiles": [{}]}, "profiles[0] is {}, but must map inputs to shapes."),
    ({"profiles": [[1, 2]]}, "profiles[0] is [1, 2], but must map inputs to shapes."),
    ({"profiles": [{"x": 4}]}, "profiles[0]['x'] has 4, which is not a shape."),
    (
        {"profiles": [{"x": ((1,), (2,))}]},
        "profiles[0]['x'] has 2 shapes, but must have three.",
    ),
    (
        {"profiles": [{"x": (1,)}, {"x": ((3,), (2,), (3,))}]},
        "Profile 1: Input 'x' has min and max 3 above opt 2 in dimension 0 (3 > 2).",
    ),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_refuses(call, message):
    with pytest.raises(OptionError) as raised:
        BuildOptions.from_call(**call)
    assert raised.value.message == message


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("opt_shape", "There is no option 'opt_shape'. Did you mean 'opt_shapes'?"),
        ("work_space", "There is no option 'work_space'. Did you mean 'workspace'?"),
        ("zzz", "There is no option 'zzz'. help(trtwidget.BuildOptions) lists all."),
        ("weightless", "weightless was removed in TensorRT 11. Use --stripWeights instead."),
    ],
)
def test_unknown(name, text):
    with pytest.raises(OptionError) as raised:
        BuildOptions.from_call(**{name: True})
    assert str(raised.value) == text


def test_half_precision_is_explained_in_python_too():
    with pytest.raises(OptionError, match=r"^fp16 was removed in TensorRT 11, .*AutoCast"):
        BuildOptions.from_call(fp16=True)


A, B, C = (1, 2), (3, 4), (5, 6)


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ({"shapes": A}, (A, A, A)),
        ({"opt_shapes": A}, (A, A, A)),
        ({"min_shapes": A}, (A, A, A)),
        ({"max_shapes": A}, (A, A, A)),
        ({"min_shapes": A, "max_shapes": C}, (A, C, C)),
        ({"min_shapes": A, "opt_shapes": B}, (A, B, B)),
        ({"opt_shapes": B, "max_shapes": C}, (B, B, C)),
        ({"min_shapes": A, "opt_shapes": B, "max_shapes": C}, (A, B, C)),
    ],
)
def test_gaps_are_filled_as_trtexec_does(ends, expected):
    options = BuildOptions.from_call(**{end: {"x": shape} for end, shape in ends.items()})
    assert options.profiles == ({"x": ShapeRange(*expected)},)
    if "shapes" not in ends:
        profile = {end.removesuffix("_shapes"): {"x": shape} for end, shape in ends.items()}
        assert BuildOptions.from_call(profiles=[profile]) == options


@pytest.mark.parametrize(
    "profile",
    [
        {"x": (A, B, C), "y": A},
        {"x": [[1, 2], [3, 4], [5, 6]], "y": [1, 2]},
        {"x": ("1x2", "3x4", "5x6"), "y": "1x2"},
        {"min": {"x": A, "y": A}, "opt": {"x": B}, "max": {"x": C}},
        {"min": {"x": np.array(A)}, "opt": {"x": np.array(B)}, "max": {"x": C, "y": "1x2"}},
    ],
)
def test_forms_of_a_profile(profile):
    options = BuildOptions.from_call(profiles=[profile])
    assert options.profiles == ({"x": ShapeRange(A, B, C), "y": ShapeRange(A, A, A)},)


def test_inputs_may_be_called_min_and_max():
    options = BuildOptions.from_call(profiles=[{"min": (1, 2), "max": (A, B, C)}])
    assert options.profiles == ({"min": ShapeRange(A, A, A), "max": ShapeRange(A, B, C)},)


def test_shapes_hold_in_every_profile():
    options = BuildOptions.from_call(profiles=[{"x": A}, {"x": B}], shapes={"mask": (7,)})
    assert [profile["mask"].opt for profile in options.profiles] == [(7,), (7,)]


def test_scalars_have_shapes():
    options = BuildOptions.from_call(min_shapes={"x": ()}, max_shapes={"x": "scalar"})
    assert options.profiles == ({"x": ShapeRange((), (), ())},)


def test_frozen():
    options = BuildOptions()
    with pytest.raises(FrozenInstanceError):
        options.refit = True


def test_the_constructor_checks_too():
    assert BuildOptions(workspace="1K").workspace == 1024
    with pytest.raises(OptionError):
        BuildOptions(timeout=-1)


def test_repr_shows_what_differs():
    assert repr(BuildOptions()) == "BuildOptions()"
    options = BuildOptions.from_call(shapes={"x": A}, refit=True)
    assert eval(repr(options)) == options  # the names in it are imported here


def test_defaults_are_not_told():
    assert BuildOptions().to_json() == {}
    same = {option.name: option.default for option in fields(BuildOptions)}
    assert BuildOptions(**same).to_json() == {}


EVERY = {
    "save_engine": st.just("a.plan"),
    "backend": st.sampled_from(["auto", "tensorrt", "tensorrt_rtx"]),
    "timeout": st.floats(0.001, 1e6),
    "stop_grace": st.floats(0.001, 1e6),
    "workspace": st.integers(0, 1 << 45),
    "builder_optimization_level": st.integers(0, 5),
    "refit": st.booleans(),
    "isolate": st.booleans(),
    "sparsity": st.sampled_from(["disable", "enable"]),
    "hardware_compatibility_level": st.sampled_from(["none", "ampere+", "sameComputeCapability"]),
    "compute_capabilities": st.lists(st.sampled_from([80, "8.9", "SM120"])),
    "tactic_sources": st.lists(st.sampled_from(["+A", "-B"])),
    "profiles": st.lists(
        st.dictionaries(
            st.text(min_size=1),
            st.lists(st.integers(0, 1 << 40), max_size=4).map(tuple),
            min_size=1,
            max_size=3,
        ),
        max_size=3,
    ),
}


@given(st.fixed_dictionaries({}, optional=EVERY))
def test_json_round_trip(call):
    options = BuildOptions.from_call(**call)
    data = json.loads(json.dumps(options.to_json()))
    again = BuildOptions.from_json(data)
    assert again == options
    assert again.to_json() == data


def test_json_refuses_what_it_does_not_know():
    with pytest.raises(OptionError, match="There is no option 'worksapce'"):
        BuildOptions.from_json({"worksapce": 1})


def test_no_tensorrt_is_imported():
    code = "import trtwidget.options, trtwidget.trtexec, trtwidget.config, sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"tensorrt", "tensorrt_rtx", "numpy", "onnx"} & set(run.stdout.split())
