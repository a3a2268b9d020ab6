"""Killed at any moment: scoring leaves whole files or none, and what a killed ingestion leaves is never misjudged."""

import contextlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT, mostly_slow, warm
from tests.scoring.conftest import Outcome, run_scoring
from tests.scoring.factory import Case, honest_probes, honest_repeats, make_case, make_input, write_manifest
from tests.scoring.pages import Page

PROGRAM = ROOT / "scoring_program" / "scoring.py"
WATCHED = Path(__file__).with_name("watched.py")
OUTPUT = ["detailed_results.html", "scores.txt", "scores.json"]
RECORDS = ["predictions.csv", "explanations.jsonl", "clips.jsonl", "probes.jsonl", "repeats.jsonl"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """A run, and the files that scoring leaves of it when nobody kills it."""
    case = make_case(clips=4, report={"clips": True, "truth": True, "gallery": 4})
    source = make_input(tmp_path_factory.mktemp("run"), case)
    whole = contents(run_scoring(source, source / "whole").out)
    assert sorted(whole) == sorted(OUTPUT)
    return source, whole


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.is_dir() else {}


def check_what_is_left(target: Path, whole: dict[str, bytes]) -> None:
    finished = {name: data for name, data in contents(target).items() if not name.startswith(".")}
    if b"being scored" in finished.get(OUTPUT[0], b""):  # the first page, whole as well
        Page(finished.pop(OUTPUT[0]).decode())
        assert not finished
    assert finished == {name: whole[name] for name in finished}
    assert "scores.json" not in finished or len(finished) == 3


def test_scoring_killed_at_any_step_leaves_whole_files_or_none(
    run: tuple[Path, dict[str, bytes]], tmp_path: Path
) -> None:
    source, whole = run
    assert warm.run(WATCHED, [tmp_path / "states", source, tmp_path / "output"]).code == 0
    assert contents(tmp_path / "output") == whole
    states = sorted((tmp_path / "states").iterdir())
    known = []
    for state in states:
        check_what_is_left(state, whole)
        left = contents(state)
        if left not in known:  # scoring goes on with whatever was left
            known.append(left)
            assert run_scoring(source, state).code == 0
            assert contents(state) == whole
    # The page is written twice, the others once: nothing of it, half, all under its first name, and under its own.
    assert len(known) >= 1 + 4 * 4


def cut(path: Path, at: int) -> bytes:
    data = path.read_bytes()[:at]
    path.write_bytes(data)
    return data


def lost(name: str, kept: bytes, case: Case) -> set[str]:
    """The clips whose record the cut has taken: a CSV row needs its line's end, a JSON object its last brace."""
    lines = kept.split(b"\n")
    if name in ("probes.jsonl", "repeats.jsonl"):
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


CUTS: dict[str, Callable[[bytes], int]] = {
    "at its beginning": lambda _: 0,
    "in its first line": lambda data: data.index(b"\n") // 2,
    "before the end of its first line": lambda data: data.index(b"\n"),
    "between lines": lambda data: data.index(b"\n") + 1,
    "before the last brace or digit": lambda data: data.index(b"\n", len(data) // 2) - 1,
    "in the middle": lambda data: len(data) // 2,
    "before its last line": lambda data: data.rindex(b"\n", 0, -1) + 1,
    "before its last byte": lambda data: len(data) - 1,
}


@pytest.mark.parametrize("name", mostly_slow(RECORDS, ["clips.jsonl", "predictions.csv"]))
@pytest.mark.parametrize("place", CUTS)
def test_records_cut_off_cost_the_clips_behind_the_cut_and_no_more(tmp_path: Path, name: str, place: str) -> None:
    case = make_case(clips=5)
    source = make_input(tmp_path / "input", case)
    check_cut(source, case, name, CUTS[place]((source / "res" / name).read_bytes()))


def check_cut(source: Path, case: Case, name: str, at: int) -> None:
    """The manifest lists what is there, as the watchdog of a run that ended early seals it."""
    kept = cut(source / "res" / name, at)
    write_manifest(source / "res")
    done = run_scoring(source, source / "output")
    all_gone = len(lost(name, kept, case)) == len(case.clip_ids)
    if all_gone and name != "explanations.jsonl":  # not even a header, or no record of any clip
        return one_clear_message(done)
    assert done.code == 0, done.log
    as_if = without(case, lost(name, kept, case), name)
    count = len(whole_lines(kept))
    if name == "probes.jsonl":
        as_if = replace(case, probes=lambda _: honest_probes(case)[:count])
    if name == "repeats.jsonl":
        as_if = replace(case, repeats=lambda _: honest_repeats(case)[:count])
    expected = run_scoring(make_input(source / "expected", as_if), source / "as if")
    assert done.scores == expected.scores
    return None


def files_of(source: Path) -> list[Path]:
    """The files of a run; one picture stands for all."""
    pictures = sorted((source / "res" / "images").iterdir())
    return [*sorted(path for path in (source / "res").iterdir() if path.is_file()), pictures[1]]


def test_a_file_cut_off_after_the_manifest_was_written_is_one_clear_message(tmp_path: Path) -> None:
    source = make_input(tmp_path / "input", make_case(clips=4))
    for path in files_of(source):
        data = path.read_bytes()
        for at in (0, len(data) // 2, len(data) - 1):
            cut(path, at)
            one_clear_message(run_scoring(source, tmp_path / "output"))
        path.write_bytes(data)
    assert run_scoring(source, tmp_path / "output").code == 0


@pytest.mark.parametrize("listed", [False, True], ids=["after listing", "before listing"])
def test_files_that_a_kill_took_are_one_clear_message_or_pictures(tmp_path: Path, listed: bool) -> None:
    case = make_case(clips=4)
    source = make_input(tmp_path / "input", case)
    whole = run_scoring(source, tmp_path / "output").scores
    unseen = replace(case, probes=None)  # without its records the second pass has shown nothing
    blind = run_scoring(make_input(tmp_path / "blind", unseen), tmp_path / "output").scores
    one_by_one = [[path] for path in files_of(source)]
    together = [path for path in files_of(source) if harmless(path)]
    pictures = sorted((source / "res" / "images").iterdir())
    for gone in (*one_by_one, together, pictures, [together[0], source / "res" / "run.json"]):
        before = {path: path.read_bytes() for path in (*gone, source / "res" / "manifest.json")}
        for path in gone:
            path.unlink()
        manifest = source / "res" / "manifest.json" in gone
        if listed and not manifest:
            write_manifest(source / "res")
        done = run_scoring(source, tmp_path / "output")
        if listed and all(map(harmless, gone)):
            assert done.code == 0
            assert done.scores == (blind if any(path.name == "probes.jsonl" for path in gone) else whole)
        else:
            one_clear_message(done)
        for path, data in before.items():
            path.write_bytes(data)


def harmless(path: Path) -> bool:
    """Whether a run is worth something without this file, where the manifest does not list it."""
    return path.parent.name == "images" or path.name in ("log.txt", "probes.jsonl", "repeats.jsonl")
