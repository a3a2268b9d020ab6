"""Readers of what others wrote answer rubbish with the declared errors, soon, and without eating memory."""

import copy
import hashlib
import json
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from score.errors import Problem, ScoringError
from score.landmarks import read_key_frames, read_landmarks
from score.read.known import read_causes, read_observations
from score.read.manifest import open_results
from score.read.records import read_clips, read_explanations, read_predictions, read_probe_calls, read_repeats
from score.read.reference import Reference, read_groups, read_jury, read_reference
from score.read.run import WorkerNotes, read_run, read_worker_notes
from score.settings import Settings, read_settings
from score.visible import one_line
from tests.scoring.conftest import run_scoring
from tests.scoring.factory import (
    full_explanation,
    honest_probes,
    honest_repeats,
    known_causes,
    make_case,
    make_input,
    recorded,
    run_record,
    task_settings,
    write_manifest,
)

LONGEST_S = 20.0
MOST_BYTES = 100_000_000
quick = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])

NASTY_TEXT = [
    "",
    "\x00",
    "\ud800",
    "\u202eabc",
    "\ufeff",
    "a\nb",
    "=1+1",
    "../x",
    "<b>",
    "é" * 500,
    "9" * 5000,
    "1e999",
    "nan",
]
TEXTS = st.one_of(st.text(max_size=20), st.sampled_from(NASTY_TEXT))
NUMBERS = st.one_of(
    st.integers(),
    st.floats(),
    st.sampled_from([10**400, -(10**400), 2**63, -0.0, 1e308, 5e-324, float("inf"), float("nan")]),
)
LEAVES = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)
LABELLED = Reference(("c1",), np.zeros(1, np.int64), ("p1",), np.zeros((1, 6)))
DEEP = b"[" * 100_000
RAW: list[Any] = [
    b"",
    b"\x00",
    b"\xff\xfe{\x00}\x00",
    DEEP,
    b'{"a":' * 50_000,
    b'{"a": ' + b"9" * 1_000_000 + b"}",
    b'{"a": 1e999}',
    b'{"a": NaN}',
    b'{"a": 1, "a": 2}',
    b'{"a": "\\ud800"}',
    b"{" + b" " * 5_000_000 + b"}",
    b"\xef\xbb\xbf{}",
    pytest.param(b"a,b\n" * 50_000, marks=pytest.mark.slow),
    b'"' + b"x" * 1_000_000,
    pytest.param(b"\n" * 100_000, marks=pytest.mark.slow),
    b"\r" * 100_000,
]


@contextmanager
def bounded() -> Iterator[None]:
    """Fail when what is inside takes long or much memory; how busy the machine is does not count."""
    tracemalloc.start()
    begun = time.process_time()
    try:
        yield
        seconds, (_, peak) = time.process_time() - begun, tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert seconds < LONGEST_S
    assert peak < MOST_BYTES


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return read_settings(make_input(tmp_path_factory.mktemp("known"), make_case(clips=2)) / "ref" / "task.yaml")


def mutated(example: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401 - any JSON
    """The example with one value, at any depth, replaced, removed, or put under another key."""
    places = list(_places(example))

    @st.composite
    def change(draw: st.DrawFn) -> Any:  # noqa: ANN401
        result = copy.deepcopy(example)
        for _ in range(draw(st.integers(1, 3))):
            *path, last = draw(st.sampled_from(places))
            inner = result
            try:
                for step in path:
                    inner = inner[step]
                if draw(st.booleans()):
                    inner[last] = draw(VALUES)
                elif isinstance(inner, dict):
                    inner[draw(TEXTS)] = inner.pop(last)
                else:
                    del inner[last]
            except (KeyError, IndexError, TypeError):  # an earlier change has taken the place away
                continue
        return result

    return change()


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from _places(inner, (*path, key))


def encode(value: object) -> bytes:
    return json.dumps(value).replace("Infinity", "1e999").encode()


EXAMPLES: dict[str, dict[str, Any]] = {
    "clip": {"clip_id": "c1", "status": "ok", "predict_s": 0.1, "problems": [recorded("a", "run")]},
    "explanation": {"clip_id": "c1"} | full_explanation("c1"),
    "probe": next(call for call in honest_probes(make_case(clips=2)) if call["kind"] == "twin") | {"clip_id": "c1"},
    "unit": next(call for call in honest_probes(make_case(clips=2)) if call["kind"] == "unit") | {"clip_id": "c1"},
    "repeat": honest_repeats(make_case(clips=2))[0] | {"clip_id": "c1"},
    "run": run_record(make_case(clips=2))
    | {"problems": [recorded("a", "run")], "determinism": {"clips": 2, "identical": 1, "largest_difference": 0.1}},
}


def fit(line: str) -> bool:
    """Whether a line of the log holds nothing hidden and can be printed."""
    return line.encode().decode() == one_line(line, 1000)


def read_all(data: bytes, known: Settings) -> None:
    """Every reader of bytes, on the same bytes; each problem must be fit for a log."""
    for read in (read_clips, read_predictions):
        problems: list[Problem] = []
        read(data, known, problems)
        assert all(fit(problem.line()) for problem in problems)
    problems = []
    explained = read_explanations(data, known, frozenset(), problems)
    for explanation in explained.values():
        one_line(explanation.text, 100).encode()
    problems = []
    for calls in read_probe_calls(data, known, explained, problems).values():
        assert 0 < len(calls) <= 12
        assert all(call.prediction is None or len(call.prediction) == 6 for call in calls)
    assert all(fit(problem.line()) for problem in problems)
    problems = []
    for repeat in read_repeats(data, known, problems).values():
        assert repeat.prediction is None or len(repeat.prediction) == 6
    assert all(fit(problem.line()) for problem in problems)
    problems = []
    try:
        run = read_run(data, known, problems)
    except ScoringError as error:
        problems = list(error.problems)
    else:
        assert (run is None) == bool(problems)
        for problem in run.problems if run else ():
            assert fit(problem.line())
        for _, value in run.details if run else ():
            one_line(value, 400).encode()
    assert len(problems) < 10


@pytest.mark.parametrize("data", RAW, ids=range(len(RAW)))
def test_raw_rubbish_in_every_record(known: Settings, data: bytes, tmp_path: Path) -> None:
    with bounded():
        read_all(data, known)
    root = make_input(tmp_path, make_case(clips=2))
    for name in (
        "manifest.json",
        "run.json",
        "clips.jsonl",
        "predictions.csv",
        "probes.jsonl",
        "repeats.jsonl",
        "metadata",
    ):
        path = root / "res" / name
        before = path.read_bytes() if path.exists() else b""
        path.write_bytes(data)
        if name not in ("manifest.json", "metadata"):
            write_manifest(root / "res")
        done = run_scoring(root, tmp_path / "output")
        # Without calls, or with the last one cut off, the second pass was not reached, or nothing was asked again.
        good = {"metadata": (0,), "probes.jsonl": (0, 1), "repeats.jsonl": (0, 1)}.get(name, (1,))
        assert done.code in good, done.log
        assert "internal_error" not in done.log
        path.write_bytes(before)
        write_manifest(root / "res")


@given(data=st.one_of(st.binary(max_size=200), VALUES.map(encode)))
@quick
def test_random_bytes_and_random_json(known: Settings, data: bytes) -> None:
    with bounded():
        read_all(data, known)


@pytest.mark.parametrize("example", EXAMPLES)
def test_mutated_records(known: Settings, example: str) -> None:
    @given(value=mutated(EXAMPLES[example]))
    @quick
    def check(value: object) -> None:
        read_all(encode(value) + b"\n", known)

    check()


@given(cells=st.lists(st.one_of(TEXTS, NUMBERS.map(str)), max_size=9))
@quick
def test_random_rows_of_predictions(known: Settings, cells: list[str]) -> None:
    row = ",".join(cells).encode("utf-8", "surrogatepass")
    problems: list[Problem] = []
    head = ",".join(["clip_id", *known.names]).encode()
    predictions = read_predictions(head + b"\n" + row + b"\n", known, problems)
    assert all(len(values) == 6 and all(0 <= value <= 1 for value in values) for values in predictions.values())
    assert predictions or problems


def declared(read: Callable[[], object]) -> bool:
    """Reading either works or raises problems that a log can hold and that are not endless; tell whether it does."""
    with bounded():
        try:
            read()
        except ScoringError as error:
            assert error.problems
            for problem in error.problems:
                assert fit(problem.line())
            return True
    return False


@given(
    value=mutated(
        {
            "format_version": 2,
            "files": {"run.json": {"bytes": 2, "sha256": hashlib.sha256(b"{}").hexdigest()}},
            "seal": None,
        }
    )
)
@quick
def test_mutated_manifests(value: object, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    (tmp_path / "manifest.json").write_bytes(encode(value))
    for key in (None, bytes(32)):
        declared(lambda: open_results(tmp_path, key))  # noqa: B023 - called at once


@given(value=mutated(known_causes(["c1", "c2"])))
@quick
def test_mutated_causes(known: Settings, value: object, tmp_path: Path) -> None:
    (tmp_path / "causes.json").write_bytes(encode(value))
    declared(lambda: read_causes(tmp_path / "causes.json", known, ["c1", "c2"]))


@given(
    value=mutated({"format_version": 1, "clips": {"c1": [{"start_s": 0, "end_s": 1.5, "box": [0.1, 0.2, 0.3, 0.4]}]}})
)
@quick
def test_mutated_observations(value: object, tmp_path: Path) -> None:
    (tmp_path / "observations.json").write_bytes(encode(value))
    declared(lambda: read_observations(tmp_path / "observations.json", ["c1"]))


@pytest.mark.parametrize("data", RAW, ids=range(len(RAW)))
def test_raw_rubbish_as_reference_data(known: Settings, data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_bytes(data)
    readers: tuple[Callable[[], object], ...] = (
        lambda: read_causes(path, known, ["c1"]),
        lambda: read_observations(path, ["c1"]),
        lambda: read_reference(path, known),
        lambda: read_groups(path, known, LABELLED),
        lambda: read_landmarks(tmp_path, replace(known, landmarks="known.json")),
        lambda: read_jury(path),
    )
    for read in readers:
        assert declared(read)
    with bounded():
        assert read_key_frames(tmp_path, "known.json", ["c1"]).problems


def few_targets() -> dict[str, Any]:
    """Settings in which every kind of entry stands, but not six times."""
    weights = dict.fromkeys(("cue_claims", "faithfulness_space", "known_causes", "faithfulness_time", "text"), 0.2)
    aliases = {"smile": ["dimples"]}
    judging = {"weights": weights, "power": 0.5, "gate": 0.1, "vocabulary": ["smile", "gaze"], "aliases": aliases}
    whole = task_settings(explanation_score=judging, observations="observations.json")
    names = ["openness", "interview"]
    return whole | {
        "targets": whole["targets"][-2:],
        "group": whole["group"] | {"targets": names[:1]},
        "skill_reference": dict.fromkeys(names, 0.035),
    }


def test_the_settings_that_are_mutated_are_right(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(yaml.safe_dump(few_targets()))
    assert read_settings(tmp_path / "task.yaml").names == ("openness", "interview")


@given(value=mutated(few_targets()))
@quick
def test_mutated_settings(value: object, tmp_path: Path) -> None:
    path = tmp_path / "task.yaml"
    path.write_bytes(encode(value))  # JSON is YAML
    declared(lambda: read_settings(path))


YAML_BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
YAML_RUBBISH = [
    *('!!int ""', '!!float ""', "!!bool x", "!!timestamp x", "!!binary é", "!!set [a]"),
    *("!!omap {a: 1}", "!!python/name:os.system"),
    *("? [a]: b", "&a [*a]", "&a {b: *a}", "*a", "a: 0x" + "f" * 50_000),
    *("a: " + "9" * 5000, "0001-01-01T00:00:00+23:00"),
    *("[" * 1000, "a: " * 1500, "- " * 5000, "\t", "%YAML 9.9\n---\n", "---\n---\n", "\x00", "\ud7ff"),
    *("a: |\n" + "x" * 2**21, "{a: 1, a: 2}", 'targets: !!int ""', "task: 0x" + "f" * 50_000),
    *(YAML_BOMB, YAML_BOMB + "task: *i\ntargets: *i\n"),
]


@pytest.mark.parametrize("text", YAML_RUBBISH, ids=range(len(YAML_RUBBISH)))
def test_yaml_rubbish(text: str, tmp_path: Path) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(text)
    assert declared(lambda: read_settings(path))
    (tmp_path / "metadata").write_text(text)
    with bounded():
        assert read_worker_notes(tmp_path) == WorkerNotes()


@given(text=st.one_of(st.text(max_size=200), TEXTS), data=st.binary(max_size=200))
@quick
def test_random_settings_and_worker_metadata(text: str, data: bytes, tmp_path: Path) -> None:
    for content in (
        text.encode("utf-8", "surrogatepass"),
        data,
        b"ingestionExitCode: " + data,
        b"ingestionExitCode: " + b"9" * len(data),
    ):
        (tmp_path / "task.yaml").write_bytes(content)
        declared(lambda: read_settings(tmp_path / "task.yaml"))
        (tmp_path / "metadata").write_bytes(content)
        for _, value in read_worker_notes(tmp_path).facts:
            assert len(value) < 20


@given(
    rows=st.lists(st.lists(st.one_of(TEXTS, NUMBERS.map(str)), max_size=9), max_size=5),
    head=st.one_of(st.just("clip_id,source_id,{}"), st.text(max_size=60)),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
)
@quick
def test_random_labels(known: Settings, rows: list[list[str]], head: str, end: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    lines = [head.replace("{}", ",".join(known.names)), *(",".join(row) for row in rows)]
    path.write_bytes(end.join(lines).encode("utf-8", "surrogatepass"))
    declared(lambda: read_reference(path, known))
