"""Check a submission's files, sources and secrets before the upload, and pack it."""

import io
import re
import shutil
import stat
import tempfile
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path, PurePosixPath

import programs
from ingest.settings import Task, read_task
from ingest.submission import check_submission, read_credits
from sources import LARGEST_SOURCE, Remark, check_sources

# Raised for a zip that is damaged, has a password, or names places that cannot be written.
UNPACKING = (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, OSError, EOFError, ValueError)
JUNK = frozenset({"__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini", "node_modules"})
EARLIEST = (1980, 1, 1, 0, 0, 0)

SECRETS = frozenset({"secret_file", "secret_text"})
"""Codes of findings about files that must not be uploaded."""
SECRET_NAMES = re.compile(
    r"(?i)(^|/)(\.env(\..*)?|\.netrc|\.pypirc|\.npmrc|\.git-credentials|id_(rsa|dsa|ecdsa|ed25519)|credentials(\.json)?|"
    r"service[-_]account.*\.json|.*\.(pem|p12|pfx|key|keystore|kdbx))$"
)
SECRET_TEXTS = {
    "a private key": re.compile(rb"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----"),
    "an Amazon access key": re.compile(rb"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "a GitHub token": re.compile(rb"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{40,})\b"),
    "a Hugging Face token": re.compile(rb"\bhf_[A-Za-z0-9]{30,}\b"),
    "an OpenAI key": re.compile(rb"\bsk-(?:proj-|ant-)?[A-Za-z0-9_-]{32,}\b"),
    "a Slack token": re.compile(rb"\bxox[abprs]-[A-Za-z0-9-]{20,}\b"),
    "a Google key": re.compile(rb"\bAIza[0-9A-Za-z_-]{35}\b"),
}
LARGEST_SEARCHED = 8 * 2**20
MOST_FOLDERS = 2_000
"""Most entries of a zip besides files."""


class Refused(Exception):
    """The command cannot be carried out; the text says why, and what to do instead."""


@dataclass(frozen=True)
class CheckResult:
    """Result of a check."""

    findings: tuple[Remark, ...]
    """Errors first."""
    packed: tuple[str, ...]
    """Files to pack, ascending."""
    repeated: frozenset[str] = frozenset()
    """Codes of findings that the ingestion program repeats when it runs."""

    @property
    def good(self) -> bool:
        """Whether there is no error, including secrets."""
        return all(finding.level != "error" for finding in self.findings)

    @property
    def runs(self) -> bool:
        """Whether the submission can run: secrets do not prevent that."""
        return all(finding.level != "error" or finding.code in SECRETS for finding in self.findings)

    def verdict(self) -> str:
        """Summarise the result in a few words."""
        errors = sum(finding.level == "error" for finding in self.findings)
        others = len(self.findings) - errors
        if not self.findings:
            return "nothing to correct."
        summary = f"{counted(errors, 'error')} to correct" if errors else "no errors"
        return f"{summary}, {counted(others, 'other remark')}." if others else f"{summary}."


def check(submission: Path) -> CheckResult:
    """Find every problem of a submission without running it.

    `submission`: a folder with `model.py`, or a zip of its content.
    """
    if submission.is_dir():
        return _folder(submission, [])
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "submission"
        findings = list(_unpack(submission, folder))
        return _folder(folder, findings, zipped=True) if folder.is_dir() else CheckResult(tuple(findings), ())


def require(submission: Path) -> None:
    """Refuse a path that is neither a folder nor a zip.

    Raises Refused if it is something else.
    """
    if not submission.exists():
        raise Refused(f"{submission} does not exist below {Path.cwd()}")
    if submission.is_dir() or submission.suffix == ".zip" or zipfile.is_zipfile(submission):
        return
    better = f"; give its folder: {submission.parent}" if submission.name == "model.py" else ""
    raise Refused(f"{submission} is neither a folder nor a zip{better}")


def pack(submission: Path, checked: CheckResult) -> bytes:
    """Return a folder as a zip; the same folder always gives the same bytes."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in checked.packed:
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, (submission / name).read_bytes())
    return target.getvalue()


def _unpack(archive: Path, folder: Path) -> Iterator[Remark]:
    where = archive.name
    folder.mkdir()
    try:
        with zipfile.ZipFile(archive) as opened:
            # Check before unpacking: a small zip can fill a disk.
            if refused := list(_never_unpacked(where, opened.infolist())):
                yield from refused
                folder.rmdir()
                return
            names = [info.filename for info in opened.infolist()]
            if flat := [name for name in names if "\\" in name]:
                found = f"{len(flat)} names with a backslash, such as {flat[0][:80]}: on the platform not folders"
                yield Remark("warning", "zip_backslash", where, found, "pack the folder with kit.py pack")
            doubled = sorted(name for name, count in Counter(names).items() if count > 1)
            if doubled:
                found = f"{', '.join(doubled[:5])} more than once"
                yield Remark(
                    "warning", "zip_double", where, found, "pack the folder again: only the last one would count"
                )
            opened.extractall(folder)
    except UNPACKING as error:
        reason = f"a zip that cannot be unpacked ({str(error)[:100]})"
        yield Remark("error", "zip_broken", where, reason, "pack the folder again as a zip, without a password")
        shutil.rmtree(folder)


def _never_unpacked(where: str, members: Sequence[zipfile.ZipInfo]) -> Iterator[Remark]:
    for info in members:
        parts = PurePosixPath(info.filename.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts:
            yield Remark("error", "zip_path", where, f"the name {info.filename[:80]!r}", "pack the folder again")
            break
    limits = _task().limits
    size = sum(info.file_size for info in members)
    if size > limits.submission_mb << 20:
        found = f"{size / 2**20:.0f} MB unzipped; expected at most {limits.submission_mb} MB"
        yield Remark("error", "submission_too_large", where, found, "remove what the model does not need")
    if len(members) > MOST_FOLDERS + limits.submission_files:
        found = f"{len(members)} files; expected at most {limits.submission_files}"
        yield Remark("error", "submission_too_many_files", where, found, "remove what the model does not need")
    placed = sorted(members, key=lambda info: info.header_offset)
    if any(member.header_offset + member.compress_size > other.header_offset for member, other in pairwise(placed)):
        yield Remark("error", "zip_broken", where, "overlapping files", "pack the folder again")


def _folder(folder: Path, earlier: list[Remark], *, zipped: bool = False) -> CheckResult:
    judged = list(_judged_by_ingestion(folder))
    refused = [*earlier, *judged]
    if missing := [finding for finding in refused if finding.code == "model_missing"]:
        # The wrong folder was given: its other problems do not matter.
        return CheckResult((*earlier, *(_point_inside(folder, finding, zipped=zipped) for finding in missing)), ())
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    environments = tuple(name.removesuffix("pyvenv.cfg") for name in files if name.endswith("/pyvenv.cfg"))
    own = [name for name in files if not name.startswith(environments)]
    packed = [name for name in own if not _is_junk(name)]
    secrets = list(_secrets(folder, own))
    secret_files = {finding.where.partition(", line ")[0] for finding in secrets}
    findings = [
        *refused,
        *secrets,
        *check_sources(packed, _sources(folder, packed)),
        *_environments(environments),
        *_decomposed(packed),
        *_left_out([name for name in own if name not in secret_files]),
    ]
    order = {"error": 0, "warning": 1, "note": 2}
    unique = dict.fromkeys(sorted(findings, key=lambda finding: order[finding.level]))
    return CheckResult(tuple(unique), tuple(packed), frozenset(finding.code for finding in judged))


def _sources(folder: Path, names: Sequence[str]) -> dict[str, bytes]:
    paths = {name: folder / name for name in names if name.endswith(".py")}
    return {name: path.read_bytes() for name, path in paths.items() if path.stat().st_size <= LARGEST_SOURCE}


def _judged_by_ingestion(folder: Path) -> Iterator[Remark]:
    """Apply the rules and limits of the platform's own program."""
    for problem in (*check_submission(folder, _task().limits, aside=programs.ASIDE), *read_credits(folder)[1]):
        found = f"{problem.found}; expected {problem.expected}"
        yield Remark(problem.severity, problem.code, problem.where, found, problem.fix)


def _task() -> Task:
    return read_task(programs.INPUT_DATA / "task.yaml")


def _point_inside(folder: Path, finding: Remark, *, zipped: bool) -> Remark:
    """Name the folders that contain a model, because the wrong folder was zipped or given."""
    models = sorted(folder.glob("*/model.py")) or sorted(folder.glob("*/*/model.py"))
    inside = [path.parent for path in models]
    if not inside:
        return finding
    if zipped:
        return replace(finding, fix=f"zip the files of {inside[0].relative_to(folder)}, not the folder itself")
    return replace(finding, fix="give the folder that contains it: " + " or ".join(map(str, inside[:3])))


def _secrets(folder: Path, files: Iterable[str]) -> Iterator[Remark]:
    """Find secrets: submissions are stored, and one click can make them public."""
    for name in files:
        if SECRET_NAMES.search(name):
            yield Remark(
                "error", "secret_file", name, "a file that usually holds a secret", "remove it from the folder"
            )
            continue
        with (folder / name).open("rb") as file:
            data = file.read(LARGEST_SEARCHED)
        for what, pattern in SECRET_TEXTS.items():
            if match := pattern.search(data):
                line = data[: match.start()].count(b"\n") + 1
                fix = "remove it, and replace the secret: it may have been seen"
                yield Remark("error", "secret_text", f"{name}, line {line}", what, fix)


def _environments(folders: Sequence[str]) -> Iterator[Remark]:
    for folder in folders:
        fix = "move it out of the folder: the platform has its own environment"
        yield Remark("warning", "environment", folder, "a Python environment, which is left out", fix)


def _decomposed(files: Iterable[str]) -> Iterator[Remark]:
    """Find names as old disks of macOS write them: the platform compares names byte for byte."""
    for name in files:
        if not unicodedata.is_normalized("NFC", name):
            found = f"a name that code may spell in another form of Unicode: {name!a}"
            yield Remark("warning", "name_form", name, found, "rename the file, best with a-z and digits alone")


def _left_out(files: Iterable[str]) -> Iterator[Remark]:
    junk = [name for name in files if _is_junk(name)]
    if junk:
        found = f"{counted(len(junk), 'file')} not needed, such as {junk[0]}"
        yield Remark("note", "left_out", "submission", found, "nothing to do: kit.py pack leaves them out")


def _is_junk(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return any(part in JUNK or part.startswith(".") for part in parts) or name.endswith(".pyc")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: 1 file, 2 files."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
