from __future__ import annotations

import math
import resource
import signal
import subprocess
import sys
import zipfile
from collections import Counter

import numpy as np
import onnx
import onnx.reference
import onnx.shape_inference
import pytest

from trtwidget.errors import OptionError, TrtWidgetError
from trtwidget.models import resnet50

PARAMETERS = 25_557_032  # sum(p.numel() for p in torchvision.models.resnet50().parameters())


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return resnet50(tmp_path_factory.mktemp("models") / "resnet50.onnx")


@pytest.fixture(scope="module")
def model(path):
    return onnx.load(path)


@pytest.fixture(scope="module")
def state(model):
    """The initializers of the default model: what torchvision calls its state dict."""
    return {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}


def attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def shape(value_info):
    return [d.dim_param or d.dim_value for d in value_info.type.tensor_type.shape.dim]


def test_file_is_valid_onnx(path, model):
    onnx.checker.check_model(str(path), full_check=True)
    assert [i.name for i in model.graph.input] == ["input"]
    assert [o.name for o in model.graph.output] == ["logits"]
    assert shape(model.graph.input[0]) == ["batch", 3, 224, 224]
    assert shape(model.graph.output[0]) == ["batch", 1000]


@pytest.mark.parametrize("batch", ["dynamic", 3])
def test_shape_inference_finds_the_declared_output(tmp_path, batch):
    model = onnx.load(resnet50(tmp_path / "model.onnx", batch))
    size = "batch" if batch == "dynamic" else batch
    assert shape(model.graph.input[0]) == [size, 3, 224, 224]
    model.graph.output[0].type.tensor_type.ClearField("shape")
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    assert shape(inferred.graph.output[0]) == [size, 1000]
    sizes = {v.name: shape(v) for v in inferred.graph.value_info}
    assert sizes["maxpool.out"] == [size, 64, 56, 56]
    assert sizes["layer1.2.relu3.out"] == [size, 256, 56, 56]
    assert sizes["layer2.3.relu3.out"] == [size, 512, 28, 28]
    assert sizes["layer3.5.relu3.out"] == [size, 1024, 14, 14]
    assert sizes["layer4.2.relu3.out"] == [size, 2048, 7, 7]


def test_parameters_are_torchvisions(state):
    learned = {k: v for k, v in state.items() if "running" not in k}
    assert sum(v.size for v in learned.values()) == PARAMETERS
    assert len(learned) == 161
    assert len(state) == 161 + 2 * 53
    assert state["conv1.weight"].shape == (64, 3, 7, 7)
    assert state["layer1.0.downsample.0.weight"].shape == (256, 64, 1, 1)
    assert state["layer1.0.downsample.1.running_var"].shape == (256,)
    assert state["layer3.5.conv2.weight"].shape == (256, 256, 3, 3)
    assert state["layer4.0.conv1.weight"].shape == (512, 1024, 1, 1)
    assert state["fc.weight"].shape == (1000, 2048)
    assert state["fc.bias"].shape == (1000,)


def test_layers_are_version_one_point_five(model):
    nodes = model.graph.node
    counts = Counter(node.op_type for node in nodes)
    assert counts["Conv"] == counts["BatchNormalization"] == 53
    assert counts["Relu"] == 49
    assert counts["Add"] == 16
    strided = {
        node.name: attributes(node)["kernel_shape"]
        for node in nodes
        if attributes(node).get("strides", [1, 1]) != [1, 1]
    }
    assert strided == {
        "conv1": [7, 7],
        "maxpool": [3, 3],
        **{f"layer{n}.0.conv2": [3, 3] for n in (2, 3, 4)},
        **{f"layer{n}.0.downsample.0": [1, 1] for n in (2, 3, 4)},
    }


def convolve(x, weight, stride):
    """Convolve as the definition says, on a padded input."""
    pad = weight.shape[2] // 2
    x = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    windows = np.lib.stride_tricks.sliding_window_view(x, weight.shape[2:], axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride]
    return np.einsum("nchwij,ocij->nohw", windows, weight, optimize=True)


def numpy_resnet50(state, x):
    """ResNet-50 v1.5 as its paper and torchvision describe it, in NumPy alone."""

    def convolution(x, conv, norm, stride=1):
        x = convolve(x, state[f"{conv}.weight"], stride)
        mean, var, weight, bias = (
            state[f"{norm}.{name}"][:, None, None]
            for name in ("running_mean", "running_var", "weight", "bias")
        )
        return (x - mean) / np.sqrt(var + 1e-5) * weight + bias

    x = np.maximum(convolution(x, "conv1", "bn1", 2), 0)
    x = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=-np.inf)
    x = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    x = x.max(axis=(4, 5))
    for stage, blocks in enumerate([3, 4, 6, 3], start=1):
        for block in range(blocks):
            name = f"layer{stage}.{block}"
            stride = 2 if stage > 1 and block == 0 else 1
            y = np.maximum(convolution(x, f"{name}.conv1", f"{name}.bn1"), 0)
            y = np.maximum(convolution(y, f"{name}.conv2", f"{name}.bn2", stride), 0)
            y = convolution(y, f"{name}.conv3", f"{name}.bn3")
            if block == 0:
                x = convolution(x, f"{name}.downsample.0", f"{name}.downsample.1", stride)
            x = np.maximum(x + y, 0)
    return x.mean(axis=(2, 3)) @ state["fc.weight"].T + state["fc.bias"]


def test_logits_are_those_of_an_independent_computation(tmp_path, state):
    # Statistics as after training, so that a normalization left out or swapped would show.
    rng = np.random.default_rng(7)
    trained = {
        name: value
        if value.ndim > 1
        else (value + rng.uniform(0.0, 0.2, value.shape)).astype(np.float32)
        for name, value in state.items()
    }
    model = onnx.load(resnet50(tmp_path / "model.onnx", weights=trained))
    image = rng.standard_normal((1, 3, 224, 224), np.float32)
    (logits,) = onnx.reference.ReferenceEvaluator(model).run(None, {"input": image})
    np.testing.assert_allclose(logits, numpy_resnet50(trained, image), rtol=1e-3, atol=1e-3)


def test_random_weights_keep_activations_sane(model):
    image = np.random.default_rng(1).standard_normal((1, 3, 224, 224), np.float32)
    (logits,) = onnx.reference.ReferenceEvaluator(model).run(None, {"input": image})
    assert np.isfinite(logits).all()
    assert 0.1 < logits.std() < 10


def test_same_seed_same_file(tmp_path, path):
    assert resnet50(tmp_path / "again.onnx").read_bytes() == path.read_bytes()
    assert resnet50(tmp_path / "other.onnx", seed=1).read_bytes() != path.read_bytes()


@pytest.mark.parametrize("form", ["mapping", "npz"])
def test_own_weights(tmp_path, path, state, form):
    # As PyTorch gives it: in another order, and with its training counters.
    weights = {
        "bn1.num_batches_tracked": np.array(7),
        **{name: state[name] for name in reversed(state)},
    }
    if form == "npz":
        np.savez(tmp_path / "weights.npz", **weights)
        weights = tmp_path / "weights.npz"
    written = resnet50(tmp_path / "model.onnx", weights=weights)
    assert written.read_bytes() == path.read_bytes()


def test_weights_of_other_precision(tmp_path, state):
    weights = {k: v.astype(np.float64) for k, v in state.items()}
    weights["fc.bias"] = np.arange(1000, dtype=np.float16)
    model = onnx.load(resnet50(tmp_path / "model.onnx", weights=weights))
    written = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    assert {v.dtype for v in written.values()} == {np.dtype(np.float32)}
    assert (written["fc.bias"] == np.arange(1000)).all()


def test_weights_from_torch(tmp_path, path, state):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    weights = {k: torch.from_numpy(v.copy()) for k, v in state.items()}
    assert resnet50(tmp_path / "a.onnx", weights=weights).read_bytes() == path.read_bytes()
    torch.save(weights, tmp_path / "weights.pt")
    written = resnet50(tmp_path / "b.onnx", weights=tmp_path / "weights.pt")
    assert written.read_bytes() == path.read_bytes()


def without(state, *names):
    return {k: v for k, v in state.items() if k not in names}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda s: without(s, "fc.weight", "bn1.bias"),
            "The state dict lacks bn1.bias, fc.weight.",
        ),
        (
            lambda s: {**s, "head.weight": s["fc.weight"]},
            "The state dict has head.weight, which this model does not.",
        ),
        (
            lambda s: {f"module.{k}": v for k, v in s.items()},
            "The state dict lacks conv1.weight, bn1.weight, bn1.bias, bn1.running_mean, bn1.running_var and 262 more and has module.conv1.weight, ",
        ),
        (
            lambda s: {**s, "fc.weight": np.zeros((10, 2048)), "fc.bias": np.zeros(10)},
            "The state dict does not fit this model: fc.weight is (10, 2048), not (1000, 2048), fc.bias is (10,), not (1000,).",
        ),
        (
            lambda s: {**s, "fc.bias": "zero"},
            "The state dict does not fit this model: fc.bias is not numbers.",
        ),
    ],
)
def test_weights_that_do_not_fit(tmp_path, state, change, message):
    with pytest.raises(OptionError) as raised:
        resnet50(tmp_path / "model.onnx", weights=change(state))
    assert str(raised.value).startswith(message)
    assert list(tmp_path.iterdir()) == []


def test_weights_files_that_cannot_be_read(tmp_path):
    target = tmp_path / "model.onnx"
    with pytest.raises(OptionError, match=r"There is no weights file '.*none.npz'"):
        resnet50(target, weights=tmp_path / "none.npz")
    with pytest.raises(OptionError, match=r"Weights cannot be read from '.*w.bin'.*Give a .npz"):
        resnet50(target, weights=tmp_path / "w.bin")
    (tmp_path / "text.npz").write_text("not an archive")
    with pytest.raises(OptionError, match=r"text.npz is not a readable .npz file"):
        resnet50(target, weights=tmp_path / "text.npz")
    with zipfile.ZipFile(tmp_path / "torn.npz", "w") as archive:
        archive.writestr("conv1.weight.npy", b"\x93NUMPY\x01\x00")
    with pytest.raises(OptionError, match=r"torn.npz is not a readable .npz file"):
        resnet50(target, weights=tmp_path / "torn.npz")
    with (tmp_path / "array.npz").open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(OptionError, match=r"array.npz holds no state dict but a ndarray"):
        resnet50(target, weights=tmp_path / "array.npz")
    assert not target.exists()


@pytest.mark.parametrize("batch", [0, -1, 1.5, "8", None])
def test_impossible_batch(tmp_path, batch):
    with pytest.raises(OptionError, match="The batch size must be a whole number from 1 on"):
        resnet50(tmp_path / "model.onnx", batch)


def test_target_that_cannot_be_written(tmp_path):
    with pytest.raises(OptionError, match=r"There is no folder '.*absent' to write m.onnx to"):
        resnet50(tmp_path / "absent" / "m.onnx")
    with pytest.raises(OptionError, match="is a folder"):
        resnet50(tmp_path)


def test_failed_write_keeps_the_old_file(tmp_path):
    target = tmp_path / "model.onnx"
    target.write_text("old")
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, limits[1]))
    try:
        with pytest.raises(OptionError, match="cannot be written: File too large"):
            resnet50(target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_without_onnx_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(TrtWidgetError, match=r'onnx, which is not installed.*"trtwidget\[lab\]"'):
        resnet50(tmp_path / "model.onnx")


def test_without_torch_one_sentence_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "weights.pth").touch()
    with pytest.raises(OptionError, match=r"weights.pth needs PyTorch, .* as a .npz file"):
        resnet50(tmp_path / "model.onnx", weights=tmp_path / "weights.pth")


def test_import_needs_neither_onnx_nor_numpy():
    code = "import sys, trtwidget.models; print({'onnx', 'numpy', 'torch'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_default_file_size(path):
    assert math.isclose(path.stat().st_size, 4 * (PARAMETERS + 2 * 26_560), rel_tol=0.001)
