"""Figures on pages: each follows from the setting, table or program that it is about, in any bundle."""

import contextlib
import csv
import itertools
import re
import shutil
from collections.abc import Iterator, Sequence
from copy import deepcopy as copy_of
from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import StrictUndefined

from bundle_tools.challenge.compare.bands import ABOVE
from bundle_tools.challenge.coopetition import PASSED_ON
from bundle_tools.challenge.pages import figures as page_figures
from bundle_tools.challenge.pages.phase import FigureError
from bundle_tools.challenge.pages.write import open_bundle
from bundle_tools.challenge.rules.phases import MOST_EDITS, UNITS, altered_calls
from bundle_tools.errors import BundleError
from ingest import limits, settings, submission
from ingest.probes import plan
from score.columns import columns
from score.order import SMALLEST_EFFECT
from score.settings import read_settings
from score.text.claims import BANDS
from tests import ROOT
from tests.tiny import THIRDS, write_files

pytestmark = pytest.mark.usefixtures("asked_in_a_fork")
PHASES = ("practice", "final")
TASK, REFERENCE = "input_data/{}/task.yaml", "reference_data/{}/task.yaml"


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small files of this repository's bundle, one clip a phase."""
    root = tmp_path_factory.mktemp("texts")
    names = ["competition.yaml", "ingestion_program/requirements.lock"]
    for phase in PHASES:
        names += [f"input_data/{phase}/{name}" for name in ("task.yaml", "clips.csv", "copies.csv")]
        names += [f"reference_data/{phase}/{name}" for name in ("task.yaml", "labels.csv", "landmarks.json")]
        with (ROOT / "input_data" / phase / "clips.csv").open() as file:
            names.append(f"input_data/{phase}/{next(csv.DictReader(file))['file']}")
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    (root / "scoring_program").symlink_to(ROOT / "scoring_program")
    return root


@pytest.fixture
def copy(texts: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(texts, tmp_path / "copy", symlinks=True))


def figures(root: Path) -> dict[str, Any]:
    return page_figures.figures(open_bundle(root))


def edit(root: Path, file: str, old: str, new: str, phases: Sequence[str] = PHASES) -> None:
    for name in {file.format(phase) for phase in phases}:
        text = (root / name).read_text()
        assert old in text, name
        (root / name).write_text(text.replace(old, new, 1))


CHANGED = [
    (TASK, "call_s: 30", "call_s: 45"),
    (TASK, "load_s: 60", "load_s: 1500"),
    (TASK, "memory_mb: 4096", "memory_mb: 1536"),
    (TASK, "time_limit_s: 600", "time_limit_s: 1200"),
    (TASK, "edits: 3", "edits: 1"),
    (TASK, "gain: 0.01", "gain: 0.025"),
    (TASK, "maximum_chars: 1200", "maximum_chars: 800"),
    (TASK, "width: 355", "width: 1280"),
    (TASK, "rows: 9", "rows: 12"),
    (REFERENCE, "cue_claims: 0.37", "cue_claims: 0.5"),
    (REFERENCE, "known_causes: 0.21", "known_causes: 0.08"),
    (REFERENCE, "resamples: 1000", "resamples: 250"),
    (REFERENCE, "level: 0.95", "level: 0.9"),
    (REFERENCE, "gate: 0.1", "gate: 0.15"),
    (REFERENCE, "fair: 25", "fair: 30"),
    ("competition.yaml", "max_submissions_per_day: 10", "max_submissions_per_day: 25"),
    ("competition.yaml", "max_submissions: 6", "max_submissions: 0"),
    ("competition.yaml", "2027-03-15 12:00", "2027-04-01 08:30"),
    ("competition.yaml", "python:3.11.14-slim-bookworm", "python:3.12.1"),
    ("competition.yaml", "name: Practice\n    description: Try", "name: Round 1.5\n    description: Try"),
]
BEFORE_AND_AFTER = {
    "call_s": ("30", "45"), "load_s": ("60", "1,500"), "restarts": ("5", "5"),
    "memory_gb": ("4", "1.5"), "submission_mb": ("500", "500"), "time_limit_s": ("600", "1,200"),
    "working_time_s": ("510", "1,020"), "second_per_call": ("1.9", "4.7"), "edits": ("3", "1"), "calls": ("9", "7"),
    "calls_all": ("11", "9"), "jitter_percent": ("1", "2.5"), "jitter_px": ("2", "2"), "text_max": ("1,200", "800"),
    "image_width": ("355", "1280"), "grid_rows": ("9", "12"), "clips": ("24", "24"), "copies_per_clip": ("3", "3"),
    "clip_s": ("5", "5"), "clip_fps": ("25", "25"), "clip_width": ("640", "640"), "points_of_cue_claims": ("14", "25"),
    # (0.5 √0.7 + 0.08 √½ + 0.05)² = 0.276
    "points_words": ("26", "28"), "resamples": ("1,000", "250"), "level_percent": ("95", "90"), "gate": ("0.1", "0.15"),
    "bands": tuple(f"*weak* from 5, *fair* from {fair}, *good* from 65 and *excellent* from 75" for fair in (25, 30)),
    "jury_highest": ("5", "5"), "python": ("3.11", "3.12"),
    "docker_image": ("python:3.11.14-slim-bookworm", "python:3.12.1"),
    "submissions_in_all": ("200 (Practice) or 6 (Final)", "200 (Round 1.5) or unlimited (Final)"),
}  # fmt: skip


def test_figures_follow_what_they_tell_of(texts: Path, copy: Path) -> None:
    for change in CHANGED:
        edit(copy, *change)
    before, after = figures(texts), figures(copy)
    assert {name: (before[name], after[name]) for name in BEFORE_AND_AFTER} == BEFORE_AND_AFTER
    ends = [each["phases"]["final"]["end"] for each in (before, after)]
    assert ends == ["2027-03-15 12:00", "2027-04-01 08:30"]
    assert after["phases"]["round-1.5"]["submissions_per_day"] == "25"
    axes = [{axis["key"]: (axis["share"], axis["lost"]) for axis in each["axes"]} for each in (before, after)]
    assert [each["cue_claims"] for each in axes] == [("0.37", "60"), ("0.50", "75")]
    assert axes[1]["text"] == ("0.05", "10")


@pytest.mark.parametrize(
    ("image", "python"), [("codalab/codalab-legacy:py37", "3.7"), ("you/cobra:3.99", "3.11"), ("python:3.13", "3.13")]
)
def test_the_python_of_an_image_of_ones_own_is_that_of_the_dockerfile(copy: Path, image: str, python: str) -> None:
    edit(copy, "competition.yaml", "python:3.11.14-slim-bookworm", image)
    assert figures(copy)["python"] == python


def test_without_known_causes_the_other_weights_grow(copy: Path) -> None:
    edit(copy, REFERENCE, "causes: causes.json\n", "")
    found = figures(copy)
    assert {axis["key"]: axis["share"] for axis in found["axes"]}.items() >= {("cue_claims", "0.468")}
    assert "known_causes" not in {item["key"] for item in (*found["axes"], *found["columns"])}
    assert found["points_of_cue_claims"] == "22"


def test_phases_that_differ_are_named_with_both_values(copy: Path) -> None:
    for name in ("input_data/practice/clips.csv", "reference_data/practice/labels.csv"):
        (copy / name).write_text("\n".join((copy / name).read_text().splitlines()[:4]) + "\n")
    kept = {line.split(",")[0] for line in (copy / "input_data/practice/clips.csv").read_text().splitlines()}
    copies = copy / "input_data/practice/copies.csv"
    rows = copies.read_text().splitlines()
    copies.write_text("\n".join(row for row in rows if row != next(row for row in rows if row.split(",")[1] in kept)))
    edit(copy, REFERENCE, "cue_claims: 0.37", "cue_claims: 0.30", ["final"])
    edit(copy, REFERENCE, "text: 0.05", "text: 0.12", ["final"])
    found = figures(copy)
    assert (found["clips"], found["last"]["clips"]) == ("3 (Practice) or 24 (Final)", "24")
    assert found["copies_per_clip"] == "2 to 3 (Practice) or 3 (Final)"
    with pytest.raises(FigureError, match=r"axes: phases differ.*phases\.NAME\.axes"):
        list(found["axes"])
    assert [each["axes"][0]["share"] for each in found["phases"].values()] == ["0.37", "0.30"]


@pytest.mark.parametrize(
    ("file", "old", "new", "name", "why"),
    [
        (TASK, "call_s: 30", "call_s: soon", "call_s", "found 'soon'"),
        (TASK, "probes:", "pobes:", "calls", "practice has no probes.edits in input_data/practice/task.yaml"),
        (TASK, "copies: copies.csv\n", "", "copies_per_clip", "practice has no copies in input_data"),
        (TASK, "clips: clips.csv", "clips: none.csv", "clips", "has no list of clips"),
        (TASK, "gain: 0.01", "gain: none", "jitter_percent", "cannot be computed"),
        (REFERENCE, "main_target: interview", "main_target: charm", "axes", "cannot be scored"),
        ("competition.yaml", '    end: "2027-03-15 12:00:00"\n', "", "end", "final has no end"),
    ],
)
def test_what_does_not_apply_is_told(copy: Path, file: str, old: str, new: str, name: str, why: str) -> None:
    edit(copy, file, old, new)
    with pytest.raises(FigureError, match=why):
        str(figures(copy)[name])


def test_a_bundle_of_another_kind_has_few_figures_and_no_crash(tiny: Path) -> None:
    found = figures(tiny)
    assert found["submissions_per_day"] == "5"  # what the server takes where nobody says
    assert found["start"] == "2030-01-01 12:00"
    for name in ("clips", "columns", "axes", "packages", "drawn"):
        with pytest.raises(FigureError, match="practice has no"):
            list(found[name])
    # Before anything was computed, a table of baselines is empty.
    assert (found["landmarks"], found["landmarks_short"]) == ("", [])


def places(node: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path, *(place for key, child in children for place in places(child, (*path, key)))]


@pytest.mark.parametrize("third", THIRDS)
@pytest.mark.parametrize("file", ["competition.yaml", TASK.format("practice")])
def test_rubbish_in_any_place_is_a_figure_or_an_error_never_a_traceback(copy: Path, file: str, third: int) -> None:
    competition = yaml.safe_load((copy / "competition.yaml").read_text())
    for part in ("pages", "fact_sheet", "solutions"):
        del competition[part]
    del competition["leaderboards"][0]["columns"][1:]
    (copy / "competition.yaml").write_text(yaml.safe_dump(competition))
    content = yaml.safe_load((copy / file).read_text())
    values: Iterator[object] = itertools.cycle([None, "text", [], {}, float("inf"), -1, [None], True, 10**400, 0])
    told = set()
    for number, (place, value) in enumerate(zip(places(content)[1:], values, strict=False)):
        if number % 3 != third:
            continue
        broken = node = copy_of(content)
        for key in place[:-1]:
            node = node[key]
        node[place[-1]] = value
        (copy / file).write_text(yaml.safe_dump(broken))
        with contextlib.suppress(BundleError, FigureError):
            found = figures(copy)
            told |= {name for name, value in found.items() if isinstance(value, StrictUndefined)}
    assert len(told) > 10


def test_the_table_of_columns_is_the_registry(texts: Path) -> None:
    rows = figures(texts)["columns"]
    # Nobody was asked what they look at, so that column is 0 for everybody.
    every = columns(read_settings(ROOT / "reference_data/practice/task.yaml"))
    known = [column for column in every if column.key != "plausibility"]
    assert len(known) == len(every) - 1
    for row, column in zip(rows, known, strict=True):
        span = "" if column.maximum is None else f" ({column.minimum:g}…{column.maximum:g})"
        assert row == {"key": column.key, "title": column.title, "span": span, "meaning": column.meaning}


def test_the_short_table_of_landmarks_is_part_of_the_long_one(texts: Path) -> None:
    for found in figures(texts)["phases"].values():
        whole = [line[2:-2].split(" | ") for line in found["landmarks"].splitlines() if line.startswith("| ")]
        head, *short = found["landmarks_short"]
        assert head == ["baseline", "Explanation score", "Skill over the constant"]
        told = {row[0]: row[1:] for row in whole}
        assert [row[0] for row in short] == told["score"]
        for place, title in enumerate(head[1:], 1):
            assert [row[place] for row in short] == told[title]
        assert "| Plausibility |" not in found["landmarks"]  # nobody was asked


def test_the_program_that_is_asked_is_the_bundles_own(copy: Path) -> None:
    (copy / "scoring_program").unlink()
    shutil.copytree(ROOT / "scoring_program", copy / "scoring_program")
    edit(copy, "scoring_program/score/columns.py", "The ranking score:", "Ours | theirs:")
    assert figures(copy)["columns"][0]["meaning"].startswith("Ours | theirs: ")


def test_a_program_with_other_axes_has_columns_all_the_same(copy: Path) -> None:
    (copy / "scoring_program").unlink()
    fields = {"key": "hits", "title": "Hits", "direction": "desc", "decimals": 3, "minimum": 0, "maximum": 10}
    fields["meaning"] = "How many were hit."
    program = f"from types import SimpleNamespace\ncolumns = lambda _: [SimpleNamespace(**{fields})]\n"
    write_files(copy, {"scoring_program/score/columns.py": program})
    write_files(copy, {"scoring_program/score/settings.py": "read_settings = str\n"})
    found = figures(copy)
    (column,) = found["columns"]
    assert (column["title"], column["span"]) == ("Hits", " (0…10)")
    for name in ("level_low", "resamples", "axes"):
        with pytest.raises(FigureError, match="practice"):
            str(found[name])


def test_packages_are_those_of_the_lock(texts: Path) -> None:
    every = figures(texts)["packages"]
    lock = [line for line in (ROOT / "ingestion_program/requirements.lock").read_text().splitlines() if "==" in line]
    assert every == [tuple(re.split("==| ", line)[:2]) for line in lock]
    kit = [line for line in (ROOT / "starting_kit/requirements.txt").read_text().splitlines() if "==" in line]
    assert {tuple(line.lower().split("==")) for line in kit} < set(every)


def test_what_the_programs_fix_is_asked_of_them(texts: Path) -> None:
    fixed = {
        "repeats_min": plan.FEWEST, "repeats_max": plan.MOST, "credits_most": submission.MOST_CREDITS,
        "credit_chars": submission.LONGEST_TEXT, "working_mb": limits.SCRATCH_MB, "working_files": limits.SCRATCH_FILES,
        "file_mb": limits.FILE_MB, "threads": limits.THREADS, "output_mb": limits.OUTPUT_MB,
        "submission_mb": settings.Limits.submission_mb, "submission_files": settings.Limits.submission_files,
        "epsilon_least": SMALLEST_EFFECT, "units": UNITS,
        "level_low": BANDS["low"][1], "level_medium_low": BANDS["medium"][0],
        "level_medium_high": BANDS["medium"][1], "level_high": BANDS["high"][0],
        "credits_passed_on_percent": 100 * PASSED_ON, "band_percent": 100 * ABOVE,
    }  # fmt: skip
    found = figures(texts)
    assert {name: float(found[name].replace(",", "")) for name in fixed} == fixed


def test_the_calls_of_the_table_are_all_calls(copy: Path) -> None:
    edit(copy, TASK, "edits: 3", "edits: 2")
    found = figures(copy)
    # One of the clip itself, with a drawn clip and with a filmed one.
    assert 1 + int(found["units"]) + int(found["edits"]) == int(found["calls"]) == 8
    edit(copy, TASK, "exchanges: exchanges.json\n", "")
    assert int(figures(copy)["calls"]) == 8
    assert altered_calls(MOST_EDITS) == plan.MOST_CALLS
