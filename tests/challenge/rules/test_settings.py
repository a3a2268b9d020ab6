"""Break every key of the settings of Final, in one way at a time: both programs are asked, and name each mistake.

All broken files are tasks of one bundle, so that each program is started once, as for an organiser.
"""

import copy
import json
import marshal
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path
from typing import Any

import pytest
import yaml

from bundle_tools.challenge.reading import program_settings
from bundle_tools.challenge.reading.program_settings import scoring_settings
from bundle_tools.challenge.rules.programs import check_settings
from bundle_tools.codabench import trust
from bundle_tools.codabench.rules.document import ParsedBundle, read
from bundle_tools.codabench.rules.findings import Finding
from tests import ROOT
from tests.tiny import swap, write_files

PROGRAMS = {"input_data": "ingestion_program", "reference_data": "scoring_program"}


def of_two_targets(node: Any, dropped: Sequence[str] = ()) -> Any:  # noqa: ANN401 - any YAML
    """Leave out all targets but the first and the last, wherever they are named: the others say the same."""
    if isinstance(node, dict):
        dropped = dropped or [target["name"] for target in node["targets"][1:-1]]
        return {name: of_two_targets(value, dropped) for name, value in node.items() if name not in dropped}
    if isinstance(node, list):
        names = (entry.get("name") if isinstance(entry, dict) else entry for entry in node)
        return [of_two_targets(entry, dropped) for entry, name in zip(node, names, strict=True) if name not in dropped]
    return node


COMMITTED = {
    side: of_two_targets(yaml.safe_load((ROOT / side / "final/task.yaml").read_text("utf-8"))) for side in PROGRAMS
}
OPTIONAL = {
    "input_data": {
        "copies",
        "exchanges",
        "limits.memory_mb",
        "isolation",
        "isolation.require",
        "isolation.at_most",
        "probes",
    },
    "reference_data": {
        *("challenge", "group", "causes", "groups", "landmarks", "skill_reference", "explanation_score"),
        *(f"skill_reference.{target['name']}" for target in COMMITTED["reference_data"]["targets"]),
        *(f"explanation_score.{key}" for key in COMMITTED["reference_data"]["explanation_score"]),
        *(f"explanation_score.bands.{word}" for word in ("weak", "fair", "good", "excellent")),
    },
}
"""Keys that may be left out: docs/data_format.md."""
CHOSEN = "explanation_score.bands."
"""Below it an organiser chooses the keys."""
TWICE = "\0"
UNKNOWN = trust._unknown
"""As it is, before tests trust all bundles."""
NO_SETTINGS = (b"", b"- a", b"a: [", b"task: \xff", b"? [a]\n: b", b"a: &a {b: *a}")

Key = tuple[str | int, ...]


@dataclass(frozen=True)
class Broken:
    """One broken file."""

    side: str
    """Key of the task that names it."""
    kind: str
    """How it is broken."""
    key: str
    """Where: names that are joined by dots."""
    content: bytes
    """The file."""

    @property
    def is_allowed(self) -> bool:
        """Whether it is no mistake."""
        if self.kind == "misspelt":
            return self.key.startswith(CHOSEN)
        return self.kind == "deleted" and self.key in OPTIONAL[self.side]


def keys_of(content: object, above: Key = ()) -> Iterator[Key]:
    """Give every key at any depth; of lists, those of the first and the last mapping: between them stand the same."""
    entries: Sequence[tuple[str | int, object]] = list(content.items()) if isinstance(content, dict) else []
    if isinstance(content, list):
        entries = list(enumerate(content))[:: max(len(content) - 1, 1)]
    for name, value in entries:
        if isinstance(name, str):
            yield (*above, name)
        yield from keys_of(value, (*above, name))


def misspell(place: dict[str, Any], key: str) -> None:
    kept = dict(place)
    place.clear()
    place.update({f"{name}z" if name == key else name: value for name, value in kept.items()})


def double(place: dict[str, Any], key: str) -> None:
    place[f"{key}{TWICE}"] = place[key]


def retype(place: dict[str, Any], key: str) -> None:
    place[key] = "text" if isinstance(place[key], dict | list) else {"a": {"mapping": True}}


BREAKS: dict[str, Callable[[dict[str, Any], str], object]] = {
    "misspelt": misspell,
    "doubled": double,
    "retyped": retype,
    "deleted": dict.pop,
}


def broken_files() -> list[Broken]:
    found = []
    for side, content in COMMITTED.items():
        for key in keys_of(content):
            for kind, change in BREAKS.items():
                changed = copy.deepcopy(content)
                place: Any = changed
                for name in key[:-1]:
                    place = place[name]
                change(place, str(key[-1]))
                text = json.dumps(changed).replace(json.dumps(TWICE)[1:-1], "")
                found.append(Broken(side, kind, ".".join(map(str, key)), text.encode()))
        found += [Broken(side, "no settings", "", content) for content in NO_SETTINGS]
    return found


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Broken, list[Finding]]]:
    """What the rule says of every broken file: one bundle, two programs started."""
    root = tmp_path_factory.mktemp("broken")
    broken = broken_files()
    folders = [f"{number}" for number in range(len(broken))]
    for program in PROGRAMS.values():
        (root / program).symlink_to(ROOT / program)
    write_files(root, {f"{folder}/task.yaml": one.content for folder, one in zip(folders, broken, strict=True)})
    tasks = [
        {one.side: f"{at}/", PROGRAMS[one.side]: PROGRAMS[one.side]} for at, one in zip(folders, broken, strict=True)
    ]
    said: dict[str, list[Finding]] = {folder: [] for folder in folders}
    for finding in check_settings(ParsedBundle(root, {"tasks": tasks}, {}, folder=True)):
        if finding.code != "data-refused":  # there are no other files
            said[finding.where.partition("/")[0]].append(finding)
    return list(zip(broken, said.values(), strict=True))


Findings = list[tuple[Broken, list[Finding]]]


def test_every_broken_key_is_an_error_that_names_it(findings: Findings) -> None:
    assert len(findings) > 350
    for broken, found in findings:
        assert {(one.code, one.severity) for one in found} == (
            set() if broken.is_allowed else {("settings-refused", "error")}
        ), broken
        # Words of one's own are not quoted; the section is.
        name = "bands" if broken.key.startswith(CHOSEN) else broken.key.rpartition(".")[2]
        assert broken.is_allowed or any(name in f"{one.where} {one.what}" for one in found), broken


def test_a_misspelt_key_is_told_with_what_was_meant(findings: Findings) -> None:
    for broken, found in findings:
        if broken.kind == "misspelt" and not broken.is_allowed:
            name = broken.key.rpartition(".")[2]
            (told,) = [one for one in found if re.search(rf"task\.yaml, .*\b{name}z$", one.where)]
            assert re.search(rf"did you mean ([\w.[\]]*\.)?{name}\?$", told.what), broken


def test_a_key_that_stands_twice_is_the_only_mistake(findings: Findings) -> None:
    for broken, found in findings:
        if broken.kind == "doubled":
            (told,) = found
            assert told.where.endswith(broken.key.rpartition(".")[2]), broken
            assert told.what == "Found a duplicate key; expected every key once."


def test_a_section_of_another_type_is_one_mistake(findings: Findings) -> None:
    """Not one for each key that it then lacks."""
    sections = {"limits", "isolation", "explanation.evidence.grid", "bootstrap", "report", "explanation_score.weights"}
    told = [found for broken, found in findings if broken.kind == "retyped" and broken.key in sections]
    assert [len(found) for found in told] == [1] * len(sections)


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """Make a bundle of one task with the programs and settings of this repository."""
    task = {side: f"{side}/final/" for side in PROGRAMS} | {program: f"{program}/" for program in PROGRAMS.values()}
    for program in PROGRAMS.values():
        shutil.copytree(ROOT / program, tmp_path / program, ignore=shutil.ignore_patterns("__pycache__"))
    write_files(
        tmp_path, {f"{side}/final/task.yaml": (ROOT / side / "final/task.yaml").read_bytes() for side in PROGRAMS}
    )
    return write_files(tmp_path, {"competition.yaml": yaml.safe_dump({"tasks": [task]})})


def draft(bundle: Path, *, folder: bool = True) -> ParsedBundle:
    found, _ = read(bundle, folder=folder)
    assert found is not None
    return found


def told(bundle: Path, *, folder: bool = True) -> list[tuple[str, str]]:
    return [(finding.code, finding.where) for finding in check_settings(draft(bundle, folder=folder))]


def test_all_mistakes_of_both_sides_come_at_once(ours: Path, asked_in_a_fork: None) -> None:
    for name, old, new in (
        ("input_data/final/task.yaml", "  load_s: 60\n", ""),
        ("input_data/final/task.yaml", "memory_mb: 4096", "memory_mb: plenty"),
        ("input_data/final/task.yaml", "require: portable", "require: ful"),
        ("input_data/final/task.yaml", "at_most: full", "at_most: full, also_allowed: [ptrace]"),
        ("reference_data/final/task.yaml", "gate: 0.1", "gate: 7"),
        ("reference_data/final/task.yaml", "gallery: 24", "gallery: all"),
    ):
        swap(ours / name, old, new)
    assert {where for _, where in told(ours)} == {
        "input_data/final/task.yaml, key limits.load_s",
        "input_data/final/task.yaml, key limits.memory_mb",
        "input_data/final/task.yaml, key isolation.require",
        "input_data/final/task.yaml, key isolation.also_allowed[0]",
        "reference_data/final/task.yaml, key explanation_score.gate",
        "reference_data/final/task.yaml, key report.gallery",
    }


@pytest.mark.parametrize("broken", ["raise SystemExit(3)", "def read_task(:"])
def test_a_program_that_cannot_tell_is_an_error(ours: Path, asked_in_a_fork: None, broken: str) -> None:
    for module in ("ingestion_program/ingest/settings.py", "scoring_program/score/settings.py"):
        (ours / module).write_text(broken)
    assert told(ours) == [("settings-unread", "competition.yaml:2"), ("settings-unread", "competition.yaml:5")]


def test_our_own_programs_are_imported_and_not_started(ours: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_settings, "subprocess", None)
    assert {code for code, _ in told(ours)} == {"data-refused"}  # there are settings alone
    (ours / "input_data/final/task.yaml").write_text("seed: x\n")
    assert "settings-refused" in {code for code, _ in told(ours)}


def test_a_foreign_program_is_started_in_an_interpreter(ours: Path) -> None:
    """What it prints is ignored, and nothing is left in its folder."""
    source = ours / "scoring_program/score/settings.py"
    source.write_text(f"{source.read_text()}\nprint('Hello')\n")
    before = sorted(ours.rglob("*"))
    (answer,) = scoring_settings(draft(ours)).values()
    assert answer and answer.columns
    assert sorted(ours.rglob("*")) == before


def test_each_foreign_program_is_started_once_for_all_tasks_and_rules(
    ours: Path, asked_in_a_fork: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    starter: Any = vars(program_settings)["subprocess"]
    run = starter.run

    def count(command: list[str], **options: object) -> object:
        started.append(command[4])
        return run(command, **options)

    monkeypatch.setattr(starter, "run", count)
    for program in PROGRAMS.values():
        (ours / program / "more.py").write_text("")
    text = (ours / "competition.yaml").read_text()
    (ours / "competition.yaml").write_text(text + text.removeprefix("tasks:\n"))
    looked_at = draft(ours)
    assert len(looked_at.keys.tasks) == 2
    assert {finding.code for finding in check_settings(looked_at)} == {"data-refused"}  # there are settings alone
    assert all(answer and answer.columns for answer in scoring_settings(looked_at).values())
    assert started == ["ingestion_program", "scoring_program"]


def test_data_in_a_zip_are_unpacked_for_the_program_and_a_damaged_one_is_told(
    ours: Path, asked_in_a_fork: None
) -> None:
    path, archive = ours / "competition.yaml", ours / "reference_data/final.zip"
    swap(path, "reference_data/final/", "reference_data/final.zip")
    with zipfile.ZipFile(archive, "w") as opened:
        opened.write(ours / "reference_data/final/task.yaml", "task.yaml")
        opened.writestr("labels.csv", "clip_id\n")
    assert ("data-refused", "reference_data/final.zip/labels.csv, line 1") in told(ours)
    archive.write_bytes(archive.read_bytes().replace(b"clip_id\n", b"clip_ix\n"))
    assert "settings-unread" in {code for code, _ in told(ours)}


@pytest.mark.parametrize("folder", [True, False])
def test_code_of_others_is_not_run(
    ours: Path, folder: bool, asked_in_a_fork: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where its program is the one of this installation, that one is asked."""
    ran = ours / "ran"
    spy = f"open({str(ran)!r}, 'w')\n"
    (ours / "input_data/final/task.yaml").write_text("seed: x\n")
    monkeypatch.setattr(trust, "_unknown", UNKNOWN)

    def forge(target: Path) -> None:
        """Python believes such a file without looking at the source."""
        target.parent.mkdir(exist_ok=True)
        code = marshal.dumps(compile(spy, "settings.py", "exec"))
        target.write_bytes(MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + code)

    for program, package in (("ingestion_program", "ingest"), ("scoring_program", "score")):
        forge(Path(cache_from_source(str(ours / program / package / "settings.py"))))
    assert "settings-refused" in {code for code, _ in told(ours, folder=folder)}
    assert not ran.exists()
    for program in PROGRAMS.values():
        forge(ours / program / "yaml.pyc")  # and a module of the root before an installed one
    assert {code for code, _ in told(ours, folder=folder)} == {"program-unasked"}
    assert not ran.exists()
    monkeypatch.setattr(trust, "_unknown", lambda _: [])
    (ours / "scoring_program/score/settings.py").write_text(spy)
    told(ours, folder=folder)
    assert ran.exists()
