"""Build ResNet-50 for real and write down what TensorRT-RTX told, as JSON Lines.

``python tests/records/record.py`` makes the records beside this file anew. It talks to
TensorRT-RTX directly, so that the records are evidence of what the builder does and not of what
our own monitor makes of it.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
from pathlib import Path

import tensorrt_rtx as trt

from trtwidget.models import resnet50

HERE = Path(__file__).resolve().parent
SEVERITIES = {
    trt.Logger.INTERNAL_ERROR: "internal_error",
    trt.Logger.ERROR: "error",
    trt.Logger.WARNING: "warning",
    trt.Logger.INFO: "info",
}
# The largest batch of each profile of the long builds.
PROFILES = (1, 2, 4, 8, 16, 32, 64, 128)


class Record:
    """Events with the seconds since the first one; any thread may add."""

    def __init__(self):
        self.events = []
        self._lock = threading.Lock()
        self._start = None
        self._threads = []

    def add(self, event, **fields):
        with self._lock:
            now = time.perf_counter()
            self._start = now if self._start is None else self._start
            t = round(now - self._start, 6)
            self.events.append({"t": t, "event": event, **fields})

    def call(self, event, **fields):
        """Add a callback, with the number of the calling thread where it is not the first."""
        ident = threading.get_ident()
        if ident not in self._threads:
            self._threads.append(ident)
        thread = self._threads.index(ident)
        self.add(event, **fields, **({"thread": thread} if thread else {}))


class Logger(trt.ILogger):
    def __init__(self, record):
        super().__init__()
        self._record = record

    def log(self, severity, msg):
        if severity in SEVERITIES:
            self._record.add("log", severity=SEVERITIES[severity], text=msg)


class Monitor(trt.IProgressMonitor):
    def __init__(self, record, stop):
        super().__init__()
        self._record = record
        self._stop = stop

    def phase_start(self, phase_name, parent_phase, num_steps):
        self._record.call("phase_start", phase=phase_name, parent=parent_phase, num_steps=num_steps)

    def step_complete(self, phase_name, step):
        self._record.call("step_complete", phase=phase_name, step=step)
        return not self._stop.is_set()

    def phase_finish(self, phase_name):
        self._record.call("phase_finish", phase=phase_name)


def build(model, *, profiles=(), stop_after=None):
    """Build and return the events; `stop_after` seconds the build is asked to stop."""
    stop = threading.Event()
    record = Record()
    record.add(
        "build_started",
        build=f"{model.stem}-1",
        model=model.name,
        backend=f"tensorrt_rtx {trt.__version__}",
    )
    logger = Logger(record)
    builder = trt.Builder(logger)
    network = builder.create_network(0)
    parser = trt.OnnxParser(network, logger)
    if not parser.parse_from_file(str(model)):
        raise SystemExit([str(parser.get_error(i)) for i in range(parser.num_errors)])
    config = builder.create_builder_config()
    for batch in profiles:
        profile = builder.create_optimization_profile()
        profile.set_shape("input", *[(n, 3, 224, 224) for n in (1, batch, batch)])
        config.add_optimization_profile(profile)
    config.progress_monitor = Monitor(record, stop)

    def ask():
        record.add("stop_requested", reason=f"timeout of {stop_after} s")
        stop.set()

    timer = threading.Timer(stop_after or 0, ask)
    if stop_after:
        timer.start()
    engine = builder.build_serialized_network(network, config)
    timer.cancel()
    if engine is not None:
        outcome = {"outcome": "built", "engine": f"{model.stem}.plan", "bytes": engine.nbytes}
    elif stop.is_set():
        outcome = {"outcome": "stopped"}
    else:
        outcome = {"outcome": "failed"}
    record.add("build_finished", **outcome)
    return record.events


def save(name, events):
    lines = [json.dumps(event, ensure_ascii=False) + "\n" for event in events]
    (HERE / name).write_text("".join(lines), encoding="utf-8")
    calls = sum(event["event"].startswith(("phase_", "step_")) for event in events)
    last = events[-1]
    print(f"{name}: {calls} callbacks, {last['outcome']} after {last['t']:.2f} s")  # noqa: T201


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stop-after", type=float, default=1.5, help="seconds (%(default)s)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # TensorRT logs the path as given
        static = resnet50("resnet50.onnx", batch=1)
        save("rtx-resnet50.jsonl", build(static))
        dynamic = resnet50(static)
        save("rtx-resnet50-8-profiles.jsonl", build(dynamic, profiles=PROFILES))
        stopped = build(dynamic, profiles=PROFILES, stop_after=arguments.stop_after)
        save("rtx-resnet50-stopped.jsonl", stopped)


if __name__ == "__main__":
    main()
