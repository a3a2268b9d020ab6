"""The code on the pages runs, and the template is a valid submission."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ingest.answers import check_explanation, check_prediction
from ingest.settings import Task, read_task
from model_process.clip import Clip
from tests import ROOT, there
from tests.pages.onnx_file import linear_network

FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
Size = tuple[int, int]
Frame = npt.NDArray[np.uint8]


class StubClip:
    """A clip of noise, brighter to the right; what a model may ask for, without any video."""

    fps = 25.0
    width = 640
    height = 360
    transcript = ""

    def __init__(self, seed: int, duration_s: float = 5.0, gain: float = 1.0) -> None:
        self.duration_s = duration_s
        self.frame_count = round(duration_s * self.fps)
        self._gain = gain
        self._random = np.random.default_rng(seed)

    def frames(self, count: int | None = None, size: Size | None = None, **options: object) -> Iterator[Frame]:
        width, height = size or (self.width, self.height)
        for _ in range(count or self.frame_count):
            light = self._gain * np.linspace(40, 200, width)[None, :, None] + self._random.uniform(
                0, 40, (height, width, 3)
            )
            frame = np.clip(light, 0, 255).astype(np.uint8)
            frame.flags.writeable = False
            yield frame

    def frame_at(self, time_s: float, size: Size | None = None) -> Frame:
        assert 0 <= time_s <= self.duration_s
        return next(self.frames(1, size))

    def audio(self, rate: int = 16_000) -> None:
        assert rate > 0


class RedClip(StubClip):
    """The same with little green and no blue, so that colours cannot change places unseen."""

    def frames(self, count: int | None = None, size: Size | None = None, **options: object) -> Iterator[Frame]:
        for frame in super().frames(count, size, **options):
            yield (frame * [1, 0.5, 0]).astype(np.uint8)


@pytest.fixture(scope="module")
def task() -> Task:
    return read_task(ROOT / "input_data/practice/task.yaml")


def blocks(page: str) -> list[str]:
    return FENCE.findall((ROOT / "pages" / f"{page}.md").read_text("utf-8"))


def run(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "model"}
    exec(compile(code, "page", "exec"), names)  # noqa: S102 - our own page
    return names


@pytest.mark.parametrize("duration_s", [5.0, 4.52, 0.4, 15.3])
@pytest.mark.parametrize("gain", [1.0, 0.4])
def test_template_satisfies_the_contract(task: Task, duration_s: float, gain: float) -> None:
    model = run((ROOT / "starting_kit/template/model.py").read_text("utf-8"))["Model"](ROOT)
    prediction, problems = check_prediction(model.predict(StubClip(1, duration_s, gain)), task.targets)
    assert problems == []
    assert prediction is not None
    returned = model.explain(StubClip(1, duration_s, gain), prediction)
    explanation, problems = check_explanation(returned, task.explanation, task.targets, duration_s)
    assert problems == []
    assert explanation.text is not None
    assert explanation.image is not None
    assert explanation.evidence is not None
    assert explanation.evidence.space is not None
    assert explanation.evidence.cues is not None


def test_template_explains_what_it_predicts() -> None:
    model = run((ROOT / "starting_kit/template/model.py").read_text("utf-8"))["Model"](ROOT)
    for gain in (0.3, 1.2):
        prediction = model.predict(StubClip(2, gain=gain))
        claims = model.explain(StubClip(2, gain=gain), prediction)["evidence"]["cues"]
        assert {claim["target"] for claim in claims} == set(prediction)
        for claim in claims:
            assert prediction[claim["target"]] == pytest.approx(0.53 + claim["contribution"], abs=1e-6)


def test_evidence_of_the_page_is_valid(task: Task) -> None:
    evidence = next(run(code)["evidence"] for code in blocks("explanations") if code.startswith("evidence"))
    value = {"text": "A broad smile raised it.", "image": None, "evidence": evidence}
    explanation, problems = check_explanation(value, task.explanation, task.targets, 5.0)
    assert problems == []
    assert explanation.evidence is not None
    assert all(part is not None for part in vars(explanation.evidence).values())


def test_network_of_the_page_runs(task: Task, tmp_path: Path) -> None:
    weights = np.array([[0.1, 0.2, 0.3], [0.9, 0, 0], [0, 0.9, 0], [0, 0, 0.9], [-1, 0, 0], [1, 1, 1]], np.float32)
    bias = np.array([0, 0.05, 0.05, 0.05, 0.1, 0.1], np.float32)
    (tmp_path / "net.onnx").write_bytes(linear_network(weights, bias, (8, 3, 90, 160)))
    model = next(run(code)["Model"] for code in blocks("environment") if "class Model" in code)(tmp_path)
    prediction, problems = check_prediction(model.predict(RedClip(4)), task.targets)
    assert problems == []
    assert prediction is not None
    means = [frame.mean(axis=(0, 1)) / 255 for frame in RedClip(4).frames(count=8, size=(160, 90))]
    expected = np.mean([np.clip(weights @ mean + bias, 0, 1) for mean in means], axis=0)
    assert list(prediction) == [target.name for target in task.targets]
    assert list(prediction.values()) == pytest.approx(expected.tolist(), abs=1e-4)
    _, problems = check_explanation(model.explain(RedClip(4), prediction), task.explanation, task.targets, 5.0)
    assert problems == []


def test_good_text_of_the_page_is_long_enough(task: Task) -> None:
    page = (ROOT / "pages/explanations.md").read_text("utf-8")
    good = there(re.search(r'^Good: "(.+)"$', page, re.MULTILINE))
    assert task.explanation.text.minimum_chars <= len(good[1]) <= task.explanation.text.maximum_chars


def test_clip_table_names_what_the_clip_has() -> None:
    page = (ROOT / "pages/submission.md").read_text("utf-8").partition("### The clip")[2].partition("### ")[0]
    named = set(re.findall(r"`clip\.(\w+)", page))
    public = {name for name in (*Clip.__dataclass_fields__, *vars(Clip)) if not name.startswith("_")}
    assert named == public
