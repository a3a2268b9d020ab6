"""Parts of building a zip: the document, parts that stand in for others, a seal key, and wheels."""

import contextlib
import hashlib
import re
import secrets
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from bundle_tools.codabench.archive import Entry
from bundle_tools.codabench.booleans import is_on
from bundle_tools.console import say
from bundle_tools.errors import BundleError

DATE = re.compile(r'^(\s+(?:start|end): )"(\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?)"', re.MULTILINE)
IMAGE = re.compile(r"^docker_image:.*$", re.MULTILINE)


def shift_dates(text: str, start: datetime) -> str:
    """Move every quoted start and end so that the earliest start becomes `start`; lengths and gaps stay."""
    written = DATE.findall(text)
    dates = sum(key in phase for phase in yaml.safe_load(text)["phases"] for key in ("start", "end"))
    if len(written) != dates:
        raise BundleError(
            'competition.yaml: expected every date on a line of its own, as start: "2026-03-01 12:00:00"; '
            f"found {len(written)} of {dates} so. Write them like this, or leave --start out."
        )
    try:
        shift = start - min(datetime.fromisoformat(date) for key, date in written if "start" in key)
        return DATE.sub(lambda match: f'{match[1]}"{datetime.fromisoformat(match[2]) + shift}"', text)
    except OverflowError as error:
        raise BundleError(
            f"--start {start}: a later phase would end after the year 9999. Choose an earlier start."
        ) from error


def set_image(text: str, image: str) -> str:
    """Set `docker_image`."""
    line = f'docker_image: "{image}"'
    edited = IMAGE.sub(lambda _: line, text, count=1) if IMAGE.search(text) else f"{text.rstrip()}\n{line}\n"
    hold(edited, {**yaml.safe_load(text), "docker_image": image}, "docker_image")
    return edited


def point_to_zips(text: str, zipped: dict[str, str]) -> str:
    """Make solutions and phases name the zips (values) that replace their folders (keys)."""
    expected = yaml.safe_load(text)
    for entry in [*(expected.get("solutions") or []), *expected["phases"]]:
        for key in ("path", "starting_kit", "public_data"):
            entry.update({key: zipped[entry[key]]} if entry.get(key) in zipped else {})
    for folder, archive in zipped.items():
        value = rf"(\b(?:path|starting_kit|public_data):\s*)(['\"]?){re.escape(folder)}\2(?=[\s,}}]|$)"
        text = re.sub(value, lambda match, archive=archive: f"{match[1]}{archive}", text)  # type: ignore[misc]
    hold(text, expected, ", ".join(zipped))
    return text


def hold(edited: str, expected: dict[str, Any], what: str) -> None:
    """Check that an edited text reads as expected.

    Raises BundleError if it reads as something else.
    """
    try:
        read_again = yaml.safe_load(edited)
    except yaml.YAMLError:
        read_again = None
    if read_again != expected:
        raise BundleError(f"competition.yaml: cannot replace {what} in it. Write each on one line, as `key: value`.")


PARTS = ("input_data", "reference_data")
EXPECTED_FINDINGS = frozenset({"report-reveals", "page-figure"})
"""Codes of `bundle check` for a phase that hides its output but runs on open data."""


def with_stand_in(text: str, loose: list[Entry], name: str) -> tuple[str, list[Entry]]:
    """Point a phase to the data of the first open phase, and leave out its own.

    Returns the text and the files with the stand-in. Raises BundleError if there is no such phase or no open one.
    """
    document: dict[str, Any] = yaml.safe_load(text)
    tasks = {task["index"]: task for task in document["tasks"]}
    closed = [phase for phase in document["phases"] if str(phase["name"]).lower() == name.lower()]
    if not closed:
        known = ", ".join(str(phase["name"]) for phase in document["phases"])
        raise BundleError(f"--stand-in: expected one of {known}; found {name!r}.")
    opened = [phase for phase in document["phases"] if phase not in closed and not is_on(phase.get("hide_output"))]
    if not opened:
        raise BundleError("--stand-in: expected another phase that does not hide its output, found none.")
    own, other = tasks[closed[0]["tasks"][0]], tasks[opened[0]["tasks"][0]]
    for part in PARTS:
        path, instead = str(own[part]), str(other[part])
        value = rf"(\b{part}:\s*)(['\"]?){re.escape(path)}\2(?=[\s,}}]|$)"
        text = re.sub(value, lambda match, instead=instead: f"{match[1]}{instead}", text)  # type: ignore[misc]
        own[part] = instead
        loose = [entry for entry in loose if entry[0] != path and not entry[0].startswith(path.rstrip("/") + "/")]
    hold(text, document, f"the data of {name}")
    return text, loose


PROGRAMS = ("ingestion_program", "scoring_program")
NAME = "seal.key"
BYTES = 32
KEY = re.compile(rf"[0-9a-f]{{{2 * BYTES}}}\n")


def key_entries(root: Path, *, fresh: bool) -> list[tuple[str, bytes]]:
    """Return the key file of both programs.

    It is the same in each build, so that a program can be replaced in a running competition.

    Raises BundleError when the stored file contains no key.
    """
    if not all((root / program).is_dir() for program in PROGRAMS):
        return []
    path = root / "private" / NAME
    if fresh or not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        path.touch(mode=0o600)
        path.write_text(secrets.token_hex(BYTES) + "\n", encoding="ascii")
    text = path.read_text(encoding="ascii", errors="replace")
    if not KEY.fullmatch(text):
        raise BundleError(f"{path}: expected {2 * BYTES} hexadecimal digits, found something else. Use --new-key.")
    return [(f"{program}/{NAME}", text.encode("ascii")) for program in PROGRAMS]


LOCK = "requirements.lock"
# The platform's workers: x86-64 Linux, with the Python of the image that competition.yaml names.
PYTHON = "3.11"
ABIS = ("cp311", "abi3", "none")
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
PIPS_LAST_LINES = 3


def wheel_entries(root: Path) -> list[tuple[str, Path]]:
    """Return the wheels of both programs; fetched once for each lock and kept in build/.

    Raises BundleError when they cannot be fetched.
    """
    entries = []
    for program in PROGRAMS:
        folder = _fetch(root, program)
        entries += [(f"{program}/wheels/{path.name}", path) for path in sorted(folder.glob("*.whl"))]
    return entries


def _fetch(root: Path, program: str) -> Path:
    lock = root / program / LOCK
    if not lock.is_file():
        raise BundleError(f"--wheels: expected {program}/{LOCK}, found none. Lock its packages: `make lock`.")
    folder = root / "build" / "wheels" / f"{program}-{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}"
    if folder.is_dir():
        return folder
    say(f"Fetching the packages of {program} (kept in {folder.relative_to(root)}).")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="unfinished-", dir=folder.parent) as own:
        unfinished = Path(own) / folder.name
        _download(lock, unfinished)
        # Another build may have been faster.
        with contextlib.suppress(OSError):
            unfinished.rename(folder)
    return folder


def _download(lock: Path, folder: Path) -> None:
    folder.mkdir()
    target = [f"--python-version={PYTHON}", "--implementation=cp"]
    target += [*(f"--abi={abi}" for abi in ABIS), *(f"--platform={platform}" for platform in PLATFORMS)]
    exactly = ["--no-deps", "--require-hashes", "--only-binary=:all:", f"--requirement={lock}", f"--dest={folder}"]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
    done = subprocess.run([*pip, *target, *exactly], capture_output=True, text=True, check=False)  # noqa: S603 - no shell
    if done.returncode != 0:
        last = " ".join(done.stderr.strip().splitlines()[-PIPS_LAST_LINES:])
        raise BundleError(
            f"--wheels: the packages of {lock} cannot be fetched: {last} Check the network and try again."
        )
