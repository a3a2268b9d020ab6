"""Blocks that a page can contain, by name: pictures, and tables from registry, settings and lock."""

import math
from collections.abc import Callable, Iterable, Sequence

from bundle_tools.challenge.baselines import page as baselines
from bundle_tools.challenge.enough_clips import points_apart
from bundle_tools.challenge.figures.marks import FigureError
from bundle_tools.challenge.figures.phase import Phase
from bundle_tools.challenge.figures.pictures import BLOCKS as PICTURES
from bundle_tools.challenge.figures.values import calls, number, points_lost, weight, working_time_s
from bundle_tools.challenge.rules.phases import EXAMPLE_CALL_S
from bundle_tools.codabench.competition import in_order
from bundle_tools.codabench.keys import Column

NEEDS = {"known_causes": "causes", "plausibility": "observations"}
"""Columns that are 0 for everybody unless the settings name this file."""
SHORT = ("explanation", "skill", "_accuracy")
"""Ends of the keys of columns in the short table of landmarks."""
NUMBERS_OF_CLIPS = (24, 60, 120, 240)
"""Numbers of clips in the table of what they can tell apart."""
EXAMPLE_SKILL = 0.75
EXAMPLE = {"cue_claims": 0.7, "faithfulness_space": 0.6, "known_causes": 0.4, "faithfulness_time": 0.5, "text": 0.8}
"""Skill and axes of the worked example; any values from 0 to 1 would do."""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join("|" + "|".join(line) + "|" if line[0] == "---" else f"| {' | '.join(line)} |" for line in lines)


def _applies(phase: Phase, key: str) -> bool:
    """Return whether a column can hold anything but 0 in a phase."""
    needed = NEEDS.get(key)
    return needed is None or phase.scoring(needed) is not None


def columns(phase: Phase) -> str:
    """Make the table of score columns, the primary one first and bold; those that are always 0 here are left out."""
    rows: list[tuple[str, ...]] = []
    for column in phase.columns:
        if not _applies(phase, column["key"]):
            continue
        title = column["title"] if rows else f"**{column['title']}**"
        low, high = (column[field] for field in ("minimum", "maximum"))
        span = "" if high is None else f" ({number(low)}…{number(high)})"
        rows.append((f"{title} `{column['key']}`{span}", column["meaning"]))
    return _table(("column, key and range", "what it says"), rows)


def weights(phase: Phase) -> str:
    """Make the table of the axes that apply, their weights, and what they are worth."""
    titles = {column["key"]: str(column["title"]) for column in phase.columns}
    lost = points_lost(phase)
    rows = [(titles.get(axis, axis), weight(value), lost[axis]) for axis, value in phase.weights.items()]
    return _table(("axis", "weight", "points lost at 0"), rows)


def worked_example(phase: Phase) -> str:
    """Make an example of the total, from axes to points, with the weights that apply."""
    if phase.scoring("explanation_score", "power") != 0.5:
        raise FigureError(
            f"{phase.name} does not take square roots: rewrite the formula on the page, without this block."
        )
    titles = {column["key"]: str(column["title"]) for column in phase.columns}
    roots = {axis: math.sqrt(EXAMPLE[axis]) for axis in phase.weights}
    rows = [
        (titles.get(axis, axis), f"{EXAMPLE[axis]:.2f}", f"{root:.3f}", f"{phase.weights[axis] * root:.3f}")
        for axis, root in roots.items()
    ]
    whole = sum(phase.weights[axis] * root for axis, root in roots.items())
    return (
        f"**An example.** With coverage 1, skill factor {EXAMPLE_SKILL}, and\n\n"
        + _table(("", "axis", "√axis", "weight × √axis"), rows)
        + f"\n\nthe sum is {whole:.3f}, its square {whole**2:.3f}, and the score "
        + f"100 × 1 × {EXAMPLE_SKILL} × {whole**2:.3f} = **{100 * EXAMPLE_SKILL * whole**2:.1f}**."
    )


def clips_to_rank(phase: Phase) -> str:
    """Make the table of what numbers of clips can tell apart, and how long they take."""
    rows = [
        (
            number(clips),
            number(round(points_apart(clips))),
            f"{number(round(clips * calls(phase) * EXAMPLE_CALL_S))} s",
            f"{working_time_s(phase) / (clips * calls(phase)):.2f} s",
        )
        for clips in NUMBERS_OF_CLIPS
    ]
    return _table(("clips", "points that count", "a run of the example", "left for a call"), rows)


def packages_all(phase: Phase) -> str:
    """Make the table of all packages that are installed."""
    return _table(("package", "version"), phase.packages)


def landmarks(phase: Phase) -> str:
    """Make the table of baseline scores, below the phase's name; empty if they were not computed."""
    if phase.landmarks is None:
        return ""
    columns = in_order(phase.draft.keys.columns)
    return _below_name(phase, baselines.table(phase.landmarks, _applying(phase, columns), open_=phase.is_open))


def landmarks_short(phase: Phase) -> str:
    """Make a table of total, skill and accuracy alone, a row for each baseline: a column each would be too wide."""
    if phase.landmarks is None:
        return ""
    columns = [one for one in in_order(phase.draft.keys.columns) if one.key.endswith(SHORT)]
    by_score = baselines.cells(phase.landmarks, _applying(phase, columns), open_=phase.is_open)
    (_, *scores), *rows = zip(*by_score, strict=True)
    return _below_name(phase, _table(("baseline", *scores), rows))


def _applying(phase: Phase, columns: Sequence[Column]) -> list[Column]:
    return [one for one in columns if _applies(phase, one.key)]


def _below_name(phase: Phase, table: str) -> str:
    return f"In **{phase.entry.name}**{'' if phase.is_open else ', roughly'}:\n\n{table}"


BLOCKS: dict[str, Callable[[Phase], str]] = {
    "columns": columns,
    "weights": weights,
    "worked_example": worked_example,
    "clips_to_rank": clips_to_rank,
    "packages_all": packages_all,
    "landmarks": landmarks,
    "landmarks_short": landmarks_short,
    **PICTURES,
}
"""Name -> function that makes the block."""
