"""Version 1 bundles (CodaLab), converted as Codabench does.

Source of the rules: the unpacker for version 1 in Codabench. Such a file has no `version`, names its pages under
`html`, and holds phases, leaderboards and columns as mappings.
"""

from collections.abc import Mapping
from typing import Any

from bundle_tools.codabench.keys import FILES_OF_TASK

SECOND = ("leaderboards", "pages", "tasks", "solutions")
FIRST = ("html", "leaderboard", "competition_docker_image", "has_registration", "end_date")
VERSIONS = (None, "1", "1.5")
TERMS = "terms"
# Keys with the same name in both versions.
SAME_TOP = (
    *("title", "image", "description", "queue", "enable_detailed_results"),
    *("make_programs_available", "make_input_data_available"),
)
HIDING = ("hide_output", "hide_prediction_output", "hide_score_output")
SAME_PHASE = (
    *("description", "max_submissions", "max_submissions_per_day", "execution_time_limit"),
    *("starting_kit", "public_data", *HIDING),
)


def is_version1(content: Mapping[str, Any]) -> bool:
    """Return whether the file is meant for version 1 and Codabench would convert it."""
    version = content.get("version")
    if (None if version is None else str(version)) not in VERSIONS or any(key in content for key in SECOND):
        return False
    return isinstance(content.get("phases"), dict) or any(key in content for key in FIRST)


def as_version2(content: Mapping[str, Any]) -> dict[str, Any]:
    """Convert as Codabench does; dates are left out, because nothing here needs them.

    Raises KeyError, TypeError or AttributeError when Codabench would fail on the file; `bundle check` says why.
    """
    converted = {key: content[key] for key in SAME_TOP if key in content}
    if content.get("competition_docker_image"):
        converted["docker_image"] = content["competition_docker_image"]
    phases = sorted(content["phases"].values(), key=lambda phase: phase["phasenumber"])
    if any(phase.get("is_parallel_parent") or phase.get("parent_phasenumber") for phase in phases):
        phases = phases[1:]
    return {
        **converted,
        "terms": content["html"].get(TERMS),
        "pages": [{"title": title, "file": file} for title, file in content["html"].items() if title != TERMS],
        "tasks": [_task(index, phase) for index, phase in enumerate(phases)],
        "phases": [_phase(index, phase) for index, phase in enumerate(phases)],
        "leaderboards": _boards(content["leaderboard"]),
    }


def _task(index: int, phase: dict[str, Any]) -> dict[str, Any]:
    task = {"index": index, "name": f"{phase['label']} Task"}
    return {**task, **{key: phase[key] for key in FILES_OF_TASK if key in phase}}


def _phase(index: int, phase: dict[str, Any]) -> dict[str, Any]:
    return {
        **{key: phase[key] for key in SAME_PHASE if key in phase},
        "index": index,
        "name": phase["label"],
        "tasks": [index],
    }


def _boards(leaderboard: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the columns of each leaderboard: those that name its label, ordered by rank."""
    ranked = sorted(leaderboard["columns"].items(), key=lambda item: item[1].get("rank", 1))
    columns = [
        {
            "index": index,
            "key": key,
            "title": column.get("label", key),
            "sorting": column.get("sort") or "desc",
            "precision": column.get("numeric_format", 2),
            "hidden": column.get("hidden", False),
        }
        for index, (key, column) in enumerate(ranked)
    ]
    labels = [column["leaderboard"]["label"].lower() for _, column in ranked]
    return [
        {
            "key": key,
            "title": key,
            "submission_rule": "Add",
            "columns": [
                column for column, label in zip(columns, labels, strict=True) if label == board["label"].lower()
            ],
        }
        for key, board in leaderboard["leaderboards"].items()
    ]
