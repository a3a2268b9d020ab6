"""Let a program read the settings and data of its tasks, and list what it refuses.

`bundle check` imports this module where the program is this checkout's own, and starts it as a script for another one:
`python -P -B program_readers.py KIND PROGRAM FOLDER...` prints one line of JSON per folder of data. So this file
imports nothing but the standard library and the program.
"""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

FIRST = {"ingestion_program": ("ingest.settings",), "scoring_program": ("score.columns", "score.settings")}
"""Kind of a program -> the modules without which it cannot be asked anything."""
FIELDS = ("code", "where", "found", "expected", "fix", "severity")
"""Fields of a problem."""
COLUMN = (
    *("key", "title", "direction", "decimals", "minimum", "maximum", "chance", "meaning"),
    *("file", "hidden", "of_labels", "closed_spread"),
)
"""Fields of a score column."""

Problems = Sequence[object]


def ingestion_settings(path: Path) -> dict[str, Any]:
    """Read the settings of input data; nothing of them is needed."""
    from ingest.settings import read_task

    read_task(path)
    return {}


def check_inputs(folder: Path) -> Problems:
    """Read the clips and names of input data; the program raises its problems."""
    from ingest.data import read_dataset
    from ingest.results import older_names
    from ingest.settings import read_task

    task = read_task(folder / "task.yaml")
    footage = read_dataset(folder, task)
    if task.aliases_file:
        older_names(folder / task.aliases_file, [clip.clip_id for clip in footage.clips])
    return ()


def scoring_settings(path: Path) -> dict[str, Any]:
    """Read the settings of reference data: the columns of the scores, all settings, and constants of the program."""
    from score.columns import columns
    from score.settings import read_settings

    settings = read_settings(path)
    fields = [{field: getattr(column, field, None) for field in COLUMN} for column in columns(settings)]
    return {
        "columns": fields,
        "settings": asdict(settings) if is_dataclass(settings) else {},
        "constants": _constants(settings),
    }


def _constants(settings: Any) -> dict[str, Any]:  # noqa: ANN401 - of whichever program
    try:
        from score.axes.known_causes import PART_WEIGHTS
        from score.axes.registry import OF_CAUSES, axis_weights
        from score.fairness import ENOUGH_PEOPLE
        from score.order import SMALLEST_EFFECT
        from score.text.claims import BANDS
    except ImportError:
        return {}  # a program with other axes has its columns all the same
    return {
        "weights": axis_weights(settings.explanation_score, frozenset() if settings.causes else OF_CAUSES),
        "claims_of_causes": PART_WEIGHTS[0],
        "epsilon_least": SMALLEST_EFFECT,
        "people_a_group": ENOUGH_PEOPLE,
        **{f"level_{level}": list(limits) for level, limits in BANDS.items()},
    }


def check_reference(folder: Path) -> Problems:
    """Read all files of reference data, and return their problems and warnings."""
    from score.errors import ScoringError
    from score.landmarks import read_key_frames, read_landmarks
    from score.read.known import read_known
    from score.read.reference import read_jury, read_reference
    from score.settings import read_settings

    settings = read_settings(folder / "task.yaml")
    reference = read_reference(folder / "labels.csv", settings)
    problems: list[object] = [*read_key_frames(folder, settings.report.key_frames, reference.clip_ids).problems]
    readers: list[Callable[[], object]] = [
        lambda: read_known(folder, settings, reference),
        lambda: read_landmarks(folder, settings),
        lambda: settings.jury and read_jury(folder / settings.jury),
    ]
    for read in readers:
        try:
            read()
        except ScoringError as error:
            problems += error.problems
    return problems


READERS: dict[str, tuple[Callable[[Path], dict[str, Any]], Callable[[Path], Problems]]] = {
    "ingestion_program": (ingestion_settings, check_inputs),
    "scoring_program": (scoring_settings, check_reference),
}
"""Kind of a program -> how it reads settings, and how it reads a folder of data."""


def read_folder(kind: str, folder: Path) -> str:
    """Return a line of JSON: the settings of a folder, and the problems of its settings and data."""
    read_settings, check = READERS[kind]
    answer: dict[str, Any] = {"settings": {}, "problem": "", "of_settings": [], "of_data": []}
    part = "of_settings"
    try:
        answer["settings"] = read_settings(folder / "task.yaml")
        part = "of_data"
        answer[part] = _listed(check(folder))
    except Exception as error:  # noqa: BLE001 - another program may raise anything
        answer[part] = _listed(getattr(error, "problems", ()))
        answer["problem"] = "" if answer[part] else f"{type(error).__name__}: {error}"
    return json.dumps(answer, default=str)


def _listed(problems: Problems) -> list[dict[str, str]]:
    return [{field: str(getattr(problem, field, "")) for field in FIELDS} for problem in problems]


def main(kind: str, program: str, *folders: str) -> None:
    """Print a line for each folder, as the program in a folder reads it."""
    sys.path.insert(0, program)
    for module in FIRST[kind]:
        import_module(module)
    for folder in folders:
        print(read_folder(kind, Path(folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
