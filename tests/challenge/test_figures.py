"""Figures of a bundle: each follows from the setting, table or program that it is about, in any bundle."""

import base64
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

from bundle_tools.challenge.compare.table import ABOVE
from bundle_tools.challenge.coopetition import PASSED_ON
from bundle_tools.challenge.figures import pictures
from bundle_tools.challenge.figures.blocks import BLOCKS
from bundle_tools.challenge.figures.marks import FigureError
from bundle_tools.challenge.figures.pages import Figures, fill_pages, look_through, open_bundle
from bundle_tools.challenge.figures.pictures import FOLDER, PICTURES
from bundle_tools.challenge.reading import program_settings
from bundle_tools.challenge.rules.phases import MOST_EDITS, UNITS, altered_calls
from bundle_tools.cli.main import main
from bundle_tools.errors import BundleError
from ingest import settings
from ingest.confined import watch
from ingest.probes import plan
from ingest.submission import credits
from score.columns import columns
from score.fairness import ENOUGH_PEOPLE
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
    """The small files of this repository's bundle, one clip a phase, and a page with a mark."""
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
    write_files(root, {"pages/limits.md": "# Limits\n\nOne call takes <!--=call_s-->7<!--/--> s.\n"})
    return root


@pytest.fixture
def copy(texts: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(texts, tmp_path / "copy", symlinks=True))


def figures(root: Path) -> Figures:
    return Figures(open_bundle(root))


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
    "call_s": ("30", "45"), "call_s.final": ("30", "45"), "load_s": ("60", "1,500"), "restarts": ("5", "5"),
    "memory_gb": ("4", "1.5"), "submission_mb": ("500", "500"), "time_limit_s": ("600", "1,200"),
    "working_time_s": ("510", "1,020"), "second_per_call": ("1.9", "4.7"), "edits": ("3", "1"), "calls": ("9", "7"),
    "calls_all": ("11", "9"), "jitter_percent": ("1", "2.5"), "jitter_px": ("2", "2"), "text_max": ("1,200", "800"),
    "image_width": ("355", "1280"), "grid_rows": ("9", "12"), "clips": ("24", "24"), "copies_per_clip": ("3", "3"),
    "clip_s": ("5", "5"), "clip_fps": ("25", "25"), "clip_width": ("640", "640"), "weight.text": ("0.05", "0.05"),
    "weight.cue_claims": ("0.37", "0.50"), "points_alone.cue_claims": ("14", "25"),
    "points_lost.cue_claims": ("60", "75"),
    # (0.5 √0.7 + 0.08 √½ + 0.05)² = 0.276
    "points_words": ("26", "28"), "resamples": ("1,000", "250"), "level_percent": ("95", "90"), "gate": ("0.1", "0.15"),
    "band.fair": ("25", "30"), "band.at_chance": ("0", "0"), "jury_highest": ("5", "5"), "python": ("3.11", "3.12"),
    "docker_image": ("python:3.11.14-slim-bookworm", "python:3.12.1"), "submissions_per_day.final": ("2", "2"),
    "submissions_in_all.final": ("6", "unlimited"), "end.final": ("2027-03-15 12:00", "2027-04-01 08:30"),
}  # fmt: skip


def test_figures_follow_what_they_tell_of(texts: Path, copy: Path) -> None:
    for change in CHANGED:
        edit(copy, *change)
    before, after = figures(texts).values, figures(copy).values
    assert {name: (before.find(name), after.find(name)) for name in BEFORE_AND_AFTER} == BEFORE_AND_AFTER
    assert after.find("submissions_per_day.round-1.5") == "25"


@pytest.mark.parametrize(
    ("image", "python"), [("codalab/codalab-legacy:py37", "3.7"), ("you/cobra:3.99", "3.11"), ("python:3.13", "3.13")]
)
def test_the_python_of_an_image_of_ones_own_is_that_of_the_dockerfile(copy: Path, image: str, python: str) -> None:
    edit(copy, "competition.yaml", "python:3.11.14-slim-bookworm", image)
    assert figures(copy).values.find("python") == python


def test_the_worked_example_follows_the_weights(copy: Path) -> None:
    before = figures(copy).blocks.find("worked_example")
    edit(copy, REFERENCE, "cue_claims: 0.37", "cue_claims: 0.45")
    edit(copy, REFERENCE, "faithfulness_time: 0.16", "faithfulness_time: 0.08")
    after = figures(copy).blocks.find("worked_example")
    # 0.45 √0.7 + 0.21 √0.6 + 0.21 √0.4 + 0.08 √0.5 + 0.05 √0.8 = 0.7733, squared 0.5979
    assert "| Cue claims | 0.70 | 0.837 | 0.376 |" in after
    assert "the sum is 0.773, its square 0.598, and the score 100 × 1 × 0.75 × 0.598 = **44.8**." in after
    assert "= **43.7**." in before
    edit(copy, REFERENCE, "causes: causes.json\n", "")
    assert "Known causes" not in figures(copy).blocks.find("worked_example")
    edit(copy, REFERENCE, "power: 0.5", "power: 1.0")
    with pytest.raises(FigureError, match="square roots"):
        figures(copy).blocks.find("worked_example")


def test_without_known_causes_the_other_weights_grow(copy: Path) -> None:
    edit(copy, REFERENCE, "causes: causes.json\n", "")
    found = figures(copy)
    assert found.values.find("weight.cue_claims") == "0.468"
    assert "Known causes" not in found.blocks.find("weights")
    assert found.values.find("points_alone.cue_claims") == "22"
    with pytest.raises(FigureError, match="Unknown name"):
        found.values.find("weight.known_causes")


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
    expected = {"clips.practice": "3", "clips.final": "24", "copies_per_clip.practice": "2 to 3"}
    assert {name: found.values.find(name) for name in expected} == expected
    with pytest.raises(FigureError, match=r"practice 3, final 24.*clips\.practice"):
        found.values.find("clips")
    with pytest.raises(FigureError, match=r"Phases differ.*weights:practice"):
        found.blocks.find("weights")
    assert "| Cue claims | 0.30 |" in found.blocks.find("weights:final")


@pytest.mark.parametrize(
    ("file", "old", "new", "name", "why"),
    [
        (TASK, "", "", "cals", "did you mean calls"),
        (TASK, "", "", "calls.qualification", "Unknown name"),
        (TASK, "", "", "", "Unknown name"),
        (TASK, "", "", "weight", "Unknown name"),
        (TASK, "call_s: 30", "call_s: soon", "call_s", "found 'soon'"),
        (TASK, "probes:", "pobes:", "calls", "practice has no probes.edits in input_data/practice/task.yaml"),
        (TASK, "copies: copies.csv\n", "", "copies_per_clip", "practice has no copies in input_data"),
        (TASK, "clips: clips.csv", "clips: none.csv", "clips", "has no list of clips"),
        (TASK, "gain: 0.01", "gain: none", "jitter_percent", "cannot be computed"),
        (REFERENCE, "main_target: interview", "main_target: charm", "weight.text", "cannot be scored"),
        ("competition.yaml", '    end: "2027-03-15 12:00:00"\n', "", "end.final", "has no end"),
        ("competition.yaml", "tasks: [0]\n    max", "tasks: [7]\n    max", "clips.practice", "Unknown name"),
    ],
)
def test_what_does_not_apply_is_told(copy: Path, file: str, old: str, new: str, name: str, why: str) -> None:
    edit(copy, file, old, new)
    with pytest.raises(FigureError, match=why):
        figures(copy).values.find(name)


def test_a_bundle_of_another_kind_has_few_figures_and_no_crash(tiny: Path) -> None:
    found = figures(tiny)
    names = found.names()
    assert names["submissions_per_day"] == "5"  # what the server takes where nobody says
    assert names["start"] == "2030-01-01 12:00"
    assert "clips" not in names
    tables = {"landmarks", "landmarks_short"}
    for block in {*BLOCKS} - {*PICTURES} - tables:
        with pytest.raises(FigureError, match="practice has no"):
            found.blocks.find(block)
    # Before anything was computed, a table of baselines is empty.
    assert {found.blocks.find(block) for block in tables} == {""}


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
            for known in (found.values.known, found.blocks.known):
                told |= {str(why) for why in known.values() if isinstance(why, FigureError)}
    assert len(told) > 10


def test_the_table_of_columns_is_the_registry(texts: Path) -> None:
    rows = [line.split(" | ") for line in figures(texts).blocks.find("columns").splitlines()[2:]]
    # Nobody was asked what they look at, so that column is 0 for everybody.
    every = columns(read_settings(ROOT / "reference_data/practice/task.yaml"))
    known = [column for column in every if column.key != "plausibility"]
    assert len(known) == len(every) - 1
    for row, column in zip(rows, known, strict=True):
        span = "" if column.maximum is None else f" ({column.minimum:g}…{column.maximum:g})"
        assert row[0].strip("| ").replace("**", "") == f"{column.title} `{column.key}`{span}"
        assert row[1] == f"{column.meaning} |"


def test_the_short_table_of_landmarks_is_part_of_the_long_one(texts: Path) -> None:
    blocks = figures(texts).blocks
    for phase in PHASES:
        long = blocks.find(f"landmarks:{phase}")
        short, whole = (
            [line[2:-2].split(" | ") for line in text.splitlines() if line.startswith("| ")]
            for text in (blocks.find(f"landmarks_short:{phase}"), long)
        )
        assert short[0] == [
            *("baseline", "Explanation score", "Skill over the constant"),
            *("Invite to interview: accuracy", "Five traits: accuracy"),
        ]
        told = {row[0]: row[1:] for row in whole}
        assert [row[0] for row in short[1:]] == told["score"]
        for place, title in enumerate(short[0][1:], 1):
            assert [row[place] for row in short[1:]] == told[title]
        assert "| Plausibility |" not in long  # nobody was asked


def test_pictures_hold_their_own_data_and_are_small(tiny: Path) -> None:
    for name, (file, _, shows) in PICTURES.items():
        block = figures(tiny).blocks.find(name)
        kind, data = re.findall(r'src="data:image/([\w+]+);base64,([\w+/=]+)"', block)[0]
        assert (kind.partition("+")[0], f'alt="{shows}"' in block) == (file.rpartition(".")[2], True)
        assert base64.b64decode(data) == (FOLDER / file).read_bytes()
        assert "\n" not in block
        assert len(data) < 50_000


def test_a_picture_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    with pytest.raises(FigureError, match=r"No picture .*clip\.webp: No such file"):
        BLOCKS["picture_clip"](None)  # type: ignore[arg-type]


def test_the_program_that_is_asked_is_the_bundles_own(copy: Path) -> None:
    (copy / "scoring_program").unlink()
    shutil.copytree(ROOT / "scoring_program", copy / "scoring_program")
    assert "The ranking score: " in figures(copy).blocks.find("columns")
    edit(copy, "scoring_program/score/columns.py", "The ranking score:", "Ours | theirs:")
    assert "| Ours \\| theirs: " in figures(copy).blocks.find("columns")


def test_a_program_with_other_axes_has_columns_all_the_same(copy: Path) -> None:
    (copy / "scoring_program").unlink()
    fields = {"key": "hits", "title": "Hits", "direction": "desc", "decimals": 3, "minimum": 0, "maximum": 10}
    fields["meaning"] = "How many were hit."
    program = f"from types import SimpleNamespace\ncolumns = lambda _: [SimpleNamespace(**{fields})]\n"
    write_files(copy, {"scoring_program/score/columns.py": program})
    write_files(copy, {"scoring_program/score/settings.py": "read_settings = str\n"})
    found = figures(copy)
    assert found.blocks.find("columns").endswith("| **Hits** `hits` (0…10) | How many were hit. |")
    for name in ("level_low", "resamples", "weight.text"):
        with pytest.raises(FigureError, match="practice"):
            found.values.find(name)


def test_packages_are_those_of_the_lock(texts: Path) -> None:
    every = figures(texts).blocks.find("packages_all").splitlines()[2:]
    lock = [line for line in (ROOT / "ingestion_program/requirements.lock").read_text().splitlines() if "==" in line]
    assert every == ["| {} | {} |".format(*re.split("==| ", line)[:2]) for line in lock]
    kit = [line for line in (ROOT / "starting_kit/requirements.txt").read_text().splitlines() if "==" in line]
    assert {"| {} | {} |".format(*line.lower().split("==")) for line in kit} < set(every)


def test_what_the_programs_fix_is_asked_of_them(texts: Path) -> None:
    fixed = {
        "repeats_min": plan.FEWEST, "repeats_max": plan.MOST, "credits_most": credits.MOST_CREDITS,
        "credit_chars": credits.LONGEST_TEXT, "working_mb": watch.SCRATCH_MB, "working_files": watch.SCRATCH_FILES,
        "file_mb": watch.FILE_MB, "threads": watch.THREADS, "output_mb": watch.OUTPUT_MB,
        "submission_mb": settings.Limits.submission_mb, "submission_files": settings.Limits.submission_files,
        "epsilon_least": SMALLEST_EFFECT, "people_a_group": ENOUGH_PEOPLE, "units": UNITS,
        "level_low": BANDS["low"][1], "level_medium_low": BANDS["medium"][0],
        "level_medium_high": BANDS["medium"][1], "level_high": BANDS["high"][0],
        "credits_passed_on_percent": 100 * PASSED_ON, "band_percent": 100 * ABOVE,
    }  # fmt: skip
    found = figures(texts)
    assert {name: float(found.values.find(name).replace(",", "")) for name in fixed} == fixed


def test_the_calls_of_the_table_are_all_calls(copy: Path) -> None:
    edit(copy, TASK, "edits: 3", "edits: 2")
    found = figures(copy)
    # One of the clip itself, with a drawn clip and with a filmed one.
    assert 1 + int(found.values.find("units")) + int(found.values.find("edits")) == int(found.values.find("calls")) == 8
    edit(copy, TASK, "exchanges: exchanges.json\n", "")
    assert int(figures(copy).values.find("calls")) == 8
    assert altered_calls(MOST_EDITS) == plan.MOST_CALLS


def test_the_pages_of_the_repository_change_with_what_they_tell_of(copy: Path) -> None:
    shutil.copytree(ROOT / "pages", copy / "pages", dirs_exist_ok=True)
    (copy / "pages" / "limits.md").unlink()
    assert fill_pages(copy) == []
    edit(copy, TASK, "call_s: 30", "call_s: 45")
    edit(copy, REFERENCE, "cue_claims: 0.37, faithfulness_space: 0.21", "cue_claims: 0.40, faithfulness_space: 0.18")
    edit(copy, "ingestion_program/requirements.lock", "numpy==2.4.6", "numpy==9.8.7")
    told = {line.partition(":")[0] + line.partition(":")[2].lstrip("0123456789") for line in fill_pages(copy)}
    assert told >= {
        "pages/environment.md: call_s 30 -> 45",
        "pages/environment.md: packages_all | numpy | 2.4.6 | -> | numpy | 9.8.7 |",
        "pages/evaluation.md: weights | Cue claims | 0.37 | 60 | -> | Cue claims | 0.40 | 64 |",
        "pages/evaluation.md: points_alone.cue_claims 14 -> 16",
    }
    assert fill_pages(copy) == []


def test_the_command_writes_checks_and_is_then_silent(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, bundle = copy / "pages" / "limits.md", ["pages", "--bundle", str(copy)]
    before = page.read_text()
    assert main([*bundle, "--check"]) == 1
    assert page.read_text() == before
    told = capsys.readouterr()
    assert "pages/limits.md:3: call_s 7 -> 30\n" in told.out
    assert "stale figures: 1; run `bundle pages`" in told.err
    assert main(bundle) == 0
    assert page.read_text() == before.replace("-->7<", "-->30<")
    assert "pages/limits.md:3: call_s 7 -> 30\nFigures changed: 1." in capsys.readouterr().out
    assert main([*bundle, "--check"]) == 0
    assert capsys.readouterr().out == "All figures are current.\n"
    assert main([*bundle, "--names"]) == 0
    assert "call_s                       30\n" in capsys.readouterr().out


def test_a_mark_that_cannot_be_filled_fails_and_the_others_of_the_named_file_are_filled(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, other = copy / "pages" / "limits.md", copy / "pages" / "other.md"
    other.write_text(page.read_text() + "At most <!--=cals-->9<!--/--> calls.\n")
    assert main(["pages", "--bundle", str(copy), str(other)]) == 1
    told = capsys.readouterr()
    assert "pages/other.md:4: cals: Unknown name; did you mean calls?" in told.out
    assert "marks that cannot be filled: 1; correct them" in told.err
    assert "-->30<" in other.read_text()
    assert "-->7<" in page.read_text()


def test_guides_and_named_pages_are_looked_through_and_no_other_file(copy: Path) -> None:
    marked = "a <!--=call_s-->7<!--/-->\n"
    names = ("README.md", "starting_kit/README.md", "docs/a.md", "texts/terms.md", "solutions/x/README.md")
    write_files(copy, dict.fromkeys(names, marked))
    edit(copy, "competition.yaml", "terms: pages/terms.md", "terms: texts/terms.md")
    write_files(copy, {"docs/odd.md": b"\xff <!--=call_s-->7<!--/-->"})
    found = [page.name for page in look_through(open_bundle(copy))]
    assert found == ["README.md", "docs/a.md", "pages/limits.md", "starting_kit/README.md", "texts/terms.md"]
    assert main(["pages", "--bundle", str(copy), str(copy / "docs/odd.md")]) == 1


def test_nothing_is_asked_where_nothing_is_marked(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (copy / "pages" / "limits.md").write_text("# No mark\n")
    monkeypatch.setattr(program_settings, "_ask", None)
    assert fill_pages(copy) == []
