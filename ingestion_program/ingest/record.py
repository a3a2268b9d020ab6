"""The record of a run: its folder, its facts, its manifest and the seal. Needs no packages."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import platform
import stat
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypeVar

from ingest import VERSION
from ingest.causes import SHORTAGES
from ingest.confine import container, remove, take_back
from ingest.stats import CLIP_STATUSES, RunStats

if TYPE_CHECKING:
    from ingest.capacity import Processor
    from ingest.clock import Clock
    from ingest.keeper import Sign
    from ingest.settings import Task
    from ingest.submission import Credit, Fingerprint, Training


def seal(manifest: dict[str, Any], sign: Sign) -> str:
    """Return the HMAC-SHA256 of a manifest without its seal, 64 hexadecimal digits; see docs/output_format.md."""
    return sign(json.dumps(manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")).hex()


FORMAT_VERSION = 2
IMAGES, MANIFEST, RUN = "images", "manifest.json", "run.json"
RECORD_BYTES = 4 << 20
"""Space reserved for what is written at the end of every run: log, `run.json`, manifest."""
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
PATIENCE_S = 5.0
PAUSE_S = 0.05
OWN_FILES = frozenset(
    (
        *("predictions.csv", "explanations.jsonl", "clips.jsonl", "repeats.jsonl", "probes.jsonl"),
        *(RUN, "log.txt", "model_output.txt"),
    )
)

T = TypeVar("T")


def empty_folder(folder: Path) -> None:
    """Remove everything inside `folder`, never following a link.

    The platform puts a copy of the submission there before ingestion starts: none of it may be taken for a result.
    A command of the submission, run in another container, may have removed all permissions.
    """
    folder.mkdir(parents=True, exist_ok=True)
    take_back(folder)
    for path in sorted(folder.iterdir()):
        if stat.S_ISDIR(path.lstat().st_mode):
            _remove(path)
        else:
            path.unlink()


def _remove(folder: Path) -> None:
    remove(folder)
    if folder.exists():
        raise PermissionError(errno.EACCES, "cannot be removed", folder)


def hold_room(folder: Path) -> IO[bytes]:
    """Reserve disk space for the record of a run; closing the result releases it.

    Raises OSError when there is no space, or nothing can be written there.
    """
    file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - whoever takes it closes it
    try:
        with contextlib.suppress(AttributeError):  # macOS has no such call
            os.posix_fallocate(file.fileno(), 0, RECORD_BYTES)
    except OSError as error:
        if error.errno in NO_ROOM:
            file.close()
            raise
    return file


def open_private(folder: Path) -> Path:
    """Make the folder for the growing record, with a name that no model knows: it could query the sizes of files."""
    # Only its name: Python versions differ in how they treat a relative folder.
    return folder / Path(tempfile.mkdtemp(prefix=".record-", dir=folder)).name


def publish(private: Path, folder: Path) -> None:
    """Move a complete record to its place, the manifest last, and remove everything else there."""
    for path in folder.iterdir():
        if path != private:
            _sweep(path, keep=False)
    for path in sorted(private.iterdir(), key=lambda path: path.name == MANIFEST):
        path.rename(folder / path.name)
    private.rmdir()


def write_run(folder: Path, run: dict[str, Any]) -> None:
    """Write `run.json`."""
    write_file(folder / RUN, (json.dumps(run, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())


def write_text(folder: Path, name: str, text: str) -> None:
    """Write a text file."""
    write_file(folder / name, text.encode("utf-8", "backslashreplace"))


def write_manifest(folder: Path, sign: Sign | None) -> None:
    """Remove what is not ours, then list the rest in `manifest.json`, sealed unless `sign` is None.

    Where a machine cannot keep a model out of this folder, the model may have put anything here: links that the
    platform would follow, a `metadata` that would stop the upload, or files that look like results.
    """
    for path in folder.iterdir():
        if path.name == IMAGES and stat.S_ISDIR(path.lstat().st_mode):
            for image in path.iterdir():
                _sweep(image, keep=image.suffix == ".jpg")
        else:
            _sweep(path, keep=path.name in OWN_FILES)
    files = {}
    for path in sorted([*folder.glob("*"), *folder.glob(f"{IMAGES}/*")]):
        if path.name != IMAGES:
            content = path.read_bytes()
            digest = hashlib.sha256(content).hexdigest()
            files[path.relative_to(folder).as_posix()] = {"bytes": len(content), "sha256": digest}
    manifest: dict[str, Any] = {"format_version": FORMAT_VERSION, "files": files}
    manifest["seal"] = sign and seal(manifest, sign)
    write_file(folder / MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode())


def _sweep(path: Path, *, keep: bool) -> None:
    mode = path.lstat().st_mode
    if stat.S_ISDIR(mode):
        _remove(path)
    elif not keep or not stat.S_ISREG(mode):
        path.unlink()


def write_file(path: Path, content: bytes) -> None:
    """Write a file atomically: a reader never sees half of it."""
    temporary = path.with_name(path.name + ".tmp")
    _write(temporary, "wb", content)
    temporary.replace(path)


def append(path: Path, text: str, *, flush: bool = True) -> None:
    """Append to a file, and flush it to disk if asked: if the machine dies, one clip is lost, not the run."""
    _write(path, "ab", text.encode("utf-8", "backslashreplace"), flush=flush)


def _write(path: Path, mode: Literal["wb", "ab"], content: bytes, *, flush: bool = False) -> None:
    """Write; if there is no room, wait, because the model that has taken it is about to be stopped."""
    until = time.monotonic() + PATIENCE_S

    def patiently(step: Callable[[], T]) -> T:
        while True:
            try:
                return step()
            except OSError as error:
                if error.errno not in NO_ROOM | SHORTAGES or time.monotonic() > until:
                    raise
                time.sleep(PAUSE_S)

    with patiently(lambda: path.open(mode, buffering=0)) as file:
        view = memoryview(content)
        while view:
            view = view[patiently(lambda: os.write(file.fileno(), view)) :]  # noqa: B023 - called at once
        if flush:
            os.fsync(file.fileno())


PACKAGES = ("numpy", "pandas", "PyYAML", "scikit-learn", "opencv-python-headless", "av", "onnxruntime", "torch")

IMAGE_VARIABLE = "COMPETITION_IMAGE"
"""Environment variable with the image's own name, which is known nowhere else in a container."""


def run_record(
    stats: RunStats,
    clock: Clock,
    task: Task | None,
    settings: Path,
    submitted: tuple[Fingerprint | None, tuple[Credit, ...], Training | None],
    used: Processor | None = None,
) -> dict[str, Any]:
    """Return the record of a run, as in docs/output_format.md.

    `task`: None if the run ended before its settings were read.
    `submitted`: the submission's hashes, None if the run ended before it was checked; its credits; its training.
    `used`: processor time; None if no process was started.
    """
    fingerprint, credits, training = submitted
    return {
        "format_version": FORMAT_VERSION,
        "program_version": VERSION,
        "task": task and task.name,
        "data_version": task and task.data_version,
        "status": stats.status,
        "clips": {"total": stats.total, **{status: stats.clips[status] for status in CLIP_STATUSES}},
        "problems": [problem.record() for problem in stats.problems],
        "duration_s": round(clock.elapsed_s(), 3),
        "time_limit_s": task and task.limits.time_limit_s,
        "isolation": stats.isolation and stats.isolation.level,
        "landlock": stats.isolation and stats.isolation.landlock,
        "refused_calls": dict(sorted(stats.refused.items())),
        "submission_sha256": fingerprint and fingerprint.sha256,
        "submission_files": list(fingerprint.files) if fingerprint else None,
        "credits": [credit.record() for credit in credits],
        **({"training": asdict(training)} if training else {}),
        "settings_sha256": hashlib.sha256(settings.read_bytes()).hexdigest() if settings.is_file() else None,
        "data_sha256": data_sha256(settings) if settings.is_file() else None,
        "seed": task and task.seed,
        "image": os.environ.get(IMAGE_VARIABLE) or None,
        "python": platform.python_version(),
        "packages": installed(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
        "container": container(),
        "load_s": round(stats.load_s, 3),
        "processor": used and used.record(),
        "workers": stats.workers,
        "restarts": stats.restarts,
        "results": stats.results,
        "determinism": stats.determinism and asdict(stats.determinism),
        "probes": stats.probes and stats.probes.record(),
        "untested": stats.untested,
    }


def data_sha256(settings: Path) -> str:
    """Hash the tables beside the settings, by name; they hold the hashes of clips and copies."""
    whole = hashlib.sha256()
    for path in sorted(path for path in settings.parent.iterdir() if path.is_file() and path.name != settings.name):
        whole.update(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n".encode())
    return whole.hexdigest()


def installed() -> dict[str, str]:
    """Return the versions of the packages that models and programs use."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions
