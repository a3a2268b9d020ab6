"""The result of a jury: for the scoring program, as public ratings, and as a report."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from bundle_tools.challenge.jury.criteria import Key, Rules
from bundle_tools.challenge.jury.panel import Panel, RatedSheet
from bundle_tools.challenge.jury.result import JuryResult
from bundle_tools.page import render
from bundle_tools.tables import table_text

FORMAT_VERSION = 2


def reference(result: JuryResult, key: Key, rules: Rules) -> str:
    """Write `jury.json` for the reference data: the values of the jury column.

    Ratings are keyed by a SHA-256 of explanations and submission, so that they do not apply to copies.
    """
    hashes = {team.letter: team.rated_sha256 for team in key.teams}
    content = {
        "format_version": FORMAT_VERSION,
        "scale": [rules.lowest, rules.highest],
        "criteria": [{"name": row.name, "title": row.title} for row in rules.criteria],
        "submissions": {
            hashes[team.letter]: {
                "value": round(team.value, 4),
                "interval": [round(end, 4) for end in team.interval],
                "criteria": {name: round(value, 4) for name, value in team.by_criterion.items()},
            }
            for team in result.placed
        },
    }
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


def ratings_table(answers: Sequence[RatedSheet], panel: Panel, key: Key, rules: Rules) -> str:
    """Write every rating as CSV, without names: jurors are numbers, teams are letters, and remarks are left out."""
    header, rows = ("juror", "counts", "team", "clip", "kind", *(criterion.name for criterion in rules.criteria)), []
    numbers = {clip_id: number for number, clip_id in enumerate(key.clips, 1)}
    for sheet, juror in zip(answers, panel.jurors, strict=True):
        for item in key.items:
            answer = sheet.items.get(item.item_id)
            if answer is not None:
                ratings = answer.ratings or ("",) * len(rules.criteria)
                fixed = (juror.number, int(juror.counts), item.letter, numbers[item.clip_id], item.kind)
                rows.append((*fixed, *ratings))
    return table_text(header, rows)


def record(result: JuryResult, panel: Panel, key: Key) -> dict[str, Any]:
    """Return the result as JSON data; values that cannot be computed are null."""
    jurors = [{**asdict(juror), "counts": juror.counts} for juror in panel.jurors]
    content = to_json({"phase": key.phase, "jurors": jurors, **asdict(result)}, inf_nan_mode="null")
    return json.loads(content)  # type: ignore[no-any-return]


def result_page(result: JuryResult, panel: Panel, key: Key, rules: Rules, remarks: Sequence[tuple[str, str]]) -> str:
    """Write the jury's report as one self-contained page.

    `remarks`: (letter, remark), in any order; they are sorted, so that no juror can be recognised by position.
    """
    by_team: dict[str, list[str]] = {}
    for letter, remark in sorted(remarks):
        by_team.setdefault(key.team(letter).name, []).append(remark)
    return render(
        Path(__file__).parent / "templates",
        "result",
        result=result,
        panel=panel,
        key=key,
        rules=rules,
        remarks=by_team,
        titles={criterion.name: criterion.title for criterion in rules.criteria},
        notes=notes(panel),
        controls=[
            (kind, sum(item.kind == kind for item in key.items)) for kind in ("genuine", "boilerplate", "repeat")
        ],
    )


def notes(panel: Panel) -> list[str]:
    """Say that few jurors count, which the numbers do not show."""
    counting = sum(juror.counts for juror in panel.jurors)
    if counting == 1:
        return ["Only one juror counts: intervals ignore differences between jurors, and there is no agreement."]
    return ["Only two jurors count, so the intervals are somewhat too narrow."] if counting == 2 else []


def lines(result: JuryResult, panel: Panel) -> list[str]:
    """Return the result for a terminal."""
    from score.report.page import number  # noqa: PLC0415 - the result page has loaded a scoring program

    text = [f"{'place':>5}  {'value':>5}  {'interval':>12}  {'band':>4}  team"]
    for team in result.placed:
        interval = f"[{team.interval[0]:.2f}, {team.interval[1]:.2f}]"
        text.append(f"{team.place:>5}  {team.value:>5.2f}  {interval:>12}  {team.band:>4}  {team.name}")
    text.append("")
    text += [f"{agreement.criterion}: alpha {number(agreement.alpha)}" for agreement in result.agreement]
    text += [
        f"Juror {juror.number} is left out: {'; '.join(juror.reasons)}." for juror in panel.jurors if not juror.counts
    ]
    text += notes(panel)
    if result.extra_juror:
        text.append(f"Tied to the last: {', '.join(result.extra_juror)}. One extra juror decides between them.")
    return text
