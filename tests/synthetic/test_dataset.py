"""Sets of clips: what is written, and that nothing but the pictures, the sound and the words tells a label."""

import csv
import hashlib
import io
import json
from pathlib import Path

import av
import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

from bundle_tools.synthetic.clip import CLIP_BYTES, FRAMES, ClipSpec, render
from bundle_tools.synthetic.dataset import input_settings, plan, reference_settings, training_means
from bundle_tools.synthetic.folders import COMMITTED, write_phase, write_training
from bundle_tools.synthetic.person import TARGETS, groups_of
from tests import ROOT
from tests.stills import hold_pictures

PHASES = ("practice", "final")
SEEDS = {phase: seed for phase, (_, seed) in COMMITTED.items()}


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def labels_of(phase: str) -> NDArray[np.float64]:
    rows = rows_of(ROOT / "reference_data" / phase / "labels.csv")
    return np.array([[float(row[name]) for name in TARGETS] for row in rows])


def test_a_small_set_has_every_file_and_is_the_same_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hold_pictures(monkeypatch)
    steps: list[tuple[int, int]] = []
    for run in ("one", "two"):
        out = tmp_path / run
        write_training(out, clips=1, seed=5, workers=1, progress=lambda done, total: steps.append((done, total)))
    names = {path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.*")}
    assert {str(name) for name in names if name.parent == Path()} == {"labels.csv", "transcripts.json", "README.md"}
    assert len([name for name in names if name.suffix == ".mp4"]) == 1
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert steps == [(1, 1)] * 2


def test_an_interrupted_set_goes_on_with_its_clips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hold_pictures(monkeypatch)

    def stop(done: int, _: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_training(tmp_path / "two", clips=2, seed=5, workers=1, progress=stop)
    (kept,) = (tmp_path / "two/clips").iterdir()
    made = kept.stat().st_mtime_ns
    (tmp_path / "two/clips/.half.mp4.part").write_bytes(b"half")
    steps: list[tuple[int, int]] = []
    write_training(tmp_path / "two", clips=2, seed=5, workers=1, progress=lambda *step: steps.append(step), resume=True)
    assert (steps, kept.stat().st_mtime_ns) == ([(2, 2)], made)
    names = {f"{row['clip_id']}.mp4" for row in rows_of(tmp_path / "two/labels.csv")}
    assert {path.name for path in (tmp_path / "two/clips").glob("[!.]*")} == names
    assert {f"{name}.mp4" for name in json.loads((tmp_path / "two/transcripts.json").read_text("utf-8"))} == names
    assert len(names) == 2


@pytest.mark.slow
def test_a_phase_is_replaced_not_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hold_pictures(monkeypatch)
    for folder in ("clips", "copies"):
        stale = tmp_path / "in" / folder / "c000000000.mp4"
        stale.parent.mkdir(parents=True)
        stale.write_bytes(b"of an earlier set")
    given, wanted = tmp_path / "in", tmp_path / "ref"
    wanted.mkdir()
    (tmp_path / "ref" / "landmarks.json").write_text("scores on an earlier set")
    write_phase("final", clips=1, seed=2, input_dir=given, reference_dir=wanted, workers=1, progress=None)
    transcripts = json.loads((given / "transcripts.json").read_text("utf-8"))
    assert list(transcripts) == sorted(transcripts)
    files = [path.name for path in (tmp_path / "in" / "clips").iterdir()]
    assert files == [f"{row['clip_id']}.mp4" for row in rows_of(tmp_path / "ref" / "labels.csv")]
    copies = rows_of(tmp_path / "in" / "copies.csv")
    assert {path.name for path in (tmp_path / "in" / "copies").iterdir()} == {f"{row['copy_id']}.mp4" for row in copies}
    assert len(copies) == 3
    assert not (tmp_path / "ref" / "landmarks.json").exists()


@pytest.mark.parametrize(("clips", "seed"), [(0, 1), (3, -1)])
def test_impossible_sets_are_refused(clips: int, seed: int) -> None:
    with pytest.raises(ValueError, match="expected clips >= 1 and seed >= 0"):
        plan("practice", clips=clips, seed=seed)


def test_the_training_folder_is_no_phase(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unknown phase 'training'"):
        write_phase(
            "training", clips=1, seed=1, input_dir=tmp_path, reference_dir=tmp_path, workers=1, progress=None
        )  # fmt: skip


@pytest.mark.parametrize("phase", PHASES)
def test_the_committed_groups_are_those_of_the_people(phase: str) -> None:
    members = plan(phase, clips=24, seed=SEEDS[phase])
    rows = {row.pop("source_id"): row for row in rows_of(ROOT / "reference_data" / phase / "groups.csv")}
    assert rows == {member.source_id: groups_of(member.spec.cast) for member in members}
    # Both groups of every attribute occur.
    for attribute in next(iter(rows.values())):
        assert len({row[attribute] for row in rows.values()}) == 2


@pytest.mark.parametrize("phase", PHASES)
def test_the_committed_sets_are_what_the_generator_plans(phase: str) -> None:
    members = plan(phase, clips=24, seed=SEEDS[phase])
    rows = rows_of(ROOT / "reference_data" / phase / "labels.csv")
    assert [row["clip_id"] for row in rows] == [member.clip_id for member in members]
    assert [row["source_id"] for row in rows] == [member.source_id for member in members]
    planned = np.array([list(member.spec.labels().values()) for member in members])
    # Equal to the last digit that is written, whatever the machine's mathematics library.
    assert np.abs(labels_of(phase) - planned).max() < 2e-6
    transcripts = json.loads((ROOT / "input_data" / phase / "transcripts.json").read_text(encoding="utf-8"))
    copies = {copy.copy_id: copy for member in members for copy in member.copies}
    assert list(transcripts) == sorted([*copies, *(member.clip_id for member in members)])
    listed = {row["copy_id"]: row for row in rows_of(ROOT / "input_data" / phase / "copies.csv")}
    assert {name: row["cue"] for name, row in listed.items()} == {name: copy.cue for name, copy in copies.items()}
    for member in members:
        assert [listed[copy.copy_id]["clip_id"] for copy in member.copies] == [member.clip_id] * 3
        for copy in member.copies:
            assert (transcripts[copy.copy_id] != transcripts[member.clip_id]) <= (copy.cue in ("words", "speech_rate"))


def test_a_committed_clip_shows_what_the_generator_draws() -> None:
    member = plan("practice", clips=24, seed=SEEDS["practice"])[3]
    files: list[tuple[str, ClipSpec]] = [(f"clips/{member.clip_id}.mp4", member.spec)]
    files += [(f"copies/{copy.copy_id}.mp4", copy.spec) for copy in member.copies]
    for name, spec in files:
        drawn = next(render(spec).frames).astype(float)
        with av.open(str(ROOT / "input_data" / "practice" / name)) as container:
            stored = next(container.decode(video=0)).to_ndarray(format="bgr24").astype(float)
        error = ((drawn - stored) ** 2).mean()
        assert 10 * np.log10(255**2 / error) > 30, name
        # Compression takes fine detail, and leaves the mean of 20 x 20 pixels.
        off = (drawn - stored).reshape(18, 20, 32, 20, 3).mean(axis=(1, 3))
        assert np.abs(off - np.median(off, axis=(0, 1))).max() < 6, name


@pytest.mark.parametrize("phase", PHASES)
def test_the_settings_are_those_that_are_written_and_agree_with_each_other(phase: str) -> None:
    given, wanted = (
        (ROOT / folder / phase / "task.yaml").read_text(encoding="utf-8") for folder in ("input_data", "reference_data")
    )
    assert (given, wanted) == (input_settings(phase), reference_settings(phase, training_means()))
    entry, reference = yaml.safe_load(given), yaml.safe_load(wanted)
    assert entry["task"] == reference["task"] == phase
    assert entry["data_version"] == reference["data_version"]
    assert [target["name"] for target in entry["targets"]] == list(TARGETS)
    assert [target["name"] for target in reference["targets"]] == list(TARGETS)
    assert {target["name"]: target["constant"] for target in reference["targets"]} == training_means()
    shown = phase == "practice"
    assert entry["feedback"]["model_output"] is shown
    assert (reference["report"]["clips"], reference["report"]["truth"]) == (shown, shown)
    assert entry["limits"]["time_limit_s"] == 600
    assert len(entry["explanation"]["evidence"]["cues"]) == 12


@pytest.mark.parametrize("phase", PHASES)
def test_files_match_their_manifest_and_tell_nothing(phase: str) -> None:
    folder = ROOT / "input_data" / phase
    rows = rows_of(folder / "clips.csv")
    assert len(rows) >= 24
    assert [row["clip_id"] for row in rows] == sorted(row["clip_id"] for row in rows)
    copies = rows_of(folder / "copies.csv")
    assert [row["copy_id"] for row in copies] == sorted(row["copy_id"] for row in copies)
    assert not {row["copy_id"] for row in copies} & {row["clip_id"] for row in rows}
    for row in rows + copies:
        data = (folder / row["file"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == row["sha256"]
        assert len(data) == CLIP_BYTES
        with av.open(io.BytesIO(data)) as container:
            assert container.streams.video[0].frames == FRAMES
            assert "creation_time" not in container.metadata
    for name, listed in (("clips", rows), ("copies", copies)):
        assert {f"{name}/{path.name}" for path in (folder / name).iterdir()} == {row["file"] for row in listed}


GENERATED = {
    "input_data/practice/exchanges.json": "b9ddeeb219aff712",
    "reference_data/practice/causes.json": "5d27bed1e0973b66",
    "input_data/final/exchanges.json": "6b63a8f4a79505f5",
    "reference_data/final/causes.json": "367fb8f38718a4b3",
}
"""How the SHA-256 of large generated files begins: drawing them again takes long. Change it with the files."""


@pytest.mark.parametrize("file", GENERATED)
def test_generated_files_are_not_edited(file: str) -> None:
    assert hashlib.sha256((ROOT / file).read_bytes()).hexdigest().startswith(GENERATED[file])


@pytest.mark.parametrize("phase", PHASES)
def test_order_and_name_are_at_chance(phase: str) -> None:
    rows = rows_of(ROOT / "reference_data" / phase / "labels.csv")
    labels = labels_of(phase)
    random = np.random.default_rng(1)
    clues = (np.arange(len(rows)), np.array([int(row["clip_id"][1:], 16) for row in rows], dtype=float))
    for clue in clues:
        strongest = largest_correlation(clue, labels)
        shuffled = [largest_correlation(random.permutation(clue), labels) for _ in range(500)]
        assert strongest < np.quantile(shuffled, 0.99)


def test_every_person_has_two_clips_and_no_person_is_in_two_sets() -> None:
    people = []
    for phase in PHASES:
        sources = [row["source_id"] for row in rows_of(ROOT / "reference_data" / phase / "labels.csv")]
        assert len(set(sources)) >= 12
        assert all(sources.count(source) == 2 for source in sources)
        people.append(set(sources))
    assert not people[0] & people[1]


def test_the_committed_data_are_small() -> None:
    folders = ("input_data", "reference_data", "public_data")
    total = sum(path.stat().st_size for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())
    assert total <= 32_000_000


def largest_correlation(clue: NDArray[np.generic], labels: NDArray[np.float64]) -> float:
    """Return the largest absolute correlation of a clue with any target."""
    return float(max(abs(np.corrcoef(clue, column)[0, 1]) for column in labels.T))
