"""Rules about the zip itself, before anything is extracted."""

import stat
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from bundle_tools.archive import UNREADABLE
from bundle_tools.check.findings import FAILS_LATER, REFUSED, Finding

# Codabench keeps the bundle and a copy of every dataset made from it; both count.
QUOTA_BYTES = 15_000_000_000
# Deflate packs at most about 1000 : 1; real data never come near.
BOMB_RATIO = 200
BOMB_BYTES = 1_000_000_000
JUNK = frozenset({"__MACOSX", ".DS_Store", "__pycache__", "Thumbs.db", ".git", ".ipynb_checkpoints"})


def check_zip(path: Path) -> list[Finding]:
    """Find what is wrong with the archive; errors mean that it must not be extracted."""
    where = path.name
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except UNREADABLE as error:
        return [
            Finding("zip-unreadable", "error", where, f"Expected a zip file; found: {error}.", REFUSED, "Zip again.")
        ]
    packed, unpacked = path.stat().st_size, sum(member.file_size for member in members)
    if unpacked > BOMB_BYTES and unpacked > BOMB_RATIO * packed:
        what = f"{packed} bytes claim to unpack to {unpacked}."
        return [
            Finding("zip-bomb", "error", where, what, "The unpacker would fill its disk.", "Look at what it holds.")
        ]
    findings = []
    names = [member.orig_filename for member in members]
    for member in members:
        if _unsafe(member.orig_filename):
            what = f"The name {member.orig_filename!r} is absolute, holds '..' or a backslash."
            findings.append(
                Finding("zip-name", "error", where, what, "The file lands elsewhere.", "Use plain relative names.")
            )
        if member.flag_bits & 1:
            what = f"{member.filename!r} is encrypted."
            findings.append(Finding("zip-encrypted", "error", where, what, REFUSED, "Zip without a password."))
        if stat.S_ISLNK(member.external_attr >> 16):
            what = f"{member.filename!r} is a link."
            fix = "Put the file itself there."
            findings.append(Finding("zip-link", "error", where, what, "It becomes a small text file.", fix))
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        what = f"Names that stand there twice: {', '.join(twice[:3])}."
        findings.append(Finding("zip-twice", "error", where, what, "The last one wins.", "Zip again."))
    return [*findings, *check_junk(names, where, "warning"), *check_size(packed, where)]


def check_folder(root: Path, entries: Iterable[Path]) -> list[Finding]:
    """Find junk in the folders that would be packed; the builder leaves it out, zipping by hand does not."""
    names = []
    for entry in entries:
        names += [path.relative_to(root).as_posix() for path in [entry, *entry.rglob("*")]]
    return check_junk(names, root.name, "note")


def check_junk(names: list[str], where: str, severity: str) -> list[Finding]:
    """Find files that operating systems and Python leave behind."""
    junk = sorted({name for name in names if JUNK & set(PurePosixPath(name).parts) or name.endswith(".pyc")})
    if not junk:
        return []
    what = f"{len(junk)} files that do not belong into a bundle, such as {junk[0]}."
    effect = "Codabench packs them with the programs and data."
    fix = "Use `bundle build`, which leaves them out."
    return [Finding("junk", "warning" if severity == "warning" else "note", where, what, effect, fix)]


def check_size(packed: int, where: str) -> list[Finding]:
    """Hold twice the size of the zip against the quota of one user."""
    if 2 * packed <= QUOTA_BYTES:
        return []
    what = f"The zip has {packed} bytes; with the datasets made from it, that is over the quota of {QUOTA_BYTES}."
    return [Finding("zip-quota", "error", where, what, FAILS_LATER, "Upload large data separately and name their key.")]


def _unsafe(name: str) -> bool:
    path = PurePosixPath(name)
    return "\\" in name or path.is_absolute() or ".." in path.parts or "\0" in name or ":" in name.partition("/")[0]
