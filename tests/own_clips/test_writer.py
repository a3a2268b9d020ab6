"""The organiser's folder: whole or not there, true to its hashes, silent about names, and good for both programs."""

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from bundle_tools.console import Progress
from bundle_tools.errors import BundleError
from bundle_tools.own_clips.clips import NamedClip, StagingFolder, batches
from bundle_tools.own_clips.dataset import LabelledClip, LabelledSet, Split, split_by_source
from bundle_tools.own_clips.files import FileLocation
from bundle_tools.own_clips.writing import SetOptions, Written, write

from .clips import make_clip
from .sets import make_set, rows

FAMILIES = {"vidAlpha": 2, "vidBeta": 2, "vidGamma": 2, "vidDelta": 2}


@pytest.fixture
def dataset(tmp_path: Path) -> LabelledSet:
    (tmp_path / "clips").mkdir()
    for clip in make_set(FAMILIES, folder=tmp_path / "clips").clips:
        clip.location.path.write_bytes(make_clip(len(list((tmp_path / "clips").iterdir()))))
    return make_set(FAMILIES, folder=tmp_path / "clips")


def write_set(
    dataset: LabelledSet,
    out: Path,
    *,
    seed: int | None = 7,
    height: int | None = None,
    progress: Progress | None = None,
) -> Written:
    stage = StagingFolder(out, seed)
    parts = split_by_source(dataset, {"practice": 2, "final": 2}, seed=stage.seed)
    return write(dataset, parts, stage, SetOptions(height), notes="Be kind.\n", workers=2, progress=progress)


def replace_sizes(dataset: LabelledSet) -> LabelledSet:
    """Note the sizes of the files as they are now."""
    clips = [replace(c, location=replace(c.location, size=c.location.path.stat().st_size)) for c in dataset.clips]
    return replace(dataset, clips=tuple(clips))


def test_the_folder_holds_what_both_programs_read(dataset: LabelledSet, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_set(dataset, out)
    assert not list(tmp_path.glob("*.part"))
    labels = {clip.name: clip.labels for clip in dataset.clips}
    private = {row["clip_id"]: row for row in rows(out / "private" / "clips.csv")}
    assert {row["name"] for row in private.values()} == set(labels)
    for phase in ("practice", "final"):
        given, wanted = out / "input_data" / phase, out / "reference_data" / phase
        clips = rows(given / "clips.csv")
        assert [row["clip_id"] for row in clips] == sorted(row["clip_id"] for row in clips)
        for row in clips:
            assert hashlib.sha256((given / row["file"]).read_bytes()).hexdigest() == row["sha256"]
        known = rows(wanted / "labels.csv")
        assert [row["clip_id"] for row in known] == [row["clip_id"] for row in clips]
        for row in known:
            expected = labels[private[row["clip_id"]]["name"]]
            assert (float(row["warmth"]), float(row["hire"])) == pytest.approx(expected, abs=1e-8)
        ours, theirs = (yaml.safe_load((side / "task.yaml").read_text("utf-8")) for side in (given, wanted))
        assert re.fullmatch(r"tiny-[0-9a-f]{8}", ours["data_version"])
        assert ours["data_version"] == theirs["data_version"]
        assert theirs["report"]["truth"] is ours["feedback"]["model_output"] is (phase == "practice")
        assert set(json.loads((given / "transcripts.json").read_text("utf-8"))) == {row["clip_id"] for row in clips}
    training = rows(out / "public_data" / "labels.csv")
    assert theirs["targets"][1]["constant"] == pytest.approx(sum(float(row["hire"]) for row in training) / 4, abs=1e-4)


def test_the_sums_cover_every_file_but_the_private_ones(dataset: LabelledSet, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_set(dataset, out)
    listed = dict(line.split("  ")[::-1] for line in (out / "SHA256SUMS").read_text("utf-8").splitlines())
    files = {path.relative_to(out).as_posix(): path for path in out.rglob("*") if path.is_file()}
    assert set(listed) == {name for name in files if not name.startswith("private/")} - {"SHA256SUMS"}
    for name, digest in listed.items():
        assert hashlib.sha256(files[name].read_bytes()).hexdigest() == digest


def test_the_seed_alone_decides(dataset: LabelledSet, tmp_path: Path) -> None:
    for name, seed in (("a", 7), ("b", 7), ("c", 8), ("d", None)):
        write_set(dataset, tmp_path / name, seed=seed)
    a, b, c, d = ((tmp_path / name / "SHA256SUMS").read_text("utf-8") for name in "abcd")
    assert a == b
    assert a != c
    assert d not in (a, c)


def test_a_broken_clip_is_named_and_the_others_are_kept_for_the_next_run(dataset: LabelledSet, tmp_path: Path) -> None:
    out, broken = tmp_path / "out", dataset.clips[3]
    good = broken.location.path.read_bytes()
    broken.location.path.write_bytes(good[: len(good) // 2].ljust(len(good), b"x"))
    with pytest.raises(BundleError, match=f"cannot be used .1.: {broken.name}") as error:
        write_set(dataset, out, seed=None)
    assert "finished clips are kept" in str(error.value)
    assert not out.exists()
    broken.location.path.write_bytes(good)
    stage = tmp_path / "out.part"
    finished = sorted(stage.rglob("*.mp4"))
    assert len(finished) == 7
    # A finished clip that was damaged since is made again.
    finished[0].write_bytes(b"damaged")
    assert write_set(dataset, out, seed=None).kept == 6
    assert not stage.exists()
    assert len(list(out.rglob("*.mp4"))) == 8
    assert b"damaged" not in {path.read_bytes() for path in out.rglob("*.mp4")}


def test_an_interrupted_run_keeps_what_it_finished(dataset: LabelledSet, tmp_path: Path) -> None:
    def interrupt(done: int, _: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_set(dataset, tmp_path / "out", seed=None, progress=interrupt)
    assert not (tmp_path / "out").exists()
    # The last line of the journal is cut off as by a crash: that clip is made again.
    journal = tmp_path / "out.part" / "private" / "finished.jsonl"
    finished = len(journal.read_text("utf-8").splitlines())
    assert finished >= 3
    journal.write_bytes(journal.read_bytes()[:-30])
    done: list[int] = []
    assert write_set(dataset, tmp_path / "out", seed=None, progress=lambda at, _: done.append(at)).kept == finished - 1
    assert done == list(range(1, 9))


def test_an_interrupted_run_goes_on_only_with_the_same_plan(dataset: LabelledSet, tmp_path: Path) -> None:
    content = dataset.clips[0].location.path.read_bytes()
    dataset.clips[0].location.path.write_bytes(bytes(len(content)))
    with pytest.raises(BundleError, match="cannot be used"):
        write_set(dataset, tmp_path / "out")
    with pytest.raises(BundleError, match="another seed"):
        write_set(dataset, tmp_path / "out", seed=8)
    with pytest.raises(BundleError, match="other options"):
        write_set(dataset, tmp_path / "out", height=60)


def test_the_same_clip_under_two_names_is_found_where_it_would_tell_labels(
    dataset: LabelledSet, tmp_path: Path
) -> None:
    first, other = dataset.clips[0], dataset.clips[-1]
    other.location.path.write_bytes(first.location.path.read_bytes())
    with pytest.raises(BundleError, match=r"identical clips in two parts \(1\): ") as error:
        write_set(replace_sizes(dataset), tmp_path / "out")
    assert first.name in str(error.value)
    assert other.name in str(error.value)


def test_a_full_disk_is_told_before_anything_is_made(
    dataset: LabelledSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(total=100, used=99, free=1))
    with pytest.raises(BundleError, match=r"free space, found 0\.0 GB"):
        write_set(replace_sizes(dataset), tmp_path / "out")
    assert not list(tmp_path.rglob("out*/**/*.mp4"))


def test_the_current_folder_will_do_and_what_is_private_is_closed_to_others(
    dataset: LabelledSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    write_set(dataset, Path())
    assert (tmp_path / "here" / "SHA256SUMS").exists()
    assert (tmp_path / "here" / "private").stat().st_mode & 0o077 == 0


def test_nothing_is_written_over(dataset: LabelledSet, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("keep me")
    with pytest.raises(BundleError, match="empty or new"):
        write_set(dataset, tmp_path / "out")
    assert (tmp_path / "out" / "mine.txt").read_text() == "keep me"


def test_workers_take_runs_of_one_archive_and_all_of_one_inside_another() -> None:
    def clip(number: int, *archives: str) -> NamedClip:
        place = FileLocation(Path("outer.zip"), (*archives, f"{number}.mp4"), order=number)
        return NamedClip("", "", Split("final", ()), LabelledClip(f"{number}.mp4", "", place, ()))

    direct = [clip(n) for n in range(20)]
    nested = [clip(n, "inner.zip") for n in range(20, 40)]
    cut = batches([*nested[::-1], *direct])
    assert [len(batch) for batch in cut] == [8, 8, 4, 20]
    assert [one.clip.location.order for batch in cut for one in batch] == list(range(40))
