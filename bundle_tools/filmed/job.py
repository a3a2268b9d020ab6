"""Both versions of one clip, made in a process of their own, with what was measured of them.

A result appears as a whole or not at all, with a hash of all that it depends on: called again, only what is missing is
made.

Usage: python -m bundle_tools.filmed.job   (the first line of standard input is a `Job` as JSON)
"""

import base64
import gc
import hashlib
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from av.error import FFmpegError

from bundle_tools.apart import Lost, last_line, own_task, run_apart
from bundle_tools.atomic import replaced, write_text
from bundle_tools.decoding import Pixels, Unusable, pictures
from bundle_tools.errors import BundleError
from bundle_tools.filmed.features import features
from bundle_tools.filmed.footage import Unsuited, read_footage
from bundle_tools.filmed.track import Tracker
from bundle_tools.filmed.versions import OTHER, SHAM, Versions
from bundle_tools.phase_data.pictures import small_jpeg
from bundle_tools.untrusted import read_json

VERSION = 4
"""Changes with what is made: exchanges of another version are made again."""
LARGEST_RESULT = 4 << 20
"""Bytes."""


@dataclass(frozen=True)
class Job:
    """One clip; every path exists on all machines that may make it."""

    clip_id: str
    phase: str
    folder: str
    """Input data of its phase."""
    file: str
    """The clip, below `folder`."""
    first: str
    """File of A', below `folder`."""
    second: str
    """File of B."""
    side: int
    """See `Versions`."""
    models: str
    """Folder of the models that find faces."""
    out: str
    """File of the result."""
    key: str
    """Hash of all that the result depends on."""
    alive: str
    """File that the driver touches as long as it lives."""

    @property
    def name(self) -> str:
        """What people call it."""
        return f"{self.phase}, clip {self.clip_id}"


def key_of(sha256: str, side: int, names: tuple[str, str]) -> str:
    """Return the hash of all that a result depends on; `sha256`: of the clip."""
    return hashlib.sha256(json.dumps([VERSION, sha256, side, *names]).encode()).hexdigest()


def result_of(job: Job) -> dict[str, Any] | None:
    """Return what a job has left; None if there is nothing of the same key, or its files are not as they were."""
    try:
        result: dict[str, Any] = read_json(Path(job.out), LARGEST_RESULT)
        entry = result["entry"]
        files = [entry["first"], entry] if entry else []
        same = all(_hash(Path(job.folder) / file["file"]) == file["sha256"] for file in files)
        return result if result["key"] == job.key and same else None
    except (BundleError, OSError, TypeError, KeyError):
        return None


def make(job: Job) -> dict[str, Any]:
    """Make both versions of a clip in a new process, unless its result is already there; return the result.

    Raises Lost when the process ended without a result.
    """
    if (result := result_of(job)) is not None:
        return result
    out = Path(job.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    console = out.with_suffix(".txt")
    code = run_apart("bundle_tools.filmed.job", asdict(job), [], Path(job.alive), console)
    result = result_of(job)
    if code != 0 or result is None:
        raise Lost(f"{last_line(console)} (exit code {code})")
    console.unlink()
    return result


def exchange(job: Job) -> dict[str, Any]:
    """Make both versions of a clip here; return the result, which is not written yet.

    Its `reason` says why the clip keeps its original; it is empty otherwise.
    """
    started, started_cpu = time.monotonic(), time.process_time()
    result: dict[str, Any] = {"key": job.key, "clip_id": job.clip_id, "phase": job.phase, "problems": []}
    result |= {"entry": None, "reason": "", "figures": {}, "refused": {}, "features": {}, "pictures": []}
    try:
        content = (Path(job.folder) / job.file).read_bytes()
        footage = read_footage(content, lambda: Tracker(Path(job.models)))
        versions = Versions(footage, job.side)
        result |= {"figures": versions.figures, "refused": versions.refused}
        frames = {part: versions.telling_frames(part) for part in versions.parts}
        shown: dict[int, list[Pixels]] = {frame: [] for of_part in frames.values() for frame in of_part}
        for number, picture in zip(sorted(shown), pictures(content, sorted(shown), "bgr24"), strict=True):
            shown[number].append(picture)
        files = {}
        for version, file in ((SHAM, job.first), (OTHER, job.second)):
            files[version] = versions.write(content, version, shown)
            path = Path(job.folder) / file
            path.parent.mkdir(exist_ok=True)
            with replaced(path) as unfinished:
                unfinished.write_bytes(files[version])
        result["features"] = features(versions, footage.joins, files[SHAM], files[OTHER])
        times = footage.times - footage.times[0]
        hashes = {version: hashlib.sha256(data).hexdigest() for version, data in files.items()}
        result["entry"] = {
            "first": {"file": job.first, "sha256": hashes[SHAM]},
            "file": job.second,
            "sha256": hashes[OTHER],
            "joins_s": [round(float(times[join]), 3) for join in footage.joins],
            "parts": [{"name": part, "keys": versions.outlines(part)} for part in versions.parts],
        }
        result["pictures"] = [
            {
                "part": part,
                "time_s": round(float(times[frame]), 1),
                "shown": [_shown(picture, versions, part, frame) for picture in shown[frame]],
            }
            for part in versions.parts
            for frame in frames[part]
        ]
    except Unsuited as error:
        result["reason"] = str(error)
    except (FFmpegError, Unusable, ValueError, IndexError, ArithmeticError, cv2.error, np.linalg.LinAlgError) as error:
        result["reason"] = f"cannot be used ({type(error).__name__}: {error!s:.200})"
    result["took_s"] = round(time.monotonic() - started, 3)
    result["processor_s"] = round(time.process_time() - started_cpu, 3)
    result["lines"] = [f"keeps its original: {result['reason']}"] if result["reason"] else []
    result["lines"] += [f"{part} is not offered: {why}" for part, why in result["refused"].items()]
    return result


def _shown(picture: Pixels, versions: Versions, part: str, frame: int) -> str:
    """Return a small JPEG of a part of a face, in base64."""
    return base64.b64encode(small_jpeg(np.ascontiguousarray(versions.box(part, frame).of(picture)))).decode()


def _hash(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def main() -> int:
    """Make what standard input names; return 0."""
    job = Job(**own_task())
    cv2.setNumThreads(1)  # clips are made in parallel
    # PyAV's frames lie in cycles: without this, hundreds wait to be collected.
    gc.freeze()
    gc.set_threshold(50, 2, 2)
    write_text(Path(job.out), json.dumps(exchange(job), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
