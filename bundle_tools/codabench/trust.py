"""Whose code a bundle brings: this installation's own, or that of somebody whom the user has to trust first.

Every command that would run it asks the user here, on a terminal, unless given the option `--trust`.
"""

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.machinery import all_suffixes
from itertools import islice
from pathlib import Path

from bundle_tools.codabench.archive import CHECKOUT, extract
from bundle_tools.codabench.competition import BundleTask
from bundle_tools.console import ask, counted
from bundle_tools.errors import BundleError

KIT = "starting_kit"
REMEMBERED = CHECKOUT / "private" / "trusted_programs"
"""Digests of code that was built here, or trusted on a terminal; one a line."""
LARGEST, MOST = 4 << 30, 10_000
"""Bytes of a zip, unpacked; files and folders of a program."""
IMPORTED = tuple(all_suffixes())
"""How files end that Python imports."""
UNUSED = re.compile(r"(^|/)(\.|__pycache__/)|^wheels/|^(seal\.key|template/model\.py)$")
"""Names of what is not run: compiled files are never believed, nor wheels without a locked hash; a template is a text
for participants."""
FIX = "Add --trust if you trust whoever wrote it."

Code = tuple[str, Path]
"""Name of the folder of this installation that has the same purpose, such as "scoring_program"; a folder or a zip."""


def code_of(tasks: Sequence[BundleTask]) -> list[Code]:
    """Return the programs of tasks about which the user has to be asked."""
    asked = [task for task in tasks if not task.trusted]
    named = [("ingestion_program", task.ingestion_program) for task in asked]
    named += [("scoring_program", task.scoring_program) for task in asked]
    return [(kind, path) for kind, path in dict.fromkeys(named) if path is not None and path.exists()]


def is_own(kind: str, path: Path) -> bool:
    """Return whether code is this installation's own, even if that was changed: the same folder, or the same files."""
    return not _differences(kind, path)


def is_trusted(codes: Sequence[Code]) -> bool:
    """Return whether code may run here; on a terminal, ask once about all that is unknown."""
    unknown = _unknown(codes)
    if unknown and _agreed(_warning(unknown)):
        remember(unknown)
        return True
    return not unknown


def ensure_trusted(codes: Sequence[Code]) -> None:
    """Refuse code that the user has not trusted.

    Raises BundleError with the reason and the way out.
    """
    if not is_trusted(codes):
        raise BundleError(f"nothing was run. {_warning(_unknown(codes))} {FIX}")


def remember(codes: Sequence[Code]) -> None:
    """Ask no more about code as it is now; where this installation cannot be written to, it is asked about again."""
    with suppress(OSError):
        new = {_digest(*code) for code in codes} - {*_remembered()}
        REMEMBERED.parent.mkdir(exist_ok=True)
        with REMEMBERED.open("a", encoding="ascii") as file:
            file.writelines(f"{digest}\n" for digest in sorted(new))


def forget_compiled(folder: Path) -> None:
    """Delete compiled files that others made: Python may believe them whatever the sources beside them say."""
    for compiled in [*folder.rglob("__pycache__")] if folder.resolve().parent != CHECKOUT else ():
        if compiled.is_symlink() or compiled.is_file():
            compiled.unlink()
        else:
            shutil.rmtree(compiled)


def _unknown(codes: Sequence[Code]) -> list[Code]:
    return [code for code in codes if not is_own(*code) and _digest(*code) not in _remembered()]


def _remembered() -> list[str]:
    return REMEMBERED.read_text("ascii", "replace").split() if REMEMBERED.is_file() else []


@lru_cache
def _agreed(warning: str) -> bool:
    return bool(ask(f"{warning} Trust it? [y/N] "))


def _warning(codes: Sequence[Code]) -> str:
    kind, path = codes[0]
    title, [name, *others] = kind.replace("_", " "), _differences(kind, path)
    more = f" and {counted(len(others), 'other file')}" if others else ""
    return f"The {title} is not the one of this installation ({name}{more}), and may do here whatever you may."


def _differences(kind: str, path: Path) -> list[str]:
    """Return the names of the files that differ from this installation's, or exist only on one side."""
    if path.resolve() == CHECKOUT / kind:
        return []
    here, there = _own_files(kind), _files(kind, path)
    return sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))


@lru_cache
def _own_files(kind: str) -> Mapping[str, str]:
    return _files(kind, CHECKOUT / kind)


def _digest(kind: str, path: Path) -> str:
    return hashlib.sha256(json.dumps([kind, _files(kind, path)]).encode()).hexdigest()


def _files(kind: str, path: Path) -> Mapping[str, str]:
    """Return the hashes of all files that can change what is run, by name; of the kit only what Python can import."""
    with tempfile.TemporaryDirectory() as scratch:
        if path.is_file():
            try:
                extract(path, Path(scratch), LARGEST, MOST)
            except BundleError:
                return {"a zip that cannot be read": ""}
            path = Path(scratch)
        paths = sorted(islice(path.rglob("*"), MOST))
        if len(paths) == MOST:
            return {"more files than any program has": ""}
        files = {file.relative_to(path).as_posix(): file for file in paths if file.is_symlink() or not file.is_dir()}
        return {
            name: hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "no file"
            for name, file in files.items()
            if not UNUSED.search(name) and not (kind == KIT and file.is_file() and not name.endswith(IMPORTED))
        }
