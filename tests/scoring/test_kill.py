"""Killed at any moment: scoring leaves whole files or none, and what a killed ingestion leaves is never misjudged."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.scoring.conftest import Outcome, Score, run_scoring
from tests.scoring.factory import Case, honest_probes, make_case, make_input, write_manifest
from tests.scoring.pages import Page

PROGRAM = Path(__file__).parents[2] / "scoring_program" / "scoring.py"
MOMENTS = 50
OUTPUT = ["detailed_results.html", "scores.txt", "scores.json"]
RECORDS = ["predictions.csv", "explanations.jsonl", "clips.jsonl", "probes.jsonl"]


def start(source: Path, target: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(PROGRAM), str(source), str(target)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill_when(process: subprocess.Popen[bytes], moment: Callable[[], bool]) -> None:
    while process.poll() is None and not moment():
        time.sleep(0.0002)  # what is killed needs the processor more
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)


@pytest.mark.slow
def test_scoring_killed_at_fifty_moments_leaves_whole_files_or_none(tmp_path: Path) -> None:
    source = make_input(tmp_path / "input", make_case(report={"clips": True, "truth": True, "gallery": 12}))
    whole = {path.name: path.read_bytes() for path in run_scoring(source, tmp_path / "whole").out.iterdir()}
    assert sorted(whole) == sorted(OUTPUT)
    begun = time.monotonic()
    assert start(source, tmp_path / "timed").wait(timeout=60) == 0
    lasts = time.monotonic() - begun

    draw = random.Random(20170721)  # noqa: S311 - a test
    interrupted = 0
    for number in range(MOMENTS):
        target = tmp_path / f"killed-{number}"
        process = start(source, target)
        if number % 5:  # anywhere in the run
            ends = time.monotonic() + draw.uniform(0, 1.1) * lasts
            kill_when(process, lambda: time.monotonic() >= ends)  # noqa: B023 - called before the next round
        else:  # in the few milliseconds of writing, as soon as a certain file or its draft is there
            name = draw.choice([f"{dot}{name}" for name in OUTPUT for dot in ("", ".")])
            waited = target / (f"{name}.tmp" if name.startswith(".") else name)
            kill_when(process, waited.exists)
        left = {path.name: path.read_bytes() for path in target.iterdir()} if target.is_dir() else {}
        finished = {name: data for name, data in left.items() if not name.startswith(".")}
        if b"being scored" in finished.get(OUTPUT[0], b""):  # the first page, whole as well
            Page(finished.pop(OUTPUT[0]).decode())
            assert not finished, number
        assert finished == {name: whole[name] for name in finished}, number
        assert "scores.json" not in finished or len(finished) == 3
        interrupted += len(finished) < 3
        again = run_scoring(source, target)
        assert again.code == 0
        assert {path.name: path.read_bytes() for path in target.iterdir()} == whole
    assert interrupted >= MOMENTS // 3


def cut(path: Path, at: int) -> bytes:
    data = path.read_bytes()[:at]
    path.write_bytes(data)
    return data


def lost(name: str, kept: bytes, case: Case) -> set[str]:
    """The clips whose record the cut has taken: a CSV row needs its line's end, a JSON object its last brace."""
    lines = kept.split(b"\n")
    if name == "probes.jsonl":
        return set()
    if name == "predictions.csv":
        alive = {line.split(b",")[0].decode() for line in lines[1:-1]}
    else:
        alive = set()
        for line in lines:
            with contextlib.suppress(ValueError):
                alive.add(json.loads(line)["clip_id"])
    return set(case.clip_ids) - alive


def whole_lines(kept: bytes) -> list[bytes]:
    """The lines of a JSON file that are complete, their last brace included."""
    return [line for line in kept.split(b"\n") if line.endswith(b"}") and json_or_none(line) is not None]


def json_or_none(line: bytes) -> object:
    with contextlib.suppress(ValueError):
        return json.loads(line)
    return None


def without(case: Case, gone: set[str], name: str) -> Case:
    """The same run, had it never recorded those clips; the second pass is over the clips that it was over."""

    def probes(_: Case) -> list[dict[str, Any]]:
        return [call for call in honest_probes(case) if call["clip_id"] not in gone or name == "explanations.jsonl"]

    if name == "explanations.jsonl":
        explain = case.explain
        return replace(case, explain=lambda clip_id: None if clip_id in gone else explain(clip_id), probes=probes)
    statuses = [
        "missing" if clip_id in gone else status for clip_id, status in zip(case.clip_ids, case.statuses, strict=True)
    ]
    return replace(case, statuses=statuses, probes=probes)


def one_clear_message(done: Outcome) -> None:
    assert done.code in (1, 2)
    assert sorted(path.name for path in done.out.iterdir()) == ["detailed_results.html"]
    assert done.log.startswith("ERROR: ")
    assert "internal_error" not in done.log
    assert "Traceback" not in done.log
    Page(done.page)


@pytest.mark.parametrize("seed", range(MOMENTS))
def test_records_cut_off_anywhere_cost_the_clips_behind_the_cut_and_no_more(tmp_path: Path, seed: int) -> None:
    """The manifest lists what is there, as the watchdog of a run that ended early seals it."""
    draw = random.Random(seed)  # noqa: S311 - a test
    case = make_case(clips=8)
    source = make_input(tmp_path / "input", case)
    name = RECORDS[seed % 4]
    path = source / "res" / name
    kept = cut(path, draw.randrange(path.stat().st_size))
    write_manifest(source / "res")
    done = run_scoring(source, tmp_path / "output")
    all_gone = len(lost(name, kept, case)) == len(case.clip_ids)
    if all_gone and name != "explanations.jsonl":  # not even a header, or no record of any clip
        return one_clear_message(done)
    assert done.code == 0, done.log
    as_if = without(case, lost(name, kept, case), name)
    if name == "probes.jsonl":
        calls = honest_probes(case)[: len(whole_lines(kept))]
        as_if = replace(case, probes=lambda _: calls)
    expected = run_scoring(make_input(tmp_path / "expected", as_if), tmp_path / "as if")
    assert done.scores == expected.scores
    return None


@pytest.mark.parametrize("seed", range(MOMENTS))
def test_a_file_cut_off_after_the_manifest_was_written_is_one_clear_message(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - a test
    source = make_input(tmp_path / "input", make_case(clips=4))
    files = sorted(path for path in (source / "res").rglob("*") if path.is_file())
    path = draw.choice(files)
    cut(path, draw.randrange(path.stat().st_size))
    one_clear_message(run_scoring(source, tmp_path / "output"))


@pytest.mark.parametrize("listed", [False, True], ids=["after listing", "before listing"])
@pytest.mark.parametrize("seed", range(MOMENTS // 2))
def test_files_that_a_kill_took_are_one_clear_message_or_pictures(tmp_path: Path, seed: int, listed: bool) -> None:
    draw = random.Random(seed)  # noqa: S311 - a test
    case = make_case(clips=4)
    source = make_input(tmp_path / "input", case)
    files = sorted(path for path in (source / "res").rglob("*") if path.is_file())
    gone = draw.sample(files, draw.randint(1, 3))
    for path in gone:
        path.unlink()
    if listed and source / "res" / "manifest.json" not in gone:
        write_manifest(source / "res")
    done = run_scoring(source, tmp_path / "output")
    harmless = all(path.parent.name == "images" or path.name in ("log.txt", "probes.jsonl") for path in gone)
    if not (listed and harmless):
        return one_clear_message(done)
    assert done.code == 0
    if any(path.name == "probes.jsonl" for path in gone):  # then nothing was shown
        case.probes = None
    whole = run_scoring(make_input(tmp_path / "whole", case), tmp_path / "as if").scores
    assert done.scores == whole
    return None


def test_a_run_without_its_last_file_is_no_low_score(score: Score) -> None:
    done = score(make_case(), lambda root: (root / "res" / "manifest.json").unlink())
    one_clear_message(done)
    assert "The prediction step left no results." in done.log
