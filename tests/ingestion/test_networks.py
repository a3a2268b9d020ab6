"""Networks of participants: they run in the sandbox, with threads, and answer the same in every process."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from model_process.loading import LoadFailure, load_model
from tests.ingestion.conftest import SETTINGS, Outcome, write_phase
from tests.pages.onnx_file import linear_network, stored_outside

onnxruntime = pytest.importorskip("onnxruntime", reason="there is no ONNX Runtime for this machine")

SOURCE = """
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
    # Later versions try to send usage data.
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


SMALL = linear_network(np.ones((2, 3), np.float32), np.ones(2, np.float32), (1, 3, 4, 4))


@pytest.mark.usefixtures("imports_undone")
@pytest.mark.parametrize(
    ("network", "fix"),
    [
        (SMALL[:60], "damaged or incomplete"),
        (b"", "damaged or incomplete"),
        # The file ends with the version of its operators, and begins with that of its format.
        (SMALL[:-1] + bytes([99]), "opset_version=17"),
        (SMALL[:1] + bytes([99]) + SMALL[2:], "opset_version=17"),
    ],
    ids=["broken", "empty", "operators too new", "format too new"],
)
def test_a_network_that_cannot_be_loaded_says_what_helps(network: bytes, fix: str, tmp_path: Path) -> None:
    folder = tmp_path / ("path" * 50)  # which ONNX Runtime quotes before it says what is wrong
    folder.mkdir()
    (folder / "net.onnx").write_bytes(network)
    (folder / "model.py").write_text(SOURCE, encoding="utf-8")
    with pytest.raises(LoadFailure) as caught:
        load_model(folder)
    report = caught.value.report
    assert report["code"] == "constructor_raised"
    assert "net.onnx" in report["found"]
    assert fix in report["fix"]
