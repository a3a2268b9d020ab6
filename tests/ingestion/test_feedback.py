"""What is said of a model's problems: a hidden phase must not hand on a single word that a model chose."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.codes import CODES, Stage
from ingest.errors import Problem
from ingest.stats import LONGEST, MOST_LINES, Feedback
from model_process.loading import LoadFailure, load_model
from tests.ingestion.conftest import ONCE, Outcome, Together, model_source, write_phase

Ingest = Callable[..., Outcome]
CANARY = "XyzzyCanary"
NUMBER = 271828
HIDDEN = {**ONCE, "feedback": {"model_output": False}}
ON_THE_FIRST = "if clip.transcript: "
CLAIM = "{'cue': 'smile', 'target': 'interview', 'contribution': 0.5}"
TEXT = "'text': 'x' * 30"

# Each says the canary in another way, some on one clip and some on all.
PREDICT = {
    "exception": f"raise ValueError('{CANARY}')",
    "exception_on_one_clip": f"{ON_THE_FIRST}raise ValueError('{CANARY}')",
    "class_name": f"raise type('{CANARY}', (Exception,), {{}})('')",
    "function_name": f"exec('def {CANARY}(): 1 / 0\\n{CANARY}()')",
    "source_name": f"exec(compile('1 / 0', '{CANARY}.py', 'exec'))",
    "source_in_the_submission": f"exec(compile('1 / 0', str(self.assets / '{CANARY}.py'), 'exec'))",
    "line_number": f"exec(compile('\\n' * {NUMBER} + '1 / 0', str(self.assets / 'model.py'), 'exec'))",
    "printed": f"import sys; print('{CANARY}'); print('{CANARY}', file=sys.stderr)",
    "printed_and_died": f"import os; print('{CANARY}', flush=True); os._exit(7)",
    "returned_text": f"return '{CANARY}'",
    "returned_key": f"return {{'warmth': 0.5, 'interview': 0.5, '{CANARY}': 1}}",
    "close_key": f"return {{'warmth': 0.5, 'interview{CANARY}': 0.5}}",
    "value_text": f"return {{'warmth': '{CANARY}', 'interview': 0.5}}",
    "value_number": f"return {{'warmth': {NUMBER}, 'interview': 0.5}}",
    "value_class": f"return {{'warmth': type('{CANARY}', (), {{}})(), 'interview': 0.5}}",
    "array_shape": f"import numpy as np; return np.zeros({NUMBER}, np.uint8)",
    "request": f"list(clip.frames(count='{CANARY}'))",
    "forged_report": (
        "import gc; c = next(o for o in gc.get_objects() if type(o).__name__ == 'Connection'); "
        f"c.send({{'op': 'raised', 'found': '{CANARY}', 'where': '{CANARY}.py line 3, in {CANARY}'}})"
    ),
    "forged_request": (
        "import gc; c = next(o for o in gc.get_objects() if type(o).__name__ == 'Connection'); "
        f"c.send({{'op': '{CANARY}'}})"
    ),
}
EXPLAIN = {
    "exception": f"raise ValueError('{CANARY}')",
    "key": f"return {{{TEXT}, '{CANARY}': 1}}",
    "evidence_key": f"return {{{TEXT}, 'evidence': {{'{CANARY}': 1}}}}",
    "evidence_type": f"return {{{TEXT}, 'evidence': '{CANARY}'}}",
    "cue": f"return {{{TEXT}, 'evidence': {{'cues': [{{**{CLAIM}, 'cue': '{CANARY}'}}]}}}}",
    "cue_target": f"return {{{TEXT}, 'evidence': {{'cues': [{{**{CLAIM}, 'target': '{CANARY}'}}]}}}}",
    "contribution": f"return {{{TEXT}, 'evidence': {{'cues': [{{**{CLAIM}, 'contribution': {NUMBER}}}]}}}}",
    "place_of_a_cue": f"return {{{TEXT}, 'evidence': {{'cues': [{CLAIM}] * 150 + ['{CANARY}']}}}}",
    "map_shape": f"import numpy as np; return {{{TEXT}, 'evidence': {{'space': np.zeros((1, 1, 1, {NUMBER}))}}}}",
    "image_shape": f"import numpy as np; return {{{TEXT}, 'image': np.zeros((1, {NUMBER}, 3), np.uint8)}}",
    "image_path": f"return {{{TEXT}, 'image': '{CANARY}.png'}}",
    "text_length": f"return {{'text': 'z' * {NUMBER}}}",
}
LOAD = {
    "import": f"raise RuntimeError('{CANARY}')",
    "missing": f"import {CANARY}",
    "class_missing": f"class {CANARY}Model: pass",
    "constructor": f"class Model:\n  def __init__(self, assets): raise OSError('{CANARY}')\n"
    "  def predict(self, clip): pass\n  def explain(self, clip, prediction): pass",
    "signature": f"class Model:\n  def __init__(self, assets, {CANARY}): pass\n"
    "  def predict(self, clip): pass\n  def explain(self, clip, prediction): pass",
    "syntax": f"exec('{CANARY} {CANARY}')",
    "forged_code": f"import gc\nfor o in gc.get_objects():\n  if type(o).__name__ == 'Connection':\n"
    f"    o.send({{'op': 'failed', 'code': '{CANARY}', 'where': '{CANARY}', 'found': '{CANARY}', 'fix': '{CANARY}'}})",
    "foreign_code": "import gc\nfor o in gc.get_objects():\n  if type(o).__name__ == 'Connection':\n"
    f"    o.send({{'op': 'failed', 'code': 'settings_value', 'where': '{CANARY}', 'found': '{CANARY}'}})",
}
TOGETHER = {
    **{f"predict_{name}": (statement, "pass") for name, statement in PREDICT.items()},
    **{f"explain_{name}": ("pass", statement) for name, statement in EXPLAIN.items()},
}
# What is said of the run as a whole, or of its end.
WHOLE = {
    **{f"load_{name}": LOAD[name] for name in ("import", "forged_code", "foreign_code")},
    "raises_on_all": model_source(predict=PREDICT["exception"]),
    "dies_on_all": model_source(predict=PREDICT["printed_and_died"]),
    "raises_on_one": model_source(predict=PREDICT["exception_on_one_clip"]),
}
ANSWERS = {"predictions.csv", "explanations.jsonl", "images"}


@pytest.fixture(scope="session")
def hidden_phase(numbered_clip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_phase(tmp_path_factory.mktemp("hidden") / "input", [numbered_clip] * 2, HIDDEN)


def said(outcome: Outcome) -> dict[str, str]:
    """Return all that comes out of a run but the answers: those the platform itself keeps in a hidden phase."""
    texts = {"printed": outcome.printed}
    for path in outcome.folder.rglob("*"):
        if path.is_file() and path.relative_to(outcome.folder).parts[0] not in ANSWERS:
            texts[path.name] = path.read_text()
    assert {"run.json", "log.txt", "manifest.json"} <= texts.keys()
    return texts


def check_hidden(outcome: Outcome) -> None:
    told = said(outcome)
    for place, text in told.items():
        assert CANARY.lower() not in text.lower(), (place, text)
        assert str(NUMBER) not in text, (place, text)
    assert "model_output.txt" not in told
    # Neither does the log say what happened to which clip.
    assert "c000" not in told["printed"] + told["log.txt"]


def test_a_hidden_phase_repeats_nothing_that_models_say(ingest_together: Callable[..., Together]) -> None:
    outcome, clips = ingest_together(TOGETHER, HIDDEN)
    check_hidden(outcome)
    assert not any(name in outcome.printed for name in ("c001", "c003", "c007"))
    # A key too many is all that leaves the prediction of an odd answer.
    fine = {name for name in TOGETHER if clips[name].status == "ok" and not clips[name].codes}
    assert fine == {"predict_printed"}


@pytest.mark.parametrize("name", WHOLE)
def test_a_hidden_phase_repeats_nothing_of_the_run_as_a_whole(name: str, ingest: Ingest, hidden_phase: Path) -> None:
    check_hidden(ingest(WHOLE[name], input_data=hidden_phase))


@pytest.mark.usefixtures("imports_undone")
def test_a_hidden_phase_repeats_nothing_of_models_that_cannot_be_loaded(tmp_path: Path) -> None:
    for name, source in LOAD.items() - {(name, LOAD[name]) for name in ("forged_code", "foreign_code")}:
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.py").write_text(source)
        sys.modules.pop("model", None)
        with pytest.raises(LoadFailure) as caught:
            load_model(tmp_path / name)
        report = caught.value.report
        problem = Problem(report["code"], "load", report["where"], report["found"], report["expected"], report["fix"])
        assert CANARY in str(problem), name
        told = Feedback(tmp_path / name, ("warmth",), hidden=True).redact(problem)
        assert CANARY not in str(told.record()) + told.line(), name


def test_an_open_phase_quotes_it(ingest_together: Callable[..., Together]) -> None:
    names = ("predict_exception", "explain_cue", "predict_value_number")
    _, clips = ingest_together({name: TOGETHER[name] for name in names}, ONCE)
    for name in names:
        assert CANARY in clips[name].words or str(NUMBER) in clips[name].words


def test_the_line_in_the_participants_own_file_is_told(ingest: Ingest, hidden_phase: Path) -> None:
    outcome = ingest(WHOLE["raises_on_one"], input_data=hidden_phase)
    (problem,) = outcome.lines("clips.jsonl")[0]["problems"]
    assert (problem["code"], problem["where"]) == ("model_raised", "model.py line 6")
    assert (problem["found"], problem["fix"]) == ("an exception", "correct that line")


def test_a_hidden_phase_counts_what_happened_and_names_no_clip(
    numbered_clip: Path, tmp_path: Path, ingest: Ingest
) -> None:
    rubbish = tmp_path / "rubbish.mp4"
    rubbish.write_bytes(b"no video at all")
    folder = write_phase(tmp_path / "input", [numbered_clip, rubbish, numbered_clip], HIDDEN)
    outcome = ingest(WHOLE["raises_on_one"], input_data=folder)
    lines = outcome.printed.splitlines()
    assert any("1 of 3 clips · model_raised · model.py line 6" in line for line in lines)
    assert any("1 of 3 clips · clip_unreadable · see clips.jsonl" in line for line in lines)
    # Only in the summary: a line between two lines of progress would say which clip it was.
    assert not any(
        "model_raised" in line for line in lines[: lines.index(next(x for x in lines if "first pass: 3 of 3" in x))]
    )
    assert not any(name in outcome.printed for name in ("c000", "c001", "c002"))
    assert outcome.lines("clips.jsonl")[1]["problems"][0]["where"] == "c001"


def feedback(tmp_path: Path, *, hidden: bool) -> Feedback:
    (tmp_path / "sub").mkdir(exist_ok=True)
    (tmp_path / "model.py").write_text("1\n2\n3\n")
    (tmp_path / "sub" / "part.py").write_text("1\n")
    (tmp_path / "long.py").write_text("\n" * MOST_LINES)
    return Feedback(tmp_path, ("warmth",), hidden=hidden)


# Three lines and the empty one behind them.
@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("model.py line 3, in predict", "model.py line 3"),
        ("model.py line 0003, in predict", "model.py line 3"),
        ("model.py line 4", "model.py line 4"),
        ("model.py line 5", "predict"),
        ("model.py line 0", "predict"),
        ("sub/part.py line 1, in x", "sub/part.py line 1"),
        ("part.py line 1", "predict"),
        ("long.py line 1", "predict"),
        ("../model.py line 1", "predict"),
        ("model.py line 1\nmodel.py line 2", "predict"),
        ("model.py", "model.py"),
        ('target "warmth"', 'target "warmth"'),
        ('target "secret"', "predict"),
        ("cues[17]", "predict"),
        ("anything", "predict"),
    ],
)
def test_places_in_a_hidden_phase(where: str, told: str, tmp_path: Path) -> None:
    problem = Problem("model_raised", "predict", where, "x", "y", "z")
    assert feedback(tmp_path, hidden=True).redact(problem).where == told


@given(st.sampled_from(list(CODES.values())), st.text(min_size=20), st.data())
def test_in_a_hidden_phase_every_word_is_from_the_list(code: object, text: str, data: st.DataObject) -> None:
    entry = CODES[code.name]  # type: ignore[attr-defined]
    stage: Stage = data.draw(st.sampled_from(entry.stages))
    teller = Feedback(Path("/nowhere"), (), hidden=True)
    problem = Problem(entry.name, stage, text, text, text, text)
    ours = entry.kind == "O"
    known = problem if ours else Problem(entry.name, stage, stage, entry.found, entry.expected, entry.fix)
    assert (problem.fault == "organiser") == ours
    assert teller.redact(problem) == known


def test_an_open_phase_cuts_and_a_wrong_code_is_not_believed(tmp_path: Path) -> None:
    teller = feedback(tmp_path, hidden=False)
    problem = Problem("model_raised", "predict", "w" * 9999, "f" * 9999, "e" * 9999, "x" * 9999)
    told = teller.redact(problem)
    assert {len(text) for text in (told.where, told.found, told.expected, told.fix)} == {LONGEST}
    for code in ("made_up", "settings_value", ""):
        assert teller.redact(replace(problem, code=code, stage="load")).code == "load_failed"


def test_what_cannot_be_printed_is_written_out() -> None:
    record = Problem("model_raised", "predict", "\x1b[2J", "a\u202eb\ud800\x00", "e", "\n").record()
    assert record["where"] == "\\x1b[2J"
    assert record["found"] == "a\\u202eb\\ud800\\x00"
    assert record["fix"] == "\\n"
