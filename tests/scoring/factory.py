"""Builds a complete scoring input from arrays: ``input/ref`` and ``input/res``, manifest and all.

Any test can start from `make_input`, break one thing, and see what scoring says.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import yaml
from numpy.typing import NDArray

TRAITS = ("extraversion", "agreeableness", "conscientiousness", "emotional_stability", "openness")
NAMES = (*TRAITS, "interview")


def task_settings(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - any settings key
    """Settings of a practice phase; keyword arguments replace top-level keys."""
    targets = [
        {"name": name, "title": name.replace("_", " ").capitalize(), "minimum": 0.0, "maximum": 1.0, "constant": 0.5}
        for name in NAMES
    ]
    settings: dict[str, Any] = {
        "format_version": 1,
        "task": "practice",
        "data_version": "test-1",
        "targets": targets,
        "main_target": "interview",
        "group": {"name": "traits", "title": "Five traits", "targets": list(TRAITS)},
        "bootstrap": {"resamples": 50, "level": 0.95, "seed": 1},
        "coverage": {"text": 0.6, "image": 0.2, "evidence": 0.2},
        "explanation": {"text": {"minimum_chars": 20, "maximum_chars": 1200}},
        "report": {"clips": True, "truth": True, "gallery": 4},
    }
    return settings | changes


def full_explanation(clip_id: str) -> dict[str, Any]:
    """An explanation with every part; the picture is made by `make_input`."""
    return {
        "text": f"A steady smile in clip {clip_id} raised the interview score.",
        "image": f"images/{clip_id}.jpg",
        "evidence": {
            "space": {"rows": 2, "columns": 3, "weights": [[[0.0, 0.5, 0.0], [0.0, 1.0, 0.25]]]},
            "time": {"bin_s": 1.0, "weights": [0.0, 0.2, 1.0, 0.1, 0.0]},
            "cues": [
                {"cue": "smile", "target": "interview", "contribution": 0.4},
                {"cue": "motion", "target": "openness", "contribution": -0.1},
            ],
        },
    }


@dataclass
class Case:
    """What `make_input` writes; change fields before writing."""

    truth: NDArray[np.float64]
    prediction: NDArray[np.float64]
    clip_ids: list[str]
    sources: list[str]
    statuses: list[str]
    settings: dict[str, Any]
    explain: Callable[[str], dict[str, Any] | None] = full_explanation
    problems: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)


def make_case(
    truth: Sequence[Any] | NDArray[np.float64] | None = None,
    prediction: Sequence[Any] | NDArray[np.float64] | None = None,
    *,
    clips: int = 12,
    sources: Sequence[str] | None = None,
    statuses: Sequence[str] | None = None,
    seed: int = 0,
    **settings: Any,  # noqa: ANN401 - any settings key
) -> Case:
    """A run over ``clips`` clips; without arrays, noisy predictions of random labels, two clips a source."""
    rng = np.random.default_rng(seed)
    names = [target["name"] for target in task_settings(**settings)["targets"]]
    t = rng.uniform(0.1, 0.9, (clips, len(names))) if truth is None else np.array(truth, dtype=np.float64)
    p = np.clip(t + rng.normal(0, 0.08, t.shape), 0, 1) if prediction is None else np.array(prediction, float)
    count = len(t)
    ids = [f"c{hashlib.sha256(str((seed, n)).encode()).hexdigest()[:9]}" for n in range(count)]
    return Case(
        truth=t,
        prediction=p,
        clip_ids=ids,
        sources=list(sources) if sources is not None else [f"person-{n // 2}" for n in range(count)],
        statuses=list(statuses) if statuses is not None else ["ok"] * count,
        settings=task_settings(**settings),
    )


def jpeg(seed: int = 0, width: int = 355, height: int = 200) -> bytes:
    """A small picture."""
    y, x = np.mgrid[0:height, 0:width]
    pixels = np.stack([(x + 40 * seed) % 256, y % 256, np.full_like(x, 90)], axis=-1).astype(np.uint8)
    return bytes(cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, 85])[1])


def make_input(root: Path, case: Case) -> Path:
    """Write ``ref`` and ``res`` below ``root``; returns ``root``."""
    reference, results = root / "ref", root / "res"
    (results / "images").mkdir(parents=True, exist_ok=True)
    reference.mkdir(parents=True, exist_ok=True)
    (reference / "task.yaml").write_text(yaml.safe_dump(case.settings, sort_keys=False))
    names = [target["name"] for target in case.settings["targets"]]
    with (reference / "labels.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["clip_id", "source_id", *names])
        for clip_id, source, row in zip(case.clip_ids, case.sources, case.truth.tolist(), strict=True):
            writer.writerow([clip_id, source, *row])

    ok = [number for number, status in enumerate(case.statuses) if status == "ok"]
    with (results / "predictions.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["clip_id", *names])
        for number in ok:
            writer.writerow([case.clip_ids[number], *case.prediction[number].tolist()])
    lines = []
    for number in ok:
        explanation = case.explain(case.clip_ids[number])
        if explanation is None:
            continue
        lines.append(json.dumps({"clip_id": case.clip_ids[number]} | explanation))
        if explanation.get("image"):
            (results / explanation["image"]).write_bytes(jpeg(number))
    (results / "explanations.jsonl").write_text("".join(line + "\n" for line in lines))
    (results / "clips.jsonl").write_text(
        "".join(
            json.dumps(
                {
                    "clip_id": clip_id,
                    "status": status,
                    "predict_s": 0.2,
                    "explain_s": 0.1,
                    "problems": case.problems.get(clip_id, []),
                }
            )
            + "\n"
            for clip_id, status in zip(case.clip_ids, case.statuses, strict=True)
            if status != "missing"
        )
    )
    run = {
        "format_version": 1,
        "program_version": "0.1.0",
        "task": case.settings["task"],
        "data_version": case.settings["data_version"],
        "status": "complete",
        "clips": {"total": len(case.clip_ids)},
        "problems": [],
        "duration_s": 31.2,
        "time_limit_s": 600,
        "isolation": "full",
        "submission_sha256": "ab" * 32,
        "settings_sha256": "cd" * 32,
        "python": "3.11.7",
        "packages": {"numpy": "2.4.6"},
        "machine": "Linux x86_64, 2 CPUs",
        "load_s": 0.4,
        "restarts": 0,
    }
    (results / "run.json").write_text(json.dumps(run | case.run))
    (results / "log.txt").write_text("a log\n")
    write_manifest(results)
    return root


def write_manifest(results: Path) -> None:
    """List every file below ``results`` with its size and hash."""
    files = {
        path.relative_to(results).as_posix(): {
            "bytes": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in sorted(results.rglob("*"))
        if path.is_file() and path.name != "manifest.json"
    }
    (results / "manifest.json").write_text(json.dumps({"format_version": 1, "files": files, "seal": None}))
