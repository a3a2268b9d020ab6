"""Messages to participants and organisers: which problems each may read, and the lines of the log."""

import contextlib
import io
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TextIO

import numpy as np

from score.errors import Problem, wrong
from score.order import pass_difference, repeated_difference
from score.read.outcomes import FEWEST_PEOPLE, Outcomes
from score.read.results import Results
from score.text.protected import NamedAttribute, attributes, named_attributes


def say(line: str, stream: TextIO | None = None) -> None:
    """Print one line of the log; a closed stream is ignored, because the scores matter more."""
    stream = stream or sys.stdout
    try:
        print(line, file=stream, flush=True)
    except (OSError, ValueError):
        # Discard further output; otherwise Python would fail at exit, after labels were used.
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def speak_utf8() -> None:
    """Print UTF-8 in any locale: an ASCII locale must not fail a run after labels were used."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_CLIP_FILE = re.compile(r"\b(images|clips)/[^\s,;:]+")
_SHORTEST_SECRET = 4  # an id such as "12" reveals nothing, and hiding it would garble line numbers
_HIDDEN = "(clip)"


@dataclass(frozen=True)
class Audience:
    """Readers of one phase."""

    open: bool
    """Whether participants may see single clips."""
    clip_ids: frozenset[str] = frozenset()
    """Ids to hide where single clips are closed."""

    def knowing(self, clip_ids: Iterable[str]) -> "Audience":
        """Return the same readers with more ids to hide."""
        return replace(self, clip_ids=self.clip_ids | frozenset(clip_ids))

    def text(self, text: str) -> str:
        """Remove clip ids and clip files from a text where clips are closed."""
        if self.open:
            return text
        return _WORD.sub(self._word, _CLIP_FILE.sub(rf"\1/{_HIDDEN}", text))

    def _word(self, match: re.Match[str]) -> str:
        word = match.group()
        return _HIDDEN if len(word) >= _SHORTEST_SECRET and word in self.clip_ids else word

    def problem(self, problem: Problem) -> Problem:
        """Remove clip ids and clip files from every text of a problem where clips are closed."""
        if self.open:
            return problem
        return replace(
            problem,
            code=self.text(problem.code),
            where=self.text(problem.where),
            found=self.text(problem.found),
            expected=self.text(problem.expected),
            fix=self.text(problem.fix),
        )


NOBODY = Audience(open=False)
"""The strictest audience, used until the settings are known."""


FOR_YOU = "For you"
FOR_ORGANISERS = "For the organisers"
DRAWN = "draw"
"""Operator of cue edits of clips without rendered copies."""
PASSES_DIFFER = 0.02
"""Mean difference of the two passes, of a range, that jitter does not explain."""
_MOST_LINES = 50
_CONSEQUENCES = frozenset({"restarts_used_up"})
"""Codes of problems that follow from other errors."""


def of_problems(problems: Iterable[Problem], audience: Audience) -> tuple[Problem, ...]:
    """Group problems that read alike for this audience."""
    counts = Counter(map(audience.problem, problems))
    return _sorted(replace(problem, count=count) for problem, count in counts.items())


def of_run(results: Results, outcomes: Outcomes, audience: Audience) -> tuple[Problem, ...]:
    """List the problems of a scored run: those of the run one by one, those of clips grouped by kind.

    If single clips are closed, a group shows only code and count, because place and finding belong to a clip.
    """
    kinds: dict[tuple[str, ...], list[Problem]] = {}
    for clip_id in outcomes.clip_ids:
        record = results.clips.get(clip_id)
        for problem in record.problems if record else ():
            shown = problem if audience.open else replace(problem, where="", found="")
            if audience.open and clip_id not in shown.where:
                shown = replace(shown, where=" · ".join(part for part in (f"clip {clip_id}", shown.where) if part))
            kinds.setdefault((shown.code, shown.stage, shown.severity, shown.fault), []).append(shown)
    warnings = [*_passes(results, outcomes)]
    if outcomes.no_yardstick:
        expected = f"{FEWEST_PEOPLE} people and 2 kinds; with fewer, saliency map and temporal attribution do not count"
        warnings.append(wrong("yardstick_missing", "perturbed copies", outcomes.no_yardstick, expected))
    warnings += _protected(outcomes, audience)
    run = of_problems((*results.run.problems, *results.warnings, *outcomes.warnings, *warnings), audience)
    clips = (replace(audience.problem(group[0]), count=len(group)) for group in kinds.values())
    return _sorted((*run, *clips))


def _passes(results: Results, outcomes: Outcomes) -> Iterable[Problem]:
    """Warn of predictions of the two passes that differ by more than the jitter between them explains.

    Not of clips whose light, size and loudness are drawn for the second pass: a model may react to these.
    """
    nothing = np.full(outcomes.prediction.shape[1], np.nan)
    alike = [all(call.operator != DRAWN for call in calls) for calls in outcomes.probes]
    first = np.array(
        [
            results.predictions.get(clip_id, nothing) if same else nothing
            for clip_id, same in zip(outcomes.clip_ids, alike, strict=True)
        ]
    )
    repeated = repeated_difference(outcomes.probes, outcomes.span)
    most = max(PASSES_DIFFER, 0.0 if repeated is None else 2 * float(repeated.max()))
    differs = float((pass_difference(first, outcomes.prediction) / outcomes.span).max())
    if differs > most:
        found = f"predictions of the two passes that differ by {differs:.2g} of the range in the mean of all clips"
        yield wrong("passes_differ", "predict", found, f"at most {most:.2g}: the passes differ by an invisible jitter")


def _protected(outcomes: Outcomes, audience: Audience) -> tuple[Problem, ...]:
    """Warn of explanations that name a protected attribute of a person; this never affects a score.

    The word lists are incomplete and can be wrong, so people should check; the program does not judge.

    Returns at most one. If single clips are closed, it holds only two counts.
    """
    texts = [explanation.text for explanation in outcomes.explanations if explanation.text_ok]
    named = [words for words in map(named_attributes, texts) if words]
    if not named:
        return ()
    words = f"{len(named)} of {len(texts)} name a protected attribute" + (
        f": {_listed(named)}" if audience.open else ""
    )
    expected = "no sex or gender, age, ethnicity, religion, disability or sexual orientation of a person"
    return (wrong("protected_attribute", "explanations", words, expected),)


def _listed(named: list[tuple[NamedAttribute, ...]]) -> str:
    counts = []
    for attribute in attributes():
        words = [
            entry.words for attributes_named in named for entry in attributes_named if entry.attribute == attribute
        ]
        if words:
            counts.append(f'{attribute} in {len(words)} (such as "{words[0]}")')
    return ", ".join(counts)


def _sorted(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Errors first, and causes before their consequences."""
    return tuple(
        sorted(
            problems, key=lambda problem: (problem.severity != "error", problem.code in _CONSEQUENCES, -problem.count)
        )
    )


def lines(problems: Sequence[Problem]) -> list[str]:
    """Render findings for the log as two lists with headings: at most 50 problems, and how many were omitted."""
    result = []
    yours, theirs = ([problem for problem in problems if problem.yours == mine] for mine in (True, False))
    # Each list is granted half of the lines, so that neither can crowd out the other.
    left = max(_MOST_LINES // 2, _MOST_LINES - len(theirs))
    for title, chosen, most in ((FOR_YOU, yours, left), (FOR_ORGANISERS, theirs, _MOST_LINES - min(left, len(yours)))):
        if chosen:
            result.append(f"{title}:")
        for problem in chosen[:most]:
            often = f"{problem.count} times · " if problem.count > 1 else ""
            result.append(f"  - {problem.severity.upper()} · {often}{problem.line()}")
        if len(chosen) > most:
            result.append(f"  - and {len(chosen) - most} more")
    return result
