"""The optional part of the settings: what is known about the clips' causes, and how the axes make the total."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields

from score.bands import STANDARD, Band, read_bands
from score.checked import Checked

CUES = (
    *("smile", "gaze", "motion", "posture", "lighting", "framing"),
    *("background", "clothing", "speech_rate", "words", "face", "voice"),
)
"""The vocabulary of cues, unless the settings name another."""
HEARD = frozenset({"speech_rate", "words", "voice"})
"""Those of them that hiding places of the picture does not take away."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
_FILE_STEM = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
_MOST_CUES = 64
_MOST_PHRASES = 200


@dataclass(frozen=True)
class AxisWeights:
    """What each axis is worth in the total; the sum is 1."""

    cue_claims: float = 0.37
    """Claims about cues against measured effects."""
    faithfulness_space: float = 0.21
    """Where the model looked against measured effects."""
    known_causes: float = 0.21
    """Claims and maps against known causes; left out of the mean where a phase has none."""
    faithfulness_time: float = 0.16
    """When the model looked against measured effects."""
    text: float = 0.05
    """What the text says."""


AXES = tuple(one.name for one in fields(AxisWeights))
"""Names of the axes of the total, in the order of their weights."""


@dataclass(frozen=True)
class ExplanationScore:
    """How explanations are judged."""

    weights: AxisWeights = AxisWeights()
    """Of the axes."""
    power: float = 0.5
    """Exponent of the power mean, in [0.1, 1]; the lower, the less one axis can do alone."""
    gate: float = 0.1
    """Known causes count where |prediction - label| is below this share of the range, in (0, 1]."""
    vocabulary: tuple[str, ...] = CUES
    """The cues of the input settings."""
    aliases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Words for cues beyond the lexicon's, by cue."""
    bands: tuple[Band, ...] = STANDARD
    """Words for the total, lowest first; for the report alone."""


def read_explanation_score(item: Checked) -> ExplanationScore:
    """Read the section ``explanation_score``; every key is optional."""
    standard = ExplanationScore()
    score = ExplanationScore(
        weights=_weights(item.section("weights")) if item.has("weights") else standard.weights,
        power=item.number("power", 0.1, 1) if item.has("power") else standard.power,
        gate=item.number("gate", 1e-6, 1) if item.has("gate") else standard.gate,
        vocabulary=_vocabulary(item) if item.has("vocabulary") else standard.vocabulary,
        aliases=_aliases(item.section("aliases")) if item.has("aliases") else {},
        bands=read_bands(item.section("bands")) if item.has("bands") else standard.bands,
    )
    for cue in sorted(score.aliases.keys() - set(score.vocabulary)):
        item.add(f"{item.where}, aliases", repr(cue)[:60], "a cue of the vocabulary")
    item.finish()
    return score


def read_skill_reference(item: Checked, spans: dict[str, float]) -> dict[str, float]:
    """Read the section ``skill_reference``: for some targets the mean absolute error that earns full credit.

    Parameters
    ----------
    item
        The section.
    spans
        Width of each target's range, by name.
    """
    errors = {name: item.number(name, 0, span, secret=True) for name, span in spans.items() if item.has(name)}
    item.finish()
    return errors


def read_file_name(item: Checked, key: str, suffix: str = ".json") -> str | None:
    """Read the name of an optional file beside the settings."""
    if not item.has(key):
        return None
    name = item.text(key, 80)
    if name and not re.fullmatch(_FILE_STEM + re.escape(suffix), name):
        item.add(f"{item.where}, {key}", repr(name), f"the name of a {suffix} file beside the settings")
        return None
    return name


def _weights(item: Checked) -> AxisWeights:
    weights = AxisWeights(**{name: item.number(name, 0, 1) for name in AXES})
    item.finish()
    total = sum(getattr(weights, name) for name in AXES)
    if abs(total - 1) > 1e-9:
        item.add(item.where, f"weights whose sum is {total:g}", "a sum of 1")
    return weights


def _vocabulary(item: Checked) -> tuple[str, ...]:
    cues = item.texts("vocabulary")
    where = f"{item.where}, vocabulary"
    for cue in cues[: _MOST_CUES + 1]:
        if not _NAME.fullmatch(cue):
            item.add(where, repr(cue)[:60], "lower-case letters, digits and underscores, a letter first")
    if len(set(cues)) != len(cues):
        item.add(where, "a cue that stands twice", "every cue once")
    if len(cues) > _MOST_CUES:
        item.add(where, f"{len(cues)} cues", f"at most {_MOST_CUES}")
    return cues


def _aliases(item: Checked) -> dict[str, tuple[str, ...]]:
    aliases = {}
    for cue in item.given():
        phrases = item.texts(cue)
        if any(not phrase.strip() or len(phrase) > 80 or not phrase.isprintable() for phrase in phrases):
            item.add(f"{item.where}, {cue}"[:120], "a phrase that is empty or too long", "1 to 80 characters")
        if len(phrases) > _MOST_PHRASES:
            item.add(f"{item.where}, {cue}"[:120], f"{len(phrases)} phrases", f"at most {_MOST_PHRASES}")
        aliases[cue] = phrases
    return aliases
