"""The pages that participants read: well-formed for Codabench, complete, and true where a program can tell."""

import ast
import csv
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
COMPETITION: dict[str, Any] = yaml.safe_load((ROOT / "competition.yaml").read_text("utf-8"))
PAGES = sorted((ROOT / "pages").glob("*.md"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TARGETS = ("extraversion", "agreeableness", "conscientiousness", "emotional_stability", "openness", "interview")

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)


def text_of(name: str) -> str:
    return (ROOT / "pages" / f"{name}.md").read_text("utf-8")


def settings(phase: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "input_data" / phase / "task.yaml").read_text("utf-8"))
    return loaded


def test_every_page_is_shown() -> None:
    shown = {COMPETITION["terms"], *(page["file"] for page in COMPETITION["pages"])}
    assert shown == {page.relative_to(ROOT).as_posix() for page in PAGES}


@every_page
def test_has_a_heading_and_text(page: Path) -> None:
    text = page.read_bytes().decode("utf-8")
    assert text.startswith("# ")
    assert len(text) > 500


@every_page
def test_has_no_relative_link_or_asset(page: Path) -> None:
    # Codabench stores the text alone, so a relative path leads nowhere.
    text = FENCE.sub("", page.read_text("utf-8"))
    targets = re.findall(r"\]\(([^)\s]+)", text) + re.findall(r"(?:src|href)=[\"']([^\"']+)", text)
    assert [target for target in targets if not target.startswith(("https://", "data:", "#"))] == []


@every_page
def test_has_no_dollar(page: Path) -> None:
    # Codabench takes the text between two dollar signs for a formula.
    assert "$" not in page.read_text("utf-8")


@every_page
def test_fences_name_their_language_and_close(page: Path) -> None:
    text = page.read_text("utf-8")
    assert len(re.findall(r"^```", text, re.MULTILINE)) == 2 * len(FENCE.findall(text))
    assert all(language for language, _ in FENCE.findall(text))


@every_page
def test_python_compiles(page: Path) -> None:
    for language, code in FENCE.findall(page.read_text("utf-8")):
        if language == "python":
            ast.parse(code)


@every_page
def test_pages_named_in_italics_exist(page: Path) -> None:
    titles = {entry["title"] for entry in COMPETITION["pages"]} | {"Terms"}
    headings = {line[2:] for path in PAGES for line in path.read_text("utf-8").splitlines() if line.startswith("# ")}
    named = re.findall(r"(?:page \*|see \*|See \*|read \*)([A-Z][^*]+)\*", page.read_text("utf-8"))
    assert [name for name in named if name not in titles] == []
    assert titles - {"Overview"} <= headings


def test_every_score_column_is_explained_with_its_direction() -> None:
    rows = [line.split("|") for line in text_of("evaluation").splitlines() if line.startswith("|")]
    explained = {row[2].strip(" `"): (row[1].strip(" *"), row[3].strip()) for row in rows if len(row) > 4}
    for column in COMPETITION["leaderboards"][0]["columns"]:
        best = "high" if column["sorting"] == "desc" else "low"
        assert explained[column["key"]] == (column["title"], best)


@pytest.mark.parametrize("phase", ["practice", "final"])
def test_limits_are_those_of_the_settings(phase: str) -> None:
    limits, explanation = settings(phase)["limits"], settings(phase)["explanation"]
    page = text_of("submission")
    assert f"| {limits['time_limit_s']} s for all clips" in page
    assert f"| {limits['load_s']} s |" in page
    assert f"| {limits['call_s']} s |" in page
    assert f"| restarts after a crash or a hang | {limits['restarts']};" in page
    span = f"{explanation['text']['minimum_chars']} to {explanation['text']['maximum_chars']} characters"
    assert all(span in text_of(name) for name in ("submission", "explanations"))
    shape = f"({explanation['image']['height']}, {explanation['image']['width']}, 3)"
    assert shape in page
    grid = explanation["evidence"]["grid"]
    assert f"{grid['rows']} x {grid['columns']} cells" in text_of("explanations")


@pytest.mark.parametrize("phase", ["practice", "final"])
def test_vocabulary_is_that_of_the_settings(phase: str) -> None:
    vocabulary = set(settings(phase)["explanation"]["evidence"]["cues"])
    table = set(re.findall(r"^\| `(\w+)` \|", text_of("data"), re.MULTILINE))
    assert table - set(TARGETS) == vocabulary
    sentence = re.search(r"word of the vocabulary: ([^.]+)\.", text_of("explanations"))
    assert sentence is not None
    assert set(re.findall(r"`(\w+)`", sentence[1])) == vocabulary


@pytest.mark.parametrize("phase", ["practice", "final"])
def test_targets_are_those_of_the_settings(phase: str) -> None:
    assert tuple(target["name"] for target in settings(phase)["targets"]) == TARGETS
    assert all(f"`{target}`" in text_of(name) for target in TARGETS for name in ("data", "submission"))


@pytest.mark.parametrize("phase", ["practice", "final"])
def test_coverage_weights_are_those_of_the_settings(phase: str) -> None:
    reference = yaml.safe_load((ROOT / "reference_data" / phase / "task.yaml").read_text("utf-8"))
    for words, key in (
        ("a valid text", "text"),
        ("a valid picture beside it", "image"),
        ("valid evidence beside it", "evidence"),
    ):
        assert f"| {words} | {reference['coverage'][key]} |" in text_of("evaluation")
    assert f"{reference['bootstrap']['resamples']:,} bootstrap resamples" in text_of("evaluation")


def test_numbers_of_clips_are_those_of_the_data() -> None:
    counts = []
    for phase in ("practice", "final"):
        with (ROOT / "input_data" / phase / "clips.csv").open(encoding="utf-8", newline="") as file:
            counts.append(sum(1 for _ in csv.DictReader(file)))
    assert f"| clips | {counts[0]} | {counts[1]} others" in text_of("overview")
    assert f"{counts[0]} in Practice, {counts[1]} in Final" in text_of("data")
    example = re.search(r"for instance `(\w+)`", text_of("data"))
    assert example is not None
    assert re.fullmatch(r"c[0-9a-f]{9}", example[1])


def test_submission_limits_are_those_of_the_phases() -> None:
    practice, final = COMPETITION["phases"]
    days = practice["max_submissions_per_day"], final["max_submissions_per_day"], final["max_submissions"]
    assert "| submissions | {} a day | {} a day, {} in all |".format(*days) in text_of("overview")


def test_environment_is_the_lock() -> None:
    lock = dict(
        re.findall(
            r"^([\w.-]+)==(\S+)", (ROOT / "ingestion_program/requirements.lock").read_text("utf-8"), re.MULTILINE
        )
    )
    table = text_of("submission").partition("| package | version |")[2].partition("\n\n")[0]
    listed = dict(re.findall(r"\| ([A-Za-z][\w-]+) \| ([\d.]+) \|", table))
    assert len(listed) == 8
    assert {name: lock[name.lower()] for name in listed} == listed
    kit = dict(
        re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "starting_kit/requirements.txt").read_text("utf-8"), re.MULTILINE)
    )
    assert {name: lock[name.lower()] for name in kit} == kit


def test_worked_example_adds_up() -> None:
    truth, constant = (0.6, 0.4), 0.1
    rows = re.findall(
        r"^\| ([\d.]+) and ([\d.]+) \| [^|]+ \| ([\d.]+) \| ([\d.-]+) \|", text_of("evaluation"), re.MULTILINE
    )
    assert len(rows) == 2
    for first, second, accuracy, skill in rows:
        error = (abs(truth[0] - float(first)) + abs(truth[1] - float(second))) / 2
        assert float(accuracy) == pytest.approx(1 - error)
        assert float(skill) == pytest.approx(1 - error / constant)
