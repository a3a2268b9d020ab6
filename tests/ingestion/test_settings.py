import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from ingest.data import read_dataset
from ingest.errors import IngestionError
from ingest.settings import read_task
from tests import ROOT
from tests.ingestion.conftest import SETTINGS, write_phase


def write(folder: Path, settings: object) -> Path:
    path = folder / "task.yaml"
    path.write_text(settings if isinstance(settings, str) else yaml.safe_dump(settings))
    return path


def changed(key: str, value: object) -> dict[str, Any]:
    settings = copy.deepcopy(SETTINGS)
    *parents, last = key.split(".")
    place = settings
    for parent in parents:
        place = place[parent]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return settings


def test_valid_settings(tmp_path: Path) -> None:
    task = read_task(write(tmp_path, SETTINGS))
    assert [target.name for target in task.targets] == ["warmth", "interview"]
    assert task.explanation.evidence.cues == ("smile", "gaze")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format_version", 2),
        ("task", ""),
        ("data_version", None),
        ("seed", 1.5),
        ("clips", None),
        ("targets", []),
        ("targets", [{"name": "a", "minimum": 1, "maximum": 0}]),
        ("targets", [{"name": "a", "minimum": 0, "maximum": float("nan")}]),
        ("targets", [{"name": "a", "minimum": 0, "maximum": 1}] * 2),
        ("limits.time_limit_s", 0),
        ("limits.call_s", "30"),
        ("limits.restarts", True),
        ("explanation.text.maximum_chars", None),
        ("explanation.image.width", 0),
        ("explanation.evidence.grid.rows", 0.5),
        ("explanation.evidence.cues", ["a", "a"]),
        ("explanation.evidence.cues", "smile"),
        ("feedback.model_output", "no"),
    ],
)
def test_each_wrong_key_is_named(key: str, value: object, tmp_path: Path) -> None:
    with pytest.raises(IngestionError) as caught:
        read_task(write(tmp_path, changed(key, value)))
    assert any(key.partition("[")[0] in problem.where for problem in caught.value.problems)
    assert {problem.fault for problem in caught.value.problems} == {"organiser"}


def test_all_problems_come_at_once(tmp_path: Path) -> None:
    settings = changed("seed", "x")
    settings["limits"]["call_s"] = -1
    del settings["task"]
    with pytest.raises(IngestionError) as caught:
        read_task(write(tmp_path, settings))
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ([], None),
        (["memfd_create", "mmap"], None),
        (["memfd_creat"], "did you mean memfd_create?"),
        (["read"], None),  # is allowed as it is
        ([["mmap"]], "a text"),
        ("mmap", "a list"),
        (["mmap", "mmap"], "every entry once"),
        *([[name], "no call that would open the sandbox"] for name in ("ptrace", "execve", "mount", "bpf", "clone")),
        *([[name], "no call that would open the sandbox"] for name in ("prctl", "openat", "truncate", "chmod")),
    ],
)
def test_system_calls_are_added_by_name(names: object, told: str | None, tmp_path: Path) -> None:
    path = write(tmp_path, {**SETTINGS, "isolation": {"also_allowed": names}})
    if told is None:
        assert isinstance(names, list)
        assert read_task(path).isolation.also_allowed == tuple(names)
        return
    with pytest.raises(IngestionError) as caught:
        read_task(path)
    (problem,) = caught.value.problems
    assert problem.where.partition("[")[0] == "task.yaml, key isolation.also_allowed"
    assert told in problem.expected


def keys_of(content: object, above: str = "") -> list[str]:
    """List the dotted keys of a mapping, at any depth."""
    found = []
    for name, value in content.items() if isinstance(content, dict) else ():
        found += [f"{above}{name}", *keys_of(value, f"{above}{name}.")]
    return found


@pytest.mark.parametrize("key", keys_of(yaml.safe_load((ROOT / "input_data/final/task.yaml").read_text("utf-8"))))
def test_a_misspelt_key_is_told_with_what_was_meant(key: str, tmp_path: Path) -> None:
    settings = yaml.safe_load((ROOT / "input_data/final/task.yaml").read_text("utf-8"))
    *parents, last = key.split(".")
    place = settings
    for parent in parents:
        place = place[parent]
    place[f"{last[:-1]}z"] = copy.deepcopy(place[last])
    with pytest.raises(IngestionError) as caught:
        read_task(write(tmp_path, settings))
    ((problem,)) = caught.value.problems
    misspelt = ".".join([*parents, f"{last[:-1]}z"])
    assert (problem.code, problem.where) == ("settings_unknown", f"task.yaml, key {misspelt}")
    assert f"did you mean {key}?" in problem.expected


def test_keys_that_stand_twice_are_told(tmp_path: Path) -> None:
    text = yaml.safe_dump(SETTINGS)
    for doubled in (text + "seed: 7\n", text.replace("limits:\n", "limits:\n  restarts: 1\n  restarts: 2\n")):
        with pytest.raises(IngestionError) as caught:
            read_task(write(tmp_path, doubled))
        assert "duplicate" in caught.value.problems[0].found


def test_more_than_a_name_and_two_ends_of_a_target_is_told(tmp_path: Path) -> None:
    with pytest.raises(IngestionError) as caught:
        read_task(write(tmp_path, changed("targets", [{"name": "a", "minimum": 0, "maximum": 1, "maximun": 2}])))
    assert [problem.where for problem in caught.value.problems] == ["task.yaml, key targets[0].maximun"]


@pytest.mark.parametrize("text", ["", "- a\n- b", "a: [", "\x00", "!!python/object/apply:os.system [ls]"])
def test_files_that_are_no_settings(text: str, tmp_path: Path) -> None:
    with pytest.raises(IngestionError):
        read_task(write(tmp_path, text))


def problems_of(folder: Path) -> list[str]:
    task = read_task(folder / "task.yaml")
    with pytest.raises(IngestionError) as caught:
        read_dataset(folder, task)
    return sorted(problem.code for problem in caught.value.problems)


def test_what_is_wrong_with_the_clips_is_said_at_once(numbered_clip: Path, tmp_path: Path) -> None:
    folder = write_phase(tmp_path / "input", [numbered_clip] * 4)
    (folder / "clips" / "c000.mp4").unlink()
    (folder / "clips" / "c001.mp4").write_bytes(b"changed")
    table = (folder / "clips.csv").read_text()
    digest = "0" * 64
    extra = [f"c003,clips/c003.mp4,{digest}", f"../x,clips/c003.mp4,{digest}", f"c004,../../x,{digest}", "c005,short"]
    (folder / "clips.csv").write_text(table + "\n".join(extra) + "\n")
    (folder / "transcripts.json").write_text("[1]")
    assert problems_of(folder) == [
        "clip_changed",
        "clip_id",
        "clip_missing",
        "clip_path",
        "clip_twice",
        "clips_row",
        "transcripts_unreadable",
    ]


@pytest.mark.parametrize(
    ("text", "code"), [("", "clips_header"), ("id,file\n", "clips_header"), ("clip_id,file,sha256\n", "clips_empty")]
)
def test_clip_lists_that_are_no_lists(text: str, code: str, numbered_clip: Path, tmp_path: Path) -> None:
    folder = write_phase(tmp_path / "input", [numbered_clip])
    (folder / "clips.csv").write_text(text)
    assert problems_of(folder) == [code]


def test_byte_order_mark_and_windows_line_ends_are_fine(numbered_clip: Path, tmp_path: Path) -> None:
    folder = write_phase(tmp_path / "input", [numbered_clip])
    text = (folder / "clips.csv").read_text().replace("\n", "\r\n")
    (folder / "clips.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert len(read_dataset(folder, read_task(folder / "task.yaml")).clips) == 1
