"""`run.json`: what happened to the run as a whole, and on which data and machine."""

from __future__ import annotations

import hashlib
import os
import platform
from dataclasses import asdict
from importlib import metadata
from typing import TYPE_CHECKING, Any

from ingest import VERSION
from ingest.confined.container import container
from ingest.record.folder import FORMAT_VERSION
from ingest.record.stats import CLIP_STATUSES, RunStats

if TYPE_CHECKING:
    from pathlib import Path

    from ingest.clock import Clock
    from ingest.confined.processor import Processor
    from ingest.settings import Task
    from ingest.submission.checks import Fingerprint
    from ingest.submission.credits import Credit

PACKAGES = ("numpy", "pandas", "PyYAML", "scikit-learn", "opencv-python-headless", "av", "onnxruntime", "torch")

IMAGE_VARIABLE = "COMPETITION_IMAGE"
"""Environment variable with the image's own name, which is known nowhere else in a container."""


def run_record(
    stats: RunStats,
    clock: Clock,
    task: Task | None,
    settings: Path,
    fingerprint: Fingerprint | None,
    credits: tuple[Credit, ...] = (),
    used: Processor | None = None,
) -> dict[str, Any]:
    """Return the record of a run, as in docs/output_format.md.

    `task`: None if the run ended before its settings were read.
    `fingerprint`: of the submission; None if the run ended before the submission was checked.
    `used`: processor time; None if no process was started.
    """
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
        "isolation": stats.held and stats.held.level,
        "landlock": stats.held and stats.held.landlock,
        "refused_calls": dict(sorted(stats.refused.items())),
        "submission_sha256": fingerprint and fingerprint.sha256,
        "submission_files": list(fingerprint.files) if fingerprint else None,
        "credits": [credit.record() for credit in credits],
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
