"""The settings of one phase's scoring: these classes are the keys of ``task.yaml`` of the reference data."""

from collections.abc import Iterator
from dataclasses import field, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt
from pydantic.dataclasses import dataclass

from score.errors import OrganiserError, wrong
from score.schema import (
    CONFIG,
    Entries,
    Name,
    Rule,
    Secret,
    Section,
    Unquoted,
    WrongSettings,
    brief,
    line,
    matching,
    one_of,
    read,
)

RankBy = Literal["explanation", "prediction"]
MOST_SHOWN = 200
"""Most explanations in a report."""
CUES = (
    *("smile", "gaze", "motion", "posture", "lighting", "framing"),
    *("background", "clothing", "speech_rate", "words", "face", "voice"),
)
"""The default vocabulary of cues."""
HEARD = frozenset({"speech_rate", "words", "voice"})
"""Cues that are heard, so that hiding places of the picture does not remove them."""
_Name = Annotated[
    Name, matching(r"[a-z][a-z0-9_]{0,31}", "at most 32 lower-case letters, digits and underscores, a letter first")
]
# With the words that a column adds, it stays within the leaderboard's 36 characters.
_Title = Annotated[str, Unquoted, line(24)]
_Bound = Annotated[StrictFloat, Field(ge=-1e6, le=1e6)]
_Chars = Annotated[StrictInt, Field(ge=1, le=100_000)]
_Share = Annotated[StrictFloat, Field(ge=0, le=1)]
_STEM = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
_Json = Annotated[Name, matching(_STEM + r"\.json", "the name of a .json file beside the settings")] | None
_Csv = Annotated[Name, matching(_STEM + r"\.csv", "the name of a .csv file beside the settings")] | None


@dataclass(frozen=True, config=CONFIG)
class Target(Section):
    """One number that a submission predicts."""

    name: _Name
    """Key in predictions and labels, lower case."""
    title: _Title
    minimum: _Bound
    """Lower end of the range."""
    maximum: _Bound
    """Upper end of the range, > minimum."""
    constant: Annotated[StrictFloat, Field(ge=-1e6, le=1e6), Secret]
    """The constant baseline's prediction: the mean over the training set, inside the range."""

    def mistakes(self) -> Iterator[Rule]:
        """Check the range."""
        if self.minimum >= self.maximum:
            yield "", f"the range {self.minimum:g} to {self.maximum:g}", "minimum below maximum"
        elif not self.minimum <= self.constant <= self.maximum:
            yield "constant", "an invalid value", f"a number from {self.minimum:g} to {self.maximum:g}"


@dataclass(frozen=True, config=CONFIG)
class Group(Section):
    """Targets whose mean has score columns of its own."""

    name: _Name
    """Prefix of the column keys, such as ``traits``."""
    title: _Title
    targets: Entries[Name]
    """Names of targets, at least one."""


@dataclass(frozen=True, config=CONFIG)
class BootstrapSettings(Section):
    """How intervals are drawn."""

    resamples: Annotated[StrictInt, Field(ge=0, le=100_000)]
    """Number of resamples; 0 switches intervals off."""
    level: Annotated[StrictFloat, Field(ge=0.5, le=0.999)]
    """Nominal coverage."""
    seed: Annotated[StrictInt, Field(ge=0, le=2**53)]
    """The only source of randomness in scoring."""


@dataclass(frozen=True, config=CONFIG)
class TextLimits(Section):
    """Length of a valid text, in characters."""

    minimum_chars: _Chars
    """Shortest."""
    maximum_chars: _Chars
    """Longest, >= minimum_chars."""

    def mistakes(self) -> Iterator[Rule]:
        """Check that the minimum is not above the maximum."""
        if self.minimum_chars > self.maximum_chars:
            yield "", "a minimum above the maximum", "minimum_chars <= maximum_chars"


@dataclass(frozen=True, config=CONFIG)
class ExplanationLimits(Section):
    """When an explanation is valid."""

    text: TextLimits
    """Length of the text."""


@dataclass(frozen=True, config=CONFIG)
class ReportSettings(Section):
    """What participants may see in the report."""

    clips: StrictBool
    """A table of clips and the gallery; false shows aggregates only."""
    truth: StrictBool
    """True values and errors per clip; never without ``clips``."""
    gallery: Annotated[StrictInt, Field(ge=0, le=MOST_SHOWN)]
    """Number of explanations shown with their pictures."""
    key_frames: _Csv = None
    """Name of the list of pictures of the clips; never without ``truth`` and ``pictures``."""
    pictures: StrictBool = True
    """Whether a report shows pictures, both of clips and those that a submission returns, which may show a clip."""

    def mistakes(self) -> Iterator[Rule]:
        """Check that nothing is shown that another switch hides."""
        if self.truth and not self.clips:
            yield "truth", "truth: true with clips: false", "truth: false, or clips: true"
        if self.key_frames and not self.truth:
            yield "key_frames", "key_frames with truth: false", "no key_frames, or truth: true"
        if self.key_frames and not self.pictures:
            yield "key_frames", "key_frames with pictures: false", "no key_frames, or pictures: true"


@dataclass(frozen=True, config=CONFIG)
class AxisWeights(Section):
    """Weight of each axis in the total; the sum is 1."""

    cue_claims: _Share
    """Claims about cues against measured effects."""
    faithfulness_space: _Share
    """Where the model looked against measured effects."""
    known_causes: _Share
    """Claims and maps against known causes; left out of the mean if the phase has none."""
    faithfulness_time: _Share
    """When the model looked against measured effects."""
    text: _Share
    """Quality of the text."""

    def mistakes(self) -> Iterator[Rule]:
        """Check the sum."""
        total = sum(getattr(self, name) for name in AXES)
        if abs(total - 1) > 1e-9:
            yield "", f"weights whose sum is {total:g}", "a sum of 1"


AXES = tuple(axis.name for axis in fields(AxisWeights))
"""Names of the axes of the total, in the order of their weights."""


@dataclass(frozen=True, config=CONFIG)
class ExplanationScore(Section):
    """How explanations are judged."""

    weights: AxisWeights = AxisWeights(0.37, 0.21, 0.21, 0.16, 0.05)
    """Weights of the axes."""
    power: Annotated[StrictFloat, Field(ge=0.1, le=1)] = 0.5
    """Exponent of the power mean; the lower it is, the less one axis alone can gain."""
    gate: Annotated[StrictFloat, Field(ge=1e-6, le=1)] = 0.1
    """Known causes count if |prediction - label| is below this share of the range."""
    vocabulary: Entries[_Name] = CUES
    """The cues of the input settings."""
    aliases: dict[Name, tuple[Annotated[str, line(80)], ...]] = field(default_factory=dict)
    """Words for cues in addition to the lexicon, by cue."""
    bands: dict[Name, Annotated[StrictFloat, Field(ge=0, le=99.99)]] = field(
        default_factory=lambda: {"at chance": 0.0, "weak": 5.0, "fair": 20.0, "good": 40.0, "excellent": 65.0}
    )
    """Words for the total and the lowest total of each, ascending from 0."""

    def mistakes(self) -> Iterator[Rule]:
        """Check the cues of the aliases, and the words and limits of the bands."""
        for cue in sorted(self.aliases.keys() - set(self.vocabulary)):
            yield "aliases", brief(cue), one_of(self.vocabulary, cue)
        if any(not 1 <= len(word) <= 20 or not word.isprintable() for word in self.bands):
            yield "bands", "a word that is too long", "1 to 20 printable characters"
        limits = list(self.bands.values())
        if not 2 <= len(limits) <= 8 or limits[0] != 0 or any(a >= b for a, b in pairwise(limits)):
            yield "bands", "limits that are not ascending from 0", "2 to 8 words, lowest limit 0, then ascending"

    def word(self, total: float) -> str:
        """Return the word for a total: that of the highest band that begins at or below it."""
        return [word for word, begins in self.bands.items() if begins <= max(total, 0)][-1]


@dataclass(frozen=True, config=CONFIG)
class Settings(Section):
    """All that scoring a phase needs besides the labels."""

    format_version: Literal[1]
    """Version of the file's format."""
    task: Annotated[str, Unquoted, line(64)]
    """Name of the phase."""
    data_version: Annotated[str, Unquoted, line(100)]
    """Must equal the version of the input data."""
    targets: Entries[Target]
    """The targets, in the order of all tables."""
    main_target: Name
    """Name of the target with score columns of its own."""
    bootstrap: BootstrapSettings
    """How intervals are drawn."""
    explanation: ExplanationLimits
    """When an explanation is valid."""
    report: ReportSettings
    """What participants may see."""
    challenge: Annotated[str, Unquoted, line(100, 0)] = ""
    """Display name of the challenge; may be empty."""
    group: Group | None = None
    """Targets whose mean has score columns; None if the task has none."""
    explanation_score: ExplanationScore = ExplanationScore()
    """How explanations are judged."""
    causes: _Json = None
    """Name of the file with the known causes of every clip; None if the phase has none."""
    observations: _Json = None
    """Name of the file with what people pointed at; None if the phase has none."""
    groups: _Csv = None
    """Name of the table with groups of people; None if the phase has none."""
    selection_threshold: StrictFloat | None = None
    """Value of the main target from which a person counts as selected; None: the median of the labels."""
    landmarks: _Json = None
    """Name of the file with the scores of baselines; None if the phase has none."""
    jury: _Json = None
    """Name of the file with the ratings of a jury; None before there are any."""
    skill_reference: dict[Name, Annotated[StrictFloat, Field(ge=0, le=2e6), Secret]] = field(default_factory=dict)
    """Mean absolute error that earns a skill factor of 1, by target; 0 where missing."""
    label_noise: dict[Name, Annotated[StrictFloat, Field(ge=0, le=2e6), Secret]] = field(default_factory=dict)
    """Standard deviation of a label's own error, such as that of its raters' mean, by target: for the noise ceiling."""
    rank_by: RankBy = "explanation"
    """What the leaderboard ranks by."""

    def mistakes(self) -> Iterator[Rule]:
        """Check all names of targets, and all values that must lie in a target's range."""
        names = self.names
        spans = {target.name: target.maximum - target.minimum for target in self.targets}
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield "targets", f"{name} twice", "every name once"
        if self.main_target not in names:
            yield "main_target", brief(self.main_target), one_of(names, self.main_target)
        elif self.selection_threshold is not None:
            main = self.main
            if not main.minimum <= self.selection_threshold <= main.maximum:
                expected = f"a number from {main.minimum:g} to {main.maximum:g}"
                yield "selection_threshold", f"{self.selection_threshold:g}", expected
        for key in ("skill_reference", "label_noise"):
            for name, error in getattr(self, key).items():
                if name not in names:
                    yield f"{key}.{name}", "an unknown key", one_of(names, name, key)
                elif error > spans[name]:
                    yield f"{key}.{name}", "an invalid value", f"a number from 0 to {spans[name]:g}"
        for name in self.group.targets if self.group else ():
            if name not in names:
                yield "group.targets", brief(name), one_of(names, name)
        if self.group and self.group.name == self.main_target:
            yield "group.name", brief(self.group.name), "a name other than the main target's"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the targets, in order."""
        return tuple(target.name for target in self.targets)

    @property
    def text(self) -> TextLimits:
        """When a text is valid."""
        return self.explanation.text

    @property
    def heading(self) -> str:
        """Names of the challenge and the phase, for the head of a page."""
        return " · ".join(name for name in (self.challenge, self.task) if name)

    @property
    def main(self) -> Target:
        """The main target."""
        return self.targets[self.names.index(self.main_target)]

    def opened(self) -> "Settings":
        """Return the same settings with everything shown, for organisers only."""
        return replace(self, report=replace(self.report, clips=True, truth=True, gallery=MOST_SHOWN))


def read_settings(path: Path) -> Settings:
    """Read and check ``reference_data/<phase>/task.yaml``.

    Raises OrganiserError with every problem of the file at once.
    """
    try:
        return read(Settings, path)
    except WrongSettings as error:
        problems = [
            wrong(
                "setting_invalid",
                f"{path.name}, key {mistake.key}" if mistake.key else path.name,
                mistake.found,
                mistake.expected,
            )
            for mistake in error.mistakes
        ]
        raise OrganiserError("The settings of the reference data have mistakes.", problems) from None
