"""Figures within sentences, by name, each computed from a phase."""

import math
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from bundle_tools.challenge.compare.table import ABOVE
from bundle_tools.challenge.coopetition import PASSED_ON
from bundle_tools.challenge.enough_clips import points_apart
from bundle_tools.challenge.figures.marks import FigureError
from bundle_tools.challenge.figures.phase import Phase
from bundle_tools.challenge.ingestion_program import use_own_ingestion_program
from bundle_tools.challenge.rules.phases import FIRST_CALLS, MOST_EDITS, altered_calls

DOCKERFILE = Path(__file__).resolve().parents[3] / "docker" / "Dockerfile"
PYTHON_IMAGE = re.compile(r"(?:(?:^|[=/])python:|^codalab/.*\bpy)(\d)\.?(\d+)", re.MULTILINE)
"""An image name that states its Python version, alone or in a Dockerfile."""
UNLIMITED = "unlimited"
SIGNS = 0.7
"""Approximate score of cue claims with the right signs but no sizes."""

Value = Callable[[Phase], str]


def number(value: Any) -> str:  # noqa: ANN401 - settings may hold anything
    """Write a number with commas between thousands: 30, 1,000, 0.1."""
    checked = _finite(value)
    return f"{checked:,.0f}" if checked == round(checked) else f"{checked:,.6f}".rstrip("0").rstrip(".")


def pixels(value: Any) -> str:  # noqa: ANN401 - as above
    """Write an integer without commas, as is usual for sizes of pictures."""
    return f"{_finite(value):.0f}"


def weight(value: Any) -> str:  # noqa: ANN401 - as above
    """Write a share with two decimals, or with three if needed."""
    checked = _finite(value)
    return f"{checked:.2f}" if abs(checked - round(checked, 2)) < 5e-5 else f"{checked:.3f}"


def _finite(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise FigureError(f"Expected a number in the settings; found {str(value)[:60]!r}.")
    return value


def calls(phase: Phase) -> int:
    """Return the most calls for one clip and its altered copies."""
    edits: int = phase.setting("probes", "edits")
    return FIRST_CALLS + altered_calls(edits)


def working_time_s(phase: Phase) -> float:
    """Return the time after which nothing further is started, seconds."""
    clock = _ingestion("clock", "Clock")()
    clock.set_limit(phase.setting("limits", "time_limit_s"))
    return float(clock.budget_s)


def points_lost(phase: Phase) -> dict[str, str]:
    """Return the points that a perfect total loses if an axis is 0, by axis."""
    return {
        axis: number(100 - _reached(phase, dict.fromkeys(phase.weights.keys() - {axis}, 1))) for axis in phase.weights
    }


def _reached(phase: Phase, axes: Mapping[str, float]) -> int:
    """Return the points that some axes alone bring, if all else is perfect."""
    power = phase.scoring("explanation_score", "power")
    mean = sum(phase.weights.get(axis, 0) * value**power for axis, value in axes.items())
    return round(float(100 * mean ** (1 / power)))


def _ingestion(module: str, name: str) -> Any:  # noqa: ANN401 - a number or a class
    """Return an attribute of a module of the ingestion program."""
    use_own_ingestion_program()
    return getattr(import_module(f"ingest.{module}"), name)


def _program(module: str, name: str) -> Value:
    return lambda _: number(_ingestion(module, name))


def _setting(*keys: str, write: Callable[[Any], str] = number) -> Value:
    return lambda phase: write(phase.setting(*keys))


def _scoring(*keys: str) -> Value:
    return lambda phase: number(phase.scoring(*keys))


def _optional_limit(key: str, unit: int = 1) -> Value:
    """Return a limit that settings may leave out, in favour of the ingestion program's default."""
    return lambda phase: number(phase.setting("limits").get(key, getattr(_ingestion("settings", "Limits"), key)) / unit)


def _level(name: str, end: int) -> Value:
    """Return where the range of a word for a prediction begins or ends."""
    return lambda phase: weight(phase.constant(f"level_{name}")[end])


def _submissions(key: str) -> Value:
    return lambda phase: number(allowed) if (allowed := getattr(phase.entry, key)) else UNLIMITED


def _date(key: str) -> Value:
    return lambda phase: f"{phase.date(key):%Y-%m-%d %H:%M}"


def _jury(key: str) -> Value:
    return lambda phase: number({column["key"]: column for column in phase.columns}["jury"][key])


def _copies_per_clip(phase: Phase) -> str:
    least, *_, most = [*phase.copies, phase.copies[-1]]
    return number(least) if least == most else f"{least} to {most}"


def _python(phase: Phase) -> str:
    # An own image is built from the Dockerfile.
    image = phase.draft.keys.docker_image
    found = PYTHON_IMAGE.search(image) or PYTHON_IMAGE.search(DOCKERFILE.read_text(encoding="utf-8"))
    if found is None:
        raise FigureError(f"The version of Python in {image[:60]!r} is not known.")
    return ".".join(found.groups())


def rounded_down(value: float) -> float:
    """Round a number > 0 down to two digits: a limit must not promise too much."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return round(math.floor(value / step) * step, 10)


VALUES: dict[str, Value] = {
    "time_limit_s": _setting("limits", "time_limit_s"),
    "working_time_s": lambda phase: number(round(working_time_s(phase))),
    "load_s": _setting("limits", "load_s"),
    "call_s": _setting("limits", "call_s"),
    "restarts": _setting("limits", "restarts"),
    "memory_gb": _optional_limit("memory_mb", 1024),
    "gpu": lambda phase: "a" if phase.input_settings.get("environment") == "gpu" else "no",
    "submission_mb": _optional_limit("submission_mb"),
    "submission_files": _optional_limit("submission_files"),
    "cues": lambda phase: ", ".join(f"`{cue}`" for cue in phase.setting("explanation", "evidence", "cues")),
    "calls": lambda phase: number(calls(phase) - FIRST_CALLS),
    "calls_all": lambda phase: number(calls(phase)),
    "units": lambda _: number(_ingestion("probes.plan", "MOST_CALLS") - 1 - MOST_EDITS),
    "second_per_call": lambda phase: number(rounded_down(working_time_s(phase) / (len(phase.clips) * calls(phase)))),
    "edits": _setting("probes", "edits"),
    "jitter_percent": lambda phase: number(round(100 * phase.setting("probes", "jitter", "gain"), 6)),
    "jitter_px": _setting("probes", "jitter", "shift_px"),
    "jitter_frames": _setting("probes", "jitter", "frames"),
    "repeats_min": _program("probes.plan", "FEWEST"),
    "repeats_max": _program("probes.plan", "MOST"),
    "credits_most": _program("submission.credits", "MOST_CREDITS"),
    "credit_chars": _program("submission.credits", "LONGEST_TEXT"),
    "working_mb": _program("confined.watch", "SCRATCH_MB"),
    "working_files": _program("confined.watch", "SCRATCH_FILES"),
    "file_mb": _program("confined.watch", "FILE_MB"),
    "threads": _program("confined.watch", "THREADS"),
    "output_mb": _program("confined.watch", "OUTPUT_MB"),
    "credits_passed_on_percent": lambda _: number(round(100 * PASSED_ON)),
    "text_min": _setting("explanation", "text", "minimum_chars"),
    "text_max": _setting("explanation", "text", "maximum_chars"),
    "image_width": _setting("explanation", "image", "width", write=pixels),
    "image_height": _setting("explanation", "image", "height", write=pixels),
    "grid_rows": _setting("explanation", "evidence", "grid", "rows"),
    "grid_columns": _setting("explanation", "evidence", "grid", "columns"),
    "clips": lambda phase: number(len(phase.clips)),
    "points_apart": lambda phase: number(round(points_apart(len(phase.clips)))),
    "copies_per_clip": _copies_per_clip,
    # By frames, not the container's length, because sound may end a little later.
    "clip_s": lambda phase: number(round(phase.video.packets / phase.video.fps, 2)),
    "clip_fps": lambda phase: number(round(phase.video.fps, 2)),
    "clip_width": lambda phase: pixels(phase.video.width),
    "clip_height": lambda phase: pixels(phase.video.height),
    "submissions_per_day": _submissions("max_submissions_per_day"),
    "submissions_in_all": _submissions("max_submissions"),
    "start": _date("start"),
    "end": _date("end"),
    "points_words": lambda phase: number(
        _reached(phase, {"cue_claims": SIGNS, "known_causes": phase.constant("claims_of_causes"), "text": 1})
    ),
    "gate": _scoring("explanation_score", "gate"),
    "resamples": _scoring("bootstrap", "resamples"),
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
    "docker_image": lambda phase: phase.draft.keys.docker_image,
}
"""Name -> function that computes and formats the figure."""

FAMILIES: dict[str, Callable[[Phase], Mapping[str, str]]] = {
    "weight": lambda phase: {axis: weight(value) for axis, value in phase.weights.items()},
    "points_alone": lambda phase: {axis: number(_reached(phase, {axis: 1})) for axis in phase.weights},
    "points_lost": points_lost,
    "band": lambda phase: {
        str(word).replace(" ", "_"): number(begins)
        for word, begins in phase.scoring("explanation_score", "bands").items()
    },
}
"""Prefix of a name -> possible suffixes with their figures."""
