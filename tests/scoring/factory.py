"""Builds a complete scoring input from arrays: ``input/ref`` and ``input/res``, manifest and all.

Any test can start from `make_input`, break one thing, and see what scoring says.
"""

import csv
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import yaml
from numpy.typing import NDArray

TRAITS = ("extraversion", "agreeableness", "conscientiousness", "emotional_stability", "openness")
NAMES = (*TRAITS, "interview")
ROWS, COLUMNS, BINS = 9, 16, 5
CELLS = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
PARTS = ("mouth", "eyes", "hand")
CAUSAL = ("smile", "gaze", "motion", "lighting")
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # the same text in a fifth of the time


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
        "explanation": {"text": {"minimum_chars": 20, "maximum_chars": 1200}},
        "report": {"clips": True, "truth": True, "gallery": 4},
        "causes": "causes.json",
        "skill_reference": dict.fromkeys(NAMES, 0.035),
    }
    return settings | changes


@dataclass(frozen=True)
class World:
    """What is true of one clip, drawn from its id: where, when and why."""

    space: NDArray[np.float64]
    """(9, 16) 1 where the main cue is."""
    time: NDArray[np.float64]
    """(5,) 1 when it happens."""
    contributions: dict[str, dict[str, float]]
    """By target and cue, on the unit scale; the first cue is the main one."""
    main: str
    """Kind of the unit where the main cue is."""

    @cached_property
    def units(self) -> dict[str, dict[str, list[Any]]]:
        """By kind: what lies where and when."""
        here, elsewhere = np.flatnonzero(self.space), np.flatnonzero(self.space.ravel() == 0)
        (first, second), calm = np.flatnonzero(self.time).tolist(), np.flatnonzero(self.time == 0).tolist()
        one, other, rest = (each.tolist() for each in np.array_split(elsewhere, 3))
        cells = dict(zip((kind for kind in PARTS if kind != self.main), (one, other), strict=True))
        cells[self.main] = here.tolist()
        seconds = dict(zip([*cells, "quiet"], [calm[0], calm[1], first, calm[2]], strict=True))
        units = {kind: {"parts": [kind], "cells": cells[kind], "seconds": [seconds[kind]]} for kind in PARTS}
        units["words"] = {"parts": ["words"], "cells": [], "seconds": [second]}
        units["things"] = {"parts": ["thing-1", "thing-2"], "cells": rest, "seconds": []}
        units["quiet"] = {"parts": [], "cells": [], "seconds": [seconds["quiet"]]}
        return units


@cache
def world(clip_id: str) -> World:
    """Draw a clip's truth; a head that moves about, so that no place is right for all clips. Nobody changes it."""
    rng = np.random.default_rng(list(clip_id.encode()))
    space, time = np.zeros((ROWS, COLUMNS)), np.zeros(BINS)
    row, column = rng.integers(0, ROWS - 3), rng.integers(0, COLUMNS - 4)
    space[row : row + 3, column : column + 4] = 1
    time[rng.choice(BINS, 2, replace=False)] = 1
    cues = rng.permutation(CAUSAL)
    sizes = np.array([0.12, 0.06, 0.01, 0.005])
    contributions = {
        name: dict(zip(cues.tolist(), (sizes * rng.choice([-1, 1], 4)).tolist(), strict=True)) for name in NAMES
    }
    space.flags.writeable = time.flags.writeable = False
    return World(space, time, contributions, main=str(rng.choice(PARTS)))


def full_explanation(clip_id: str) -> dict[str, Any]:
    """An honest explanation with every part; the picture is made by `make_input`."""
    true = world(clip_id)
    cues = [
        {"cue": cue, "target": target, "contribution": value}
        for target, values in true.contributions.items()
        for cue, value in values.items()
    ]
    largest = list(true.contributions["interview"].items())[:3]
    raised = [cue for cue, value in largest if value > 0]
    lowered = [cue for cue, value in largest if value < 0]
    parts = [f"the {cue} {verb} the interview score" for verb, group in (("raised", raised), ("lowered", lowered))
             for cue in group]  # fmt: skip
    return {
        "text": " ".join(f"{part[0].upper()}{part[1:]}." for part in parts),
        "image": f"images/{clip_id}.jpg",
        "evidence": {
            "space": {"rows": ROWS, "columns": COLUMNS, "weights": [true.space.tolist()]},
            "time": {"bin_s": 1.0, "weights": true.time.tolist()},
            "cues": cues,
        },
    }


def known_causes(clip_ids: Sequence[str]) -> dict[str, Any]:
    """The content of ``causes.json`` for these clips."""
    clips = {}
    for clip_id in clip_ids:
        true = world(clip_id)
        bits = "".join(str(int(cell)) for cell in true.space.ravel())
        main = next(iter(true.contributions["interview"]))
        clips[clip_id] = {
            "contributions": {target: dict(cues) for target, cues in true.contributions.items()},
            "space": {main: [f"{int(bits, 2):036x}"] * BINS},
            "time": {main: [int(second) for second in true.time]},
        }
    return {"format_version": 1, "grid": {"rows": ROWS, "columns": COLUMNS}, "bin_s": 1.0, "clips": clips}


def honest_probes(case: "Case") -> list[dict[str, Any]]:
    """The second pass of a model that looks where and when the main cue is, and reacts to each cue as it should."""
    ok = [number for number, status in enumerate(case.statuses) if status == "ok"]
    return [call for number in ok for call in _calls(case, number)]


def _calls(case: "Case", number: int) -> list[dict[str, Any]]:
    clip_id = case.clip_ids[number]
    true = world(clip_id)
    targets, names = case.settings["targets"], target_names(case)
    ends = [(target["minimum"], target["maximum"]) for target in targets]
    base = case.prediction[number].tolist()

    def call(kind: str, change: dict[str, float], **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any field
        moved = {
            name: float(min(max(value - change.get(name, 0.0) * (high - low), low), high))
            for name, value, (low, high) in zip(names, base, ends, strict=True)
        }
        empty = dict.fromkeys(("operator", "unit", "cue", "explanation"))
        nowhere: dict[str, list[Any]] = {"parts": [], "cells": [], "seconds": []}
        return {"clip_id": clip_id, "kind": kind, **empty, **nowhere, "prediction": moved, "again": False, **more}

    calls = [call("original", {})]
    change = dict.fromkeys(names, 0.1 * (-1 if case.prediction[number].mean() < 0.3 else 1))
    for kind, unit in true.units.items():
        due = change if kind in (true.main, "words") else {}  # what moves the predictions
        calls.append(
            call("unit", due, operator="exchange", unit=kind, **{name: [*what] for name, what in unit.items()})
        )
    edits = [*list(true.contributions["interview"])[:2], "background"]
    for cue in edits[: 2 if number % 4 < 2 else 3]:
        change = {name: values.get(cue, 0.0) for name, values in true.contributions.items()}
        calls.append(call("cue", change, operator="copy", cue=cue))
    if number % 4 == 0:
        said = full_explanation(clip_id)
        twin = {"text": said["text"], "image": None, "evidence": said["evidence"]}
        calls.append(call("twin", {}, explanation=twin) | {"prediction": None})
    elif number % 4 == 2:
        calls.append(calls[-1] | {"again": True})  # the last edit, asked of a fresh process
    return calls


def honest_repeats(case: "Case") -> list[dict[str, Any]]:
    """Say the same when asked again, for every third clip."""
    ok = [number for number, status in enumerate(case.statuses) if status == "ok"]
    return [
        {
            "clip_id": case.clip_ids[number],
            "prediction": dict(zip(target_names(case), case.prediction[number].tolist(), strict=True)),
            "explanation": (said := case.explain(case.clip_ids[number])) and said | {"image": None},
        }
        for number in ok[::3]
    ]


def target_names(case: "Case") -> list[str]:
    """Names of the targets, in the order of the settings."""
    return [target["name"] for target in case.settings["targets"]]


def recorded(code: str, stage: str = "predict", fault: str = "participant", **words: str) -> dict[str, str]:
    """A problem as ingestion records it."""
    usual = {
        "where": "model.py, line 3",
        "found": "ValueError: a red jumper",
        "expected": "a dict",
        "fix": "return one",
    }
    return {"code": code, "stage": stage, "severity": "error", "fault": fault} | usual | words


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
    probes: Callable[["Case"], list[dict[str, Any]]] | None = honest_probes
    repeats: Callable[["Case"], list[dict[str, Any]]] | None = honest_repeats
    causes: Callable[[Sequence[str]], Any] = known_causes
    observations: Any = None
    groups: str = ""
    landmarks: Any = None
    problems: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)


def make_case(
    truth: Sequence[Any] | NDArray[np.float64] | None = None,
    prediction: Sequence[Any] | NDArray[np.float64] | None = None,
    *,
    clips: int = 8,
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


@cache
def jpeg(seed: int = 0, width: int = 355, height: int = 200) -> bytes:
    """A small picture."""
    y, x = np.mgrid[0:height, 0:width]
    pixels = np.stack([(x + 40 * seed) % 256, y % 256, np.full_like(x, 90)], axis=-1).astype(np.uint8)
    return bytes(cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, 85])[1])


def write_frames(folder: Path, clip_ids: list[str], change: Callable[[list[list[str]]], object] = len) -> None:
    """Write ``frames.csv`` and a picture of each clip, and change the rows of the list; the first one is the header."""
    (folder / "frames").mkdir(parents=True)
    rows = [["clip_id", "file", "time_s", "sha256"]]
    for number, clip_id in enumerate(clip_ids):
        data = jpeg(number)
        (folder / "frames" / f"{clip_id}.jpg").write_bytes(data)
        rows.append([clip_id, f"frames/{clip_id}.jpg", f"{number}.5", hashlib.sha256(data).hexdigest()])
    change(rows)
    (folder / "frames.csv").write_text("".join(",".join(row) + "\n" for row in rows))


def run_record(case: Case) -> dict[str, Any]:
    """What ``run.json`` says of a run that went well."""
    return {
        "format_version": 2,
        "program_version": "0.1.0",
        "task": case.settings["task"],
        "data_version": case.settings["data_version"],
        "status": "complete",
        "clips": {"total": len(case.clip_ids)},
        "problems": [],
        "duration_s": 31.2,
        "time_limit_s": 600,
        "isolation": "full",
        "landlock": 7,
        "submission_sha256": "ab" * 32,
        "settings_sha256": "cd" * 32,
        "python": "3.11.7",
        "packages": {"numpy": "2.4.6"},
        "machine": "Linux x86_64, 2 CPUs",
        "load_s": 0.4,
        "restarts": 0,
    }


_YAML: dict[str, str] = {}


def _as_yaml(settings: dict[str, Any]) -> str:
    """Write settings, those of many cases once."""
    known = repr(settings)
    if known not in _YAML:
        _YAML[known] = yaml.dump(settings, Dumper=DUMPER, sort_keys=False)
    return _YAML[known]


def make_input(root: Path, case: Case) -> Path:
    """Write ``ref`` and ``res`` below ``root``; returns ``root``."""
    reference, results = root / "ref", root / "res"
    (results / "images").mkdir(parents=True, exist_ok=True)
    reference.mkdir(parents=True, exist_ok=True)
    (reference / "task.yaml").write_text(_as_yaml(case.settings))
    names = target_names(case)
    with (reference / "labels.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["clip_id", "source_id", *names])
        for clip_id, source, row in zip(case.clip_ids, case.sources, case.truth.tolist(), strict=True):
            writer.writerow([clip_id, source, *row])

    if "causes" in case.settings:
        (reference / "causes.json").write_text(json.dumps(case.causes(case.clip_ids)))
    if "observations" in case.settings:
        (reference / "observations.json").write_text(json.dumps(case.observations))
    if "groups" in case.settings:
        (reference / "groups.csv").write_text(case.groups)
    if "landmarks" in case.settings and case.landmarks is not None:
        (reference / "landmarks.json").write_text(json.dumps(case.landmarks))

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
    (results / "run.json").write_text(json.dumps(run_record(case) | case.run))
    for name, records in (("probes.jsonl", case.probes), ("repeats.jsonl", case.repeats)):
        (results / name).unlink(missing_ok=True)  # of another case
        if records:
            (results / name).write_text("".join(json.dumps(record) + "\n" for record in records(case)))
    (results / "log.txt").write_text("a log\n")
    write_manifest(results)
    return root


def write_manifest(results: Path) -> None:
    """List every file below ``results`` with its size and hash."""
    files = {
        path.relative_to(results).as_posix(): {
            "bytes": len(data := path.read_bytes()),
            "sha256": hashlib.sha256(data).hexdigest(),
        }
        for path in sorted(results.rglob("*"))
        if path.is_file() and path.name != "manifest.json"
    }
    (results / "manifest.json").write_text(json.dumps({"format_version": 2, "files": files, "seal": None}))
