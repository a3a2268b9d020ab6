"""Figures on pages, by name: each computed from the settings, data and programs of a phase."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined

from bundle_tools.challenge.compare.bands import ABOVE
from bundle_tools.challenge.coopetition import PASSED_ON
from bundle_tools.challenge.enough import points_apart
from bundle_tools.challenge.pages.phase import ODD, FigureError, PagePhase, ingestion, phases_of
from bundle_tools.challenge.reading.tables import read_labels, read_settings, read_table
from bundle_tools.challenge.rules.phases import FIRST_CALLS, MOST_EDITS, SYNTHETIC
from bundle_tools.codabench.competition import in_order
from bundle_tools.codabench.keys import BoardColumn
from bundle_tools.codabench.rules.dataset import find
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.phase_data.settings import TRIED

DOCKERFILE = Path(__file__).resolve().parents[3] / "docker" / "Dockerfile"
PYTHON_IMAGE = re.compile(r"(?:(?:^|[=/])python:|^codalab/.*\bpy)(\d)\.?(\d+)", re.MULTILINE)
"""An image name that states its Python version, alone or in a Dockerfile."""
LOCK = "requirements.lock"
LOCKED = re.compile(r"^([\w.-]+)==([^\s;]+)", re.MULTILINE)
"""A package in a lock, and its version."""
SHORT = ("explanation", "skill")
"""Ends of the keys of columns in the short table of landmarks."""
MOST_DECIMALS = 3
NONE = "–"
CLOSED_KINDS = ("constant", "solution")
"""Kinds of landmarks that are shown while labels are closed."""
SIGNS = 0.7
"""Approximate score of cue claims with the right signs but no sizes."""


def figures(bundle: ParsedBundle) -> dict[str, Any]:
    """Return what templates can name: every figure of a bundle; where there is none, a value that says why when used.

    ``phases`` holds the figures of each phase by its name; the others are those that all phases share. A text that
    differs between phases names them.
    """
    phases = phases_of(bundle)
    own = {phase.name: {name: _attempt(name, make, phase) for name, make in FIGURES.items()} for phase in phases}
    shared = {name: _shared(name, {phase.entry.name: own[phase.name][name] for phase in phases}) for name in FIGURES}
    return {
        **shared,
        "phases": own,
        "last": next(reversed(own.values()), _missing("last", "The bundle has no phase with a task.")),
        "example": "linear"
        if "linear" in {solution.name for solution in bundle.keys.solutions or ()}
        else "cue_reader",
        "competition": str(bundle.content.get("title", "")),
        "description": str(bundle.content.get("description") or ""),
    }


def _attempt(name: str, make: Callable[[PagePhase], Any], phase: PagePhase) -> Any:  # noqa: ANN401 - any figure
    try:
        return make(phase)
    except FigureError as error:
        return _missing(name, str(error))
    except ODD as error:
        return _missing(name, f"{phase.name}: {name} cannot be computed ({error!r:.100}). Run `bundle check`.")


def _shared(name: str, by_phase: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any figure
    values = list(by_phase.values())
    lacking = next((value for value in values if isinstance(value, StrictUndefined)), None)
    if not values:
        return _missing(name, "The bundle has no phase with a task.")
    if lacking is not None or all(value == values[0] for value in values):
        return values[0] if lacking is None else lacking
    if all(isinstance(value, str) for value in values):
        return " or ".join(f"{value} ({title})" for title, value in by_phase.items())
    return _missing(name, f"{name}: phases differ. Write a template of your own with phases.NAME.{name}.")


def _missing(name: str, why: str) -> StrictUndefined:
    return StrictUndefined(hint=why, name=name, exc=FigureError)


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


def rounded_down(value: float) -> float:
    """Round a number > 0 down to two digits: a limit must not promise too much."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return round(math.floor(value / step) * step, 10)


def _finite(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise FigureError(f"Expected a number in the settings; found {str(value)[:60]!r}.")
    return value


def _program(module: str, name: str) -> Callable[[PagePhase], str]:
    return lambda _: number(ingestion(module, name))


def _setting(*keys: str, write: Callable[[Any], str] = number) -> Callable[[PagePhase], str]:
    return lambda phase: write(phase.setting(*keys))


def _optional_limit(key: str, unit: int = 1) -> Callable[[PagePhase], str]:
    """Return a limit that settings may leave out, in favour of the ingestion program's default."""
    return lambda phase: number(phase.setting("limits").get(key, getattr(ingestion("settings", "Limits"), key)) / unit)


def _level(name: str, end: int) -> Callable[[PagePhase], str]:
    """Return where the range of a word for a prediction begins or ends."""
    return lambda phase: weight(phase.scored.constants[f"level_{name}"][end])


def _submissions(key: str) -> Callable[[PagePhase], str]:
    return lambda phase: number(allowed) if (allowed := getattr(phase.entry, key)) else "unlimited"


def _jury(key: str) -> Callable[[PagePhase], str]:
    return lambda phase: number({column["key"]: column for column in phase.scored.columns}["jury"][key])


def _python(phase: PagePhase) -> str:
    # An own image is built from the Dockerfile.
    image = phase.draft.keys.docker_image
    version = PYTHON_IMAGE.search(image) or PYTHON_IMAGE.search(DOCKERFILE.read_text(encoding="utf-8"))
    return ".".join(version.groups()) if version else phase.missing(f"has an unknown version of Python: {image[:60]!r}")


def _copies_per_clip(phase: PagePhase) -> str:
    rows = read_table(phase.data("input_data").text(phase.setting("copies")))[1:]
    of_clip = Counter(row[1] for row in rows if len(row) == 5)
    counts = sorted({of_clip[clip] for clip, *_ in phase.clips})
    return " to ".join(dict.fromkeys((number(counts[0]), number(counts[-1]))))


def _bands(phase: PagePhase) -> str:
    """Return the words for a total, and where each begins; the first begins at 0."""
    words = [f"*{word}* from {number(at)}" for word, at in phase.scoring("explanation_score", "bands").items() if at]
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _columns(phase: PagePhase) -> list[dict[str, str]]:
    """Return the score columns that are not always 0, the primary one first."""
    rows = []
    for column in filter(lambda column: phase.applies(column["key"]), phase.scored.columns):
        low, high = column["minimum"], column["maximum"]
        span = "" if high is None else f" ({number(low)}…{number(high)})"
        rows.append({**{key: column[key] for key in ("key", "title", "meaning")}, "span": span})
    return rows


def _axes(phase: PagePhase) -> list[dict[str, Any]]:
    """Return the axes that apply, with their weights and the points that a perfect total loses if one is 0."""
    titles = {column["key"]: str(column["title"]) for column in phase.scored.columns}
    return [
        {
            **{"key": axis, "title": titles.get(axis, axis), "weight": share, "share": weight(share)},
            "lost": number(100 - phase.reached(dict.fromkeys(phase.weights.keys() - {axis}, 1))),
        }
        for axis, share in phase.weights.items()
    ]


def _packages(phase: PagePhase) -> list[tuple[str, str]]:
    """Return the packages in the ingestion program's image: names in lower case, and exact versions."""
    program = phase.data("ingestion_program")
    if LOCK not in program.names():
        phase.missing(f"has no {LOCK} in its ingestion program")
    return sorted((name.lower(), version) for name, version in LOCKED.findall(program.text(LOCK)))


def _landmarks(phase: PagePhase) -> str:
    """Return the table of the scores of baselines, with a sentence about each; empty if they were not computed."""
    record = _record(phase)
    return table(*record, open_=phase.is_open) if record else ""


def _landmarks_short(phase: PagePhase) -> list[list[str]]:
    """Return total, skill and accuracy of baselines, a row each: with a column each the table would be too wide."""
    if not (record := _record(phase)):
        return []
    columns = [column for column in record[1] if column.key.endswith(SHORT)]
    (_, *titles), *rows = zip(*cells(record[0], columns, open_=phase.is_open), strict=True)
    return [["baseline", *titles], *(list(row) for row in rows)]


def _record(phase: PagePhase) -> tuple[dict[str, Any], list[BoardColumn]] | None:
    """Return the content of the file of landmarks and the columns that apply; None if there is no file."""
    reference = phase.data("reference_data")
    name = (read_settings(reference) or {}).get("landmarks")
    if name not in reference.names():
        return None
    return json.loads(reference.text(name)), [
        column for column in in_order(phase.draft.keys.columns) if phase.applies(column.key)
    ]


def table(record: dict[str, Any], columns: Sequence[BoardColumn], *, open_: bool) -> str:
    """Write landmarks as a Markdown table, with a sentence about each.

    `record`: content of ``landmarks.json``. `open_`: whether the labels of the phase are open. If not, only the
    constant and solutions are given, with two decimals fewer than on the leaderboard: exact values would be equations
    about the labels.
    """
    items = _shown(record, open_=open_)
    rows = cells(record, columns, open_=open_)
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|---" * len(rows[0]) + "|")
    lines.append("")
    lines += [f"- **{item['title']}**: {item['meaning']}" for item in items]
    return "\n".join(lines)


def cells(record: dict[str, Any], columns: Sequence[BoardColumn], *, open_: bool) -> list[list[str]]:
    """Return the cells of that table, row by row: first the titles of landmarks, then each score that one has."""
    items = _shown(record, open_=open_)
    rows = [["score", *(item["title"] for item in items)]]
    for column in columns:
        places = min(column.precision, MOST_DECIMALS) if open_ else max(0, column.precision - 2)
        values = [item["columns"].get(column.key) for item in items]
        if any(value is not None for value in values):
            texts = (NONE if value is None else f"{round(value, places) + 0.0:.{places}f}" for value in values)
            rows.append([column.title, *texts])
    return rows


def _shown(record: dict[str, Any], *, open_: bool) -> list[dict[str, Any]]:
    return [item for item in record["landmarks"] if open_ or item["kind"] in CLOSED_KINDS]


def _training(phase: PagePhase) -> dict[str, str]:
    labels = read_labels(find(phase.draft, phase.entry.public_data) or phase.missing("has no public data"))
    return {"clips": number(len(labels.rows)), "people": number(len({*labels.sources.values()}))}


FIGURES: dict[str, Callable[[PagePhase], Any]] = {
    "title": lambda phase: phase.entry.name,
    "is_open": lambda phase: phase.is_open,
    "drawn": lambda phase: str(phase.input_settings.get("data_version")).startswith(SYNTHETIC),
    "exchanged": lambda phase: "exchanges" in phase.input_settings,
    "targets": lambda phase: phase.scoring("targets"),
    "main": lambda phase: {target["name"]: target for target in phase.scoring("targets")}[phase.scoring("main_target")],
    "cues": lambda phase: phase.setting("explanation", "evidence", "cues"),
    # Cues that no edit can remove from footage.
    "untried": lambda phase: [cue for cue in phase.setting("explanation", "evidence", "cues") if cue not in TRIED],
    "attributes": lambda phase: (
        read_table(phase.data("reference_data").text(name))[0][1:] if (name := phase.scoring("groups")) else []
    ),
    "training": _training,
    "columns": _columns,
    "titles": lambda phase: {column["key"]: column["title"] for column in phase.scored.columns},
    "axes": _axes,
    "packages": _packages,
    "landmarks": _landmarks,
    "landmarks_short": _landmarks_short,
    "power": lambda phase: phase.scoring("explanation_score", "power"),
    "time_limit_s": _setting("limits", "time_limit_s"),
    "working_time_s": lambda phase: number(round(phase.working_time_s)),
    "load_s": _setting("limits", "load_s"),
    "call_s": _setting("limits", "call_s"),
    "restarts": _setting("limits", "restarts"),
    "memory_gb": _optional_limit("memory_mb", 1024),
    "gpu": lambda phase: "a" if phase.input_settings.get("environment") == "gpu" else "no",
    "submission_mb": _optional_limit("submission_mb"),
    "submission_files": _optional_limit("submission_files"),
    "calls": lambda phase: number(phase.calls - FIRST_CALLS),
    "calls_all": lambda phase: number(phase.calls),
    "units": lambda _: number(ingestion("probes.plan", "MOST_CALLS") - 1 - MOST_EDITS),
    "second_per_call": lambda phase: number(rounded_down(phase.working_time_s / (len(phase.clips) * phase.calls))),
    "edits": _setting("probes", "edits"),
    "jitter_percent": lambda phase: number(round(100 * phase.setting("probes", "jitter", "gain"), 6)),
    "jitter_px": _setting("probes", "jitter", "shift_px"),
    "jitter_frames": _setting("probes", "jitter", "frames"),
    "repeats_min": _program("probes.plan", "FEWEST"),
    "repeats_max": _program("probes.plan", "MOST"),
    "credits_most": _program("submission", "MOST_CREDITS"),
    "credit_chars": _program("submission", "LONGEST_TEXT"),
    "working_mb": _program("limits", "SCRATCH_MB"),
    "working_files": _program("limits", "SCRATCH_FILES"),
    "file_mb": _program("limits", "FILE_MB"),
    "threads": _program("limits", "THREADS"),
    "output_mb": _program("limits", "OUTPUT_MB"),
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
    "start": lambda phase: phase.date("start"),
    "end": lambda phase: phase.date("end"),
    "points_words": lambda phase: number(
        phase.reached({"cue_claims": SIGNS, "known_causes": phase.scored.constants["claims_of_causes"], "text": 1})
    ),
    "points_of_cue_claims": lambda phase: number(phase.reached({"cue_claims": 1})),
    "bands": _bands,
    "gate": lambda phase: number(phase.scoring("explanation_score", "gate")),
    "resamples": lambda phase: number(phase.scoring("bootstrap", "resamples")),
    "level_percent": lambda phase: number(round(100 * phase.scoring("bootstrap", "level"), 1)),
    "epsilon_least": lambda phase: number(phase.scored.constants["epsilon_least"]),
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
"""Name in templates -> function that computes a figure: a text for a place in a sentence, or rows for a table."""
