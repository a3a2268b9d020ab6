"""Every bad input is named: where it is, what was found, and whose it is; all of them at once."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from score.pipeline import main
from tests.scoring.conftest import Score
from tests.scoring.factory import NAMES, make_case
from tests.scoring.spoil import Change, edit, edit_json, edit_lines, edit_records, remove, swap, write


def swap_picture(root: Path) -> None:
    first, second, *_ = sorted((root / "res" / "images").iterdir())
    size = second.stat().st_size
    first.write_bytes((second.read_bytes() + bytes(size))[: first.stat().st_size])


def edit_label(line: int, column: int, value: str) -> Change:
    def change(text: str) -> str:
        rows = [row.split(",") for row in text.split()]
        rows[line - 1][column] = value
        return "\n".join(",".join(row) for row in rows) + "\n"

    return edit("ref/labels.csv", change)


LABELS = "ref/labels.csv"
SETTINGS = "ref/task.yaml"

CAUSES, PROBES, REPEATS = "ref/causes.json", "res/probes.jsonl", "res/repeats.jsonl"


def causes(change: Callable[[Any], object]) -> Change:
    return edit_json(CAUSES, change)


def clip(change: Callable[[Any], object]) -> Change:
    """Change the causes of the first clip."""
    return causes(lambda content: change(next(iter(content["clips"].values()))))


def call(kind: str, /, **more: Any) -> Change:  # noqa: ANN401 - any JSON
    """Change the first call of a kind."""
    return edit_records(PROBES, lambda calls: next(one for one in calls if one["kind"] == kind).update(more))


def calls(change: Callable[[list[dict[str, Any]]], object]) -> Change:
    return edit_records(PROBES, change)


def two_parts(all_: list[dict[str, Any]]) -> None:
    for one, part in zip([one for one in all_ if one["kind"] == "unit"][:2], ("mouth-1", "mouth-2"), strict=True):
        one.update(unit="mouth", cells=[3], parts=[part])


def repeat(**more: Any) -> Change:  # noqa: ANN401 - any JSON
    """Change the first clip that was asked again as in the first pass."""
    return edit_records(REPEATS, lambda repeats: repeats[0].update(more))


# change, exit code, words of the message
TABLE: dict[str, tuple[Change, int, tuple[str, ...]]] = {
    "no settings": (lambda root: (root / SETTINGS).unlink(), 2, ("task.yaml", "no such file")),
    "settings are no YAML": (write(SETTINGS, "a: [\n"), 2, ("task.yaml", "line")),
    "settings are a list": (write(SETTINGS, "- 1\n"), 2, ("task.yaml", "a mapping")),
    "a key twice": (write(SETTINGS, "task: a\ntask: b\n"), 2, ("yaml, key task", "a duplicate key")),
    "an unknown key": (swap(SETTINGS, "main_target:", "colour: 1\nmain_target:"), 2, ("colour", "unknown key")),
    "main target": (swap(SETTINGS, "main_target: interview", "main_target: luck"), 2, ("main_target", "'luck'")),
    "truth without clips": (swap(SETTINGS, "clips: true", "clips: false"), 2, ("key report.truth",)),
    "range": (swap(SETTINGS, "maximum: 1.0", "maximum: 0.0"), 2, ("targets[0]", "minimum below maximum")),
    "no labels": (lambda root: (root / LABELS).unlink(), 2, ("labels_unreadable",)),
    "empty labels": (write(LABELS, ""), 2, ("labels.csv, line 1", "no column clip_id, source_id")),
    "labels, header only": (edit_lines(LABELS, lambda lines: lines[:1]), 2, ("labels_empty",)),
    "labels in Latin 1": (write(LABELS, b"clip_id,\xe9\n"), 2, ("labels_encoding", "byte 8")),
    "unknown column": (swap(LABELS, "openness", "opennes"), 2, ("'opennes'", "no column openness")),
    "short row": (edit_lines(LABELS, lambda lines: [*lines[:3], "c1,p,0.1\n", *lines[3:]]), 2, ("line 4", "3 cells")),
    "clip twice": (edit_lines(LABELS, lambda lines: [*lines, lines[1]]), 2, ("label_duplicate", "line 6", "line 2")),
    "label missing": (edit_label(3, 4, ""), 2, ("label_missing", "line 3, conscientiousness")),
    "label NaN": (edit_label(4, 2, "nan"), 2, ("label_not_a_number", "line 4, extraversion")),
    "label text": (edit_label(4, 2, "high"), 2, ("label_not_a_number", "line 4, extraversion")),
    "label out of range": (edit_label(5, 7, "1.5"), 2, ("label_out_of_range", "line 5, interview", "0 to 1")),
    "bad clip id": (edit_label(2, 0, "../c"), 2, ("labels_clip_id", "line 2")),
    "no source": (edit_label(2, 1, ""), 2, ("labels_source", "line 2")),
    "clip without label": (edit_lines(LABELS, lambda lines: lines[:-1]), 2, ("label_missing", "no row in labels.csv")),
    "other data": (swap("res/run.json", "test-1", "test-2"), 2, ("version_mismatch", "test-2")),
    "other task": (swap("res/run.json", '"practice"', '"final"'), 2, ("version_mismatch", "final")),
    "no run record": (remove("res/run.json"), 1, ("run.json", "a file that the manifest lacks")),
    "run record is no JSON": (write("res/run.json", "{"), 1, ("run.json", "not JSON")),
    "run record with NaN": (swap("res/run.json", "31.2", "NaN"), 1, ("run.json", "NaN")),
    "manifest is no JSON": (
        lambda root: (root / "res/manifest.json").write_text("[" * 99_999),
        1,
        ("manifest.json", "nesting that is too deep"),
    ),
    "changed after listing": (
        swap("res/predictions.csv", "clip_id", "clip_iD", relist=False),
        1,
        ("predictions.csv", "content that differs"),
    ),
    "a picture changed after listing": (swap_picture, 1, ("images/", "content that differs")),
    "longer than listed": (
        lambda root: (root / "res/log.txt").write_text("a longer log\n"),
        1,
        ("log.txt", "13 bytes instead of 6"),
    ),
    "listed but gone": (lambda root: (root / "res/log.txt").unlink(), 1, ("log.txt", "no regular file")),
    "no predictions": (remove("res/predictions.csv"), 1, ("predictions.csv", "a file that the manifest lacks")),
    "other columns": (swap("res/predictions.csv", "openness", "luck"), 1, ("predictions.csv, line 1",)),
    "prediction NaN": (
        edit_lines("res/predictions.csv", lambda lines: [*lines[:2], "cx,nan,0,0,0,0,0\n", *lines[2:]]),
        1,
        ("predictions.csv, line 3", "not finite"),
    ),
    "prediction out of range": (
        edit_lines("res/predictions.csv", lambda lines: [*lines[:2], "cx,1.2,0,0,0,0,0\n", *lines[2:]]),
        1,
        ("predictions.csv, line 3", "out of range"),
    ),
    "prediction twice": (
        edit_lines("res/predictions.csv", lambda lines: [*lines, lines[1]]),
        1,
        ("predictions.csv, line 6", "duplicate clip"),
    ),
    "record with two equal keys": (
        swap("res/clips.jsonl", '"status": "ok"', '"status": "failed", "status": "ok"'),
        1,
        ("clips.jsonl, line 1", "duplicate key"),
    ),
    "broken record in the middle": (
        edit_lines("res/clips.jsonl", lambda lines: ["{\n", *lines]),
        1,
        ("clips.jsonl, line 1", "not JSON"),
    ),
    "more predictions than clips": (
        edit_lines("res/predictions.csv", lambda lines: [*lines, *(f"z{n},0,0,0,0,0,0\n" for n in range(1036))]),
        1,
        ("predictions.csv", "1041 lines", "at most 1016"),
    ),
    "more explanations than clips": (
        edit_lines(
            "res/explanations.jsonl", lambda lines: [*lines, *(f'{{"clip_id": "z{n}"}}\n' for n in range(1037))]
        ),
        1,
        ("explanations.jsonl", "1041 lines", "at most 1016"),
    ),
    "more calls than clips have": (
        edit_lines("res/probes.jsonl", lambda lines: [*lines, *([lines[0].replace('"c', '"z')] * 3000)]),
        1,
        ("probes.jsonl", "at most 1512"),
    ),
    "unknown status": (swap("res/clips.jsonl", '"ok"', '"fine"'), 1, ("clips.jsonl, line 1", "status")),
    "causes: missing": (remove(CAUSES), 2, ("causes_broken", "FileNotFoundError")),
    "causes: no JSON": (write(CAUSES, "{"), 2, ("causes_broken", "not JSON")),
    "causes: version": (causes(lambda c: c.update(format_version=2)), 2, ("format_version",)),
    "causes: grid": (causes(lambda c: c["grid"].update(rows=0)), 2, ("causes.json, grid",)),
    "causes: bins": (causes(lambda c: c.update(bin_s=0.5)), 2, ("bin_s",)),
    "causes: clip": (causes(lambda c: c["clips"].popitem()), 2, ("causes_missing",)),
    "causes: target": (clip(lambda c: c["contributions"].popitem()), 2, ("contributions",)),
    "causes: cue": (clip(lambda c: c["contributions"]["openness"].update(luck=1)), 2, ("contributions",)),
    "causes: number": (
        clip(lambda c: c["contributions"]["openness"].update(gaze="x")),
        2,
        ("contributions",),
    ),
    "causes: hex": (clip(lambda c: c["space"].update(gaze=["0" * 35])), 2, (", space", "144 bits")),
    "causes: sign": (clip(lambda c: c["space"].update(gaze=["g" * 36])), 2, (", space",)),
    "causes: activity": (clip(lambda c: c["time"].update(gaze=[0, 2])), 2, (", time",)),
    "causes: truth": (clip(lambda c: c["time"].update(gaze=[True])), 2, (", time",)),
    "causes: key": (clip(lambda c: c.update(colour=1)), 2, ("a different structure",)),
    "call: twice": (calls(lambda all_: all_.append(all_[0])), 1, ("same call",)),
    "call: bad id": (call("original", clip_id="../c"), 1, ("clip id",)),
    "call: no kind": (call("original", kind=None), 1, ("no kind",)),
    "call: unknown kind": (call("unit", kind="smell"), 0, ("1 calls of an unknown kind; they were ignored",)),
    "call: again": (call("cue", again=1), 1, ("neither true nor false",)),
    "call: again alone": (call("unit", again=True), 0, ()),
    "call: again twice": (calls(lambda all_: all_.extend([all_[-1] | {"again": True}] * 2)), 1, ("same call",)),
    "call: no cue": (call("cue", cue=None), 1, ("a cue that does not fit",)),
    "call: no unit": (call("unit", unit=None), 1, ("a unit that does not fit",)),
    "call: unit is no text": (call("unit", unit=["mouth"]), 1, ("a unit that does not fit",)),
    "call: a unit too many": (call("cue", unit="mouth"), 1, ("a unit that does not fit",)),
    "call: parts are no list": (call("unit", parts="mouth"), 1, ("not a list of names",)),
    "call: parts without names": (call("unit", parts=[1]), 1, ("not a list of names",)),
    "call: two parts in one place": (calls(two_parts), 0, ()),
    "call: cells backwards": (call("unit", cells=[3, 1]), 1, ("cells or seconds",)),
    "call: cells twice": (call("unit", cells=[3, 3]), 1, ("cells or seconds",)),
    "call: cells are no list": (call("unit", cells=3), 1, ("cells or seconds",)),
    "call: seconds are no numbers": (call("unit", seconds=["1"]), 1, ("cells or seconds",)),
    "call: seconds below 0": (call("unit", seconds=[-1]), 1, ("cells or seconds",)),
    "call: neither place nor time": (call("unit", cells=[], seconds=[]), 1, ("cells or seconds",)),
    "call: only a place": (call("unit", seconds=[]), 0, ()),
    "call: only a time": (call("unit", cells=None), 0, ()),
    "call: a place too many": (call("cue", cells=[3]), 1, ("cells or seconds",)),
    "call: place outside the map": (call("unit", cells=[144]), 1, ("outside the map",)),
    "call: second outside the clip": (call("unit", seconds=[5]), 1, ("outside the map",)),
    "call: beyond every grid": (call("unit", cells=[256 * 256]), 1, ("cells or seconds",)),
    "repeat: bad id": (repeat(clip_id="../c"), 1, ("repeats.jsonl, line 1", "clip id")),
    "repeat: twice": (edit_records(REPEATS, lambda all_: all_.append(all_[0])), 1, ("a duplicate clip",)),
    "repeat: no JSON": (write(REPEATS, "{"), 0, ("repeats.jsonl, line 1", "which was ignored")),
    "repeat: nothing valid": (repeat(prediction=None, explanation=None), 0, ()),
    "repeat: other forms": (repeat(prediction=[0.5], explanation="said"), 0, ()),
    "repeat: stray clip": (repeat(clip_id="cx"), 0, ()),
    "repeat: another map": (
        repeat(explanation={"evidence": {"space": {"rows": 1, "columns": 2, "weights": [[[1, 0]]]}}}),
        0,
        (),
    ),
    "repeat: none": (remove(REPEATS), 0, ()),
    "call: other targets": (call("cue", prediction={"interview": 0.5}), 1, ("targets that differ",)),
    "call: out of range": (call("cue", prediction=dict.fromkeys(NAMES, 2)), 1, ("out of range",)),
    "call: stray clip": (calls(lambda all_: all_[0].update(clip_id="cx")), 0, ("records_stray",)),
    "call: too many": (
        calls(lambda all_: all_.extend([all_[0] | {"kind": "cue", "cue": f"c{n}"} for n in range(17)])),
        1,
        ("more than 16",),
    ),
    "call: failed": (call("cue", prediction=None), 0, ()),
    "call: all asked again": (
        calls(lambda all_: all_.extend([c | {"again": True} for c in all_ if c["clip_id"] == all_[0]["clip_id"]])),
        0,
        (),
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_is_named(score: Score, name: str) -> None:
    change, code, words = TABLE[name]
    done = score(make_case(clips=4), change)
    assert (done.code, (done.out / "scores.json").exists()) == (code, code == 0), done.log
    for word in words:
        assert word in done.log
        assert word in done.page.replace("&#39;", "'")
    assert "Traceback" not in done.log
    assert "internal_error" not in done.log
    assert str(done.out.parent) not in done.log + done.page


@pytest.mark.parametrize("left", [[], ["metadata"]])
def test_nothing_left_is_nobodys_low_score(score: Score, left: list[str]) -> None:
    def empty(root: Path) -> None:
        results = root / "res"
        for path in sorted(results.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        for name in left:
            (results / name).write_text("ingestionExitCode: 137\n")

    done = score(make_case(clips=4), empty)
    assert done.code == 1
    assert "The prediction step left no results." in done.log
    assert ("137" in done.page) == bool(left)


def test_no_results_folder(score: Score) -> None:
    done = score(make_case(clips=4), lambda root: (root / "res").rename(root / "elsewhere"))
    assert (done.code, "left no results" in done.page) == (1, True)


def test_an_organisers_error_is_not_the_participants(score: Score) -> None:
    done = score(make_case(clips=4), run_status("organiser_error", []))
    assert done.code == 2
    assert "The submission was not judged" in done.page


def run_status(status: str, problems: list[dict[str, Any]]) -> Change:
    def change(root: Path) -> None:
        for name in ("predictions.csv", "explanations.jsonl", "clips.jsonl"):
            (root / "res" / name).unlink()
        edit_json("res/run.json", lambda run: run.update(status=status, problems=problems))(root)

    return change


@pytest.mark.parametrize("name", ["predictions.csv", "explanations.jsonl", "clips.jsonl"])
def test_a_last_record_cut_off_costs_that_clip_alone(score: Score, name: str) -> None:
    whole = score(make_case(clips=4)).scores

    done = score(make_case(clips=4), edit(f"res/{name}", lambda text: text[:-9]))
    assert done.code == 0, done.log
    assert done.scores["failed_clips"] == (0 if name == "explanations.jsonl" else 1)
    assert done.scores["coverage"] < whole["coverage"]
    assert f"{name}, line" in done.page


@pytest.mark.parametrize("kind", ["link", "directory link", "fifo"])
def test_special_files_are_refused_without_being_opened(score: Score, kind: str) -> None:
    def swap(root: Path) -> None:
        path = root / "res" / "log.txt"
        if kind == "directory link":
            (root / "res" / "images").rename(root / "pictures")
            (root / "res" / "images").symlink_to(root / "pictures")
            return
        path.unlink()
        if kind == "fifo":
            os.mkfifo(path)
        else:
            (root / "log.txt").write_text("a log\n")
            path.symlink_to(root / "log.txt")

    done = score(make_case(clips=4), swap)
    assert (done.code, "no regular file" in done.log) == (1, True)


@pytest.mark.parametrize(
    "name", ["../ref/labels.csv", "/etc/passwd", "images/../../ref/task.yaml", "a/b/c.txt", ".x", ""]
)
def test_unsafe_paths_are_refused(score: Score, name: str) -> None:
    def add(manifest: Any) -> None:  # noqa: ANN401 - JSON
        manifest["files"][name] = manifest["files"]["log.txt"]

    done = score(make_case(clips=4), edit_json("res/manifest.json", add))
    assert (done.code, "unsafe path" in done.log) == (1, True)
    assert f"manifest.json, {name}".strip() in done.log


@pytest.mark.parametrize(
    "dress",
    [
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\r\n", "\n").replace("\n", "\r\n"),
        lambda text: text.replace("\r\n", "\n").rstrip("\n"),
        lambda text: text.replace("\r\n", "\n") + "\n\n",
    ],
)
def test_labels_from_any_editor_are_read(score: Score, dress: Callable[[str], str]) -> None:
    def change(root: Path) -> None:
        path = root / LABELS
        path.write_bytes(dress(path.read_bytes().decode()).encode())

    before = score(make_case(clips=4)).scores
    assert score(make_case(clips=4), change).scores == before


def test_ids_that_look_like_numbers_stay_texts(score: Score) -> None:
    case = make_case(clips=4)
    case.clip_ids = ["1", "001", "1e0", "NA"]
    assert score(case).scores["failed_clips"] == 0


def test_a_reference_clip_that_was_not_run_counts_as_worst(score: Score) -> None:
    done = score(make_case(clips=4, statuses=["ok", "ok", "ok", "missing"]))
    assert done.scores["failed_clips"] == 1
    assert "clips_missing" in done.log


def test_all_clips_unreadable_is_the_organisers_fault(score: Score) -> None:
    assert score(make_case(clips=2, statuses=["unreadable"] * 2)).code == 2


def test_too_many_arguments() -> None:
    assert main(["a", "b", "c"]) == 2


@pytest.mark.parametrize(
    "points",
    [
        {"start_s": 0},
        [{"start_s": 2, "end_s": 1, "box": None}],
        [{"start_s": 2}],
        [{"start_s": 0, "end_s": 1, "box": [10, 10, 50, 50]}],
        [{"start_s": 0, "end_s": 1, "box": [0.1, 0.1, 0.5]}],
        [{"start_s": 0, "end_s": 1, "note": "smile"}],
    ],
    ids=["no list", "backwards", "no end", "pixels", "three", "unknown"],
)
def test_observations_with_a_mistake_are_named_together_with_causes(score: Score, points: object) -> None:
    case = make_case(clips=3, observations="observations.json")
    case.observations = {"format_version": 1, "clips": {case.clip_ids[0]: points}}
    done = score(case, causes(lambda content: content.update(bin_s=2)))
    assert done.code == 2
    assert "observations_broken" in done.log
    assert "causes_broken" in done.log


NO_SCALES: list[Any] = [
    *(
        {"a": 0},
        {"a": 1, "b": 2},
        {"a": 0, "b": 0},
        {"a": 0, "b": 7, "c": 5},
        {"a": 0, "b": 101},
        {"a": 0, "x" * 21: 5},
    ),
    *({"a": 0, "": 5}, {"a": 0, 7: 5}, {}, [], "good", {str(n): n for n in range(9)}),
]
AXES = ("cue_claims", "faithfulness_space", "known_causes", "faithfulness_time", "text")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"explanation_score": {"power": 2}}, "power"),
        ({"explanation_score": {"gate": 0}}, "gate"),
        ({"explanation_score": {"weights": {"text": 1}}}, "weights.cue_claims"),
        ({"explanation_score": {"weights": dict.fromkeys(AXES, 0.3)}}, "sum is 1.5"),
        ({"explanation_score": {"vocabulary": ["smile", "smile"]}}, "duplicate entry"),
        ({"explanation_score": {"vocabulary": ["Smile!"]}}, "lower-case"),
        ({"explanation_score": {"aliases": {"luck": ["chance"]}}}, "aliases"),
        ({"explanation_score": {"colour": 1}}, "colour"),
        ({"skill_reference": {"luck": 0.1}}, "luck"),
        ({"skill_reference": {"interview": 3}}, "skill_reference.interview"),
        ({"label_noise": {"luck": 0.1, "interview": 3}}, "label_noise.interview"),
        ({"coverage": {"text": 1}}, "coverage"),
        ({"rank_by": "charm"}, "'explanation' or 'prediction'"),
        *(({"explanation_score": {"bands": bands}}, "key explanation_score.bands") for bands in NO_SCALES),
    ],
)
def test_settings_of_the_axes_are_checked(score: Score, settings: dict[str, Any], words: str) -> None:
    done = score(make_case(clips=2, **settings))
    assert (done.code, words in done.log) == (2, True), done.log


def test_a_file_of_causes_lies_beside_the_settings(score: Score) -> None:
    done = score(make_case(clips=2), swap("ref/task.yaml", "causes: causes.json", "causes: ../labels.csv"))
    assert (done.code, "key causes" in done.log) == (2, True), done.log
