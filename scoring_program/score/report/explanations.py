"""The section on explanations: cards of single clips, and the table of all."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from score.axes.registry import LABEL_FREE, REGISTRY
from score.cues import LEAKS, TITLES, cue_cells
from score.diagnostics import GROUNDED
from score.errors import NotGradableError, Problem
from score.evaluate import ClipNumbers
from score.read.answers import Explanation
from score.report.clip import (
    STATES,
    call_rows,
    claim_rows,
    clip_state,
    place,
    reasons,
    timeline,
    untested,
)
from score.report.drawings import data_uri
from score.report.first_screen import STATUS_WORDS
from score.report.page import ceiling, percent
from score.report.words import highlight
from score.run import ScoredRun
from score.text.reading import vocabulary_of
from score.visible import one_line

_BUDGET = 1_500_000
"""Characters for all pictures; with a table of 2,000 clips the page stays under 5 MB."""
_NO_ROOM = "Left out to keep this page small."


CardGroups = list[tuple[str, list[dict[str, Any]]]]
"""(why these were chosen, one or more cards)."""


class _Album:
    """The pictures of a page, up to a budget."""

    def __init__(self) -> None:
        self._left = _BUDGET

    def take(self, data: bytes) -> str | None:
        """Return a picture's URI; None if it is not a picture, an empty text if the budget is used up."""
        uri = data_uri(data)
        if uri is None or len(uri) > self._left:
            return uri and ""
        self._left -= len(uri)
        return uri


def choose(
    clip_ids: Sequence[str], values: Sequence[float | None], count: int, seed: int
) -> tuple[list[int], list[int], list[int]]:
    """Choose a third each from the best, the worst and the others; a remainder goes to the best, then to the worst.

    The choice must not depend on labels, because the chosen clips would reveal something about them. Nor does it depend
    on the order of the clips.

    `values`: how well each of n explanations held up; None for a clip that cannot be shown. `count`: most clips to
    show, >= 0. Returns indices of the best clips, best first; of the worst, worst first; and of others, drawn at
    random. No clip is in two groups.
    """
    able = [(value, clip_ids[clip], clip) for clip, value in enumerate(values) if value is not None]
    ranked = [clip for _, _, clip in sorted(able, key=lambda entry: (-entry[0], entry[1]))]
    count = min(count, len(ranked))
    best, worst = (count + 2) // 3, (count + 1) // 3
    between = ranked[best : len(ranked) - worst]
    between.sort(key=lambda clip: hashlib.sha256(f"{seed} {clip_ids[clip]}".encode()).digest())
    return ranked[:best], ranked[len(ranked) - worst :][::-1], between[: count - best - worst]


def card_groups(run: ScoredRun) -> CardGroups:
    """Choose and prepare the gallery; empty if the settings close clips."""
    report, numbers_of = run.settings.report, run.evaluation.clips
    if not numbers_of:  # or the phase closes clips: then the gate has left none
        return []
    values = [numbers.label_free_mean if numbers else None for numbers in numbers_of]
    chosen = choose(run.outcomes.clip_ids, values, report.gallery, run.settings.bootstrap.seed)
    everything = sum(map(len, chosen)) == sum(numbers is not None for numbers in numbers_of)
    titles = ("Best explanations", "Worst explanations", "All others" if everything else "Randomly chosen")
    album = _Album()
    groups = (
        (title, [_card(clip, numbers, run, album) for clip in clips if (numbers := numbers_of[clip])])
        for title, clips in zip(titles, chosen, strict=True)
    )
    return [(title, cards) for title, cards in groups if cards]


def _card(clip: int, numbers: ClipNumbers, run: ScoredRun, album: _Album) -> dict[str, Any]:
    outcomes, settings = run.outcomes, run.settings
    clip_id, explanation, calls = outcomes.clip_ids[clip], outcomes.explanations[clip], outcomes.probes[clip]
    target = settings.targets[numbers.target]
    prediction = outcomes.prediction[clip].tolist()
    truth = outcomes.truth[clip].tolist() if settings.report.truth else [None] * len(prediction)
    claims = claim_rows(numbers, explanation.claims, target)
    titles = {each.name: each.title for each in settings.targets}
    frame, frame_note = _frame(clip_id, run, album)
    picture, no_picture = _picture(explanation, run, album)
    record = run.results.clips.get(clip_id)
    problem = problem_note(record.problems if record else ())
    return {
        "clip_id": clip_id,
        "state": clip_state(numbers),
        "numbers": numbers,
        "reasons": reasons(numbers, explanation, claims, target),
        # (target, predicted, true or None) of every target.
        "targets": list(zip(settings.targets, prediction, truth, strict=True)),
        "frame": frame,
        "frame_note": frame_note,
        "place": place(explanation, numbers),
        "timeline": timeline(explanation, numbers),
        "text": highlight(explanation.text, vocabulary_of(settings), numbers.stated, titles),
        "claims": claims,
        "others": [*untested(numbers, explanation.claims, target), *([f"Problem: {problem}"] if problem else [])],
        "picture": picture,
        "no_picture": no_picture,
        "calls": list(call_rows(explanation, calls, numbers, target)),
    }


def _frame(clip_id: str, run: ScoredRun, album: _Album) -> tuple[str, str]:
    """Return the key frame's URI and what it shows, or an empty text and the reason."""
    frame = run.key_frames.read(clip_id)
    uri = album.take(frame[0]) if frame else None
    if frame is None or uri is None:
        return "", "No picture of this clip is available." if run.settings.report.pictures else ""
    return uri, f"The clip at {frame[1]:.1f} s." if uri else _NO_ROOM


def _picture(explanation: Explanation, run: ScoredRun, album: _Album) -> tuple[str, str]:
    """Return the picture's URI, or an empty text and the reason."""
    if explanation.image is None:
        return (
            "",
            "No picture was given." if run.settings.report.pictures else "Reports of this phase show no pictures.",
        )
    try:
        uri = album.take(run.results.folder.read(explanation.image))
    except (NotGradableError, OSError):
        uri = None
    if uri is None:
        return "", "The picture could not be read."
    return uri, "" if uri else _NO_ROOM


def problem_note(problems: tuple[Problem, ...]) -> str:
    """Return a clip's first problem in one line; an empty text if there is none."""
    if not problems:
        return ""
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return one_line(f"{first.code}: {first.found}", 120)[:240] + more


def explanations(run: ScoredRun) -> dict[str, Any]:
    """Build what the template needs besides settings and evaluation; nothing about single clips if these are closed."""
    settings, clips = run.settings, run.settings.report.clips
    return {
        "axes": [*LABEL_FREE, *(axis for axis in REGISTRY.values() if axis.of_causes and settings.report.truth)],
        "tallies": list(_tallies(run)) if clips else [],
        "groups": card_groups(run),
        # (effect of hiding by rank, upper end of the scale), in space and in time, if measured.
        "ranks": [
            (curve, ceiling(max(rank.change + rank.error for rank in curve.ranks)))
            for curve in run.evaluation.curves
            if curve.ranks
        ],
        "rows": _rows(run) if clips else [],
        "cue_titles": TITLES,
        "cues": [cue_cells(numbers) for numbers in run.evaluation.cues],
        "leaks": LEAKS,
        "meaning": (
            f"Right: {settings.main.title} is off by less than {percent(settings.explanation_score.gate)} of its "
            f"range. Grounded: the claims about it agree with the known causes by at least {GROUNDED:g}, where 0 is "
            "chance and 1 is exact. Not scored."
        ),
        # Whether clips were left out to keep the page small.
        "shortened": False,
    }


def smaller(section: dict[str, Any]) -> dict[str, Any] | None:
    """Drop half of each group of cards, or else half of the table; return None if nothing is left."""
    if section["groups"]:
        halves = ((title, cards[: len(cards) // 2]) for title, cards in section["groups"])
        return section | {"groups": [(title, cards) for title, cards in halves if cards], "shortened": True}
    if rows := section["rows"]:
        return section | {"rows": rows[: len(rows) // 2], "shortened": True}
    return None


def _tallies(run: ScoredRun) -> Iterator[tuple[str, int, float, float]]:
    """Yield (verdict, clips, percentage of clips before it, its own percentage)."""
    counts = Counter(clip_state(numbers) for numbers in run.evaluation.clips if numbers)
    share, before = 100 / max(1, counts.total()), 0
    for state in STATES:
        if counts[state]:
            yield state, counts[state], round(share * before, 2), round(share * counts[state], 2)
        before += counts[state]


def _rows(run: ScoredRun) -> list[dict[str, Any]]:
    """List the clips: those without a prediction first, then the worst explanations."""
    outcomes, settings = run.outcomes, run.settings
    main = settings.names.index(settings.main_target)
    numbers_of = run.evaluation.clips or (None,) * len(outcomes.clip_ids)
    rows = []
    for clip, (clip_id, status, numbers) in enumerate(
        zip(outcomes.clip_ids, outcomes.statuses, numbers_of, strict=True)
    ):
        record = run.results.clips.get(clip_id)
        rows.append(
            {
                "clip_id": clip_id,
                "status": STATUS_WORDS[status],
                "numbers": numbers,
                "state": clip_state(numbers) if numbers else "",
                "predicted": float(outcomes.prediction[clip, main]) if status == "ok" else None,
                "truth": float(outcomes.truth[clip, main]) if settings.report.truth else None,
                "note": problem_note(record.problems if record else ()),
            }
        )
    return sorted(
        rows, key=lambda row: (row["numbers"] is not None, row["numbers"].label_free_mean if row["numbers"] else 0.0)
    )
