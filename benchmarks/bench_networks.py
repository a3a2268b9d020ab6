"""A network with ONNX Runtime and with `cv2.dnn`: the two that find the face in the example `network`.

Both compute with one thread, on the same inputs, and must agree. The third network, `reader.onnx`, has inputs of bytes
and a sound of any length, which `cv2.dnn` cannot load.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import onnxruntime
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks import workload

ROOT = Path(__file__).resolve().parents[1]
SHAPES = {"place": (1, 3, 90, 160), "pose": (1, 3, 70, 64)}
"""Inputs of the networks."""
ROUNDS, CALLS = 5, 200
SHARE_LIMIT = 0.8
"""Of the time of `cv2.dnn`: networks as small as these take two thirds of it."""
TOLERANCE = 1e-5

Floats = NDArray[np.float32]


def with_onnxruntime(path: Path) -> Callable[[Floats], Floats]:
    """Return a function that runs the network."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda given: np.asarray(session.run(None, {name: given})[0])


def with_opencv(path: Path) -> Callable[[Floats], Floats]:
    """Return a function that runs the network."""
    net = cv2.dnn.readNetFromONNX(str(path))

    def run(given: Floats) -> Floats:
        net.setInput(given)
        return np.asarray(net.forward())

    return run


def seconds(run: Callable[[Floats], Floats], given: Floats) -> float:
    """Return the processor time of some calls."""
    started = time.process_time()
    for _ in range(CALLS):
        run(given)
    return time.process_time() - started


def main() -> int:
    """Measure and print; the exit code tells whether the limits hold."""
    cv2.setNumThreads(1)
    holds = True
    for name, shape in SHAPES.items():
        path = ROOT / "solutions" / "network" / f"{name}.onnx"
        ours, theirs = with_onnxruntime(path), with_opencv(path)
        given = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
        assert np.abs(ours(given) - theirs(given)).max() < TOLERANCE
        times = [(seconds(ours, given), seconds(theirs, given)) for _ in range(ROUNDS)]
        first, second = (min(column) / CALLS for column in zip(*times, strict=True))
        print(f"{name}.onnx: ONNX Runtime {1000 * first:.2f} ms, cv2.dnn {1000 * second:.2f} ms of processor time")
        holds &= workload.verdict(
            f"{name}.onnx: ONNX Runtime's share of the time of cv2.dnn", first / second, SHARE_LIMIT
        )
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
