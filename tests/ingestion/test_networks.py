"""Networks of participants: they run in the sandbox, with threads, and answer the same in every process."""

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from model_process.failures import advise
from model_process.loading import LoadFailure, load_model
from tests.ingestion.conftest import SETTINGS, Outcome, model_source, write_phase
from tests.pages.onnx_file import linear_network, stored_outside

onnxruntime = pytest.importorskip("onnxruntime", reason="there is no ONNX Runtime for this machine")

SMALL = linear_network(np.ones((2, 3), np.float32), np.ones(2, np.float32), (1, 3, 4, 4))

SOURCE = """
import os

import cv2
import numpy as np
import onnxruntime


class Model:
    def __init__(self, assets):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 8
        self.net = onnxruntime.InferenceSession(assets / "net.onnx", options)
        self.other = cv2.dnn.readNetFromONNX(str(assets / "net.onnx"))

    def predict(self, clip):
        frames = np.stack(list(clip.frames(count=8)))
        pixels = frames.transpose(0, 3, 1, 2).astype(np.float32) / 255
        (scores,) = self.net.run(None, {"frames": pixels})
        self.other.setInput(pixels)
        assert np.allclose(scores, self.other.forward(), atol=1e-5)
        # Later versions keep a database there, of what they want to send.
        assert not [names for _, _, names in os.walk(os.environ["HOME"]) if names]
        return dict(zip(("warmth", "interview"), map(float, scores.mean(axis=0))))

    def explain(self, clip, prediction):
        return {"text": "A text that is long enough to count."}
"""


def test_a_network_runs_in_the_sandbox_with_threads_and_answers_the_same_again(
    numbered_clip: Path, tmp_path: Path, ingest: Callable[..., Outcome]
) -> None:
    weights = np.array([[0.1, 0.2, 0.3], [0.5, 0.1, 0]], np.float32)
    (tmp_path / "submission").mkdir()
    network = linear_network(weights, np.array([0.1, 0.2], np.float32), (8, 3, 64, 96))
    (tmp_path / "submission" / "net.onnx").write_bytes(network)
    outcome = ingest(SOURCE, input_data=write_phase(tmp_path / "input", [numbered_clip] * 2, SETTINGS))
    assert outcome.exit_code == 0, outcome.printed
    run = outcome.json("run.json")
    assert run["clips"]["ok"] == 2, outcome.printed
    assert run["refused_calls"] == {}
    assert run["determinism"]["clips"] == run["determinism"]["identical"] == 2
    assert run["packages"]["onnxruntime"]


@pytest.mark.parametrize(
    ("location", "operator", "said"),
    [
        ("own.bin", "Identity", ""),
        ("../secret.bin", "Identity", "escapes model directory"),
        ("link.bin", "Identity", "escapes model directory"),
        ("{}/secret.bin", "Identity", "Absolute path not allowed"),
        ("own.bin", "of.somebody.Else", "not a registered"),
    ],
)
def test_a_network_stores_its_numbers_beside_it_and_has_known_operators(
    location: str, operator: str, said: str, tmp_path: Path
) -> None:
    """The sandbox would stop other files, too: here, ONNX Runtime does."""
    folder = tmp_path / "submission"
    folder.mkdir()
    for path in (tmp_path / "secret.bin", folder / "own.bin"):
        path.write_bytes(np.ones(4, np.float32).tobytes())
    (folder / "link.bin").symlink_to("../secret.bin")
    (folder / "net.onnx").write_bytes(stored_outside(location.format(tmp_path), operator))
    if not said:
        [scores] = onnxruntime.InferenceSession(folder / "net.onnx").run(None, {})
        assert scores.tolist() == [1, 1, 1, 1]
        return
    with pytest.raises(Exception, match=said):
        onnxruntime.InferenceSession(folder / "net.onnx")


@pytest.mark.usefixtures("imports_undone")
@pytest.mark.parametrize("network", [b"", SMALL[:60]], ids=["empty", "broken"])
def test_opencv_says_of_a_damaged_network_what_helps(network: bytes, tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_bytes(network)
    with pytest.raises(cv2.error) as caught:
        cv2.dnn.readNetFromONNX(str(tmp_path / "net.onnx"))
    assert "damaged or incomplete" in advise(caught.value)


def test_a_network_finds_usage_data_switched_off(ingest: Callable[..., Outcome]) -> None:
    outcome = ingest(model_source(predict="import os; print(os.environ['ORT_DISABLE_TELEMETRY'])"))
    assert outcome.exit_code == 0
    assert (outcome.folder / "model_output.txt").read_text().split()[:1] == ["1"]


@pytest.mark.usefixtures("imports_undone")
@pytest.mark.parametrize(
    ("network", "fix"),
    [
        (SMALL[:60], "damaged or incomplete"),
        (b"", "damaged or incomplete"),
        # The file ends with the version of its operators, and begins with that of its format.
        (SMALL[:-1] + bytes([99]), "opset_version=17"),
        (SMALL[:1] + bytes([99]) + SMALL[2:], "opset_version=17"),
        (stored_outside("net.onnx.data"), "weights are in a second file"),
        # OpenCV, which the model asks next, does not look into it.
        (stored_outside("own.bin"), "OpenCV cannot read this network"),
    ],
    ids=["broken", "empty", "operators too new", "format too new", "weights left behind", "weights in a second file"],
)
def test_a_network_that_cannot_be_loaded_says_what_helps(network: bytes, fix: str, tmp_path: Path) -> None:
    folder = tmp_path / ("path" * 50)  # which ONNX Runtime quotes before it says what is wrong
    folder.mkdir()
    (folder / "net.onnx").write_bytes(network)
    (folder / "own.bin").write_bytes(np.ones(4, np.float32).tobytes())
    (folder / "model.py").write_text(SOURCE, encoding="utf-8")
    with pytest.raises(LoadFailure) as caught:
        load_model(folder)
    report = caught.value.report
    assert report["code"] == "constructor_raised"
    assert "onnx" in report["found"]
    assert fix in report["fix"]
