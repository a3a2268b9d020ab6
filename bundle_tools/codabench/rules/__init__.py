"""Check a bundle: everything that Codabench needs, and what it does not report.

Each module holds the rules of one area. A rule looks at a `ParsedBundle` and gives findings; it changes nothing and
never stops the others. No code of the bundle is run. Each challenge provides its own additional rules.
"""

import csv
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from bundle_tools.codabench.archive import UNREADABLE, extract
from bundle_tools.codabench.rules.archive import check_folder, check_yaml_size, check_zip
from bundle_tools.codabench.rules.board import (
    check_board_keys,
    check_keys,
    check_leaderboards,
    check_names,
    check_quota,
    sizes_of_folder,
)
from bundle_tools.codabench.rules.commands import check_private, check_programs
from bundle_tools.codabench.rules.dataset import uses_of
from bundle_tools.codabench.rules.document import ParsedBundle, read
from bundle_tools.codabench.rules.findings import FAILS_LATER, ORDER, Finding
from bundle_tools.codabench.rules.images import check_image, check_sources
from bundle_tools.codabench.rules.phases import check_phases, check_solutions, check_tasks
from bundle_tools.codabench.rules.texts import check_pages, check_top
from bundle_tools.codabench.rules.version1 import check_version1
from bundle_tools.codabench.version1 import as_version2, is_version1
from bundle_tools.console import Progress
from bundle_tools.errors import BundleError

Rule = Callable[[ParsedBundle], Iterable[Finding]]

GENERAL: tuple[Rule, ...] = (
    check_keys,
    check_top,
    check_pages,
    check_image,
    check_tasks,
    check_programs,
    check_sources,
    check_private,
    check_solutions,
    check_phases,
    check_leaderboards,
    check_names,
)
"""Rules for any bundle."""
OF_VERSION_2: tuple[Rule, ...] = (check_keys, check_top, check_pages, check_tasks, check_phases)
"""Skipped for a version 1 bundle, which has its own rules; the others apply after conversion."""


def check(
    path: Path,
    rules: Sequence[Rule] = GENERAL,
    now: datetime | None = None,
    progress: Progress | None = None,
    *,
    trust: bool = False,
) -> list[Finding]:
    """Check a bundle.

    `path`: the folder that holds `competition.yaml`, or the zip that would be uploaded. `now`: the time that dates are
    compared with, UTC without a zone; default: the present. `trust`: whether the user has said that its programs may
    run here. Returns all of them: errors first, then warnings, then notes; empty for a perfect bundle.
    """
    if path.is_dir():
        return _sorted(_check_root(path.resolve(), rules, now, progress, trust))
    findings = check_zip(path) + check_yaml_size(path)
    if not any(finding.severity == "error" for finding in findings):
        with tempfile.TemporaryDirectory(prefix="bundle-check-") as folder:
            try:
                extract(path, Path(folder))
            except BundleError as error:
                effect, fix = "Codabench refuses the bundle.", "Zip again."
                return [Finding("zip-damaged", "error", path.name, str(error), effect, fix)]
            findings += _check_root(Path(folder).resolve(), rules, now, progress, trust, path)
    return _sorted(findings)


def _check_root(
    root: Path,
    rules: Sequence[Rule],
    now: datetime | None,
    progress: Progress | None,
    trust: bool,
    archive: Path | None = None,
) -> list[Finding]:
    bundle, findings = read(root, folder=archive is None, now=now)
    if bundle is None:
        return findings
    bundle = replace(bundle, progress=progress, trusted=trust)
    if is_version1(bundle.content):
        findings += check_version1(bundle)
        if any(finding.severity == "error" for finding in findings):
            return findings
        bundle = replace(bundle, content=as_version2(bundle.content))
        rules = [check_board_keys, *(rule for rule in rules if rule not in OF_VERSION_2)]
    findings += _apply(rules, bundle)
    if archive is None:
        values = sorted({value for _, value in uses_of(bundle) if value.endswith("/")})
        folders = [folder for folder in map(bundle.inside, values) if folder is not None and folder.is_dir()]
        findings += check_folder(root, [folder for folder in folders if folder.resolve() != bundle.root])
        findings += check_quota(bundle, sizes_of_folder(bundle), root)
    else:
        with zipfile.ZipFile(archive) as opened:
            sizes = {member.filename: member.compress_size for member in opened.infolist()}
        findings += check_quota(bundle, sizes, archive, archive.stat().st_size)
    return findings


def _apply(rules: Sequence[Rule], bundle: ParsedBundle) -> Iterator[Finding]:
    for rule in rules:
        try:
            yield from rule(bundle)
        except (*UNREADABLE, csv.Error) as error:
            what = f"A file cannot be read: {error}."
            yield Finding("file-unreadable", "error", rule.__name__, what, FAILS_LATER, "Write it again.")


def _sorted(findings: list[Finding]) -> list[Finding]:
    def order(finding: Finding) -> tuple[int, str, int, str]:
        file, _, line = finding.where.rpartition(":")
        position = (file, int(line)) if line.isdecimal() else (finding.where, 0)
        return (ORDER[finding.severity], *position, finding.code)

    return sorted(dict.fromkeys(finding.short() for finding in findings), key=order)
