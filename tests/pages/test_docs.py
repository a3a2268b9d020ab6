"""The guides: links lead somewhere, commands exist, and nothing speaks of the machine that it was written on."""

import re
from pathlib import Path

import pytest

from bundle_tools.cli import main

ROOT = Path(__file__).resolve().parents[2]
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

every_guide = pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.relative_to(ROOT).as_posix())


def commands(guide: Path, name: str, arguments: str) -> set[str]:
    """Calls of a command in code blocks (at the start of a line) and between backticks."""
    text = guide.read_text("utf-8")
    blocks = "\n".join(FENCE.findall(text))
    found = re.findall(rf"^{name} ({arguments})", blocks, re.MULTILINE) + re.findall(rf"`{name} ({arguments})", text)
    return set(found)


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", path.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every_guide
def test_links_lead_somewhere(guide: Path) -> None:
    dead = []
    for link in (first or second for first, second in LINK.findall(FENCE.sub("", guide.read_text("utf-8")))):
        if link.startswith("https://"):
            continue
        name, _, anchor = link.partition("#")
        target = (guide.parent / name).resolve() if name else guide
        if not target.exists() or (anchor and anchor not in anchors(target)):
            dead.append(link)
    assert dead == []


@every_guide
def test_is_listed(guide: Path) -> None:
    listing = ROOT / ("docs/README.md" if guide.parent == ROOT / "docs" else "README.md")
    if guide.parent in {ROOT, ROOT / "docs"} and guide != listing:
        assert f"({guide.name})" in listing.read_text("utf-8")


@every_guide
def test_names_make_targets_that_exist(guide: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert commands(guide, "make", "[a-z]+") <= targets


@every_guide
def test_names_bundle_commands_that_exist(guide: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in commands(guide, "bundle", "(?:data |jury )?[a-z]+(?:-[a-z]+)*"):
        with pytest.raises(SystemExit) as ended:
            main([*command.split(), "--help"])
        assert ended.value.code == 0, f"bundle {command}: {capsys.readouterr().err}"


@every_guide
def test_paths_in_code_exist(guide: Path) -> None:
    # `folder/file` in backticks, where the folder is one of ours; patterns and placeholders are left alone.
    rooms = "docs|pages|tests|docker|solutions|starting_kit|bundle_tools|benchmarks|requirements|\\w+_(?:program|data)"
    named = re.findall(rf"`((?:{rooms})/[\w./-]*)`", guide.read_text("utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_dependency_is_explained() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    packages = re.findall(
        r"^    \"([A-Za-z][\w-]*)",
        project.partition("dependencies = [")[2].partition("[project.scripts]")[0],
        re.MULTILINE,
    )
    explained = (ROOT / "docs/dependencies.md").read_text("utf-8")
    missing = [name for name in packages if name not in explained and not name.startswith("types-")]
    assert len(packages) > 10
    assert missing == []
