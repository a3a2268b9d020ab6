"""`bundle launch`: what is open and what is settled, the datasheet, and metadata that others can read."""

import json
import re
import shutil
from datetime import datetime
from pathlib import Path

import pytest

from bundle_tools.challenge.launch.croissant import CONFORMS_TO, croissant
from bundle_tools.challenge.launch.datasheet import datasheet
from bundle_tools.challenge.launch.facts import FILE, Facts, questions, read_facts
from bundle_tools.challenge.launch.items import Item, items
from bundle_tools.cli.main import main
from bundle_tools.codabench.competition import load
from bundle_tools.codabench.rules.findings import Finding
from bundle_tools.errors import BundleError
from tests import ROOT
from tests.fewer import copy_with
from tests.guides import shell_blocks

NOW = datetime(2026, 11, 1, 12)
ERROR = Finding("x", "error", "here", "It is wrong.", "Nothing works.", "Mend it.")


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = ("competition.yaml", "input_data", "reference_data", "public_data", "pages")
    return copy_with(ROOT, tmp_path_factory.mktemp("launch") / "bundle", 4, *names)


BLANK = Facts()


def states(
    bundle: Path, facts: Facts = BLANK, findings: tuple[Finding, ...] = (), now: datetime = NOW
) -> dict[str, Item]:
    return {one.title: one for one in items(load(bundle), facts, findings, now)}


def test_what_only_people_know_is_open_until_it_is_said(bundle: Path) -> None:
    blank = states(bundle)
    told = states(bundle, Facts(**dict.fromkeys(questions(), "said")))
    people = ("Contact", "People in the clips", "Labels", "Known bias", "Removal", "Licence of the data")
    for title in (*people, "How to cite", "Beta test", "After the end"):
        assert (blank[title].state, told[title].state, told[title].found) == ("open", "done", "said")
    assert states(bundle, Facts(doi="10.1/x"))["How to cite"].state == "done"


def test_what_a_program_can_count_is_counted(bundle: Path) -> None:
    found = states(bundle)
    assert (found["Clips of Practice"].state, found["Clips of Practice"].found[:7]) == ("open", "4 clips")
    assert found["Clips to train on"].state == "open"
    assert found["The bundle is valid"].state == "done"
    assert states(bundle, findings=(ERROR,))["The bundle is valid"].state == "open"
    assert found["Dates of Practice"].state == "done"
    assert states(bundle, now=datetime(2026, 11, 28))["Dates of Practice"].state == "open"
    assert found["Baselines"].state == found["Skill reference"].state == "done"
    settings = bundle / "reference_data" / "final" / "task.yaml"
    text = settings.read_text()
    settings.write_text(text.replace("landmarks: landmarks.json\n", "").replace("skill_reference:", "group: #"))
    try:
        found = states(bundle)
        assert found["Baselines"].found == "in Practice: bundle data baselines"
        assert found["Skill reference"].state == "open"
    finally:
        settings.write_text(text)


def test_the_file_is_written_once_and_read(tmp_path: Path) -> None:
    assert read_facts(tmp_path) == Facts()
    path = tmp_path / FILE
    assert all(f"# {name}:" in path.read_text() for name in questions())
    path.write_text("contact: me@example.org\nlabels: >-\n  Ten people,\n  twice.\n")
    assert read_facts(tmp_path) == Facts(contact="me@example.org", labels="Ten people, twice.")
    path.write_text("kontact: me\nbias: 3\n")
    with pytest.raises(BundleError, match=r"(?s)kontact.*bias"):
        read_facts(tmp_path)


def test_the_datasheet_says_what_is_known_and_marks_what_is_open(bundle: Path) -> None:
    text = datasheet(load(bundle), Facts(people="Actors, paid."))
    assert "| Practice | 4 | " in text
    assert "| Invite to interview | 0 to 1 | 0.5018 |" in text
    assert "Actors, paid." in text
    assert text.count("*open*") == 1 + 8  # the first explains the word


def test_croissant_names_files_by_their_hashes_and_columns_by_their_types() -> None:
    labels = b"clip_id,source_id,warmth\nc1,s1,3.5\n"
    facts = {"name": "Warm", "description": "Clips.", "license": ""}
    text = croissant(facts, labels, {"transcripts.json": b"{}"})
    assert text == croissant(facts, labels, {"transcripts.json": b"{}"})
    content = json.loads(text)
    assert content["conformsTo"] == CONFORMS_TO
    assert "license" not in content
    # Worked out with sha256sum.
    files = {one["name"]: one.get("sha256", "")[:8] for one in content["distribution"]}
    assert files == {"labels.csv": "a312292d", "transcripts.json": "44136fa3", "clips": ""}
    (records,) = content["recordSet"]
    assert {one["name"]: one["dataType"] for one in records["field"]} == {
        "clip_id": "sc:Text", "source_id": "sc:Text", "warmth": "sc:Float"
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.usefixtures("asked_in_a_fork", "decoded_once")
def test_the_command_of_the_guide_works(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = Path(shutil.copytree(bundle, tmp_path / "bundle"))
    for program in ("ingestion_program", "scoring_program"):
        (copy / program).symlink_to(ROOT / program)
    monkeypatch.chdir(copy)
    (line,) = "\n".join(shell_blocks("docs/launch.md")).splitlines()
    bundle_word, *words = line.split()
    assert (bundle_word, main(words)) == ("bundle", 0)
    assert (copy / "datasheet.md").read_text().startswith("# Datasheet: First Impressions, Explained")
    assert (copy / FILE).is_file()
    items = set(re.findall(r"^- \*\*([^*]+)\*\*: ", (ROOT / "docs/launch.md").read_text(), re.MULTILINE))
    assert {"Contact", "Beta test", "After the end", "Removal"} <= items
