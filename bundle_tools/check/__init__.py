"""What is wrong with a bundle: everything that Codabench needs, and what it fails to say.

Each module holds the rules of one area. A rule looks at a `Draft` and gives findings; it changes nothing and never
stops the others. No code of the bundle is run, but for `registry`, which asks the organiser's own scoring program for
its columns.
"""

import csv
import tempfile
from pathlib import Path

from bundle_tools.archive import UNREADABLE, extract
from bundle_tools.check.archive import check_folder, check_zip
from bundle_tools.check.data import check_data
from bundle_tools.check.document import Draft, read
from bundle_tools.check.findings import FAILS_LATER, ORDER, Finding
from bundle_tools.check.leaderboard import check_leaderboards
from bundle_tools.check.leaks import check_leaks
from bundle_tools.check.phases import check_phases
from bundle_tools.check.registry import check_registry
from bundle_tools.check.tasks import check_solutions, check_tasks
from bundle_tools.check.top import check_top
from bundle_tools.errors import BundleError

RULES = (
    check_top,
    check_tasks,
    check_solutions,
    check_phases,
    check_leaderboards,
    check_registry,
    check_data,
    check_leaks,
)
DATASET_KEYS = (
    *("ingestion_program", "scoring_program", "input_data", "reference_data"),
    *("path", "starting_kit", "public_data"),
)


def check(path: Path) -> list[Finding]:
    """Check a bundle.

    Parameters
    ----------
    path
        The folder that holds `competition.yaml`, or the zip that would be uploaded.

    Returns
    -------
    list of Finding
        All of them: errors first, then warnings, then notes; empty for a perfect bundle.
    """
    if path.is_dir():
        return _sorted(_check_root(path, folder=True))
    findings = check_zip(path)
    if not any(finding.severity == "error" for finding in findings):
        with tempfile.TemporaryDirectory(prefix="bundle-check-") as folder:
            try:
                extract(path, Path(folder))
            except BundleError as error:
                effect, fix = "Codabench refuses the bundle.", "Zip again."
                return [Finding("zip-damaged", "error", path.name, str(error), effect, fix)]
            findings += _check_root(Path(folder).resolve(), folder=False)
    return _sorted(findings)


def _check_root(root: Path, *, folder: bool) -> list[Finding]:
    draft, findings = read(root, folder=folder)
    if draft is None:
        return findings
    for rule in RULES:
        try:
            findings += rule(draft)
        except (*UNREADABLE, csv.Error) as error:
            what = f"A file cannot be read: {error}."
            findings.append(Finding("file-unreadable", "error", rule.__name__, what, FAILS_LATER, "Write it again."))
    if folder:
        findings += check_folder(root, _packed(draft))
    return findings


def _packed(draft: Draft) -> list[Path]:
    values = [
        entry[key]
        for section in ("tasks", "solutions", "phases")
        for _, entry in draft.entries(section)
        for key in DATASET_KEYS
        if isinstance(entry.get(key), str) and entry[key].endswith("/")
    ]
    folders = [draft.root / value for value in sorted(set(values)) if not value.startswith("/") and ".." not in value]
    return [folder for folder in folders if folder.is_dir() and folder.resolve() != draft.root]


def _sorted(findings: list[Finding]) -> list[Finding]:
    return sorted(dict.fromkeys(findings), key=lambda finding: (ORDER[finding.severity], finding.where, finding.code))
