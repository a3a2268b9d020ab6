"""Rules about the zip itself, before anything is extracted."""

import stat
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from bundle_tools.codabench.archive import MOST_MEMBERS, UNREADABLE
from bundle_tools.codabench.bounded_yaml import LARGEST_BYTES
from bundle_tools.codabench.rules.document import FILE, too_large
from bundle_tools.codabench.rules.findings import REFUSED, Finding, shown

# Deflate packs at most about 1000 : 1; real data never come near.
BOMB_RATIO = 200
BOMB_BYTES = 200_000_000
BOMB_MEMBER_BYTES = 50_000_000
# Longest name of one file or folder on Linux, in bytes of UTF-8.
LONGEST_NAME = 255
LARGE_BYTES = 1_000_000_000
JUNK = frozenset({"__MACOSX", ".DS_Store", "__pycache__", "Thumbs.db", ".git", ".ipynb_checkpoints"})
UTF8_FLAG = 0x800


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
    packed = path.stat().st_size
    bomb = list(_check_bomb(where, packed, members))
    if bomb:
        return bomb
    names = [member.orig_filename for member in members]
    return [
        *_check_members(where, members),
        *_check_names(where, names),
        *check_junk(names, where, "warning"),
        *check_large(packed, where),
    ]


def check_yaml_size(path: Path) -> list[Finding]:
    """Refuse a giant `competition.yaml` before it is extracted."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = archive.getinfo(FILE).file_size
    except (*UNREADABLE, KeyError):
        # Reported elsewhere.
        return []
    return [too_large(size)] if size > LARGEST_BYTES else []


def check_folder(root: Path, entries: Iterable[Path]) -> list[Finding]:
    """Find junk and links in folders to be packed; zipping by hand includes what the builder leaves out."""
    names, links = [], []
    for entry in entries:
        for path in [entry, *entry.rglob("*")]:
            names.append(path.relative_to(root).as_posix())
            links += [names[-1]] if path.is_symlink() else []
    return [*check_junk(names, root.name, "note"), *_check_links(sorted(set(links)), root.name)]


def _check_links(links: list[str], where: str) -> Iterator[Finding]:
    if links:
        what = f"{len(links)} links in folders that are packed, such as {shown(links[0])}."
        effect = "Some zip programs pack the target of a link, others an empty folder or a text file."
        yield Finding("folder-link", "warning", where, what, effect, "Replace each link with its file.")


def check_junk(names: list[str], where: str, severity: str) -> list[Finding]:
    """Find files that operating systems and Python leave behind."""
    junk = sorted({name for name in names if not JUNK.isdisjoint(name.split("/")) or name.endswith(".pyc")})
    if not junk:
        return []
    what = f"{len(junk)} files that do not belong in a bundle, such as {junk[0]}."
    effect = "Codabench packs them with the programs and data."
    fix = "Use `bundle build`, which leaves them out."
    return [Finding("junk", "warning" if severity == "warning" else "note", where, what, effect, fix)]


def check_large(packed: int, where: str) -> list[Finding]:
    """Warn of a zip that is slow to upload and to unpack."""
    if packed <= LARGE_BYTES:
        return []
    what = f"The zip has {packed / 1e9:.1f} GB."
    effect = "Unpacking may stall, and workers stumble over large files."
    return [Finding("zip-large", "warning", where, what, effect, "Upload large data separately and name their key.")]


def _check_bomb(where: str, packed: int, members: list[zipfile.ZipInfo]) -> Iterator[Finding]:
    unpacked = sum(member.file_size for member in members)
    effect, fix = "The unpacker would fill its disk.", "Check its contents."
    if unpacked > BOMB_BYTES and unpacked > BOMB_RATIO * packed:
        yield Finding("zip-bomb", "error", where, f"{packed} bytes claim to unpack to {unpacked}.", effect, fix)
    for member in members:
        if member.file_size > BOMB_MEMBER_BYTES and member.file_size > BOMB_RATIO * max(member.compress_size, 1):
            what = f"{shown(member.filename)}: {member.compress_size} bytes claim to unpack to {member.file_size}."
            yield Finding("zip-bomb", "error", where, what, effect, fix)
    ordered = sorted(members, key=lambda member: member.header_offset)
    if any(before.header_offset + before.compress_size > after.header_offset for before, after in pairwise(ordered)):
        what = "Files overlap inside the zip."
        yield Finding(
            "zip-overlap", "error", where, what, "A small zip can unpack to a huge size this way.", "Zip again."
        )
    if len(members) > MOST_MEMBERS:
        what = f"Expected at most {MOST_MEMBERS} files; found {len(members)}."
        effect = "The unpacker would work for hours and give up."
        yield Finding("zip-crowded", "error", where, what, effect, "Put the small files into one zip.")


def _check_members(where: str, members: list[zipfile.ZipInfo]) -> Iterator[Finding]:
    for member in members:
        name = member.orig_filename
        if _unsafe(name):
            what = f"The name {shown(name)} is empty or absolute, or holds '..', a colon or a backslash."
            yield Finding(
                "zip-name", "error", where, what, "The file would land outside the bundle.", "Use plain relative names."
            )
        if any(len(part.encode("utf-8", "replace")) > LONGEST_NAME for part in name.split("/")):
            what = f"The name {shown(name)} has more than {LONGEST_NAME} bytes."
            yield Finding("zip-long", "error", where, what, "The unpacker cannot write the file.", "Shorten it.")
        if any(not letter.isprintable() for letter in name):
            what = f"The name {shown(name)} holds characters that cannot be shown."
            yield Finding("zip-letters", "warning", where, what, "The file cannot be addressed.", "Rename it.")
        elif not name.isascii() and not member.flag_bits & UTF8_FLAG:
            what = f"The name {shown(name)} is not marked as UTF-8."
            effect = "The file gets a different name on the server."
            yield Finding("zip-letters", "warning", where, what, effect, "Use plain letters, or another zip program.")
        if member.flag_bits & 1:
            what = f"{shown(member.filename)} is encrypted."
            yield Finding("zip-encrypted", "error", where, what, REFUSED, "Zip without a password.")
        if stat.S_ISLNK(member.external_attr >> 16):
            what = f"{shown(member.filename)} is a link."
            fix = "Replace the link with the file."
            yield Finding("zip-link", "error", where, what, "It becomes a small text file.", fix)


def _check_names(where: str, names: list[str]) -> Iterator[Finding]:
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        what = f"Duplicate names: {', '.join(map(shown, twice[:3]))}."
        yield Finding("zip-twice", "error", where, what, "The last one wins.", "Zip again.")
    alike = [name for name, count in Counter(name.casefold() for name in set(names)).items() if count > 1]
    if alike:
        pair = sorted(name for name in set(names) if name.casefold() == min(alike))
        what = f"Names that differ only in capitals: {', '.join(map(shown, pair[:2]))}."
        effect = "The server keeps both; on many participants' computers one overwrites the other."
        yield Finding("zip-case", "warning", where, what, effect, "Rename one.")
    files = {name for name in names if not name.endswith("/")}
    parents: set[str] = set()
    for name in names:
        parent = name.rstrip("/").rpartition("/")[0]
        while parent and parent not in parents:
            parents.add(parent)
            parent = parent.rpartition("/")[0]
    clash = sorted(files & parents)
    if clash:
        what = f"{shown(clash[0])} is a file and also a folder."
        yield Finding("zip-clash", "error", where, what, "The unpacker stops there.", "Delete one.")


def _unsafe(name: str) -> bool:
    # Python's own zip reader fails on an empty name.
    return (
        not name
        or "\\" in name
        or name.startswith("/")
        or ".." in name.split("/")
        or "\0" in name
        or ":" in name.partition("/")[0]
    )
