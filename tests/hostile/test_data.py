"""Damaged data of an organiser: exit 2 or "unreadable", said to the organiser, and never a low score for anybody."""

import csv
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import av
import numpy as np
import pytest
import yaml

from ingest.data import read_dataset
from ingest.errors import IngestionError, Problem
from ingest.keeper import read_key
from ingest.settings import read_task
from tests.hostile.cases import CASES
from tests.hostile.stage import CLIPS, KEY, LIMITS, SECRETS, Played, Stage, play, set_stage
from tests.ingestion.clips import Format, write_clip
from tests.ingestion.conftest import SETTINGS, Told, told, write_phase

CLIP = 2
"""Position of the clip that is damaged."""
Damage = Callable[[Path], object]


@pytest.fixture
def stage(short_phase: Path, tmp_path: Path) -> Stage:
    return set_stage(tmp_path / "app", short_phase, CASES["honest_model"])


def clip(data: Path, number: int = CLIP) -> Path:
    return data / "clips" / f"c{number:03d}.mp4"


def rehash(data: Path) -> None:
    """Write the list again: the damage was there when the organiser made it."""
    with (data / "clips.csv").open(newline="") as table:
        rows = list(csv.reader(table))
    for row in rows[1:]:
        row[2] = sha256((data / row[1]).read_bytes()).hexdigest()
    (data / "clips.csv").write_text("".join(",".join(row) + "\n" for row in rows))


def cut(keep: float) -> Damage:
    def damage(path: Path) -> None:
        content = path.read_bytes()
        path.write_bytes(content[: int(len(content) * keep)])

    return damage


def scramble(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for position in range(len(content) // 4, len(content) // 2, 3):
        content[position] ^= 0x5A
    path.write_bytes(content)


def claim_more(path: Path) -> None:
    """Write the index of the clip first and cut the pictures: it still claims all frames."""
    moved = path.with_name("moved.mp4")
    if shutil.which("ffmpeg") is None:
        with av.open(str(path)) as source, av.open(str(moved), "w", options={"movflags": "faststart"}) as target:
            streams = {stream.index: target.add_stream_from_template(stream) for stream in source.streams}
            for packet in source.demux():
                if packet.dts is not None:
                    packet.stream = streams[packet.stream.index]
                    target.mux(packet)
    else:
        subprocess.run(
            ["ffmpeg", "-loglevel", "quiet", "-i", path, "-c", "copy", "-movflags", "faststart", moved], check=True
        )
    content = moved.read_bytes()
    moved.unlink()
    path.write_bytes(content[: len(content) * 2 // 3])


def sound_only(path: Path) -> None:
    with av.open(str(path), "w") as target:
        stream = target.add_stream("aac", rate=48_000)
        assert isinstance(stream, av.AudioStream)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
        frame.sample_rate = 48_000
        target.mux(stream.encode(frame))
        target.mux(stream.encode(None))


def other_frames(form: Format, times_ms: list[int] | None = None) -> Damage:
    return lambda path: write_clip(path, len(times_ms) if times_ms else 12, form, times_ms)


UNREADABLE: dict[str, Damage] = {
    "zero_bytes": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("no video at all\n" * 100),
    "random_bytes": lambda path: path.write_bytes(os.urandom(5000)),
    "index_lost": cut(0.5),
    "sound_only": sound_only,
}
IN_PART: dict[str, Damage] = {"scrambled": scramble, "claims_more": claim_more}
ODD: dict[str, Damage] = {
    "untouched": lambda _: None,
    "variable_rate": other_frames(Format(width=64, height=48), [0, 40, 400, 410, 1000, 1900]),
    "odd_size": other_frames(Format(codec="libx264", width=66, height=34, audio=None)),
    "no_sound": other_frames(Format(width=64, height=48, audio=None)),
    "one_frame": lambda path: write_clip(path, 1, Format(width=64, height=48)),
    "another_container": lambda path: write_clip(
        path.with_suffix(".webm"), 10, Format("libvpx-vp9", 64, 48, audio="libopus")
    ).replace(path),
}


@pytest.fixture(scope="module")
def spoilt(short_phase: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Played, dict[str, Told]]:
    """A run over clips of which each is damaged or odd in its own way."""
    folder = tmp_path_factory.mktemp("spoilt")
    damages = {**UNREADABLE, **IN_PART, **ODD}
    phase = write_phase(folder / "phase", [clip(short_phase)] * len(damages))
    for number, damage in enumerate(damages.values()):
        damage(clip(phase, number))
    rehash(phase)
    outcome = play(set_stage(folder / "app", phase, CASES["honest_model"]))
    return outcome, dict(zip(damages, told(outcome), strict=True))


def test_nobody_pays_for_what_the_organiser_damaged(spoilt: tuple[Played, dict[str, Told]]) -> None:
    outcome, clips = spoilt
    assert outcome.exit_code == 0, outcome.printed
    assert "clip_unreadable" in outcome.printed
    assert outcome.json("run.json")["clips"]["failed"] == 0
    assert {name for name in UNREADABLE if clips[name].status != "unreadable"} == set()
    assert {name for name in IN_PART if clips[name].status not in {"ok", "unreadable"}} == set()
    assert {name for name in ODD if clips[name].status != "ok"} == set()
    assert all(clips[name].problems for name in UNREADABLE)
    assert {problem["fault"] for name in (*UNREADABLE, *IN_PART) for problem in clips[name].problems} == {"organiser"}
    assert {name for name, told in clips.items() if told.row} == {n for n, told in clips.items() if told.status == "ok"}


def edit(name: str, pattern: str, replacement: str) -> Damage:
    def damage(data: Path) -> None:
        text = (data / name).read_text()
        changed = re.sub(pattern, replacement, text, count=1, flags=re.MULTILINE)
        assert changed != text
        (data / name).write_text(changed)

    return damage


def fifo(data: Path) -> None:
    clip(data).unlink()
    os.mkfifo(clip(data))


def folder(data: Path) -> None:
    clip(data).unlink()
    clip(data).mkdir()


def broken_link(data: Path) -> None:
    clip(data).unlink()
    clip(data).symlink_to("nowhere.mp4")


STOPS: dict[str, tuple[Damage, str]] = {
    "missing": (lambda data: clip(data).unlink(), "clip_missing"),
    "fifo": (fifo, "clip_missing"),
    "folder": (folder, "clip_missing"),
    "broken_link": (broken_link, "clip_missing"),
    "cut_after_the_list": (lambda data: cut(0.9)(clip(data)), "clip_changed"),
    "another_clip": (lambda data: shutil.copy(clip(data, 0), clip(data)), "clip_changed"),
    "twice": (edit("clips.csv", "^c003,", "c002,"), "clip_twice"),
    "outside": (edit("clips.csv", r"clips/c002\.mp4", "../clips/c002.mp4"), "clip_path"),
    "absolute": (edit("clips.csv", r"clips/c002\.mp4", "/etc/passwd"), "clip_path"),
    "odd_id": (edit("clips.csv", "^c002,", "c\u202e02,"), "clip_id"),
    "id_with_a_space": (edit("clips.csv", "^c002,", " c002,"), "clip_id"),
    "short_row": (edit("clips.csv", "^c002,[^,]*,", "c002,"), "clips_row"),
    "header": (edit("clips.csv", "^clip_id,", "id,"), "clips_header"),
    "no_clip": (lambda data: (data / "clips.csv").write_text("clip_id,file,sha256\n"), "clips_empty"),
    "empty_list": (lambda data: (data / "clips.csv").write_text(""), "clips_header"),
    "no_list": (lambda data: (data / "clips.csv").unlink(), "clips_unreadable"),
    "list_in_utf16": (
        lambda data: (data / "clips.csv").write_text((data / "clips.csv").read_text(), "utf-16"),
        "clips_unreadable",
    ),
    "nul_in_the_list": (edit("clips.csv", "^c002,", "c0\x0002,"), "clip_id"),
    "transcripts_lost": (lambda data: (data / "transcripts.json").unlink(), "transcripts_unreadable"),
    "transcripts_broken": (
        lambda data: (data / "transcripts.json").write_text('{"a": '),
        "transcripts_unreadable",
    ),
    "transcripts_nested": (
        lambda data: (data / "transcripts.json").write_text("[" * 100_000),
        "transcripts_unreadable",
    ),
    "settings_lost": (lambda data: (data / "task.yaml").unlink(), "settings_unreadable"),
    "settings_are_no_yaml": (lambda data: (data / "task.yaml").write_text("a: ["), "settings_unreadable"),
    "settings_nan": (edit("task.yaml", r"call_s: \S+", "call_s: .nan"), "settings_value"),
    "settings_of_the_future": (edit("task.yaml", "format_version: 1", "format_version: 99"), "settings_value"),
    "wrong_key": (
        lambda data: (data.parent / "program" / "seal.key").write_text("not a key"),
        "seal_key_broken",
    ),
}


def stopped_by(stage: Stage) -> list[Problem]:
    """Read the key, the settings and the clips as a run does first of all; return what stops it."""
    try:
        read_key(stage.app / "program")
        read_dataset(stage.app / "input_data", read_task(stage.app / "input_data" / "task.yaml"))
    except IngestionError as error:
        return error.problems
    return []


@pytest.mark.parametrize("name", sorted(STOPS))
def test_other_mistakes_are_the_organisers(name: str, short_phase: Path, tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    shutil.copytree(short_phase, tmp_path / "input_data")
    (tmp_path / "input_data" / "task.yaml").write_text(yaml.safe_dump({**SETTINGS, "limits": LIMITS}))
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "seal.key").write_text(KEY)
    assert stopped_by(stage) == []
    (tmp_path / "program" / "seal.key").write_text(KEY)
    damage, code = STOPS[name]
    damage(tmp_path / "input_data")
    problems = stopped_by(stage)
    assert code in {problem.code for problem in problems}
    assert {problem.fault for problem in problems} == {"organiser"}
    assert not any(SECRETS[2] in problem.line() for problem in problems)


@pytest.mark.parametrize("name", ["another_clip", "settings_lost", "transcripts_nested", "wrong_key"])
def test_other_mistakes_stop_the_run(name: str, stage: Stage) -> None:
    """One of each file; the others are found at the same places."""
    damage, code = STOPS[name]
    damage(stage.app / "input_data")
    outcome = play(stage)
    assert outcome.exit_code == 2, outcome.printed
    run = outcome.json("run.json")
    assert run["status"] == "organiser_error"
    assert code in outcome.run_codes()
    assert {problem["fault"] for problem in run["problems"]} == {"organiser"}
    assert "Traceback" not in outcome.printed
    assert not (outcome.folder / "predictions.csv").exists()
    assert stage.leaks(outcome.printed) == []


def test_a_byte_order_mark_line_ends_and_extra_clips_do_no_harm(stage: Stage) -> None:
    data = stage.app / "input_data"
    task = read_task(data / "task.yaml")
    footage = read_dataset(data, task)
    for name in ("clips.csv", "transcripts.json", "task.yaml"):
        (data / name).write_bytes(b"\xef\xbb\xbf" + (data / name).read_bytes().replace(b"\n", b"\r\n"))
    shutil.copy(clip(data), data / "clips" / "extra.mp4")
    assert read_task(data / "task.yaml") == task
    assert read_dataset(data, task) == footage


def test_all_mistakes_are_told_at_once(stage: Stage) -> None:
    data = stage.app / "input_data"
    clip(data, 0).unlink()
    clip(data, 1).write_bytes(b"x")
    (data / "transcripts.json").write_text("{")
    codes = {problem.code for problem in stopped_by(stage)}
    assert codes >= {"clip_missing", "clip_changed", "transcripts_unreadable"}


def test_nothing_is_charged_when_every_clip_is_unreadable(stage: Stage) -> None:
    data = stage.app / "input_data"
    for number in range(CLIPS):
        clip(data, number).write_bytes(b"rubbish")
    rehash(data)
    outcome = play(stage)
    run = outcome.json("run.json")
    assert run["clips"]["failed"] == 0
    assert run["clips"]["unreadable"] == CLIPS
