"""Bundles of CodaLab's first version, which Codabench converts: what the conversion loses, and what stops it."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from bundle_tools.codabench.keys import FILES_OF_TASK, KeyPath, is_key
from bundle_tools.codabench.rules.dataset import DataFiles, find
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.codabench.rules.findings import CRASHES, REFUSED, Finding, shown
from bundle_tools.codabench.rules.phases import moment
from bundle_tools.codabench.rules.texts import file_of
from bundle_tools.codabench.version1 import TERMS, as_version2

DATASETS = (*FILES_OF_TASK, "starting_kit", "public_data")
LOST_TOP = ("force_submission_to_leaderboard", "admin_names", "enable_forum", "allow_public_submissions")
LOST_PHASE = ("color", "is_parallel_parent")


def check_version1(bundle: ParsedBundle) -> list[Finding]:
    """Find what would stop the conversion, and say what it loses."""
    findings = [_lost(bundle), *_check_parts(bundle)]
    if not any(map(_stops, findings)):
        try:
            as_version2(bundle.content)
        except (KeyError, TypeError, AttributeError) as error:
            what = f"The file cannot be converted: {type(error).__name__}: {shown(str(error))}."
            fix = "Compare it with a bundle of version 1 that works: numbers as phasenumber and rank, texts as labels."
            findings.append(Finding("version1-conversion", "error", bundle.at(), what, CRASHES, fix))
    return findings


def _check_parts(bundle: ParsedBundle) -> Iterator[Finding]:
    content = bundle.content
    for key in ("title", "image", "html", "phases", "leaderboard"):
        if content.get(key) is None:
            what = f"The key {key!r} is missing."
            yield Finding("version1-key", "error", bundle.at(), what, REFUSED, "Add it.")
    if content.get("image") is not None and file_of(bundle, content["image"]) is None:
        yield _no_file(bundle.at("image"), "image", content["image"])
    html = content.get("html")
    for name, value in html.items() if isinstance(html, dict) else ():
        if file_of(bundle, value) is None:
            yield _no_file(bundle.at("html", str(name)), str(name), value)
    if html is not None and not isinstance(html, dict):
        what = f"html: expected names and files; found {shown(html)}."
        yield Finding("version1-key", "error", bundle.at("html"), what, CRASHES, "Write overview: overview.html.")
    elif html is not None and TERMS not in html:
        what = f"html: expected a page named {TERMS}; found none."
        yield Finding("version1-key", "error", bundle.at("html"), what, REFUSED, f"Write {TERMS}: terms.html.")
    yield from _check_phases(bundle)
    yield from (finding for finding in moment(bundle, ("end_date",), content.get("end_date"))[1] if _stops(finding))
    if content.get("leaderboard") is not None:
        yield from _check_leaderboard(bundle, content["leaderboard"])


def _check_leaderboard(bundle: ParsedBundle, board: object) -> Iterator[Finding]:
    columns, boards = (board.get(key) if isinstance(board, dict) else None for key in ("columns", "leaderboards"))
    for name, part in (("columns", columns), ("leaderboards", boards)):
        if not isinstance(part, dict) or not part or not all(isinstance(entry, dict) for entry in part.values()):
            what = f"leaderboard: expected {name}; found {shown(part)}."
            fix = "Add a column for each score, and one leaderboard with a label for all of them."
            yield Finding("version1-key", "error", bundle.at("leaderboard"), what, REFUSED, fix)
    labels = [str(entry.get("label")).lower() for entry in _values(boards) if isinstance(entry, dict)]
    for key, column in columns.items() if isinstance(columns, dict) else ():
        named = column.get("leaderboard") if isinstance(column, dict) else None
        if not isinstance(named, dict) or str(named.get("label")).lower() not in labels:
            what = f"leaderboard: the column {shown(key)} names no leaderboard of the file."
            where = bundle.at("leaderboard", "columns", str(key))
            fix = "Write leaderboard: and the label of one, or a YAML alias of it."
            yield Finding("version1-column", "error", where, what, "Codabench stops there, or drops the column.", fix)


def _lost(bundle: ParsedBundle) -> Finding:
    content = bundle.content
    lost = [key for key in LOST_TOP if key in content]
    phases = content.get("phases")
    entries = phases.values() if isinstance(phases, dict) else []
    lost += [key for key in LOST_PHASE if any(isinstance(entry, dict) and key in entry for entry in entries)]
    board = content.get("leaderboard")
    columns = board.get("columns") if isinstance(board, dict) else None
    if any(isinstance(column, dict) and "computed" in column for column in _values(columns)):
        lost.append("computed columns")
    what = "This is a bundle of version 1, for CodaLab."
    effect = f"Codabench converts it and loses {', '.join(lost) if lost else 'nothing'}."
    return Finding("version1", "note", bundle.at(), what, effect, "Write a bundle of version 2 when you can.")


def _check_phases(bundle: ParsedBundle) -> Iterator[Finding]:
    phases = bundle.content.get("phases")
    if phases is None:
        return
    starts: list[tuple[datetime, KeyPath]] = []
    if not isinstance(phases, dict) or not phases:
        what = f"phases: expected numbered phases; found {shown(phases)}."
        yield Finding("version1-key", "error", bundle.at("phases"), what, CRASHES, "Write 1: and the phase below it.")
        return
    for number, phase in phases.items():
        path: KeyPath = ("phases", str(number))
        if not isinstance(phase, dict):
            what = f"phases: expected keys and values; found {shown(phase)}."
            yield Finding("version1-key", "error", bundle.at(*path), what, CRASHES, "Write label and start_date.")
            continue
        for key in ("phasenumber", "label", "start_date"):
            if phase.get(key) is None:
                what = f"The phase has no {key}."
                yield Finding("version1-key", "error", bundle.at(*path), what, CRASHES, "Add it.")
        for key in DATASETS:
            if phase.get(key) is not None:
                yield from _check_dataset(bundle, (*path, key), phase[key])
        start, findings = moment(bundle, (*path, "start_date"), phase.get("start_date"))
        yield from filter(_stops, findings)
        if start is not None:
            starts.append((start, path))
    for (start, path), (following, _) in pairwise(sorted(starts)):
        if following - start <= timedelta(days=1):
            what = f"The next phase starts at {following} UTC, within a day after this one."
            effect = "Codabench ends a phase one day before the next: this one ends before it starts."
            yield Finding("version1-dates", "warning", bundle.at(*path), what, effect, "Leave two days between them.")


def _check_dataset(bundle: ParsedBundle, path: KeyPath, value: object) -> Iterator[Finding]:
    data: DataFiles | None = find(bundle, value)
    if data is None and not is_key(value):
        yield _no_file(bundle.at(*path), str(path[-1]), value)
    elif data is not None and path[-1] == "scoring_program" and not {"metadata", "metadata.yaml"} & set(data.names()):
        what = "scoring_program: expected metadata at its root; found none."
        fix = "Zip the files, not their folder."
        yield Finding("version1-metadata", "error", bundle.at(*path), what, "No run gets scores.", fix)


def _stops(finding: Finding) -> bool:
    return finding.severity == "error"


def _no_file(where: str, name: str, value: object) -> Finding:
    what = f"{name}: expected an existing file or zip inside the bundle; found {shown(value)}."
    return Finding("version1-file", "error", where, what, REFUSED, "Correct the path.")


def _values(mapping: object) -> list[Any]:
    return list(mapping.values()) if isinstance(mapping, dict) else []
