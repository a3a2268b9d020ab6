"""What a failure costs, and what is said in the end."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ingest.data import check_unchanged
from ingest.errors import IngestionError, Problem
from ingest.log import Log
from ingest.media.alteration import ClipSource
from ingest.media.video import ClipFacts
from ingest.model import ask_explanation, ask_prediction
from ingest.settings import read_task
from ingest.stats import RunStats
from tests.ingestion.conftest import SETTINGS, Outcome, Together, model_source, write_phase
from tests.own_clips.kinds import Kind, write

Ingest = Callable[..., Outcome]

RAISED = {
    "keyboard": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "exit": ("raise SystemExit(0)", "do not end the process"),
    "generator_exit": ("raise GeneratorExit", "GeneratorExit"),
    "recursion": ("f = lambda n: f(n); f(1)", "end the recursion"),
    "into_the_frame": ("next(clip.frames())[:] = 0", "read-only"),
    "elsewhere": ("open('/elsewhere.txt', 'w')", "Error"),
    "network": ("import socket; socket.create_connection(('192.0.2.1', 9), 0.5)", "there is no network"),
    "file": ("open('weights.pt')", "assets / 'weights.npz'"),
}


def test_whatever_is_raised_costs_one_clip_and_no_restart(ingest_together: Callable[..., Together]) -> None:
    outcome, clips = ingest_together({name: (statement, "pass") for name, (statement, _) in RAISED.items()})
    for name, (_, said) in RAISED.items():
        assert (clips[name].status, clips[name].codes) == ("failed", ["model_raised"]), name
        assert said in clips[name].words, name
    assert outcome.json("run.json")["restarts"] == 0


def test_a_clip_that_is_not_canonical_counts_and_is_named(numbered_clip: Path, tmp_path: Path, ingest: Ingest) -> None:
    wide = tmp_path / "wide.mp4"
    wide.write_bytes(write(Kind("wide", squeezed=Fraction(2), seconds=1)))
    outcome = ingest(model_source(), input_data=write_phase(tmp_path / "input", [wide, numbered_clip], SETTINGS))
    assert outcome.json("run.json")["clips"]["ok"] == 2
    assert [outcome.clip_codes(position) for position in range(2)] == [["clip_form"], []]


def test_a_constructor_that_hangs_after_a_crash_ends_the_run(
    numbered_clip: Path, tmp_path: Path, ingest: Ingest
) -> None:
    note = tmp_path / "submission" / "note"
    settings = {
        **SETTINGS,
        "limits": {**SETTINGS["limits"], "load_s": 2, "call_s": 2},
        "isolation": {"at_most": "portable"},  # it takes a note of having run
    }
    folder = write_phase(tmp_path / "input", [numbered_clip] * 4, settings)
    source = model_source(predict="import os; open(self.assets / 'note', 'w').close(); os._exit(1)").replace(
        "self.assets = assets", "self.assets = assets; import time; (assets / 'note').exists() and time.sleep(60)"
    )
    outcome = ingest(source, input_data=folder)
    assert note.exists()
    run = outcome.json("run.json")
    assert run["clips"]["failed"] == 4
    assert "timeout" in outcome.run_codes()


def failed(code: str, found: str = "x") -> Problem:
    return Problem(code, "predict", "predict", found, "y", "z")


def summary(tmp_path: Path, *outcomes: tuple[Any, list[Problem]]) -> tuple[RunStats, list[str]]:
    log, stats = Log(tmp_path / "log.txt"), RunStats(total=len(outcomes))
    for number, (status, problems) in enumerate(outcomes):
        stats.add_clip(f"c{number}", status, problems, log)
    stats.conclude()
    log.line("-- summary", summary=True)
    stats.summarise(log)
    log.close()
    lines = (tmp_path / "log.txt").read_text().splitlines()
    return stats, lines[lines.index("[ingestion] -- summary") + 1 :]


def test_like_failures_are_told_together(tmp_path: Path) -> None:
    outcomes = [("failed", [failed("model_raised", f"ValueError: {n}")]) for n in range(3)]
    _, lines = summary(tmp_path, ("ok", []), ("ok", []), ("ok", []), ("failed", [failed("timeout")]), *outcomes)
    assert lines[0] == "[ingestion] more than half of the clips failed: 4 of 7"
    assert lines[2].startswith("[ingestion] 3 of 7 clips · model_raised · predict · found ValueError: 0")
    assert lines[3].startswith("[ingestion] 1 of 7 clips · timeout")


def test_a_clip_with_several_like_problems_is_one_clip(tmp_path: Path) -> None:
    claims = [replace(failed("evidence_invalid"), where=f"cues[{number}]") for number in range(6)]
    _, lines = summary(tmp_path, ("ok", claims), ("ok", claims[:1]), ("ok", []))
    assert any(line.startswith("[ingestion] 2 of 3 clips · evidence_invalid") for line in lines)


def test_half_is_not_more_than_half(tmp_path: Path) -> None:
    _, lines = summary(tmp_path, ("ok", []), ("failed", [failed("timeout")]))
    assert not any("more than half" in line for line in lines)


def test_our_own_errors_on_every_clip_are_no_result(tmp_path: Path) -> None:
    ours = failed("check_failed")
    stats, lines = summary(tmp_path, ("failed", [ours]), ("failed", [ours]))
    assert stats.status == "organiser_error"
    assert any("for the organisers" in line for line in lines)


class Strange:
    """A model process whose messages nobody foresaw."""

    stopped = 0

    def stop(self) -> None:
        self.stopped += 1

    def predict(self, *_: object) -> object:
        raise RuntimeError("SECRET")

    explain = predict


def test_what_nobody_foresaw_costs_a_clip_and_the_process_and_quotes_nothing(phase: Path) -> None:
    task, strange, problems = read_task(phase / "task.yaml"), Strange(), list[Problem]()
    clip, facts = ClipSource("c000", phase, ""), ClipFacts.__new__(ClipFacts)
    assert ask_prediction(strange, clip, facts, task, 1, problems) is None  # type: ignore[arg-type]
    assert ask_explanation(strange, facts, task, 1, {}, problems) is None  # type: ignore[arg-type]
    assert strange.stopped == 2
    assert [(problem.code, problem.fault) for problem in problems] == [("check_failed", "organiser")] * 2
    assert "SECRET" not in "".join(problem.line() for problem in problems)


def test_a_clip_that_changes_during_the_run_is_never_left_out(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    path.write_bytes(b"rubbish")
    clip = ClipSource("c000", path, "", hashlib.sha256(b"rubbish").hexdigest())
    check_unchanged(clip)
    path.write_bytes(b"changed")
    with pytest.raises(IngestionError, match="clip_lost"):
        check_unchanged(clip)
    path.unlink()
    with pytest.raises(IngestionError, match="clip_lost"):
        check_unchanged(clip)


@pytest.mark.parametrize("hidden", [False, True])
def test_a_model_that_spoils_a_clip_ends_the_run_and_a_hidden_phase_does_not_say_which(
    numbered_clip: Path, tmp_path: Path, ingest: Ingest, *, hidden: bool
) -> None:
    settings = {**SETTINGS, "isolation": {"at_most": "portable"}, "feedback": {"model_output": not hidden}}
    folder = write_phase(tmp_path / "input", [numbered_clip] * 3, settings)
    spoil = f"open({str(folder / 'clips' / 'c002.mp4')!r}, 'wb').close()"
    outcome = ingest(model_source(explain=spoil), input_data=folder)
    assert (outcome.exit_code, outcome.run_codes()) == (2, ["clip_lost"])
    assert outcome.json("run.json")["clips"]["unreadable"] == 0
    assert outcome.json("run.json")["problems"][0]["where"] == ("a clip" if hidden else "clip c002")
    assert ("c002" in outcome.printed) != hidden
