"""Break a good bundle in one way at a time: the checker must object each time, with the right code, and never crash."""

import io
import json
import random
import shutil
import stat
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from copy import deepcopy as copy_of
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from PIL import Image

from bundle_tools.challenge.check import check
from bundle_tools.cli.main import main
from bundle_tools.codabench.archive import zip_folder
from bundle_tools.codabench.rules import archive as zips
from bundle_tools.codabench.rules import board as settings_of_sizes
from bundle_tools.codabench.rules.archive import check_large
from bundle_tools.codabench.rules.board import check_quota
from bundle_tools.codabench.rules.document import read
from tests.tiny import COMPETITION, FILES, THIRDS, swap, write_files

Content = dict[str, Any]


def codes(path: Path) -> set[str]:
    return {finding.code for finding in check(path)}


def test_an_unquoted_date_is_told_as_it_should_stand(tiny: Path) -> None:
    swap(tiny / "competition.yaml", '"2030-01-01 12:00:00"', "2030-01-01 14:30:00")
    assert [one.fix for one in check(tiny)] == ['Write it in quotes, in UTC: "2030-01-01 14:30:00".']


def test_an_untouched_bundle_has_no_finding(tiny: Path) -> None:
    assert check(tiny) == []


def zip_of(folder: Path) -> Path:
    archive = folder.parent / "bundle.zip"
    zip_folder(folder, archive)
    return archive


def picture(kind: str, mode: str = "RGB", size: tuple[int, int] = (8, 8)) -> bytes:
    buffer = io.BytesIO()
    Image.new(mode, size).save(buffer, kind)
    return buffer.getvalue()


# One replacement in the text of competition.yaml: code -> (old, new).
TEXT_MUTATIONS = [
    ("version", "version: 2", "version: 1"),
    ("version", "version: 2", "version: 2.0"),
    ("key-missing", "version: 2\n", ""),
    ("key-missing", "title: Tiny\n", ""),
    ("key-value", "title: Tiny", "title: " + "x" * 257),
    ("key-value", "title: Tiny", "title: ''"),
    ("key-value", "title: Tiny", "title: [a]"),
    ("key-null", "title: Tiny", "title:"),
    ("key-unknown", "enable_detailed_results", "enable_detailled_results"),
    ("key-value", "enable_detailed_results: true", "enable_detailed_results: maybe"),
    ("key-null", "enable_detailed_results: true", "enable_detailed_results: null"),
    ("leaderboard-singular", "leaderboards:", "leaderboard:"),
    ("image-default", "docker_image: example/tiny:1\n", ""),
    ("key-value", "docker_image: example/tiny:1", "docker_image: ''"),
    ("key-value", "docker_image: example/tiny:1", "docker_image: " + "x" * 129),
    ("queue", "title: Tiny", "title: Tiny\nqueue: mine"),
    ("email", "title: Tiny", "title: Tiny\ncontact_email: nobody"),
    ("key-value", "title: Tiny", "title: Tiny\nreward: " + "x" * 257),
    ("key-value", "title: Tiny", "title: Tiny\ncompetition_type: game"),
    ("fact-sheet", "title: Tiny", "title: Tiny\nfact_sheet: {team: {key: team}}"),
    (
        "fact-sheet",
        "title: Tiny",
        "title: Tiny\nfact_sheet: {team: {key: team, type: text, title: Team, selection: '', "
        "is_required: true, is_on_leaderboard: 'false'}}",
    ),
    ("image-missing", "image: logo.png", "image: logo.svg"),
    ("image-missing", "image: logo.png", "image: https://example.org/logo.png"),
    ("image-missing", "image: logo.png", "image: ''"),
    ("page-missing", "terms: pages/terms.md", "terms: pages/conditions.md"),
    ("page-missing", "file: pages/overview.md", "file: pages/"),
    ("key-missing", "{title: Overview, file: pages/overview.md}", "{file: pages/overview.md}"),
    ("key-missing", "{title: Overview, file: pages/overview.md}", "{title: Overview}"),
    ("key-value", "title: Overview", "title: " + "x" * 256),
    ("page-terms", "title: Overview", "title: Terms"),
    ("entry-type", "- {title: Overview, file: pages/overview.md}", "- pages/overview.md"),
    ("key-missing", "pages:\n  - {title: Overview, file: pages/overview.md}\n", ""),
    ("tasks-unknown", "tasks: [0]\n    execution", "tasks: [1]\n    execution"),
    ("tasks-unknown", "tasks: [0]\n    execution", "tasks: ['0']\n    execution"),
    ("tasks-none", "tasks: [0]\n    execution", "tasks: []\n    execution"),
    ("tasks-unknown", "path: solutions/half/, tasks: [0]", "path: solutions/half/, tasks: [7]"),
    ("task-index-type", "- index: 0\n    name: Practice\n    input", "- index: a\n    name: Practice\n    input"),
    ("key-missing", "- index: 0\n    name: Practice\n    input", "- name: Practice\n    input"),
    ("task-missing", "    scoring_program: scoring_program/\n", ""),
    ("key-value", "name: Practice\n    input", "name: " + "x" * 257 + "\n    input"),
    ("key-null", "input_data: input_data/practice/", "input_data:"),
    ("path-empty", "input_data: input_data/practice/", "input_data: ''"),
    ("path-empty", "input_data: input_data/practice/", "input_data: ./"),
    ("path-slash", "input_data: input_data/practice/", "input_data: input_data/practice"),
    ("path-slash", "scoring_program: scoring_program/", "scoring_program: scoring_program"),
    ("path-missing", "input_data: input_data/practice/", "input_data: input_data/exam/"),
    ("path-outside", "input_data: input_data/practice/", "input_data: ../practice/"),
    ("path-outside", "input_data: input_data/practice/", "input_data: /tmp/"),
    ("path-zip", "input_data: input_data/practice/", "input_data: pages/terms.md"),
    ("path-type", "input_data: input_data/practice/", "input_data: 3"),
    ("task-ingestion-only", "    scoring_program:", "    ingestion_only_during_scoring: true\n    scoring_program:"),
    ("task-key", "    scoring_program:", "    key: mine\n    scoring_program:"),
    ("solution-path", "path: solutions/half/, ", ""),
    ("path-missing", "path: solutions/half/", "path: solutions/whole/"),
    ("key-missing", "{index: 0, name: half,", "{name: half,"),
    ("key-missing", '    start: "2030-01-01 12:00:00"\n', ""),
    ("date-unquoted", '"2030-01-01 12:00:00"', "2030-01-01 12:00:00"),
    ("date-type", '"2030-01-01 12:00:00"', "20300101"),
    ("date-unreadable", '"2030-01-01 12:00:00"', '"soon"'),
    ("date-zone", '"2030-01-01 12:00:00"', '"2030-01-01 12:00:00+02:00"'),
    ("date-form", '"2030-01-01 12:00:00"', '"8-7-2030"'),
    ("date-unreadable", '"2030-01-01 12:00:00"', '"2030-01-01 12:00:00"\n    end: "soon"'),
    ("phase-reversed", 'start: "2030-01-01', 'end: "2029-01-01 12:00:00"\n    start: "2030-01-01'),
    ("phase-limit-cap", "execution_time_limit: 600", "execution_time_limit: 601"),
    ("phase-limit-zero", "execution_time_limit: 600", "execution_time_limit: 0"),
    ("key-value", "execution_time_limit: 600", "execution_time_limit: 2147483648"),
    ("key-value", "execution_time_limit: 600", "execution_time_limit: ten"),
    ("phase-unlimited", "execution_time_limit: 600", "max_submissions: 0"),
    ("phase-unlimited", "execution_time_limit: 600", "max_submissions_per_day:"),
    ("key-unknown", "execution_time_limit: 600", "max_submissions_per_person: 5"),
    ("phase-migrate", "execution_time_limit: 600", "auto_migrate_to_this_phase: true"),
    ("phase-index", "    start:", "    hide_output: false\n    index: first\n    start:"),
    ("key-null", "execution_time_limit: 600", "hide_output:"),
    ("path-empty", "execution_time_limit: 600", "starting_kit: ''"),
    ("path-missing", "execution_time_limit: 600", "public_data: public/"),
    ("key-value", "submission_rule: Add", "submission_rule: Best"),
    ("key-value", "title: Results", "title: " + "x" * 65),
    ("board-index", "submission_rule: Add", "index: 0"),
    ("key-value", "key: results", "key: " + "x" * 37),
    ("board-primary", "submission_rule: Add", "primary_index: 5"),
    ("board-primary", "index: 0, key: accuracy", "index: 2, key: accuracy"),
    ("column-index-twice", "index: 1, key: errors", "index: 0, key: errors"),
    ("column-key-twice", "key: errors", "key: accuracy"),
    ("key-value", "title: Accuracy", "title: " + "x" * 37),
    ("key-value", "key: errors", "key: " + "x" * 37),
    ("key-value", "sorting: asc", "sorting: ASC"),
    ("column-sorting", "sorting: asc, ", ""),
    ("key-null", "sorting: asc", "sorting:"),
    ("column-precision", "precision: 0", "precision: 11"),
    ("key-value", "precision: 0", "precision: -1"),
    ("date-unreadable", '"2030-01-01 12:00:00"', "''"),
    ("date-zone", '"2030-01-01 12:00:00"', '"2030-01-01 12:00:00 EST"'),
    ("email", "title: Tiny", "title: Tiny\ncontact_email: a..b@example.org"),
    ("email", "title: Tiny", "title: Tiny\ncontact_email: foo@exa_mple.com"),
    ("email", "title: Tiny", "title: Tiny\ncontact_email: foo@-example.com"),
    ("email", "title: Tiny", "title: Tiny\ncontact_email: foo@localhost"),
    ("program-same", "ingestion_program: ingestion_program/", "ingestion_program: scoring_program/"),
    ("key-null", "precision: 0", "precision:"),
    ("column-computation", "precision: 0", "computation: avg, computation_indexes: []"),
    ("column-computation", "precision: 0", 'computation: avg, computation_indexes: "0"'),
    ("column-computation", "precision: 0", "computation: avg, computation_indexes: [1]"),
    ("column-computation", "precision: 0", "computation: avg, computation_indexes: [9]"),
    ("column-computation", "precision: 0", "computation_indexes: [0]"),
    (
        "column-computation",
        "precision: 4}\n      - {index: 1,",
        "precision: 4, computation: sum, computation_indexes: [1]}\n"
        "      - {index: 1, computation: max, computation_indexes: [0],",
    ),
    ("key-value", "precision: 0", "computation: median, computation_indexes: [0]"),
    ("yaml-duplicate-key", "title: Tiny", "title: Tiny\ntitle: Twice"),
    ("yaml-duplicate-key", "{index: 0, name: half,", "{index: 0, name: whole, name: half,"),
    ("yaml-syntax", "title: Tiny", "title: !!python/object/apply:os.getcwd []"),
    ("yaml-syntax", "title: Tiny", "\ttitle: Tiny"),
    ("yaml-syntax", "title: Tiny", "title: 'Tiny"),
    ("yaml-bomb", "title: Tiny", "title: &a [*a]"),
    ("yaml-bomb", "title: Tiny", "title: 1" + ":59" * 1000),
    ("yaml-bomb", "title: Tiny", "title: " + "[" * 101 + "]" * 101),
    ("yaml-syntax", "title: Tiny", "title: !!int ''"),
    ("yaml-syntax", "title: Tiny", "title: !!bool maybe"),
    ("yaml-syntax", "title: Tiny", "title: !!timestamp soon"),
    ("yaml-syntax", "title: Tiny", "title: 2001-99-99"),
    ("yaml-syntax", "title: Tiny", "title: \x00"),
    ("image-tag", "example/tiny:1", "example/tiny"),
    ("image-tag", "example/tiny:1", "example/tiny:latest"),
    ("image-tag", "example/tiny:1", "registry.example.org:5000/tiny"),
    ("phase-tasks", "tasks: [0]\n    execution", "tasks: [0, 1]\n    execution"),
    ("columns-revealed", "precision: 0}", "precision: 0, hidden: true}"),
    ("columns-revealed", "precision: 0}", "precision: 0, hidden: 'yes'}"),
    ("column-first-hidden", "precision: 4}", "precision: 4, hidden: true}"),
    ("entry-type", "- {index: 1, key: errors,", "- errors\n      - {index: 1, key: errors,"),
    ("column-newer", "precision: 0", "computation: avg_rank, computation_indexes: [0]"),
    ("column-computation", "precision: 0", "computation: avg, computation_indexes: 0"),
    ("column-computation", "precision: 0", "computation: avg, computation_indexes: [false]"),
    ("column-computation", "precision: 0", "computation: avg, computation_indexes: ['0']"),
    ("task-ingestion-only", "    scoring_program:", "    ingestion_only_during_scoring: 'yes'\n    scoring_program:"),
    ("phase-migrate", "execution_time_limit: 600", "auto_migrate_to_this_phase: 'true'"),
    ("date-unreadable", '"2030-01-01 12:00:00"', '"' + "1" * 5000 + '"'),
    ("task-index-type", "- index: 0\n    name: Practice\n    input", "- index: [0]\n    name: Practice\n    input"),
    ("date-form", '"2030-01-01 12:00:00"', '"March 2030"'),
    ("date-form", '"2030-01-01 12:00:00"', '"12:00"'),
    ("date-zone", '"2030-01-01 12:00:00"', '"2030-01-01T12:00:00-05:00"'),
    ("date-past", '"2030-01-01 12:00:00"', '"2026-11-01 12:00:00"'),
    ("date-past", '"2030-01-01 12:00:00"', '"2026-10-01"\n    end: "2026-11-01"'),
    ("date-soon", '"2030-01-01 12:00:00"', '"2026-11-02 11:59:00"'),
    ("date-short", '"2030-01-01 12:00:00"', '"2030-01-01 12:00:00"\n    end: "2030-01-02 11:59:00"'),
    ("report-off", "enable_detailed_results: true\n", ""),
    ("page-link", "execution_time_limit: 600", "description: See [the rules](rules.md)."),
    ("yaml-mapping", COMPETITION, "- version: 2\n"),
    ("yaml-mapping", COMPETITION, ""),
]


def test_every_mistake_in_the_yaml_is_found(tiny: Path, subtests: pytest.Subtests) -> None:
    for code, old, new in TEXT_MUTATIONS:
        with subtests.test(code, new=new):
            assert old in COMPETITION
            (tiny / "competition.yaml").write_text(COMPETITION.replace(old, new, 1))
            assert code in codes(tiny)


SHAPES = [
    ("entry-type", "solutions:\n", "  - more\nsolutions:\n"),
    ("key-value", "precision: 0", "precision: 0, computation: median, computation_indexes: [0]"),
    ("key-value", "tasks: [0]\n    exec", "tasks: 0\n    exec"),
    ("key-value", "solutions/half/, tasks: [0]", "solutions/half/, tasks: 0"),
    ("key-value", "submission_rule: Add", "primary_index: x"),
]


def test_a_mistake_of_shape_is_told_by_the_keys_alone(tiny: Path, subtests: pytest.Subtests) -> None:
    for code, old, new in SHAPES:
        with subtests.test(code, new=new):
            (tiny / "competition.yaml").write_text(COMPETITION)
            swap(tiny / "competition.yaml", old, new)
            assert codes(tiny) == {code}


DATES = (
    *("1-1-2030", "12-31-2030", "13-7-2030", "2030-03-01", '"2030-03-01T00:00:00+00:00"', "'2030-03-01T10:00Z'"),
    *('"1 March 2030"', "'2030-03-01 10:00'", "\"2030-03-01\"\n    end: ''"),
)
RIGHT = [
    *(('"2030-01-01 12:00:00"', date) for date in DATES),
    ('"2030-01-01 12:00:00"', '"2030-01-01 12:00:00"\n    end: "2030-01-02 12:00:00"'),
    ("precision: 0", "precision: 0, computation: null, computation_indexes: null"),
    ("tasks: [0]\n    exec", "tasks: [0, 0]\n    exec"),
    ("title: Tiny", "title: Tiny\nfact_sheet: {}"),
    ("title: Tiny", "title: Tiny\nreward: 100"),
    ("title: Tiny", "title: Tiny\ncontact_email: first.last+x@sub-1.exämple.org"),
    ("version: 2", "version: '2'"),
    ("enable_detailed_results: true", "enable_detailed_results: 'yes'"),
    ("solutions:\n  - {index: 0, name: half, path: solutions/half/, tasks: [0]}\n", "solutions: []\n"),
]


def test_what_is_right_stays_unsaid(tiny: Path, subtests: pytest.Subtests) -> None:
    for old, new in RIGHT:
        with subtests.test(new):
            assert old in COMPETITION
            (tiny / "competition.yaml").write_text(COMPETITION.replace(old, new, 1))
            assert check(tiny) == []


GOOD_PAGES = [
    "```markdown\n[x](a.md) ![p](q.png) costs $5 or $6\n```\n",
    "Write `[x](a.md)` and `![p](q.png)`.",
    "It costs $5.",
    "With $N$ clips, $x_i$ of them and $c = 1$:\n\n$$\\frac{1}{N}\n\\sum_i x_i$$\n\nand so on\n\n$$1$$\n",
    "````markdown\n```\n````\n",
    "[a](#top) [b](https://example.org/b.md) [c](mailto:c@example.org) [d](/competitions/1/) [e](//example.org/e)",
    "<a href='https://example.org'>a</a> <img alt='' src='data:image/png;base64,AAAA'> ![b](https://example.org/b.png)",
]


def test_a_good_page_stays_unsaid(tiny: Path, subtests: pytest.Subtests) -> None:
    for text in GOOD_PAGES:
        with subtests.test(text):
            write_files(tiny, {"pages/overview.md": text})
            assert check(tiny) == []


def edit(change: Callable[[Content], object]) -> Callable[[Path], None]:
    def mutate(bundle: Path) -> None:
        path = bundle / "competition.yaml"
        content = yaml.safe_load(path.read_text())
        change(content)
        path.write_text(yaml.safe_dump(content))

    return mutate


def put(name: str, content: str | bytes) -> Callable[[Path], None]:
    def mutate(bundle: Path) -> None:
        write_files(bundle, {name: content})

    return mutate


def add_phase(start: str, end: str | None) -> Callable[[Path], None]:
    def change(content: Content) -> None:
        first = content["phases"][0]
        if end:
            first["end"] = end
        content["phases"].append({**first, "index": 1, "start": start})

    return edit(change)


METADATA = "ingestion_program/metadata.yaml"
OTHER_MUTATIONS: list[tuple[str, Callable[[Path], object]]] = [
    ("yaml-missing", lambda bundle: (bundle / "competition.yaml").rename(bundle / "competition.yml")),
    ("yaml-encoding", put("competition.yaml", COMPETITION.replace("Tiny", "Größe").encode("latin-1"))),
    ("yaml-size", put("competition.yaml", COMPETITION + "#" * 100_001)),
    ("yaml-syntax", put("competition.yaml", "[" * 2000)),
    ("image-broken", put("logo.png", b"")),
    ("image-broken", put("logo.png", picture("PNG", size=(64, 64))[:60])),
    ("image-broken", put("logo.png", "<svg xmlns='http://www.w3.org/2000/svg'/>")),
    ("image-large", put("logo.png", picture("PNG", "1", (5001, 5000)))),
    ("image-format", put("logo.png", picture("BMP"))),
    ("image-cmyk", put("logo.png", picture("JPEG", "CMYK"))),
    ("image-flat", put("logo.png", picture("PNG", size=(202, 2)))),
    ("page-empty", put("pages/terms.md", "")),
    ("page-encoding", put("pages/overview.md", "Größe".encode("latin-1"))),
    ("page-asset", put("pages/overview.md", "![logo](logo.png)")),
    ("page-asset", put("pages/overview.md", '<img alt="" src="logo.png">')),
    ("page-blank", put("pages/terms.md", " \n\t\n")),
    ("page-size", put("pages/overview.md", "x" * 1_000_001)),
    ("page-link", put("pages/overview.md", "Read [the terms](terms.md).")),
    ("page-link", put("pages/overview.md", "Read <a class='x' href='terms.html'>the terms</a>.")),
    ("page-fence", put("pages/overview.md", "```python\nx = 1\n")),
    ("page-fence", put("pages/overview.md", "```python x = 1```\n")),
    ("image-broken", put("logo.png", '<?xml version="1.0"?><svg/>')),
    ("page-dollar", put("pages/overview.md", "It costs $5, not $6.")),
    ("page-dollar", put("pages/overview.md", "With $N$ clips it costs 5$ = 4 EUR, not $6.")),
    ("page-dollar", put("pages/overview.md", "From $5-$7.")),
    ("page-dollar", put("pages/overview.md", "Write `$HOME` or `$PWD`.")),
    ("page-dollar", put("pages/overview.md", "Write `$HOME_DIR` or `$MY_VAR`.")),
    ("page-dollar", put("pages/overview.md", "```sh\nkill $$\n```\n")),
    ("tasks-empty", edit(lambda content: content.update(tasks=[]))),
    ("phases-empty", edit(lambda content: content.update(phases=[]))),
    ("leaderboards-empty", edit(lambda content: content.update(leaderboards=[]))),
    ("columns-none", edit(lambda content: content["leaderboards"][0].update(columns=[]))),
    ("columns-hidden", edit(lambda content: [c.update(hidden="true") for c in content["leaderboards"][0]["columns"]])),
    ("columns-hidden", edit(lambda content: [c.update(hidden=True) for c in content["leaderboards"][0]["columns"]])),
    ("board-many", edit(lambda content: content["leaderboards"].append(content["leaderboards"][0]))),
    ("entry-type", edit(lambda content: content["tasks"].append("more"))),
    ("task-index-twice", edit(lambda content: content["tasks"].append(content["tasks"][0]))),
    ("solution-index", edit(lambda content: content["solutions"].append(content["solutions"][0]))),
    ("phase-overlap", add_phase("2030-02-01 12:00:00", "2030-02-01 12:00:00")),
    ("phase-overlap", add_phase("2030-01-15 12:00:00", "2030-02-01 12:00:00")),
    ("phase-end-missing", add_phase("2030-02-01 12:00:00", None)),
    ("phase-index-twice", edit(lambda content: content["phases"].append(content["phases"][0]))),
    ("path-twins", put("scoring_program.zip", b"PK")),
    ("path-hollow", lambda bundle: (bundle / "input_data/practice/question.txt").unlink()),
    ("program-metadata", lambda bundle: (bundle / METADATA).unlink()),
    ("program-metadata", lambda bundle: (bundle / METADATA).rename(bundle / "ingestion_program/metadata.yml")),
    ("program-command", put(METADATA, "command: [python3, ingest.py]")),
    ("program-command", put(METADATA, "command: ''")),
    ("program-command", put(METADATA, "description: none")),
    ("program-shell", put(METADATA, "command: python3 /app/program/ingest.py > /app/output/log")),
    ("program-shell", put(METADATA, "command: cd /app/program && python3 ingest.py")),
    ("program-shell", put(METADATA, "command: python3 $HOME/ingest.py")),
    ("program-variable", put(METADATA, "command: python3 /app/program/ingest.py $input_data")),
    ("program-quotes", put(METADATA, "command: python3 '/app/program/ingest.py")),
    ("program-mount", put(METADATA, "command: python3 /app/ingestion_program/ingest.py")),
    ("program-script", put(METADATA, "command: python3 /app/program/main.py")),
    ("solution-metadata", put("solutions/half/metadata", "command: python3 x.py")),
    ("leak", lambda bundle: shutil.copy(bundle / "reference_data/practice/answer.txt", bundle / "solutions/half/x")),
    ("leak", lambda bundle: shutil.copy(bundle / "reference_data/practice/answer.txt", bundle / "input_data/practice")),
    ("junk", put("scoring_program/__pycache__/score.cpython-311.pyc", b"x")),
]


def test_every_other_mistake_is_found(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for at, (code, mutate) in enumerate(OTHER_MUTATIONS):
        with subtests.test(code, at=at):
            bundle = write_files(tmp_path / str(at), FILES)
            mutate(bundle)
            assert code in codes(bundle)


def member(name: str, content: bytes = b"x", mode: int = 0o100644) -> tuple[zipfile.ZipInfo, bytes]:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    return info, content


EXTRA_MEMBERS = [
    ("zip-name", [member("../outside")]),
    ("zip-name", [member("/absolute")]),
    ("zip-name", [member("back\\slash")]),
    ("zip-name", [member("\0")]),
    ("zip-name", [member("c:/autoexec.bat")]),
    ("zip-link", [member("link", b"/etc/passwd", stat.S_IFLNK | 0o777)]),
    ("zip-twice", [member("twice"), member("twice")]),
    ("zip-bomb", [member("bomb", bytes(100_000_001))]),
    ("zip-case", [member("Pages/terms.md")]),
    ("zip-long", [member("ü" * 128)]),
    ("zip-letters", [member("bell\a")]),
    ("zip-clash", [member("pages")]),
    ("junk", [member("__MACOSX/._logo.png")]),
    ("junk", [member(".DS_Store")]),
]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_every_mistake_in_the_zip_is_found(tiny: Path, subtests: pytest.Subtests) -> None:
    good, bad = zip_of(tiny), tiny.parent / "bad.zip"
    for at, (code, extra) in enumerate(EXTRA_MEMBERS):
        with subtests.test(code, at=at):
            shutil.copy(good, bad)
            with zipfile.ZipFile(bad, "a") as opened:
                for info, content in extra:
                    opened.writestr(info, content)
            assert code in codes(bad)


def test_an_encrypted_member_is_found(tiny: Path) -> None:
    archive = zip_of(tiny)
    content = bytearray(archive.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    archive.write_bytes(content)
    assert "zip-encrypted" in codes(archive)


def test_an_enclosing_folder_is_found(tiny: Path) -> None:
    zip_folder(tiny.parent, tiny / "bundle.zip")
    assert codes(tiny / "bundle.zip") == {"yaml-missing"}


def test_no_zip_at_all_is_a_finding(tmp_path: Path) -> None:
    for name, content in (("a.zip", b""), ("b.zip", b"PK\x03\x04 cut off"), ("c.zip", b"hello")):
        (tmp_path / name).write_bytes(content)
        assert codes(tmp_path / name) == {"zip-unreadable"}


def test_a_damaged_member_is_a_finding(tiny: Path) -> None:
    archive = zip_of(tiny)
    content = archive.read_bytes()
    at = content.index(b"solutions/half/model.py") + len("solutions/half/model.py")
    archive.write_bytes(content[:at] + bytes(8) + content[at + 8 :])
    assert codes(archive) == {"zip-damaged"}


def test_a_damaged_data_set_is_a_finding(tiny: Path) -> None:
    swap(tiny / "competition.yaml", "solutions/half/", "half.zip")
    zip_folder(tiny / "solutions" / "half", tiny / "half.zip")
    assert check(tiny) == []
    content = (tiny / "half.zip").read_bytes()
    at = content.index(b"model.py") + len("model.py")
    (tiny / "half.zip").write_bytes(content[:at] + bytes(8) + content[at + 8 :])
    assert codes(tiny) == {"file-unreadable"}


def test_a_name_that_is_not_marked_as_utf8_is_found(tiny: Path) -> None:
    archive = zip_of(write_files(tiny, {"pages/größe.md": "x"}))
    assert check(archive) == []
    content = archive.read_bytes()
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.index("pages/größe.md".encode(), content.index(signature))
        start = content.rindex(signature, 0, at)
        content = content[: start + flags] + b"\0\0" + content[start + flags + 2 :]
    archive.write_bytes(content)
    assert codes(archive) == {"zip-letters"}


def test_a_giant_yaml_in_a_zip_is_never_extracted(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = zip_of(write_files(tiny, {"competition.yaml": COMPETITION + "#" * 50_000_000}))
    monkeypatch.setattr("bundle_tools.codabench.rules.extract", None)
    assert codes(archive) >= {"yaml-size"}


def test_too_many_files_are_a_finding(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = zip_of(tiny)
    monkeypatch.setattr(zips, "MOST_MEMBERS", 10)
    assert codes(archive) == {"zip-crowded"}


def test_many_small_bombs_are_one_bomb(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tiny, {f"zeros/{i}": bytes(100_000) for i in range(30)})
    archive = zip_of(tiny)
    assert check(archive) == []
    monkeypatch.setattr(zips, "BOMB_BYTES", 2_000_000)
    assert codes(archive) == {"zip-bomb"}


def test_files_that_share_their_bytes_are_found(tiny: Path) -> None:
    archive = zip_of(write_files(tiny, {"a/x.txt": "1", "b/x.txt": "1"}))
    content = archive.read_bytes()
    first, second = (content.index(name) - 30 for name in (b"a/x.txt", b"b/x.txt"))
    directory = content.index(b"PK\x01\x02", content.rindex(b"b/x.txt") - 50)
    content = content[: directory + 42] + (first + 1).to_bytes(4, "little") + content[directory + 46 :]
    assert second > first
    archive.write_bytes(content)
    assert "zip-overlap" in codes(archive)


@pytest.mark.parametrize("path", ["x" * 300 + "/", "a\0b/", "x/" * 3000])
@pytest.mark.parametrize("key", ["terms", "input_data"])
def test_impossible_paths_are_a_finding(tiny: Path, key: str, path: str) -> None:
    def change(content: Content) -> None:
        (content if key == "terms" else content["tasks"][0])[key] = path

    edit(change)(tiny)
    assert any(finding.severity == "error" for finding in check(tiny))


def test_large_files_that_hold_something_are_no_bomb(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = random.Random(1).randbytes(10_000)  # noqa: S311 - bytes that do not shrink
    archive = zip_of(write_files(tiny, {"input_data/practice/noise.bin": noise}))
    monkeypatch.setattr(zips, "BOMB_BYTES", 1000)
    monkeypatch.setattr(zips, "BOMB_MEMBER_BYTES", 1000)
    assert check(archive) == []


def test_large_zips_are_a_warning() -> None:
    assert check_large(1_000_000_000, "a.zip") == []
    assert [finding.code for finding in check_large(1_000_000_001, "a.zip")] == ["zip-large"]


def test_the_quota_counts_the_bundle_and_every_use(tiny: Path) -> None:
    """Two uses of 4 GB and one of 3 GB beside a zip of 4 GB: 15 GB, just what fits."""
    path = tiny / "competition.yaml"
    swap(path, "    tasks: [0]\n    exec", "    public_data: input_data/practice/\n    tasks: [0]\n    exec")
    draft, _ = read(tiny, folder=True)
    assert draft is not None
    sizes = {"input_data/practice/a": 4_000_000_000, "reference_data/practice/b": 3_000_000_000, "other": 9_000_000_000}
    assert list(check_quota(draft, sizes, tiny, 4_000_000_000)) == []
    found = [(finding.code, finding.severity) for finding in check_quota(draft, sizes, tiny, 4_000_000_001)]
    assert found == [("zip-quota", "error")]
    assert [finding.severity for finding in check_quota(draft, sizes, tiny)] == ["warning"]
    swap(path, ": input_data/practice/\n    ref", ": one.zip\n    ref")
    draft, _ = read(tiny, folder=True)
    assert draft is not None
    assert list(check_quota(draft, {"one.zip": 8_000_000_000}, tiny, 7_000_000_000)) == []
    assert list(check_quota(draft, {"one.zip": 8_000_000_001}, tiny, 7_000_000_000)) != []


def test_every_part_of_the_data_is_looked_at(tiny: Path) -> None:
    given = {"clips": "clips.csv", "results": True}
    wanted = {name: f"{name}.json" for name in ("groups", "landmarks")}
    for side, content in (("input_data", given), ("reference_data", wanted)):
        write_files(tiny, {f"{side}/practice/task.yaml": yaml.safe_dump(content)})
    assert {"groups-missing", "landmarks-missing", "data-version", "results-accepted"} <= codes(tiny)


def test_the_quota_is_held_against_folders_and_zips(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = zip_of(tiny)
    monkeypatch.setattr(settings_of_sizes, "QUOTA_BYTES", 1000)
    for bundle, severity in ((tiny, "warning"), (archive, "error")):
        assert [(finding.code, finding.severity) for finding in check(bundle)] == [("zip-quota", severity)]


def test_a_long_name_of_a_data_set_is_a_note(tiny: Path) -> None:
    name = "solutions/" + "x" * 36
    (tiny / "solutions/half").rename(tiny / name)
    swap(tiny / "competition.yaml", "solutions/half/", name + "/")
    assert codes(tiny) == {"path-name"}


@pytest.mark.parametrize("switch", ["hide_output", "hide_score_output"])
def test_hidden_columns_stay_hidden_where_the_output_is(tiny: Path, switch: str) -> None:
    path = tiny / "competition.yaml"
    text = path.read_text().replace("precision: 0}", "precision: 0, hidden: true}")
    path.write_text(text.replace("execution_time_limit: 600", f"{switch}: true"))
    assert check(tiny) == []


def test_time_is_held_against_the_given_clock(tiny: Path) -> None:
    """The only phase starts at noon of 2030-01-01."""
    for now, expected in (
        (datetime(2029, 12, 31, 12), set()),
        (datetime(2029, 12, 31, 12, 1), {"date-soon"}),
        (datetime(2030, 1, 1, 12), {"date-past"}),
    ):
        assert {finding.code for finding in check(tiny, now)} == expected
        assert {finding.severity for finding in check(tiny, now)} <= {"warning"}


def test_a_phase_that_is_over_is_told_from_one_that_runs(tiny: Path) -> None:
    swap(tiny / "competition.yaml", "    start:", '    end: "2030-02-01 12:00:00"\n    start:')
    (running,) = check(tiny, datetime(2030, 2, 1, 11, 59))
    (over,) = check(tiny, datetime(2030, 2, 1, 12))
    assert running.what == "The first phase started at 2030-01-01 12:00:00 UTC."
    assert over.what == "The phase ended at 2030-02-01 12:00:00 UTC."


def test_aliases_that_explode_are_a_finding_at_once(tiny: Path) -> None:
    laughs = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    laughs += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)]
    merges = ["a0: &a0 {k: 1}", *(f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}, *a{i - 1}]}}" for i in range(1, 60))]
    for lines in (laughs, merges):
        text = "\n".join(lines)
        for name in ("competition.yaml", METADATA):
            kept = (tiny / name).read_text()
            (tiny / name).write_text(text)
            started = time.process_time()
            assert codes(tiny) == {"yaml-bomb" if name == "competition.yaml" else "program-command"}
            assert time.process_time() - started < 30
            (tiny / name).write_text(kept)


def test_good_aliases_are_read(tiny: Path) -> None:
    path = tiny / "competition.yaml"
    text = path.read_text().replace("title: Tiny", "title: &title Tiny").replace("title: Overview", "title: *title")
    path.write_text(text.replace("{index: 1, key: errors,", "{<<: {index: 1}, key: errors,"))
    assert check(tiny) == []


RUBBISH: list[object] = [None, 1, True, "text", [], [None], {}, {"a": None}, 1.5]


@pytest.mark.parametrize("third", THIRDS)
def test_rubbish_in_any_place_is_a_finding_never_a_traceback(
    tiny: Path, third: int, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """In each third, every place gets three of the nine values, put where they stand after reading."""

    def places(node: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        return [path, *(place for key, child in children for place in places(child, (*path, key)))]

    draft, _ = read(tiny, folder=True)
    assert draft is not None
    for at, place in enumerate(places(draft.content)[1:]):
        for value in RUBBISH[(at + third) % 3 :: 3]:
            node = broken = copy_of(draft.content)
            for key in place[:-1]:
                node = node[key]
            node[place[-1]] = value
            wrong = replace(draft, content=broken)
            monkeypatch.setattr("bundle_tools.codabench.rules.read", lambda *_, _wrong=wrong, **__: (_wrong, []))
            with subtests.test(str(place), value=value):
                check(tiny)


def test_findings_name_the_line_and_all_come_at_once(tiny: Path) -> None:
    path = tiny / "competition.yaml"
    path.write_text(path.read_text().replace("sorting: asc", "sorting: up").replace("title: Tiny", "titel: Tiny"))
    found = {(finding.code, finding.where) for finding in check(tiny)}
    line = path.read_text().splitlines().index(next(x for x in path.read_text().splitlines() if "sorting: up" in x)) + 1
    assert ("key-value", f"competition.yaml:{line}") in found
    assert ("key-unknown", "competition.yaml:2") in found
    assert {code for code, _ in found} == {"key-value", "key-unknown", "key-missing"}


@pytest.mark.parametrize("key", ["max_submissions", "max_submissions_per_day"])
def test_submissions_without_limit_are_only_noted(tiny: Path, key: str) -> None:
    path = tiny / "competition.yaml"
    limit = "execution_time_limit: 600"
    path.write_text(path.read_text().replace(limit, f"{key}: 0\n    {limit}", 1))
    assert [(finding.code, finding.severity) for finding in check(tiny)] == [("phase-unlimited", "note")]


def test_the_command_prints_and_exits(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tiny)]) == 0
    assert "0 errors, 0 warnings, 0 notes" in capsys.readouterr().out
    (tiny / "pages" / "terms.md").write_text("")
    assert main(["check", str(tiny), "--json"]) == 1
    assert [finding["code"] for finding in json.loads(capsys.readouterr().out)] == ["page-empty"]
    assert main(["check", str(tiny / "nothing")]) == 1


def test_help_fits_a_screen() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bundle_tools.cli.main", "--help"], capture_output=True, text=True, check=True
    )
    assert len(done.stdout.splitlines()) < 40
    assert all(len(line) <= 120 for line in done.stdout.splitlines())
    for command in ("run", "check", "build", "compare", "data synth"):
        assert f"  {command} " in done.stdout


def test_only_a_path_of_one_name_needs_its_slash(tiny: Path) -> None:
    path = tiny / "competition.yaml"
    text = path.read_text()
    for name, severity in (("scoring_program", "warning"), ("input_data/practice", "note")):
        path.write_text(text.replace(f": {name}/\n", f": {name}\n"))
        assert [(finding.code, finding.severity) for finding in check(tiny)] == [("path-slash", severity)]


def test_a_value_that_cannot_be_built_is_named(tiny: Path) -> None:
    swap(tiny / "competition.yaml", '"2030-01-01 12:00:00"', "2030-13-01 12:00:00")
    (finding,) = check(tiny)
    assert finding.where == "competition.yaml:21"
    assert "found '2030-13-01 12:00:00', which is no timestamp: month must be in 1..12" in finding.what


def test_a_missing_version_is_called_version_1(tiny: Path) -> None:
    swap(tiny / "competition.yaml", "version: 2\n", "")
    assert ["version 1" in finding.effect for finding in check(tiny)] == [True]


@pytest.mark.parametrize(
    ("first", "second", "severity"),
    [("'0'", "'1'", "warning"), ("0", "'1'", "error"), ("0.5", "1", "warning")],
)
def test_only_mixed_indexes_of_phases_crash(tiny: Path, first: str, second: str, severity: str) -> None:
    add_phase("2030-03-01 12:00:00", "2030-02-01 12:00:00")(tiny)
    path = tiny / "competition.yaml"
    content = yaml.safe_load(path.read_text())
    for phase, index in zip(content["phases"], (first, second), strict=True):
        phase["index"] = yaml.safe_load(index)
    del content["phases"][1]["end"]
    path.write_text(yaml.safe_dump(content))
    assert [(finding.code, finding.severity) for finding in check(tiny)] == [("phase-index", severity)]
