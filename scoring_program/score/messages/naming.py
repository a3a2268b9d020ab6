"""Explanations that name protected attributes of a person: counted and told, never scored.

The lists behind it cannot be complete and it may be mistaken: it is for people to look, not for a program to judge.
"""

from __future__ import annotations

from score.errors import Problem, wrong
from score.messages.audience import Audience
from score.read.outcomes import Outcomes
from score.text.protected import Named, attributes, named_attributes


def protected_problems(outcomes: Outcomes, audience: Audience) -> tuple[Problem, ...]:
    """Warn of the explanations that name a protected attribute.

    Returns
    -------
    tuple of Problem
        None or one. Where single clips are closed it holds two counts and nothing else.
    """
    texts = [explanation.text for explanation in outcomes.explanations if explanation.text_ok]
    named = [found for found in map(named_attributes, texts) if found]
    if not named:
        return ()
    found = f"{len(named)} of {len(texts)} that name one" + (f": {_listed(named)}" if audience.open else "")
    expected = "no sex or gender, age, ethnicity, religion, disability or sexual orientation of a person"
    return (wrong("protected_attribute", "explanations", found, expected),)


def _listed(named: list[tuple[Named, ...]]) -> str:
    counts = []
    for attribute in attributes():
        words = [entry.words for found in named for entry in found if entry.attribute == attribute]
        if words:
            counts.append(f'{attribute} in {len(words)} (such as "{words[0]}")')
    return ", ".join(counts)
