"""Lists of files that an organiser writes: CSV with a fixed header, ids, paths and hashes; every problem is noted."""

import csv
import hashlib
import re
import stat
from pathlib import Path, PurePosixPath

from ingest.errors import Problem

CLIP_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def read_rows(path: Path, columns: list[str], problems: list[Problem]) -> list[tuple[str, list[str]]]:
    """Return (where, fields) for every row below the header; the first field is a unique id."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as table:
            reader = csv.reader(table, strict=True)
            lines = [(reader.line_num, row) for row in reader if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        problems.append(problem("clips_unreadable", path.name, str(error)[:200], "a CSV file in UTF-8", "rewrite it"))
        return []
    if not lines or lines[0][1] != columns:
        found = ",".join(lines[0][1])[:100] if lines else "an empty file"
        problems.append(problem("clips_header", f"{path.name} line 1", found, ",".join(columns), "correct the header"))
        return []
    rows: list[tuple[str, list[str]]] = []
    seen: dict[str, int] = {}
    for line, row in lines[1:]:
        where = f"{path.name} line {line}"
        if len(row) != len(columns):
            problems.append(
                problem("clips_row", where, f"{len(row)} fields", f"{len(columns)} fields", "correct the row")
            )
            continue
        name = row[0]
        if not CLIP_ID.fullmatch(name):
            problems.append(problem("clip_id", where, ascii(name)[:80], CLIP_ID.pattern, "rename the clip"))
        elif name in seen:
            problems.append(problem("clip_twice", where, name, f"once (line {seen[name]})", "remove one row"))
        else:
            seen[name] = line
            rows.append((f"{where}, clip {name}", row))
    return rows


def check_file(folder: Path, file: str, sha256: str, where: str, problems: list[Problem]) -> bool:
    """Tell whether `file` lies below `folder` and has the listed hash."""
    path = folder / file
    before = len(problems)
    if PurePosixPath(file).is_absolute() or ".." in PurePosixPath(file).parts:
        problems.append(problem("clip_path", where, file, "a path below the input data", "move the file there"))
    elif not _is_regular(path):
        # Also keeps a FIFO from blocking the run for ever.
        problems.append(problem("clip_missing", where, f"no regular file {file}", "the clip's file", "add the file"))
    elif (actual := hash_file(path)) != sha256.lower():
        fix = "restore the file, or write its hash into the list"
        problems.append(problem("clip_changed", where, f"SHA-256 {actual[:12]}…", f"{sha256[:12].lower()}…", fix))
    return len(problems) == before


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def problem(code: str, where: str, found: str, expected: str, fix: str) -> Problem:
    """Return a problem of the data, which only the organiser can correct."""
    return Problem(code, stage="data", where=where, found=found, expected=expected, fix=fix, fault="organiser")


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False
