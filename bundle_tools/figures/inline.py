"""The figures that can stand in a sentence, by name: each is computed from what a phase is."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bundle_tools.check.clips.probes import FIRST_CALLS, altered_calls
from bundle_tools.compare.bands import ABOVE
from bundle_tools.coopetition.usefulness import PASSED_ON
from bundle_tools.enough_clips import points_apart
from bundle_tools.figures.facts import PhaseFacts
from bundle_tools.figures.marks import FigureError
from bundle_tools.figures.numbers import brief, number, pixels, weight
from bundle_tools.ingestion_program import use_own_ingestion_program

DOCKERFILE = Path(__file__).resolve().parents[2] / "docker" / "Dockerfile"
PYTHON_IMAGE = re.compile(r"(?:^|[=/])python:(\d+\.\d+)", re.MULTILINE)
PLATFORM_IMAGE = re.compile(r"^codalab/.*\bpy(\d)(\d+)$")
UNLIMITED = "unlimited"
SIGNS = 0.7
"""About what cue claims reach without numbers, by signs alone."""

Value = Callable[[PhaseFacts], str]


def _limit(key: str) -> Value:
    return lambda phase: number(phase.setting("limits", key))


def _optional_limit(key: str, unit: int = 1) -> Value:
    """Give a limit that settings may leave out: then the ingestion program has its own."""
    return lambda phase: number(phase.setting("limits").get(key, _constants()[key]) / unit)


def _explanation(*keys: str, write: Callable[[Any], str] = number) -> Value:
    return lambda phase: write(phase.setting("explanation", *keys))


def _jitter(key: str, times: float = 1) -> Value:
    return lambda phase: number(round(times * phase.setting("probes", "jitter", key), 6))


def _clip(key: str, write: Callable[[Any], str] = number) -> Value:
    return lambda phase: write(round(getattr(phase.video, key), 2))


def _length(phase: PhaseFacts) -> str:
    # Frames, not what the container says: sound may end a little later.
    return number(round(phase.video.packets / phase.video.fps, 2))


def _jury(key: str) -> Value:
    return lambda phase: number(next((one[key] for one in phase.columns if one["key"] == "jury"), None))


def _level(name: str, end: int) -> Value:
    """Give where the range of a word for a prediction begins or ends."""
    return lambda phase: weight(phase.constant(f"level_{name}")[end])


def _submissions(key: str) -> Value:
    return lambda phase: number(phase.entry[key]) if phase.entry.get(key) else UNLIMITED


def _date(key: str) -> Value:
    return lambda phase: f"{phase.date(key):%Y-%m-%d %H:%M}"


def _program(name: str) -> Value:
    """Give a constant of the ingestion program."""
    return lambda _: number(_constants()[name])


def _constants() -> dict[str, float]:
    use_own_ingestion_program()
    from ingest import settings  # noqa: PLC0415 - the path is known only now
    from ingest.confined import watch  # noqa: PLC0415
    from ingest.probes import plan, repeats  # noqa: PLC0415
    from ingest.submission import credits  # noqa: PLC0415

    return {
        "submission_mb": settings.Limits.submission_mb,
        "submission_files": settings.Limits.submission_files,
        "memory_mb": settings.Limits.memory_mb,
        "threads": watch.THREADS,
        "output_mb": watch.OUTPUT_MB,
        "units": plan.UNITS,
        "repeats_min": repeats.FEWEST,
        "repeats_max": repeats.MOST,
        "credits_most": credits.MOST_CREDITS,
        "credit_chars": credits.LONGEST_TEXT,
        "working_mb": watch.SCRATCH_MB,
        "working_files": watch.SCRATCH_FILES,
        "file_mb": watch.FILE_MB,
    }


def working_time_s(phase: PhaseFacts) -> float:
    """Give the time after which nothing further is started, seconds."""
    use_own_ingestion_program()
    from ingest.clock import Clock  # noqa: PLC0415 - as above

    clock = Clock()
    clock.set_limit(phase.setting("limits", "time_limit_s"))
    return clock.budget_s


def calls(phase: PhaseFacts) -> int:
    """Give how often a model is asked about one clip and its altered copies after the first pass, at most."""
    return altered_calls(phase.setting("probes", "edits"), exchanges=phase.has_exchanges)


def _second_per_call(phase: PhaseFacts) -> str:
    return brief(working_time_s(phase) / (len(phase.clips) * (calls(phase) + FIRST_CALLS)))


def _copies_per_clip(phase: PhaseFacts) -> str:
    counts = sorted({phase.copies[clip] for clip, *_ in phase.clips})
    return number(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _traits(phase: PhaseFacts) -> str:
    group = phase.scoring("group")
    if not group:
        raise FigureError(f"{phase.name} has no group of targets.")
    return number(len(group["targets"]))


def _python(phase: PhaseFacts) -> str:
    image = str(phase.draft.content["docker_image"])
    if of_platform := PLATFORM_IMAGE.search(image):
        return ".".join(of_platform.groups())
    # An image of one's own is made from the Dockerfile.
    found = PYTHON_IMAGE.search(image) or PYTHON_IMAGE.search(DOCKERFILE.read_text(encoding="utf-8"))
    if found is None:
        raise FigureError(f"The version of Python in {image[:60]!r} is not known.")
    return found[1]


def _reached(phase: PhaseFacts, axes: Mapping[str, float]) -> int:
    """Give the points that some axes bring alone, where all else of the total is perfect."""
    power = phase.scoring("explanation", "power")
    mean = sum(phase.weights.get(axis, 0) * value**power for axis, value in axes.items())
    return round(float(100 * mean ** (1 / power)))


def points_lost(phase: PhaseFacts) -> dict[str, str]:
    """Give the points that a perfect total loses where an axis is 0, by axis."""
    return {
        axis: number(100 - _reached(phase, dict.fromkeys(phase.weights.keys() - {axis}, 1))) for axis in phase.weights
    }


INLINE: dict[str, Value] = {
    "time_limit_s": _limit("time_limit_s"),
    "run_minutes": lambda phase: number(round(phase.setting("limits", "time_limit_s") / 60, 1)),
    "working_time_s": lambda phase: number(round(working_time_s(phase))),
    "load_s": _limit("load_s"),
    "call_s": _limit("call_s"),
    "restarts": _limit("restarts"),
    "memory_gb": _optional_limit("memory_mb", 1024),
    "submission_mb": _optional_limit("submission_mb"),
    "submission_files": _optional_limit("submission_files"),
    "calls": lambda phase: number(calls(phase)),
    "calls_all": lambda phase: number(calls(phase) + FIRST_CALLS),
    "units": _program("units"),
    "second_per_call": _second_per_call,
    "edits": lambda phase: number(phase.setting("probes", "edits")),
    "jitter_percent": _jitter("gain", 100),
    "jitter_px": _jitter("shift_px"),
    "jitter_frames": _jitter("frames"),
    **{name: _program(name) for name in ("repeats_min", "repeats_max", "credits_most", "credit_chars")},
    **{name: _program(name) for name in ("working_mb", "working_files", "file_mb", "threads", "output_mb")},
    "credits_passed_on_percent": lambda _: number(round(100 * PASSED_ON)),
    "text_min": _explanation("text", "minimum_chars"),
    "text_max": _explanation("text", "maximum_chars"),
    "image_width": _explanation("image", "width", write=pixels),
    "image_height": _explanation("image", "height", write=pixels),
    "grid_rows": _explanation("evidence", "grid", "rows"),
    "grid_columns": _explanation("evidence", "grid", "columns"),
    "cues": lambda phase: number(len(phase.setting("explanation", "evidence", "cues"))),
    "targets": lambda phase: number(len(phase.setting("targets"))),
    "traits": _traits,
    "clips": lambda phase: number(len(phase.clips)),
    "points_apart": lambda phase: number(round(points_apart(len(phase.clips)))),
    "persons": lambda phase: number(phase.persons),
    "copies_per_clip": _copies_per_clip,
    "clip_s": _length,
    "clip_fps": _clip("fps"),
    "clip_width": _clip("width", pixels),
    "clip_height": _clip("height", pixels),
    "submissions_per_day": _submissions("max_submissions_per_day"),
    "submissions_in_all": _submissions("max_submissions"),
    "start": _date("start"),
    "end": _date("end"),
    "points_words": lambda phase: number(
        _reached(phase, {"cue_claims": SIGNS, "known_causes": phase.constant("claims_of_causes"), "text": 1})
    ),
    "gate": lambda phase: number(phase.scoring("explanation", "gate")),
    "resamples": lambda phase: number(phase.scoring("bootstrap", "resamples")),
    "level_percent": lambda phase: number(round(100 * phase.scoring("bootstrap", "level"), 1)),
    "epsilon_least": lambda phase: number(phase.constant("epsilon_least")),
    "people_a_group": lambda phase: number(phase.constant("people_a_group")),
    "band_percent": lambda _: number(round(100 * ABOVE, 1)),
    "level_low": _level("low", 1),
    "level_medium_low": _level("medium", 0),
    "level_medium_high": _level("medium", 1),
    "level_high": _level("high", 0),
    "jury_lowest": _jury("minimum"),
    "jury_highest": _jury("maximum"),
    "python": _python,
    "docker_image": lambda phase: str(phase.draft.content["docker_image"]),
}
"""Name -> how it is computed."""


def _weights(phase: PhaseFacts) -> dict[str, str]:
    return {axis: weight(value) for axis, value in phase.weights.items()}


def _points_alone(phase: PhaseFacts) -> dict[str, str]:
    return {axis: number(_reached(phase, {axis: 1})) for axis in phase.weights}


def _bands(phase: PhaseFacts) -> dict[str, str]:
    bands = phase.scoring("explanation", "bands")
    return {str(word).replace(" ", "_"): number(begins) for word, begins in bands.items()}


FAMILIES: dict[str, Callable[[PhaseFacts], Mapping[str, str]]] = {
    "weight": _weights,
    "points_alone": _points_alone,
    "points_lost": points_lost,
    "band": _bands,
    "package": lambda phase: phase.packages,
}
"""What comes before the dot -> what may come after it, with the figure."""
