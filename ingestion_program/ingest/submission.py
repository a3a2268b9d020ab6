"""Look at a submission before anything of it runs."""

import hashlib
from pathlib import Path

from ingest.errors import Problem

METADATA = ("metadata", "metadata.yaml")
LISTED = 20


def check_submission(folder: Path) -> list[Problem]:
    """Return everything that keeps the submission from being run, without reading its code."""
    if not folder.is_dir():
        return [
            _problem("submission_missing", str(folder), "no such folder", "the unzipped submission", "upload a zip")
        ]
    names = sorted(path.name for path in folder.iterdir())
    problems = []
    for name in METADATA:
        if name in names:
            # The platform would start a container of its own for it, beside ours, on the same output folder.
            fix = f"remove the file {name}"
            problems.append(_problem("metadata_present", name, f"a file called {name}", "no such file", fix))
    if "model.py" in names and (folder / "model.py").is_file():
        return problems
    inside = [name for name in names if (folder / name / "model.py").is_file()]
    alike = [name for name in names if name.lower() == "model.py"]
    if inside:
        found = f"model.py inside the folder {inside[0]}"
        fix = f"zip the files of {inside[0]}, not the folder itself"
    elif alike:
        found, fix = alike[0], f"rename {alike[0]} to model.py"
    elif names:
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        found, fix = ", ".join(names[:LISTED]) + more, "add model.py"
    else:
        found, fix = "an empty archive", "put model.py into it, at the top"
    problems.append(_problem("model_missing", "submission", found, "model.py at the top of the zip", fix))
    return problems


def hash_submission(folder: Path) -> str:
    """Return a SHA-256 over names and contents of all files, independent of their order on disk."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        total.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode(errors="surrogateescape"))
    return total.hexdigest()


def _problem(code: str, where: str, found: str, expected: str, fix: str) -> Problem:
    return Problem(code, "load", where, found, expected, fix)
