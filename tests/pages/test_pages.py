"""The pages that participants read: well-formed for Codabench, complete, and true where a program can tell."""

import ast
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from bundle_tools.challenge.build import KIT
from file_clip import FileClip
from score.columns import columns
from score.order import STILL_WEIGHT, Region, agreement, order_sums
from score.settings import AXES, read_settings
from score.text import Vocabulary, consistent, parse_claims, parse_levels
from tests import ROOT, there

COMPETITION: dict[str, Any] = yaml.safe_load((ROOT / "competition.yaml").read_text("utf-8"))
PAGES = sorted((ROOT / "pages").glob("*.md"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""Around generated figures and tables; not shown."""
FORMULA = re.compile(r"\$\$([\s\S]+?)\$\$|\$([^$\n]+?)\$")
TARGETS = ("extraversion", "agreeableness", "conscientiousness", "emotional_stability", "openness", "interview")

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)


def text_of(name: str) -> str:
    """Give a page as people read it, without the marks around generated figures."""
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
def test_formulas_survive_both_ways_of_rendering(page: Path) -> None:
    # Codabench sets the text between two dollars as TeX, before Markdown is read; older servers did so after. So TeX
    # has to mean nothing in Markdown and in HTML, and a dollar in code would be taken for the start of a formula.
    text = page.read_text("utf-8")
    prose = FORMULA.sub("", FENCE.sub("", text))
    assert "$" not in prose + "".join(code for _, code in FENCE.findall(text))
    for display, inline in FORMULA.findall(FENCE.sub("", text)):
        tex = display or inline
        assert tex == tex.strip()
        assert re.findall(r"\\(?![A-Za-z])|[*<>&'\"`~\n]|(?<![A-Za-z0-9])_", tex) == [], tex


@every_page
def test_only_the_last_line_is_a_comment(page: Path) -> None:
    # Markdown takes such a line for a block of HTML, and shows what follows as it stands, unless that is the purpose.
    lines = page.read_text("utf-8").splitlines()
    begun = [line for line in lines if line.lstrip().startswith("<!--")]
    assert begun == lines[-1:]
    assert not lines[-2]


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


def test_the_overview_cites_what_is_to_be_cited() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    year = cited["date-released"].year
    assert f"{cited['authors'][0]['name']} ({year}). *{cited['title']}.*" in text_of("overview")


def commands_of(text: str) -> set[str]:
    return {line for language, code in FENCE.findall(text) if language == "sh" for line in code.splitlines()}


def test_the_first_ten_minutes_are_those_of_the_kit() -> None:
    # A test gives all commands of the kit's README.
    first = commands_of(text_of("overview"))
    assert len(first) == 7
    assert first <= commands_of((ROOT / "starting_kit/README.md").read_text("utf-8"))


@every_page
def test_commands_name_files_of_the_kit(page: Path) -> None:
    commands = " ".join(commands_of(page.read_text("utf-8")))
    named = re.findall(r"[\w/]+\.(?:py|txt|lock)\b|solutions/\w+|\btemplate\b", commands)
    inside = [name for name in named if (ROOT / name).exists() and name.startswith(KIT)]
    assert [name for name in named if not (ROOT / "starting_kit" / name).exists() and name not in inside] == []


@every_page
def test_pages_named_in_italics_exist(page: Path) -> None:
    titles = {entry["title"] for entry in COMPETITION["pages"]} | {"Terms"}
    headings = {line[2:] for path in PAGES for line in path.read_text("utf-8").splitlines() if line.startswith("# ")}
    named = re.findall(r"(?:page \*|see \*|See \*|read \*)([A-Z][^*]+)\*", page.read_text("utf-8"))
    assert [name for name in named if name not in titles] == []
    assert titles - {"Overview"} <= headings


@pytest.mark.parametrize("phase", ["practice", "final"])
def test_vocabulary_is_that_of_the_settings(phase: str) -> None:
    vocabulary = set(settings(phase)["explanation"]["evidence"]["cues"])
    table = set(re.findall(r"^- `(\w+)`: ", text_of("data"), re.MULTILINE))
    assert table - set(TARGETS) == vocabulary


@pytest.mark.parametrize("phase", ["practice", "final"])
def test_targets_are_those_of_the_settings(phase: str) -> None:
    assert tuple(target["name"] for target in settings(phase)["targets"]) == TARGETS
    assert all(f"`{target}`" in text_of("data") for target in TARGETS)


def rows_of(page: str, after: str) -> list[list[str]]:
    """Give the cells of the first table below a piece of text, without its head."""
    table = page[page.index(after) :].partition("\n|")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_what_parts_alone_bring_is_right() -> None:
    page = text_of("evaluation")
    reference = read_settings(ROOT / "reference_data/practice/task.yaml")
    titles = {column.key: column.title for column in columns(reference)}
    weights = {titles[name]: getattr(reference.explanation_score.weights, name) for name in AXES}
    # The page takes square roots, and says that one axis brings the square of its weight.
    assert reference.explanation_score.power == 0.5
    # One axis alone, and words alone: the signs of claims, half of the known causes, the text.
    assert f"cue claims alone bring at most {100 * weights['Cue claims'] ** 2:.0f} points" in page
    words = weights["Cue claims"] * math.sqrt(0.7) + weights["Known causes"] * math.sqrt(0.5) + weights["Text"]
    assert f"A perfect text alone brings {100 * words**2:.0f}:" in page.replace("\n", " ")
    assert f"can reach {100 * words**2:.0f} of 100 points" in text_of("faq")


def test_the_worked_effects_are_right() -> None:
    kinds = ("mouth", "eyes", "hand", "things")
    effects, *maps = rows_of(text_of("measurement"), "quarter of the weight")
    assert STILL_WEIGHT == 0.25
    assert len(maps) == 2
    for _, *weights, said in maps:
        units = [
            Region(kind, float(effect), float(weight), kind == "things")
            for kind, effect, weight in zip(kinds, effects[1:5], weights, strict=True)
        ]
        assert float(said) == pytest.approx(agreement(order_sums([units], np.zeros(1)))[0], abs=0.005)


def test_the_worked_claims_are_right() -> None:
    page = text_of("measurement")
    effect, yours = rows_of(page, "the axis is limited to 0 to 1")
    d, s = (np.array([0.0 if cell == "-" else float(cell) for cell in row[1:4]]) for row in (effect, yours))
    direction = float(s @ d / math.sqrt((s @ s) * (d @ d)))
    assert float(yours[4]) == pytest.approx(direction, abs=0.005)
    unit = float(s @ d / (s @ s))
    off, whole = np.abs(unit * s - d).sum(), np.abs(d).sum()
    told = page.replace("\n", " ")
    fitted = f"If $b$ over all clips is {unit:.2f}, the claims are off by {off:.3f} of {whole:.3f}, a size of"
    assert f"{fitted} {1 - off / whole:.2f}" in told
    assert f"so this clip gets {(direction + 1 - off / whole) / 2:.2f}." in told


def test_texts_are_read_as_the_page_says() -> None:
    cues = tuple(settings("practice")["explanation"]["evidence"]["cues"])
    vocabulary = Vocabulary(cues=cues, targets=TARGETS, main="interview", aliases={})
    page = text_of("explanations").replace("\n", " ")
    told = {
        "The broad smile raised the openness score.": [("smile", "openness", 1)],
        "frequent glances aside cost points": [("gaze", "interview", -1)],
        "The light did not matter.": [],
        "The vibes were great.": [],
        "A broad smile and lively gestures raised it; dim lighting lowered it a little.": [
            ("smile", "interview", 1),
            ("motion", "interview", 1),
            ("lighting", "interview", -1),
        ],
    }
    for text, claims in told.items():
        assert text in page or text.rstrip(".") in page, text
        assert [(claim.cue, claim.target, claim.sign) for claim in parse_claims(text, vocabulary)] == claims
    assert "The interview score is high" in page
    told_levels = parse_levels("The interview score is high", vocabulary)
    assert [(each.target, each.level) for each in told_levels] == [("interview", "high")]
    assert parse_levels("The interview score is 0.52: …", vocabulary) == ()
    for value, levels in ((0.44, "low medium"), (0.5, "medium"), (0.56, "medium high"), (0.39, "low"), (0.61, "high")):
        for level in ("low", "medium", "high"):
            statements = parse_levels(f"The interview score is {level}.", vocabulary)
            assert consistent({"interview": value}, statements) is (level in levels.split())


def test_the_example_of_exchanges_measures_every_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    class Model:
        def predict(self, clip: FileClip) -> dict[str, float]:
            return dict.fromkeys(TARGETS, float(clip.frame_at(2.5, size=(16, 9)).mean()) / 255)

    code = next(code for language, code in FENCE.findall(text_of("explanations")) if "Exchanges(" in code)
    scope: dict[str, Any] = {"model": Model()}
    monkeypatch.chdir(ROOT)
    exec(code, scope)  # noqa: S102 - the page's own example
    units = text_of("measurement").partition("Units are")[2].partition("second, in which")[0]
    assert scope["effects"].keys() <= set(re.findall(r"`(\w+)`", units))
    assert all(0 <= effect < 1 for effect in scope["effects"].values())


def test_the_example_of_an_id_has_the_form_of_ids() -> None:
    example = there(re.search(r"for instance `(\w+)`", text_of("data")))
    assert re.fullmatch(r"c[0-9a-f]{9}", example[1])


def locked(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / name).read_text("utf-8"), re.MULTILINE))


def test_the_same_environment_at_home_has_the_same_versions() -> None:
    kit, lock = locked("starting_kit/requirements.txt"), locked("ingestion_program/requirements.lock")
    assert {name: lock[name.lower()] for name in kit} == kit
    assert f"`{COMPETITION['docker_image']}`" in text_of("environment")
