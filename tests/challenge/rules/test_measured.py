"""What measured explanations need of a bundle's data: copies, causes, settings of the second pass; and no leak."""

import csv
import hashlib
import json
import re
import shutil
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from bundle_tools.challenge.enough import points_apart
from bundle_tools.challenge.reading.tables import (
    PhaseData,
    fingerprint,
    read_contributions,
    read_copies,
    read_settings,
    vocabulary_of,
)
from bundle_tools.challenge.rules.clips import check_data
from bundle_tools.challenge.rules.phases import FEWEST_PEOPLE, check_probes, check_ranking, check_yardstick
from bundle_tools.codabench.rules.dataset import DataFiles
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.codabench.rules.findings import Finding
from score.read import outcomes
from tests.ingestion.clips import Format, write_clip
from tests.tiny import draft_of, write_files

pytestmark = pytest.mark.usefixtures("decoded_once")
CLIPS = ("c0a1b2c3d4", "c1a1b2c3d4", "c2a1b2c3d4", "c3a1b2c3d4", "c4a1b2c3d4")
CUES = ("smile", "gaze", "clothing")
TARGETS = ("openness", "interview")
FORM = Format(width=64, height=48)
AGREED = {"task": "final", "data_version": "1", "targets": [{"name": name} for name in TARGETS]}
COPIES_HEADER = ["copy_id", "clip_id", "cue", "file", "sha256"]
Mutation = Callable[[Path], object]

BUNDLE = """\
version: 2
title: Measured
pages: [{title: Overview, file: pages/overview.md}]
tasks: [{index: 0, name: Final, input_data: input/, reference_data: reference/}]
solutions: [{index: 0, path: solution/, tasks: [0]}]
phases: [{index: 0, name: Final, tasks: [0], public_data: public/, starting_kit: kit/}]
"""


def copy_id(clip: str, cue: str) -> str:
    return f"c{hashlib.sha256(f'{clip} {cue}'.encode()).hexdigest()[:9]}"


def write_table(path: Path, header: list[str], rows: list[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write both sides of one phase: five clips with a copy for each cue, and causes."""
    root = tmp_path_factory.mktemp("measured")
    given, wanted = root / "input", root / "reference"
    for folder in (given / "clips", given / "copies", wanted):
        folder.mkdir(parents=True)
    clips, copies = [], []
    for number, clip in enumerate(CLIPS):
        # Another length for each clip, so that no two files are the same.
        path = write_clip(given / "clips" / f"{clip}.mp4", 10 + number, FORM)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        clips.append([clip, f"clips/{clip}.mp4", digest])
        for cue in CUES:
            name = copy_id(clip, cue)
            shutil.copy(path, given / "copies" / f"{name}.mp4")
            copies.append([name, clip, cue, f"copies/{name}.mp4", digest])
    write_table(given / "clips.csv", ["clip_id", "file", "sha256"], clips)
    write_table(given / "copies.csv", COPIES_HEADER, copies)
    (given / "transcripts.json").write_text(json.dumps({name: "Hello" for name, *_ in [*clips, *copies]}))
    (given / "task.yaml").write_text(
        yaml.safe_dump(
            {
                **AGREED,
                "clips": "clips.csv",
                "transcripts": "transcripts.json",
                "copies": "copies.csv",
                "limits": {"time_limit_s": 600},
                "explanation": {"evidence": {"cues": list(CUES)}},
                "probes": {
                    "edits": 3,
                    "jitter": {"gain": 0.01, "shift_px": 2, "frames": 1},
                },
            }
        )
    )
    (wanted / "task.yaml").write_text(
        yaml.safe_dump(
            {
                **AGREED,
                "causes": "causes.json",
                "observations": "observations.json",
                "skill_reference": {"interview": 0.03},
                "explanation_score": {"power": 0.5, "vocabulary": list(CUES), "bands": {"fair": 0, "good": 50}},
                "report": {"truth": False},
            }
        )
    )
    rows = [
        [clip, f"s{at}", f"{0.31459 + 0.0713 * at:.4f}", f"{0.72 - 0.0577 * at:.4f}"] for at, clip in enumerate(CLIPS)
    ]
    write_table(wanted / "labels.csv", ["clip_id", "source_id", *TARGETS], rows)
    (wanted / "causes.json").write_text(json.dumps({"clips": {clip: causes(at) for at, clip in enumerate(CLIPS)}}))
    seen = [{"start_s": 0.0, "end_s": 0.4, "box": None}]
    (wanted / "observations.json").write_text(json.dumps({"clips": dict.fromkeys(CLIPS, seen)}))
    return root


def causes(at: int) -> dict[str, Any]:
    def share(target: int, cue: int) -> float:
        return round(((at + 1) * (17 + 29 * target) * (7 + 13 * cue) % 211 - 105) / 1000 + 0.000123, 6)

    table = {name: {cue: share(j, k) for k, cue in enumerate(CUES[:2])} for j, name in enumerate(TARGETS)}
    return {"contributions": table, "space": {}, "time": {}}


@pytest.fixture
def phase(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "phase"))


def findings(phase: Path) -> list[Finding]:
    return list(check_data(draft_of(write_files(phase, {"competition.yaml": BUNDLE}))))


def codes(phase: Path) -> set[str]:
    return {finding.code for finding in findings(phase)}


def test_a_sound_phase_has_no_finding(phase: Path) -> None:
    assert findings(phase) == []


def settings(side: str, change: Callable[[dict[str, Any]], object]) -> Mutation:
    def mutate(phase: Path) -> None:
        path = phase / side / "task.yaml"
        content = yaml.safe_load(path.read_text())
        change(content)
        path.write_text(yaml.safe_dump(content))

    return mutate


def copies(change: Callable[[list[list[str]]], object]) -> Mutation:
    """Change the rows of the list; the first one is the header."""

    def mutate(phase: Path) -> None:
        path = phase / "input" / "copies.csv"
        rows = [line.split(",") for line in path.read_text().splitlines()]
        change(rows)
        write_table(path, rows[0], rows[1:])

    return mutate


def knowledge(name: str, change: Callable[[dict[str, Any]], object]) -> Mutation:
    def mutate(phase: Path) -> None:
        path = phase / "reference" / name
        content = json.loads(path.read_text())
        change(content["clips"])
        path.write_text(json.dumps(content))

    return mutate


def first_copy(phase: Path) -> Path:
    return phase / "input" / "copies" / f"{copy_id(CLIPS[0], CUES[0])}.mp4"


def replace_copy(frames: int, form: Format) -> Mutation:
    def mutate(phase: Path) -> None:
        path = first_copy(phase)
        path.unlink()
        digest = hashlib.sha256(write_clip(path, frames, form).read_bytes()).hexdigest()
        copies(lambda rows: rows[1].__setitem__(4, digest))(phase)

    return mutate


def board(*keys: str, primary: int = 0) -> ParsedBundle:
    columns = [{"index": index, "key": key} for index, key in enumerate(keys)]
    return ParsedBundle(Path(), {"leaderboards": [{"primary_index": primary, "columns": columns}]}, {}, folder=True)


def rankings(phase: Path, draft: ParsedBundle, count: int = len(CLIPS)) -> set[str]:
    """Check what a board can tell, as if the clips of the phase were so many."""
    sides = (DataFiles(phase / name) for name in ("input", "reference"))
    inputs, reference = (PhaseData("side/", one, read_settings(one) or {}) for one in sides)
    clips = [*CLIPS, *(f"more{number}" for number in range(count))][:count]
    return {finding.code for finding in check_ranking(draft, inputs, reference, clips)}


def with_exchanges(phase: Path, *clips: str, parts: Sequence[dict[str, str]] = (), **more: object) -> None:
    content = {"format_version": 2, "clips": {clip: {"parts": parts, **more} for clip in clips}}
    (phase / "input/exchanges.json").write_text(json.dumps(content))
    settings("input", lambda content: content.update(exchanges="exchanges.json"))(phase)


def test_explanations_rank_only_where_altered_clips_cannot_be_recognised(phase: Path) -> None:
    by_explanation, by_skill = board("explanation", "skill"), board("explanation", "skill", primary=1)
    assert "ranks-filmed" in rankings(phase, by_explanation)
    assert rankings(phase, by_skill) == rankings(phase, board("skill", "explanation")) == set()
    with_exchanges(phase, *CLIPS[1:])
    assert "ranks-filmed" in rankings(phase, by_explanation)
    with_exchanges(phase, *CLIPS)
    assert "ranks-filmed" not in rankings(phase, by_explanation)
    with_exchanges(phase, *CLIPS, first={"file": "exchanges/a.mp4"})  # filmed, and not measured
    assert "ranks-filmed" in rankings(phase, by_explanation)
    with_exchanges(phase, *CLIPS)
    (phase / "input/exchanges.json").write_text("[")
    assert "ranks-filmed" in rankings(phase, by_explanation)
    settings("input", lambda content: content.pop("probes"))(phase)
    assert rankings(phase, by_explanation) == set()


def test_a_closed_phase_with_few_clips_is_warned_of(phase: Path) -> None:
    draft = board("explanation")
    assert "ranks-few" in rankings(phase, draft, 119)
    assert "ranks-few" not in rankings(phase, draft, 120)
    settings("reference", lambda content: content.update(report={"truth": True}))(phase)
    assert "ranks-few" not in rankings(phase, draft)


def yardsticks(phase: Path, clips: Collection[str] = CLIPS) -> set[str]:
    sides = (DataFiles(phase / name) for name in ("input", "reference"))
    inputs, reference = (PhaseData("side/", one, read_settings(one) or {}) for one in sides)
    return {finding.code for finding in check_yardstick(inputs, reference, clips)}


def same_people(phase: Path, *sources: str) -> None:
    """Give clips of these people to the first one."""
    labels = phase / "reference" / "labels.csv"
    labels.write_text(re.sub("|".join(sources), "s0", labels.read_text()))


def test_too_few_people_to_tell_what_is_always_so_are_found(phase: Path) -> None:
    assert yardsticks(phase, CLIPS[:3]) == set()  # nothing is exchanged
    with_exchanges(phase, *CLIPS, parts=[{"name": "mouth"}, {"name": "eyes"}])
    assert yardsticks(phase) == yardsticks(phase, CLIPS[:4]) == set()
    assert yardsticks(phase, CLIPS[:3]) == {"yardstick-people"}  # two clips of one person are one
    same_people(phase, "s1")
    assert yardsticks(phase) == set()
    assert yardsticks(phase, CLIPS[:4]) == {"yardstick-people"}
    settings("input", lambda content: content.pop("probes"))(phase)
    assert yardsticks(phase, CLIPS[:3]) == set()
    assert FEWEST_PEOPLE == outcomes.FEWEST_PEOPLE


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        (["mouth-1", "mouth-2"], {"yardstick-kinds"}),
        (["mouth"], {"yardstick-kinds"}),
        (["mouth", "thing-2"], set()),
        ([], set()),  # another rule's mistake
    ],
)
def test_parts_of_one_kind_are_found(phase: Path, parts: list[str], found: set[str]) -> None:
    named = [{"name": name} for name in parts]
    with_exchanges(phase, *CLIPS, parts=named)
    assert yardsticks(phase) == found
    with_exchanges(phase, *CLIPS[1:], parts=named)  # the other clip is left out
    assert yardsticks(phase) == found
    with_exchanges(phase, *CLIPS, parts=[*named, {"name": "mouth"}], joins_s=[1.0])
    assert yardsticks(phase) == set()


@pytest.mark.parametrize("value", [None, 1, "text", [], {}, {"parts": 1}, {"parts": [1, {"name": 2}]}])
def test_rubbish_in_exchanges_has_no_kind(phase: Path, value: object) -> None:
    content = {"format_version": 2, "clips": dict.fromkeys(CLIPS, value)}
    (phase / "input/exchanges.json").write_text(json.dumps(content))
    settings("input", lambda content: content.update(exchanges="exchanges.json"))(phase)
    assert yardsticks(phase) == set()


# 510 s of 600 s: 150 clips of 11 calls leave 0.31 s for a call, the example takes 0.08 s; 600 clips leave 0.077 s.
@pytest.mark.parametrize(("clips", "severity"), [(24, None), (150, "note"), (600, "warning")])
def test_how_long_a_phase_takes_is_told(phase: Path, clips: int, severity: str | None) -> None:
    given = DataFiles(phase / "input")
    found = list(check_probes(PhaseData("input/", given, read_settings(given) or {}), clips))
    assert [finding.severity for finding in found] == ([] if severity is None else [severity])
    if clips == 150:
        assert "1650 calls of a model in 510 s, 0.31 s for each" in found[0].what
        assert "takes 132 s" in found[0].what


# 2 * 22 / sqrt(n): 44 / 4.90, 44 / 7.75, 44 / 10.95, 44 / 15.49.
@pytest.mark.parametrize(("clips", "points"), [(1, 44.0), (24, 8.98), (60, 5.68), (120, 4.02), (240, 2.84)])
def test_which_difference_counts(clips: int, points: float) -> None:
    assert points_apart(clips) == pytest.approx(points, abs=0.01)
    assert points_apart(4 * clips) == pytest.approx(points_apart(clips) / 2)


BROKEN: list[tuple[str, Mutation]] = [
    ("clip-unreadable", lambda phase: first_copy(phase).write_bytes(b"no video")),
    ("clip-form", replace_copy(10, replace(FORM, codec="mpeg4"))),
    ("copies-extra", lambda phase: shutil.copy(first_copy(phase), phase / "input/copies/more.mp4")),
    ("clip-tags", replace_copy(10, replace(FORM, comment="without the smile"))),
    ("copy-differs", replace_copy(11, FORM)),
    ("copy-differs", replace_copy(10, replace(FORM, late_sound_s=0.5))),
    ("copy-differs", replace_copy(10, Format(width=80, height=48))),
    ("probes-missing", settings("input", lambda content: content.pop("probes"))),
    ("probes-time", settings("input", lambda content: content["limits"].update(time_limit_s=60))),
    ("probes-operators", settings("input", lambda content: content["probes"].update(operators=["blur"]))),
    ("causes-clips", knowledge("causes.json", lambda clips: clips.update(c999999999=causes(7)))),
    ("causes-clips", knowledge("observations.json", lambda clips: clips.update(c999999999=[]))),
    ("score-vocabulary", settings("reference", lambda content: content["explanation_score"].update(vocabulary=["x"]))),
]


@pytest.mark.parametrize(("code", "mutate"), BROKEN)
def test_every_mistake_is_found(phase: Path, code: str, mutate: Mutation) -> None:
    mutate(phase)
    assert code in codes(phase)


ALLOWED: list[Mutation] = [
    settings("input", lambda content: [content.pop(key) for key in ("probes", "copies")]),
    settings("input", lambda content: content["probes"].update(edits=0)),
    settings("reference", lambda content: [content.pop(key) for key in ("causes", "observations", "skill_reference")]),
    settings("reference", lambda content: content.pop("explanation_score")),
    knowledge("observations.json", lambda clips: clips.pop(CLIPS[0])),
]


@pytest.mark.parametrize("mutate", ALLOWED)
def test_what_is_optional_may_be_left_out(phase: Path, mutate: Mutation) -> None:
    mutate(phase)
    assert [finding for finding in findings(phase) if finding.code != "copies-extra"] == []


@pytest.mark.parametrize("value", [None, 1, True, "text", [], {}, [[]], -0.5, float("nan")])
def test_rubbish_in_the_settings_is_a_finding_never_a_traceback(phase: Path, value: object) -> None:
    sides = {
        "input": ("probes", "copies", "faces", "explanation", "limits", "transcripts"),
        "reference": ("causes", "observations", "explanation_score", "skill_reference", "targets"),
    }
    for side, keys in sides.items():
        for key in keys:
            path = phase / side / "task.yaml"
            kept = path.read_text()
            settings(side, lambda content, key=key: content.update({key: value}))(phase)  # type: ignore[misc]
            findings(phase)
            path.write_text(kept)
    for key in ("operators", "edits", "jitter"):
        settings("input", lambda content, key=key: content["probes"].update({key: value}))(phase)  # type: ignore[misc]
        findings(phase)
    (phase / "reference/causes.json").write_text(
        json.dumps({"clips": {CLIPS[0]: value, CLIPS[1]: {"contributions": value}}})
    )
    findings(phase)
    read_contributions(DataFiles(phase / "reference"))


def test_a_retired_key_makes_no_baseline_stale(phase: Path) -> None:
    def known() -> str:
        return fingerprint(DataFiles(phase / "input"), DataFiles(phase / "reference"))

    before = known()
    settings("input", lambda content: content["probes"].update(operators=["blur"]))(phase)
    assert known() == before
    settings("input", lambda content: content["probes"].update(edits=2))(phase)
    assert known() != before


def test_small_files_are_read_however_wrong_they_are(phase: Path) -> None:
    assert vocabulary_of({"explanation": {"evidence": {"cues": "smile"}}}) == []
    assert vocabulary_of({"explanation": []}) == []
    data = DataFiles(phase / "input")
    assert len(read_copies(data)) == len(CLIPS) * len(CUES)
    (phase / "input/copies.csv").write_text("copy_id\nx,y\n")
    assert read_copies(data) == []
    table = read_contributions(DataFiles(phase / "reference"))
    assert {len(row) for row in table.values()} == {2 * len(TARGETS)}
    assert table[CLIPS[0]][0] == causes(0)["contributions"]["openness"]["smile"]
