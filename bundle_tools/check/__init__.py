"""What is wrong with a bundle: everything that Codabench needs, and what it fails to say.

Each module holds the rules of one area. A rule looks at a `Draft` and gives findings; it changes nothing and never
stops the others. No code of the bundle is run, but for `asking`, which has the organiser's own programs read their
settings.
"""

import csv
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from bundle_tools.archive import UNREADABLE, extract
from bundle_tools.check.archive import check_folder, check_yaml_size, check_zip
from bundle_tools.check.clips.causes import check_misplaced
from bundle_tools.check.clips.data import check_data
from bundle_tools.check.clips.giveaways import check_giveaways
from bundle_tools.check.clips.groups import check_groups_misplaced
from bundle_tools.check.clips.landmarks import check_landmarks
from bundle_tools.check.document import Draft, read
from bundle_tools.check.findings import FAILS_LATER, ORDER, Finding
from bundle_tools.check.programs.commands import check_programs
from bundle_tools.check.programs.images import check_image
from bundle_tools.check.programs.keys import check_keys
from bundle_tools.check.programs.private import check_private
from bundle_tools.check.programs.sources import check_sources
from bundle_tools.check.secrets.identities import check_identities
from bundle_tools.check.secrets.leaks import check_leaks
from bundle_tools.check.settings.figures import check_figures
from bundle_tools.check.settings.hidden_labels import check_hidden_labels
from bundle_tools.check.settings.leaderboard import check_leaderboards
from bundle_tools.check.settings.openness import check_openness
from bundle_tools.check.settings.pages import check_pages
from bundle_tools.check.settings.phases import check_phases
from bundle_tools.check.settings.refused import check_settings
from bundle_tools.check.settings.registry import check_registry, check_revealed
from bundle_tools.check.settings.sizes import check_names, check_quota, sizes_of_folder, uses_of
from bundle_tools.check.settings.tasks import check_solutions, check_tasks
from bundle_tools.check.settings.top import check_top
from bundle_tools.check.settings.version1 import check_version1
from bundle_tools.console import Progress
from bundle_tools.errors import BundleError
from bundle_tools.version1 import as_version2, is_version1

Rule = Callable[[Draft], Iterable[Finding]]

RULES: tuple[Rule, ...] = (
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
    check_openness,
    check_names,
    check_settings,
    check_registry,
    check_revealed,
    check_hidden_labels,
    check_figures,
    check_keys,
    check_data,
    check_misplaced,
    check_groups_misplaced,
    check_landmarks,
    check_leaks,
    check_identities,
    check_giveaways,
)
# What holds for a bundle of version 1 once Codabench has converted it; its own form has rules of its own.
CONVERTED_RULES = tuple(rule for rule in RULES if rule not in (check_top, check_pages, check_tasks, check_phases))


def check(path: Path, now: datetime | None = None, progress: Progress | None = None) -> list[Finding]:
    """Check a bundle.

    Parameters
    ----------
    path
        The folder that holds `competition.yaml`, or the zip that would be uploaded.
    now
        What dates are held against, UTC without a zone; default: the present.
    progress
        Told of the clips as they are decoded.

    Returns
    -------
    list of Finding
        All of them: errors first, then warnings, then notes; empty for a perfect bundle.
    """
    if path.is_dir():
        return _sorted(_check_root(path.resolve(), now, progress))
    findings = check_zip(path) + check_yaml_size(path)
    if not any(finding.severity == "error" for finding in findings):
        with tempfile.TemporaryDirectory(prefix="bundle-check-") as folder:
            try:
                extract(path, Path(folder))
            except BundleError as error:
                effect, fix = "Codabench refuses the bundle.", "Zip again."
                return [Finding("zip-damaged", "error", path.name, str(error), effect, fix)]
            findings += _check_root(Path(folder).resolve(), now, progress, path)
    return _sorted(findings)


def _check_root(
    root: Path, now: datetime | None, progress: Progress | None, archive: Path | None = None
) -> list[Finding]:
    draft, findings = read(root, folder=archive is None, now=now)
    if draft is None:
        return findings
    rules: Sequence[Rule] = RULES
    if is_version1(draft.content):
        findings += check_version1(draft)
        if any(finding.severity == "error" for finding in findings):
            return findings
        draft, rules = replace(draft, content=as_version2(draft.content)), CONVERTED_RULES
    findings += _apply(rules, draft, progress)
    if archive is None:
        findings += check_folder(root, _packed(draft))
        findings += check_quota(draft, sizes_of_folder(draft), root)
    else:
        with zipfile.ZipFile(archive) as opened:
            sizes = {member.filename: member.compress_size for member in opened.infolist()}
        findings += check_quota(draft, sizes, archive, archive.stat().st_size)
    return findings


def _apply(rules: Sequence[Rule], draft: Draft, progress: Progress | None) -> Iterator[Finding]:
    for rule in rules:
        try:
            yield from check_data(draft, progress) if rule is check_data else rule(draft)
        except (*UNREADABLE, csv.Error) as error:
            what = f"A file cannot be read: {error}."
            yield Finding("file-unreadable", "error", rule.__name__, what, FAILS_LATER, "Write it again.")


def _packed(draft: Draft) -> list[Path]:
    values = sorted({value for _, value in uses_of(draft) if value.endswith("/")})
    folders = [folder for folder in map(draft.inside, values) if folder is not None and folder.is_dir()]
    return [folder for folder in folders if folder.resolve() != draft.root]


def _sorted(findings: list[Finding]) -> list[Finding]:
    def order(finding: Finding) -> tuple[int, str, int, str]:
        file, _, line = finding.where.rpartition(":")
        place = (file, int(line)) if line.isdecimal() else (finding.where, 0)
        return (ORDER[finding.severity], *place, finding.code)

    return sorted(dict.fromkeys(finding.short() for finding in findings), key=order)
