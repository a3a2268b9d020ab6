"""The leaderboard's columns against the scoring program's own registry of score columns."""

from collections.abc import Iterator, Sequence
from typing import Any

from bundle_tools.challenge.rules.program_settings import scoring_settings
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import Finding, shown


def check_registry(draft: Draft) -> Iterator[Finding]:
    """Compare keys, titles, directions and decimals; programs without a registry are skipped."""
    for told in scoring_settings(draft).values():
        if told is not None and not told.problem:
            yield from _compare(draft, told.columns)
            yield from _check_primary(draft, told.columns)
            return


def check_revealed(draft: Draft) -> Iterator[Finding]:
    """Find hidden columns that scores.json shows; columns of missing ratings are not secret."""
    told = next((told for told in scoring_settings(draft).values() if told is not None), None)
    empty = {column["key"] for column in (told.columns if told else ()) if column.get("of_people")}
    hidden = [column for column in draft.keys.columns if column.hidden and column.key not in empty]
    for phase in draft.keys.phases if hidden else ():
        if not phase.hide_score_output and not phase.hide_output:
            what = f"The phase leaves the scoring output open, and {len(hidden)} columns are hidden."
            effect = "Participants can read the hidden scores in scores.json."
            where = draft.at(*phase.place)
            yield Finding("columns-revealed", "warning", where, what, effect, "Write hide_score_output: true.")


def _check_primary(draft: Draft, registry: Sequence[dict[str, Any]]) -> Iterator[Finding]:
    """Find a board that does not rank by the first column of the registry, the primary score."""
    chosen, first = draft.keys.primary_column, registry[0]["key"] if registry else None
    if first and chosen and chosen.key and chosen.key != first:
        what = f"The leaderboard ranks by {shown(chosen.key)}; the primary score of the scoring program is {first}."
        where = draft.at(*draft.keys.leaderboards[0].place, "primary_index")
        effect = "Pages and reports then name a different winner."
        fix = f"Write the index of {first} as primary_index. If this is intended, change the pages."
        yield Finding("columns-primary", "warning", where, what, effect, fix)


def _compare(draft: Draft, registry: Sequence[dict[str, Any]]) -> Iterator[Finding]:
    declared = {column.key: column for column in draft.keys.columns if column.key}
    board = draft.at("leaderboards")
    for told in registry:
        key, title, direction, decimals = (told[field] for field in ("key", "title", "direction", "decimals"))
        if key not in declared:
            what = f"The scoring program writes {key}, which is no column."
            yield Finding("columns-missing", "error", board, what, "Codabench drops the score.", "Add the column.")
            continue
        column = declared[key]
        place = column.place
        if column.computation:
            what = f"The scoring program writes {key}, and Codabench computes it as well."
            effect = "The server fails while storing the scores."
            yield Finding("columns-computed", "error", draft.at(*place), what, effect, "Delete the computation.")
        if column.sorting != direction:
            what = f"{key}: expected sorting {direction} as in the scoring program; found another."
            effect = "The worst submission ranks first."
            yield Finding("columns-sorting", "error", draft.at(*place), what, effect, f"Write {direction}.")
        if column.title and column.title != title:
            what = f"{key}: titled {shown(title)} in the scoring program and {shown(column.title)} here."
            where = draft.at(*place, "title")
            yield Finding("columns-title", "warning", where, what, "Report and leaderboard disagree.", "Use one title.")
        if column.precision < decimals:
            what = f"{key}: the scoring program gives {decimals} decimals; found precision {column.precision}."
            where = draft.at(*place, "precision")
            yield Finding("columns-precision", "warning", where, what, "Differences vanish.", f"Write {decimals}.")
    known = dict.fromkeys(told["key"] for told in registry)
    for key, column in declared.items():
        if key not in known and not column.computation:
            what = f"The scoring program never writes {shown(key)}."
            effect = "The column stays n/a, and rows without the primary score rank first."
            yield Finding("columns-extra", "error", draft.at(*column.place), what, effect, "Delete the column.")
    if [key for key in declared if key in known] != [key for key in known if key in declared]:
        what = "The columns are not in the order of the scoring program."
        yield Finding("columns-order", "note", board, what, "Pages and report show a different order.", "Reorder them.")
