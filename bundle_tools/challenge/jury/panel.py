"""The files that jurors send back: read strictly, reporting all problems of all files at once."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bundle_tools.challenge.jury.criteria import Key, Rules
from bundle_tools.errors import BundleError
from bundle_tools.untrusted import read_text

FORMAT_VERSION = 1
LARGEST_FILE = 20 * 2**20
LONGEST_REMARK = 4000


@dataclass(frozen=True)
class ItemRating:
    """One juror's answer about one item."""

    ratings: tuple[int, ...] | None
    """In the order of the criteria; None if the juror cannot judge."""
    remark: str


@dataclass(frozen=True)
class RatedSheet:
    """One juror's file."""

    juror: int
    items: dict[str, ItemRating]
    """By item id, without unanswered items."""


def read_answers(paths: Sequence[Path], key: Key, rules: Rules, *, partial: bool = False) -> list[RatedSheet]:
    """Read the files of all jurors.

    `paths`: at least one file, as a sheet exports it.
    `rules`: the same as when the sheets were made.
    `partial`: whether sheets may have items without an answer.
    Returns answers by the number of the juror.
    Raises BundleError with every mistake of all files.
    """
    if rules.sha256 != key.rules_sha256:
        raise BundleError("The rules have changed since the sheets were made. Give --rules the earlier file.")
    problems: list[str] = []
    read: dict[int, tuple[Path, RatedSheet]] = {}
    for path in paths:
        answers = _file(path, key, rules, problems, partial=partial)
        if answers is None:
            continue
        if answers.juror in read:
            other = read[answers.juror][0]
            problems.append(f"{path}: juror {answers.juror} again, who is already in {other}. Leave one of them out.")
        else:
            read[answers.juror] = path, answers
    if problems:
        raise BundleError("The ratings have mistakes:\n  " + "\n  ".join(problems))
    return [read[number][1] for number in sorted(read)]


def _file(path: Path, key: Key, rules: Rules, problems: list[str], *, partial: bool) -> RatedSheet | None:
    again = "Ask the juror to open the sheet and to save the ratings once more."
    try:
        outer = json.loads(read_text(path, LARGEST_FILE))
        payload = outer["payload"]
        content: dict[str, Any] = json.loads(payload)
        entries = content["answers"]
        stated = outer["format_version"], outer["sha256"], content["sheet"], content["design"]
    except BundleError as error:
        problems.append(f"{error} {again}")
        return None
    except (ValueError, KeyError, TypeError, RecursionError, MemoryError):
        problems.append(f"{path}: expected a file of ratings; it is cut off, or a different file. {again}")
        return None
    version, digest, sheet, design = stated
    if version != FORMAT_VERSION:
        problems.append(
            f"{path}: format_version {version!r:.40}, expected {FORMAT_VERSION}. Make all sheets with the same release."
        )
    elif digest != hashlib.sha256(payload.encode("utf-8", "replace")).hexdigest():
        problems.append(f"{path}: the checksum does not match, so the file was changed after it was saved. {again}")
    elif sheet not in key.sheets or design != key.design:
        problems.append(
            f"{path}: belongs to another jury than this key. Sheets and key must come from the same `bundle jury make`."
        )
    elif not isinstance(entries, dict):
        problems.append(f"{path}: expected answers by item. {again}")
    else:
        return _answers(path, key.sheets.index(sheet) + 1, entries, key, rules, problems, partial=partial)
    return None


def _answers(
    path: Path, juror: int, entries: dict[str, Any], key: Key, rules: Rules, problems: list[str], *, partial: bool
) -> RatedSheet | None:
    items = {item.item_id for item in key.items}
    read, wrong, open_ = {}, [], 0
    for item_id in (item.item_id for item in key.items):
        entry = entries.get(item_id)
        answer = _answer(entry, rules) if isinstance(entry, dict) else None
        if isinstance(answer, ItemRating):
            read[item_id] = answer
        elif answer is None or answer == "unfinished":
            open_ += 1
        else:
            wrong.append(f"item {item_id}: {answer}")
    wrong += [f"item {item_id[:20]}: not on any sheet" for item_id in sorted(set(entries) - items)]
    if open_ and not partial:
        wrong.append(f"{open_} of {len(items)} items have no answer; let the juror finish, or use --partial")
    problems += [f"{path}: {text}" for text in wrong]
    return None if wrong else RatedSheet(juror, read)


def _answer(entry: dict[str, Any], rules: Rules) -> ItemRating | str:
    """Read one answer, or return a text with the problem; `unfinished` means that it is missing."""
    ratings, remark = entry.get("ratings"), entry.get("remark") or ""
    if isinstance(remark, str):  # JSON can contain a lone surrogate, but a UTF-8 file cannot
        remark = remark.encode("utf-8", "replace").decode("utf-8")
    if not isinstance(remark, str) or len(remark) > LONGEST_REMARK:
        return f"remark: expected a text of up to {LONGEST_REMARK} characters"
    if entry.get("cannot_judge") is True:
        return ItemRating(None, remark)
    if not isinstance(ratings, dict) or not set(ratings) <= {criterion.name for criterion in rules.criteria}:
        return "ratings: expected one per criterion"
    values = [ratings.get(criterion.name) for criterion in rules.criteria]
    rated = [value for value in values if value is not None]
    if any(type(value) is not int or not rules.lowest <= value <= rules.highest for value in rated):
        return f"ratings: expected whole numbers from {rules.lowest} to {rules.highest}"
    return ItemRating(tuple(rated), remark) if len(rated) == len(values) else "unfinished"


Array = NDArray[np.float64]


@dataclass(frozen=True)
class Juror:
    """One juror, with the results of the control items."""

    number: int
    repeat_difference: float
    """Mean absolute difference between two ratings of the same item; NaN without a repeat."""
    boilerplate_gap: float
    """How much lower boilerplate texts were rated than the genuine ones they replace; only reported."""
    rated: int
    cannot_judge: int
    reasons: tuple[str, ...]
    """Reasons to leave the juror out; empty for a juror who counts."""

    @property
    def counts(self) -> bool:
        """Whether the ratings enter the result."""
        return not self.reasons


@dataclass(frozen=True)
class Panel:
    """A jury's answers."""

    jurors: tuple[Juror, ...]
    ratings: Array
    """(jurors, clips, teams, criteria) of genuine items; NaN without a rating, the lowest for missing explanations."""
    missing: NDArray[np.bool_]
    passed: NDArray[np.bool_]
    """(jurors, clips, teams) whether the juror could not judge the item."""

    def counting(self) -> "Panel":
        """Keep the jurors who count."""
        kept = [number for number, juror in enumerate(self.jurors) if juror.counts]
        return Panel(tuple(self.jurors[number] for number in kept), self.ratings[kept], self.missing, self.passed[kept])


def gather(key: Key, rules: Rules, answers: Sequence[RatedSheet]) -> Panel:
    """Collect the answers of all jurors."""
    letters = {team.letter: number for number, team in enumerate(key.teams)}
    places = {clip_id: number for number, clip_id in enumerate(key.clips)}
    shape = len(answers), len(key.clips), len(key.teams)
    ratings = np.full((*shape, len(rules.criteria)), np.nan)
    passed = np.zeros(shape, dtype=bool)
    for juror, sheet in enumerate(answers):
        for item in key.items:
            answer = sheet.items.get(item.item_id)
            if item.kind != "genuine" or answer is None:
                continue
            cell = juror, places[item.clip_id], letters[item.letter]
            if answer.ratings is not None:
                ratings[cell] = answer.ratings
            passed[cell] = answer.ratings is None
    missing = np.zeros(shape[1:], dtype=bool)
    for letter, clip_id in key.missing:
        missing[places[clip_id], letters[letter]] = True
    ratings[:, missing] = rules.lowest
    jurors = tuple(_juror(sheet, key, rules) for sheet in answers)
    return Panel(jurors, ratings, missing, passed)


def _juror(sheet: RatedSheet, key: Key, rules: Rules) -> Juror:
    genuine = [sheet.items.get(item.item_id) for item in key.items if item.kind == "genuine"]
    repeats = _mean([float(np.abs(np.subtract(own, other)).mean()) for own, other in _pairs(sheet, key, "repeat")])
    rated = sum(answer is not None and answer.ratings is not None for answer in genuine)
    reasons = [] if rated else ["rated nothing"]
    if rated and np.isnan(repeats) and any(item.kind == "repeat" for item in key.items):
        reasons.append("did not judge the repeated items, so the quality of the other ratings is unknown")
    if repeats > rules.exclusion.largest_repeat_difference:
        reasons.append(f"rated the same item differently the second time (by {repeats:.2f} on average)")
    return Juror(
        number=sheet.juror,
        repeat_difference=repeats,
        boilerplate_gap=_mean([float(np.subtract(*pair).mean()) for pair in _pairs(sheet, key, "boilerplate")]),
        rated=rated,
        cannot_judge=sum(answer is not None and answer.ratings is None for answer in genuine),
        reasons=tuple(reasons),
    )


def _pairs(sheet: RatedSheet, key: Key, kind: str) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the ratings of each genuine item and of its control, if both were rated."""
    rated = {item_id: answer.ratings for item_id, answer in sheet.items.items() if answer.ratings is not None}
    controls = (item for item in key.items if item.kind == kind)
    return [(rated[item.of], rated[item.item_id]) for item in controls if item.of in rated and item.item_id in rated]


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
