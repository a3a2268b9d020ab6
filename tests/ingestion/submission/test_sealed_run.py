"""A sealed record in place of a model: taken if it is of this phase, these data and programs, and of nobody else."""

from __future__ import annotations

import hashlib
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from ingest import VERSION
from ingest.record.folder import FORMAT_VERSION, write_manifest
from ingest.record.run import data_sha256
from ingest.schema import brief
from ingest.submission.sealed_run import SealRefused, open_sealed_run
from tests.ingestion.conftest import PROGRAM, run_program

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
HERE: dict[str, object] = {
    "format_version": FORMAT_VERSION,
    "task": "test",
    "data_sha256": "d" * 64,
    "settings_sha256": "5" * 64,
    "program_version": VERSION,
}


def record(folder: Path, changes: Mapping[str, object] | None = None, key: bytes | None = KEY) -> Path:
    """Write a record of `bundle evaluate` with a seal."""
    (folder / "images").mkdir(parents=True)
    (folder / "images" / "c000.jpg").write_bytes(b"a picture")
    (folder / "predictions.csv").write_text("clip_id,warmth\n")
    run = {**HERE, "status": "complete", "submission_sha256": "a" * 64, "shards": [], **(changes or {})}
    (folder / "run.json").write_text(json.dumps({name: value for name, value in run.items() if value is not None}))
    write_manifest(folder, key)
    return folder


def refused(folder: Path) -> str:
    """Return why a record is not taken, as one line."""
    with pytest.raises(SealRefused) as told:
        open_sealed_run(folder, KEY, HERE)
    assert "\n" not in str(told.value)
    return str(told.value)


def test_a_record_is_copied_as_it_is(tmp_path: Path) -> None:
    folder = record(tmp_path / "record")
    (folder / "beside.txt").write_text("not of the record")
    (tmp_path / "copy").mkdir()
    open_sealed_run(folder, KEY, HERE).copy(tmp_path / "copy")
    copied = {path.relative_to(tmp_path / "copy").as_posix() for path in (tmp_path / "copy").rglob("*")}
    assert copied == {"images", "images/c000.jpg", "predictions.csv", "run.json", "manifest.json"}
    assert (tmp_path / "copy" / "manifest.json").read_bytes() == (folder / "manifest.json").read_bytes()


@pytest.mark.parametrize("key", [None, OTHER_KEY], ids=["none", "of another competition"])
def test_without_the_organisers_seal_it_is_refused(tmp_path: Path, key: bytes | None) -> None:
    assert "sealed_refused · manifest.json · found no seal, or a wrong one" in refused(record(tmp_path / "r", key=key))


@pytest.mark.parametrize(
    "text", ["", "[]", '{"files": {', "[" * 100_000, "\xff", '{"files": {}, "seal": "\\ud800"}', '{"seal": 1}']
)
def test_a_damaged_manifest_is_refused(tmp_path: Path, text: str) -> None:
    folder = record(tmp_path / "record")
    (folder / "manifest.json").write_bytes(text.encode("latin-1"))
    assert "sealed_refused · manifest.json · found" in refused(folder)


@pytest.mark.parametrize("name", ["predictions.csv", "images/c000.jpg", "run.json"])
def test_a_missing_or_changed_file_is_refused(tmp_path: Path, name: str) -> None:
    folder = record(tmp_path / "record")
    (folder / name).write_bytes((folder / name).read_bytes() + b" ")
    assert f"sealed_refused · {name} · found a file that is missing or changed" in refused(folder)
    (folder / name).unlink()
    assert f"sealed_refused · {name} · found a file that is missing or changed" in refused(folder)


@pytest.mark.parametrize("name", HERE)
def test_a_record_of_something_else_is_refused(tmp_path: Path, name: str) -> None:
    told = refused(record(tmp_path / "record", {name: "other"}))
    assert f"sealed_refused · run.json, {name} · found 'other'; expected {brief(HERE[name])} ·" in told


def test_a_record_in_the_format_before_is_refused_by_name(tmp_path: Path) -> None:
    told = refused(record(tmp_path / "record", {"format_version": FORMAT_VERSION - 1}))
    assert f"found {FORMAT_VERSION - 1}; expected {FORMAT_VERSION} ·" in told


def test_what_the_platform_itself_has_recorded_is_refused(tmp_path: Path) -> None:
    """Participants can download it, under the same seal."""
    assert "found the record of a run on the platform" in refused(record(tmp_path / "record", {"shards": None}))


def test_only_a_phase_with_the_setting_and_a_key_takes_one(phase: Path, tmp_path: Path) -> None:
    settings: dict[str, Any] = yaml.safe_load((phase / "task.yaml").read_text())
    taking = tmp_path / "input"
    shutil.copytree(phase, taking, copy_function=shutil.copy)
    (taking / "task.yaml").write_text(yaml.safe_dump({**settings, "accept_sealed": True}))
    facts = {"settings_sha256": hashlib.sha256((taking / "task.yaml").read_bytes()).hexdigest(),
             "data_sha256": data_sha256(taking / "task.yaml")}  # fmt: skip
    good, other = record(tmp_path / "good", facts), record(tmp_path / "other")
    program = shutil.copytree(PROGRAM, tmp_path / "program", ignore=shutil.ignore_patterns("__pycache__"))

    def told(input_data: Path, submission: Path, key: bytes | None = KEY) -> tuple[str, str]:
        if key is not None:
            (program / "seal.key").write_text(key.hex())
        outcome = run_program(input_data, submission, tmp_path / "output", program)
        problems = outcome.json("run.json").get("problems", [])
        errors = [f"{one['code']} {one['expected']}" for one in problems if one["severity"] == "error"]
        return outcome.json("run.json")["status"], " ".join(errors)

    assert told(taking, good) == ("complete", "")
    assert (tmp_path / "output" / "images" / "c000.jpg").read_bytes() == b"a picture"
    assert told(taking, other) == ("invalid", f"sealed_refused {brief(facts['data_sha256'])}")
    assert not (tmp_path / "output" / "predictions.csv").exists()
    without = "sealed_refused model.py: task.yaml of this phase has no `accept_sealed: true`"
    assert told(phase, good) == ("invalid", without)
    without = "seal_key_broken a bundle of `bundle build`: accept_sealed needs its key"
    assert told(taking, good, None) == ("organiser_error", without)
    (good / "metadata").write_text("command: python3 forge.py")
    assert told(taking, good) == ("invalid", "metadata_present no such file")
