"""The guides: links lead somewhere, commands exist, and nothing speaks of the machine that it was written on."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bundle_tools.cli.main import main
from tests import ROOT

TOP = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "starting_kit/README.md",
    "public_data/README.md",
    "docker/README.md",
]
GUIDES = sorted([*(ROOT / name for name in TOP), *(ROOT / "docs").glob("*.md"), *ROOT.glob("solutions/*/README.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
FENCE = re.compile(r"^```\w*\n.*?^```$", re.MULTILINE | re.DOTALL)


def name_of(guide: Path) -> str:
    return guide.relative_to(ROOT).as_posix()


def commands(guide: Path, name: str, arguments: str) -> set[str]:
    """Calls of a command in code blocks (at the start of a line) and between backticks."""
    text = guide.read_text("utf-8")
    blocks = "\n".join(FENCE.findall(text))
    found = re.findall(rf"^{name} ({arguments})", blocks, re.MULTILINE) + re.findall(rf"`{name} ({arguments})", text)
    return set(found)


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", path.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_links(guide: Path) -> Iterator[str]:
    for link in (first or second for first, second in LINK.findall(FENCE.sub("", guide.read_text("utf-8")))):
        if link.startswith("https://"):
            continue
        name, _, anchor = link.partition("#")
        target = (guide.parent / name).resolve() if name else guide
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield f"{name_of(guide)}: {link}"


def test_links_lead_somewhere() -> None:
    assert [dead for guide in GUIDES for dead in dead_links(guide)] == []


def test_every_guide_is_listed() -> None:
    unlisted = []
    for guide in GUIDES:
        listing = ROOT / ("docs/README.md" if guide.parent == ROOT / "docs" else "README.md")
        if guide.parent in {ROOT, ROOT / "docs"} and guide != listing:
            unlisted += [] if f"({guide.name})" in listing.read_text("utf-8") else [name_of(guide)]
    assert unlisted == []


def test_they_stay_short() -> None:
    texts = [path for room in ("pages", "docs", "starting_kit") for path in (ROOT / room).glob("*.md")]
    assert sum(len(text.read_text("utf-8").split()) for text in texts) <= 16_000
    for guide in ("adapting", "participant", "juror", "publishing"):
        assert len((ROOT / f"docs/{guide}.md").read_text("utf-8").split()) <= 1_500
    assert 0 < (ROOT / "pages" / "glossary.md").read_text("utf-8").count("\n### ") <= 25


def test_make_targets_that_are_named_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = {(name_of(guide), target) for guide in GUIDES for target in commands(guide, "make", "[a-z]+(?:-[a-z]+)*")}
    assert len(named) > 10
    assert [one for one in sorted(named) if one[1] not in targets] == []


def test_bundle_commands_that_are_named_exist(capsys: pytest.CaptureFixture[str]) -> None:
    called = "(?:data |jury )?[a-z]+(?:-[a-z]+)*"
    named = {command: name_of(guide) for guide in GUIDES for command in commands(guide, "bundle", called)}
    assert len(named) > 10
    for command, guide in named.items():
        with pytest.raises(SystemExit) as ended:
            main([*command.split(), "--help"])
        assert ended.value.code == 0, f"{guide}: bundle {command}: {capsys.readouterr().err}"


def test_paths_in_code_exist() -> None:
    # `folder/file` in backticks, where the folder is one of ours; patterns and placeholders are left alone.
    rooms = "docs|pages|tests|docker|solutions|starting_kit|bundle_tools|benchmarks|requirements|\\w+_(?:program|data)"
    path = re.compile(rf"`((?:{rooms})/[\w./-]*)`")
    named = [(name_of(guide), name) for guide in GUIDES for name in path.findall(guide.read_text("utf-8"))]
    assert [one for one in named if not (ROOT / one[1]).exists()] == []


def test_every_dependency_is_explained() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8").partition("dependencies = [")[2].partition("[tool.uv]")[0]
    lines = project.splitlines()
    packages = [number for number, line in enumerate(lines) if re.match(r"    \"[A-Za-z]", line)]
    assert len(packages) > 10
    assert [lines[at] for at in packages if "  # " not in lines[at] and "    # " not in lines[at - 1]] == []
    groups = sorted((ROOT / "requirements").glob("*.in"))
    assert [group.name for group in groups if not group.read_text("utf-8").startswith("# What")] == []
