"""What training scripts share: nobody is on both sides, the constant is the constant, and few clips are told."""

import io
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import training
from ingest.submission import Training, read_training
from training import FEW_CLIPS, Labelled, Numbers, errors_of_unseen, measure_all, read_labelled, say_skill

PEOPLE = [f"s{number // 3}" for number in range(30)]


def labelled(labels: Numbers) -> Labelled:
    return Labelled([(Path("x"), "")] * len(labels), PEOPLE[: len(labels)], ("one", "two"), labels)


def test_nobody_is_trained_on_and_predicted() -> None:
    data = labelled(np.random.default_rng(1).normal(size=(30, 2)))
    values = np.arange(30.0)[:, None]
    asked: list[float] = []

    def fit(seen: Numbers, labels: Numbers) -> object:
        people = {PEOPLE[int(row[0])] for row in seen}
        assert len(seen) == len(labels)

        def predict(unseen: Numbers) -> Numbers:
            assert not people & {PEOPLE[int(row[0])] for row in unseen}
            asked.extend(unseen[:, 0])
            return np.zeros((len(unseen), 2))

        return predict

    ours, constant = errors_of_unseen(fit, values, data)  # type: ignore[arg-type]
    assert sorted(asked) == list(range(30))
    assert ours == pytest.approx(np.abs(data.labels).mean(axis=0))
    assert (constant > ours).all()  # it has to guess the mean, and zero is that of the distribution


def test_a_perfect_fit_has_no_error_and_the_mean_is_the_constant() -> None:
    values = np.random.default_rng(2).normal(size=(30, 2))
    data = labelled(values)
    perfect, constant = errors_of_unseen(lambda _, __: lambda unseen: unseen, values, data)
    assert perfect == pytest.approx([0, 0])
    mean, _ = errors_of_unseen(
        lambda _, seen: lambda unseen: np.tile(seen.mean(axis=0), (len(unseen), 1)), values, data
    )
    assert mean == pytest.approx(constant)


def test_skill_is_told_and_so_are_few_clips(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = labelled(np.zeros((30, 2)))
    say_skill(data, (np.array([0.1, 0.3]), np.array([0.2, 0.2])), tmp_path)
    told = capsys.readouterr().out
    assert "Trained on 30 clips of 10 people" in told
    assert "mean absolute error 0.1000, skill over the constant +0.500" in told
    assert "mean absolute error 0.3000, skill over the constant -0.500" in told
    assert "WARNING: with only 30 clips" in told
    assert "WARNING: nothing was learnt" in told
    assert read_training(tmp_path, data.targets) == (
        Training(
            format_version=1, clips=30, people=10, folds=5, grouped_by="source_id", error={"one": 0.1, "two": 0.3}
        ),
        [],
    )
    say_skill(data, (np.array([0.1, 0.19]), np.array([0.2, 0.2])), tmp_path)
    assert "nothing was learnt" not in capsys.readouterr().out
    say_skill(Labelled([(Path("x"), "")] * FEW_CLIPS, ["s"] * FEW_CLIPS, (), np.zeros((FEW_CLIPS, 0))), None, tmp_path)
    assert not (tmp_path / "training.json").exists()  # it described another training
    assert capsys.readouterr().out == "Trained on 100 clips of 1 people or source videos.\n"


def test_a_labelled_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("clip_id,source_id,one,two\nc1,s1,0.5,1\nc2,s2,0.25,2\n")
    (tmp_path / "transcripts.json").write_text('{"c2": "Well."}')
    data = read_labelled(tmp_path)
    assert data.clips == [(tmp_path / "clips" / "c1.mp4", ""), (tmp_path / "clips" / "c2.mp4", "Well.")]
    assert (data.sources, data.targets, data.labels.tolist()) == (["s1", "s2"], ("one", "two"), [[0.5, 1], [0.25, 2]])


@pytest.mark.parametrize(
    ("terminal", "told"),
    [
        (False, ["measured 3 of 4 clips\n", "measured 4 of 4 clips\n"]),
        (True, [f"measured {number} of 4 clips\r" for number in (1, 2, 3)] + ["measured 4 of 4 clips\n"]),
    ],
)
def test_progress_is_one_line_on_a_terminal_and_a_line_every_ten_seconds_elsewhere(
    terminal: bool, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = io.StringIO(newline="")
    monkeypatch.setattr(screen, "isatty", lambda: terminal)
    monkeypatch.setattr("sys.stdout", screen)
    monkeypatch.setattr(training, "ProcessPoolExecutor", ThreadPoolExecutor)
    monkeypatch.setattr(training, "time", SimpleNamespace(monotonic=count(step=4).__next__))
    assert measure_all(lambda _: np.ones(2), labelled(np.zeros((4, 2))), 1).shape == (4, 2)
    assert screen.getvalue() == "".join(told)
