"""The models are ones that TensorRT takes."""

from __future__ import annotations

import pytest
import tensorrt_rtx as trt

from trtwidget.models import resnet50


@pytest.mark.parametrize("batch", ["dynamic", 2])
def test_resnet50_builds(tmp_path, batch):
    path = resnet50(tmp_path / "resnet50.onnx", batch)
    logger = trt.Logger(trt.Logger.WARNING)
    builder = trt.Builder(logger)
    network = builder.create_network(0)
    parser = trt.OnnxParser(network, logger)
    parsed = parser.parse_from_file(str(path))
    assert parsed, [str(parser.get_error(i)) for i in range(parser.num_errors)]
    assert network.num_inputs == network.num_outputs == 1
    size = -1 if batch == "dynamic" else batch
    assert network.get_input(0).name == "input"
    assert tuple(network.get_input(0).shape) == (size, 3, 224, 224)
    assert network.get_output(0).name == "logits"
    assert tuple(network.get_output(0).shape) == (size, 1000)
    config = builder.create_builder_config()
    if batch == "dynamic":
        profile = builder.create_optimization_profile()
        profile.set_shape("input", *[(n, 3, 224, 224) for n in (1, 4, 8)])
        config.add_optimization_profile(profile)
    engine = builder.build_serialized_network(network, config)
    assert engine is not None
    assert engine.nbytes > 100_000_000  # the weights are in it
