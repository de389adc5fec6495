"""The fixture itself: TensorRT's real bindings over TensorRT-RTX's library."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from trtwidget.models import resnet50

BUILD = """
import json, sys, pathlib
import tensorrt as trt

class Monitor(trt.IProgressMonitor):
    def __init__(self):
        super().__init__()
        self.calls = []

    def phase_start(self, name, parent, num_steps):
        self.calls.append(("start", name))

    def step_complete(self, name, step):
        self.calls.append(("step", name))
        return True

    def phase_finish(self, name):
        self.calls.append(("finish", name))

model, plan = sys.argv[1:]
logger = trt.Logger(trt.Logger.WARNING)
builder = trt.Builder(logger)
network = builder.create_network(0)
parser = trt.OnnxParser(network, logger)
assert parser.parse_from_file(model), [str(parser.get_error(i)) for i in range(parser.num_errors)]
config = builder.create_builder_config()
config.progress_monitor = monitor = Monitor()
engine = builder.build_serialized_network(network, config)
pathlib.Path(plan).write_bytes(engine)
print(json.dumps({
    "version": trt.__version__,
    "module": trt.IProgressMonitor.__module__,
    "rtx_bindings": [name for name in sys.modules if "tensorrt_rtx_bindings" in name],
    "calls": monitor.calls,
}))
"""


def test_builds_resnet50(tensorrt_env, tmp_path):
    model, plan = resnet50(tmp_path / "resnet50.onnx", batch=1), tmp_path / "resnet50.plan"
    run = subprocess.run(
        [sys.executable, "-c", BUILD, str(model), str(plan)],
        env=tensorrt_env,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout)
    assert report["version"] == "11.4.0.106"
    assert report["module"].startswith("tensorrt_bindings")
    assert report["rtx_bindings"] == []
    kinds = Counter(kind for kind, _ in report["calls"])
    assert kinds["start"] == kinds["finish"] > 10
    assert kinds["step"] > 100
    assert report["calls"][0] == ["start", "Building engine"]
    assert report["calls"][-1] == ["finish", "Building engine"]
    assert plan.stat().st_size > 100_000_000


def test_two_processes_prepare_it_at_once(tensorrt_env, tmp_path):
    command = [sys.executable, "-m", "tests.tensorrt_over_rtx", "--cache", str(tmp_path)]
    root = Path(__file__).parents[2]
    runs = [
        subprocess.Popen(
            command, cwd=root, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(3)
    ]
    outputs = [run.communicate(timeout=200) for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0], outputs
    homes = {out.strip() for out, _ in outputs}
    assert len(homes) == 1
    (home,) = map(Path, homes)
    assert (home / "tensorrt" / "__init__.py").is_file()
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == [home]
