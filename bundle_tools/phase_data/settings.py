"""The two settings files of a phase, and the description of the challenge in them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator
from pydantic.dataclasses import dataclass as schema

from bundle_tools.phase_data.files import templates_in
from bundle_tools.schema import CONFIG, Section, line

VOCABULARY = (
    "smile", "gaze", "motion", "posture", "lighting", "framing",
    "background", "clothing", "speech_rate", "words", "face", "voice",
)  # fmt: skip
"""The cues that the programs have words for."""
OF_FOOTAGE = ("motion", "lighting", "framing", "words", "voice")
"""The usual cues of footage."""
TRIED = ("lighting", "framing", "voice")
"""Cues that can be edited in footage, and so be tested; framing only where the places of faces are known."""
TIME_LIMIT_S = 600


@dataclass(frozen=True)
class Target:
    """One number that is predicted."""

    name: str
    """Key in tables and settings: lower-case letters, digits and underscores."""
    title: str
    """Display name, at most 24 characters."""
    minimum: float
    maximum: float
    column: str = ""
    """Column name in the source of the labels, if different."""
    high: str = ""
    """What a high value means, for the pages; empty if not given."""


def _spelt(day: object) -> object:
    return day.isoformat() if isinstance(day, date) else day


_Text = Annotated[str, line(500)]
Dates = dict[Annotated[str, line(60)], Annotated[str, BeforeValidator(_spelt), line(60)]]
"""What happens besides the phases, and when; YAML reads an unquoted day as a date."""


@schema(frozen=True, config=CONFIG)
class Rules(Section):
    """What only the organiser can say; the pages Overview and Terms show it. Empty texts are left out."""

    eligibility: _Text | None = None
    """Who may take part."""
    teams: _Text | None = None
    """How many people a team may have, and so on."""
    prizes: _Text | None = None


@dataclass(frozen=True)
class Challenge:
    """The targets, and the vocabulary of explanations."""

    title: str = "Explained impressions"
    description: str = ""
    """One or two sentences for the pages; empty if not given."""
    targets: tuple[Target, ...] = ()
    main_target: str = ""
    """Name of the target that the split is balanced by and that has score columns of its own."""
    group: Mapping[str, object] | None = None
    """`name`, `title` and `targets` of the group whose mean has score columns of its own."""
    vocabulary: tuple[str, ...] = VOCABULARY
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Words for cues in addition to the built-in lexicon, by cue."""
    skill_reference: Mapping[str, float] = field(default_factory=dict)
    """By target, the mean absolute error that earns a skill factor of 1."""
    rules: Rules = field(default_factory=Rules)
    dates: Mapping[str, str] = field(default_factory=dict)
    """What happens besides the phases, and when."""

    @property
    def main(self) -> int:
        """Index of the main target."""
        return [target.name for target in self.targets].index(self.main_target)


@dataclass(frozen=True)
class PhaseValues:
    """Values that both settings files of a phase share."""

    task: str
    version: str
    is_open: bool
    """Whether participants may see single clips, labels and their model's output."""


def input_settings(
    challenge: Challenge,
    phase: PhaseValues,
    *,
    time_limit_s: int = TIME_LIMIT_S,
    files: Mapping[str, str],
    old_targets: Mapping[str, str] | None = None,
) -> str:
    """Return the text of ``input_data/<phase>/task.yaml``.

    `time_limit_s`: time limit of the phase, seconds: the same as `execution_time_limit` in competition.yaml.
    `files`: optional files beside the settings, by their key, such as ``copies``.
    `old_targets`: older names of targets, if results may replace code; None accepts only code.
    """
    facts = {"time_limit_s": time_limit_s, "files": files, "old_targets": old_targets}
    return _render("input.yaml.j2", challenge, phase, facts)


def reference_settings(
    challenge: Challenge,
    phase: PhaseValues,
    constants: Mapping[str, float],
    *,
    files: Mapping[str, str],
    rank_by: str = "",
    weighting: Mapping[str, object] | None = None,
    key_frames: str = "",
    pictures: bool = True,
    noise: Mapping[str, float] | None = None,
) -> str:
    """Return the text of ``reference_data/<phase>/task.yaml``.

    `files`: optional files beside the settings, by their key, such as ``groups``.
    `rank_by`: what the leaderboard ranks by; empty for the program's default.
    `weighting`: weights, power, gate and bands of the explanation score, if they differ from the program's.
    `key_frames`: list of pictures of the clips; empty without pictures.
    `pictures`: whether reports show pictures of clips and of submissions.
    `noise`: by target, the standard deviation of a label's own error, if it is known.
    """
    facts = {"constants": constants, "files": files, "rank_by": rank_by, "pictures": pictures, "noise": noise or {}}
    return _render(
        "reference.yaml.j2", challenge, phase, {**facts, "weighting": weighting or {}, "key_frames": key_frames}
    )


def _render(name: str, challenge: Challenge, phase: PhaseValues, facts: Mapping[str, object]) -> str:
    template = templates_in(Path(__file__).with_name("templates")).get_template(name)
    return template.render(challenge=challenge, **vars(phase), **facts)
