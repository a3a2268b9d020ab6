"""Bundles that are not ours: the checker says what is true and useful, and never cries wolf."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bundle_tools.challenge.check import check
from bundle_tools.codabench.archive import zip_folder
from tests.codabench.foreign import VERSION1_COMPETITION, write_flat, write_multi_task, write_results, write_version1
from tests.tiny import swap, write_files

EXPECTED: list[tuple[Callable[[Path], Path], list[tuple[str, str]]]] = [
    # A key of another platform, a noon that becomes midnight, an index that does nothing; a real formula is none.
    (
        write_flat,
        [
            ("key-unknown", "warning"),
            ("date-unquoted", "warning"),
            ("board-index", "note"),
        ],
    ),
    # Two tasks in a phase, and a column computed from others: n/a there.
    (write_multi_task, [("phase-tasks", "warning")]),
    (write_results, []),
    (write_version1, [("version1", "note")]),
]


@pytest.mark.parametrize(("write", "expected"), EXPECTED)
@pytest.mark.parametrize("zipped", [False, True])
def test_no_false_alarm(
    tmp_path: Path, write: Callable[[Path], Path], expected: list[tuple[str, str]], zipped: bool
) -> None:
    bundle = write(tmp_path / "bundle")
    if zipped:
        zip_folder(bundle, tmp_path / "bundle.zip")
        bundle = tmp_path / "bundle.zip"
    findings = check(bundle)
    assert sorted((finding.code, finding.severity) for finding in findings) == sorted(expected)
    assert all(finding.what and finding.effect and finding.fix and finding.where for finding in findings)


def test_computed_columns_of_two_tasks_are_explained(tmp_path: Path) -> None:
    (finding,) = check(write_multi_task(tmp_path))
    assert "Computed columns stay n/a" in finding.effect
    assert finding.where == "competition.yaml:56"


def test_the_conversion_names_what_it_loses(tmp_path: Path) -> None:
    (finding,) = check(write_version1(tmp_path))
    assert "loses admin_names, color." in finding.effect
    text = VERSION1_COMPETITION.replace(
        "      numeric_format: 4\n", "      computed: {operation: Avg, fields: error}\n"
    )
    bundle = write_files(tmp_path, {"competition.yaml": text})
    (note,) = (finding for finding in check(bundle) if finding.code == "version1")
    assert "loses admin_names, color, computed columns." in note.effect


@pytest.mark.parametrize(
    ("code", "old", "new"),
    [
        ("version1-key", "title: Weigh the parcel\n", ""),
        ("version1-key", "phases:", "stages:"),
        ("version1-key", '    label: "First"\n', ""),
        ("version1-key", "    start_date: 2030-01-01\n", ""),
        ("version1-key", "leaderboard:", "board:"),
        ("version1-key", "  columns:", "  rows:"),
        ("version1-key", "html:\n  overview: overview.html", "html:\n  - overview.html"),
        ("version1-key", "  terms: terms_and_conditions.html\n", ""),
        ("version1-key", "  leaderboards:", "  boards:"),
        ("version1-column", "leaderboard: *RESULTS", "leaderboard: {label: Others}"),
        ("version1-conversion", "phasenumber: 1", "phasenumber: one"),
        ("date-unreadable", "end_date: 2030-12-31", "end_date: some day"),
        (
            "leak",
            "reference_data: reference_last.zip",
            "reference_data: reference_last.zip\n    starting_kit: reference_last.zip",
        ),
        ("version1-file", "image: logo.png", "image: picture.png"),
        ("version1-file", "overview: overview.html", "overview: index.html"),
        ("version1-file", "scoring_program: program.zip", "scoring_program: score.zip"),
        ("version1-metadata", "scoring_program: program.zip", "scoring_program: reference_last.zip"),
        ("version1-dates", "start_date: 2030-06-01", "start_date: 2030-01-02"),
        ("date-unreadable", "start_date: 2030-06-01", "start_date: in summer"),
        ("yaml-syntax", "title: Weigh", "title: 'Weigh"),
    ],
)
def test_what_stops_the_conversion_is_found(tmp_path: Path, code: str, old: str, new: str) -> None:
    assert old in VERSION1_COMPETITION
    bundle = write_version1(tmp_path)
    text = VERSION1_COMPETITION.replace(old, new)
    if "html:\n  -" in text:
        text = text.replace("  evaluation: evaluation.html\n  terms: terms_and_conditions.html\n", "")
    write_files(bundle, {"competition.yaml": text})
    assert code in {finding.code for finding in check(bundle)}


@pytest.mark.parametrize("value", ["null", "1", "text", "[]", "[1]", "{}", "{1: 2}", "true"])
@pytest.mark.parametrize("key", ["html", "phases", "leaderboard", "image", "title"])
def test_rubbish_of_version_1_is_never_a_traceback(tmp_path: Path, key: str, value: str) -> None:
    lines = VERSION1_COMPETITION.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(f"{key}:"))
    end = next((at for at in range(start + 1, len(lines)) if not lines[at].startswith(" ")), len(lines))
    bundle = write_version1(tmp_path)
    text = "\n".join([*lines[:start], f"{key}: {value}", *lines[end:]])
    write_files(bundle, {"competition.yaml": text})
    found = {finding.code for finding in check(bundle)}
    assert found
    assert "version1-key" in found or key in {"image", "title"}


@pytest.mark.parametrize("version", ["", "version: 1\n", "version: 1.5\n", "version: '1'\n"])
def test_a_second_version_without_its_number_stays_an_error(tmp_path: Path, version: str) -> None:
    bundle = write_results(tmp_path)
    swap(bundle / "competition.yaml", "version: 2\n", version)
    assert {finding.severity for finding in check(bundle)} == {"error"}


def test_an_unknown_version_is_refused(tmp_path: Path) -> None:
    bundle = write_version1(tmp_path)
    path = bundle / "competition.yaml"
    path.write_text("version: 1.8\n" + path.read_text())
    assert "version" in {finding.code for finding in check(bundle)}
