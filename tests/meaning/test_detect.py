"""The benchmark of detectors: it sees what can be seen, and nothing where there is nothing."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from benchmarks import bench_detect
from benchmarks.detect import detectors
from benchmarks.detect.detectors import Sample, area, scores
from benchmarks.detect.drawings import Drawn, draw
from benchmarks.detect.features import Seen
from benchmarks.detect.shown import Shown, exchanged_calls, filmed_calls
from bundle_tools.synthetic.clip import FPS
from ingest.draws import KeyedRandom
from ingest.settings import Task, read_task
from tests import ROOT, mostly_slow
from tests.stills import hold_pictures

PEOPLE, CALLS = 15, 4


class Blotted(Shown):
    """A call in which the middle of the picture has lost its detail."""

    def frames(self) -> Iterator[npt.NDArray[np.uint8]]:
        for frame in super().frames():
            frame[120:240, 200:440] = cv2.GaussianBlur(frame[120:240, 200:440], (0, 0), 20)
            yield frame


@pytest.fixture(scope="module")
def task() -> Task:
    return read_task(ROOT / "input_data" / "final" / "task.yaml")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Drawn]]:
    with pytest.MonkeyPatch.context() as patched:
        hold_pictures(patched)
        yield draw(tmp_path_factory.mktemp("drawn"), clips=1, seed=1, workers=1)


@pytest.fixture(scope="module")
def blurred(drawn: list[Drawn], task: Task) -> list[bench_detect.MeasuredCall]:
    """What is seen of a call in which a part of the picture is blotted out, and of the same call as it was drawn."""
    plain = next(call for call in exchanged_calls(drawn[0], task, KeyedRandom(None, 1)) if call.role == "plain")
    blotted = Blotted(**vars(plain) | {"intervention": "blur", "role": "altered"})
    return bench_detect.measure([blotted, replace(plain, intervention="blur")])


def sample_of(shift: float, seed: int = 0) -> Sample:
    """Return made-up calls; altered ones have larger first numbers and pixels, by `shift` standard deviations."""
    random = np.random.default_rng(seed)
    altered = np.tile([True, False], PEOPLE * CALLS // 2)
    person = np.repeat([f"s{number}" for number in range(PEOPLE)], CALLS)
    own = random.normal(0, 3, (PEOPLE, 6)).repeat(CALLS, axis=0)

    def seen(call: int) -> Seen:
        values = own[call] + random.normal(size=6)
        values[0] = shift * altered[call] + random.normal()
        patches = random.normal(size=(8, 60))
        patches[:, :4] += shift * altered[call]
        numbers = {str(name): float(value) for name, value in enumerate(values)}
        return Seen(numbers, patches.astype(np.float32))

    return Sample([seen(call) for call in range(len(altered))], altered, person)


@pytest.mark.parametrize("detector", mostly_slow(detectors.DETECTORS, ["by hand"]))
def test_a_detector_finds_what_is_there_and_nothing_else(detector: str) -> None:
    there, nothing = sample_of(6.0), sample_of(0.0)
    assert area(there, scores(there, detector)).value > 0.95
    # With 60 calls chance alone has a standard deviation of about 0.1.
    assert 0.2 < area(nothing, scores(nothing, detector)).value < 0.8


def test_a_person_is_never_in_training_and_test(monkeypatch: pytest.MonkeyPatch) -> None:
    tested: list[str] = []

    def spy(train: Sample, test: Sample) -> npt.NDArray[np.float64]:
        assert not set(train.person) & set(test.person)
        tested.extend(test.person)
        return np.zeros(len(test.person))

    sample = sample_of(0.0)
    monkeypatch.setitem(detectors.DETECTORS, "spy", spy)
    assert area(sample, scores(sample, "spy")).value == 0.5
    assert sorted(tested) == sorted(sample.person)


@pytest.mark.parametrize(
    ("found", "expected"),
    [([3, 4, 1, 2], 1.0), ([1, 2, 3, 4], 0.0), ([1, 1, 1, 1], 0.5), ([1, 4, 2, 3], 0.5), ([2, 3, 1, 2], 0.875)],
)
def test_areas_worked_by_hand(found: list[float], expected: float) -> None:
    nobody = Seen({}, np.zeros((0, 1), np.float32))
    sample = Sample([nobody] * 4, np.array([True, True, False, False]), np.array(["a", "b", "a", "b"]))
    assert area(sample, np.array(found, float)).value == expected


@pytest.mark.slow
def test_what_is_blotted_out_shows(blurred: list[bench_detect.MeasuredCall]) -> None:
    altered, plain = (one.seen.numbers["least detail of a cell"] for one in blurred)
    assert abs(altered - plain) > 0.2


@pytest.mark.slow
def test_an_exchange_shows_the_parts_as_they_were_drawn_together(drawn: list[Drawn], task: Task) -> None:
    calls = [
        call
        for call in exchanged_calls(drawn[0], task, KeyedRandom(None, 1))
        if call.intervention in ("mouth", "thing")
    ]
    for altered, matched, plain in zip(calls[::3], calls[1::3], calls[2::3], strict=True):
        shown, together, alone = (_mean_picture(call) for call in (altered, matched, plain))
        assert np.abs(shown - together).max() < 0.5 * np.abs(shown - alone).max(), altered.intervention


@pytest.mark.slow
def test_edits_of_filmed_clips_come_with_their_plain_calls(drawn: list[Drawn], task: Task) -> None:
    calls = list(filmed_calls(drawn[0], drawn, task, KeyedRandom(None, 1)))
    assert [call.role for call in calls] == ["altered", "matched"] * 3
    light, plain = (next(call.frames()).mean() for call in calls[:2])
    assert light == pytest.approx(plain)  # no other clip lends its own


@pytest.mark.slow
def test_the_benchmark_runs_on_a_tiny_set(
    blurred: list[bench_detect.MeasuredCall], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_detect, "FEWEST_PEOPLE", 5)
    # One person stands for five: what can be seen is the same in all of them.
    of_five = [
        replace(one, person=f"s{number}", role=role)
        for number in range(5)
        for one, role in zip(blurred * 2, ("altered", "matched", "altered", "plain"), strict=True)
    ]
    assert not bench_detect.report(of_five)
    printed = capsys.readouterr().out
    assert "| blur | 5 | 10 | 1.00" in printed
    assert "FAIL blur, largest area: 1.00" in printed


def _mean_picture(call: Shown) -> npt.NDArray[np.float64]:
    """Return the mean of all frames, moved back, without its border and blurred as far as compression's noise goes."""
    mean = np.mean([frame.astype(np.float32) for frame in islice(call.frames(), FPS // 2, None, FPS)], axis=0)
    right, down = call.shift
    moved: npt.NDArray[np.float64] = cv2.GaussianBlur(np.roll(mean, (-down, -right), (0, 1)), (0, 0), 2)[8:-8, 8:-8]
    return moved
