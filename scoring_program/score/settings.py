"""The settings of scoring: ``task.yaml`` of the reference data, checked as a whole."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from score.checked import Checked, read_yaml
from score.errors import OrganiserError, Problem
from score.explanation_settings import ExplanationScore, read_explanation_score, read_file_name, read_skill_reference

FORMAT_VERSION = 1
LONGEST_TITLE = 24  # with what a column adds it stays within the 36 characters that the leaderboard stores
EXPLANATION, PREDICTION = RANK_BY = ("explanation", "prediction")
MOST_SHOWN = 200
"""Explanations in a report, at most."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")


@dataclass(frozen=True)
class Target:
    """One number that a submission predicts."""

    name: str
    """Key in predictions and labels, lower case."""
    title: str
    """How people read it, at most 24 characters."""
    minimum: float
    """Lower end of the range."""
    maximum: float
    """Upper end of the range, > minimum."""
    constant: float
    """Mean over the training set, inside the range: what the constant baseline predicts."""


@dataclass(frozen=True)
class Group:
    """Targets whose mean has score columns of its own."""

    name: str
    """Prefix of the column keys, such as ``traits``."""
    title: str
    """How people read it."""
    targets: tuple[str, ...]
    """Names of targets, at least one."""


@dataclass(frozen=True)
class BootstrapSettings:
    """How intervals are drawn."""

    resamples: int
    """Number of resamples; 0 switches intervals off."""
    level: float
    """Nominal coverage, in (0, 1)."""
    seed: int
    """The only source of randomness in scoring."""


@dataclass(frozen=True)
class TextLimits:
    """Length of a valid text, in characters."""

    minimum_chars: int
    """>= 1."""
    maximum_chars: int
    """>= minimum_chars."""


@dataclass(frozen=True)
class ReportSettings:
    """What participants may see in the report."""

    clips: bool
    """A table of clips and the gallery; false shows aggregates only."""
    truth: bool
    """True values and errors per clip; never without ``clips``."""
    gallery: int
    """How many explanations are shown with their picture, 0 to 200."""
    key_frames: str | None = None
    """Name of the list of pictures of the clips; never without ``truth``."""


@dataclass(frozen=True)
class Settings:
    """Everything that one phase's scoring needs to know besides the labels."""

    challenge: str
    """Name of the challenge, as people read it; empty where none is given."""
    task: str
    """Name of the phase."""
    data_version: str
    """The same text as in the input data."""
    targets: tuple[Target, ...]
    """In the order of all tables."""
    main_target: str
    """Name of the target with score columns of its own."""
    group: Group | None
    """Targets whose mean has score columns; None when the task has none."""
    bootstrap: BootstrapSettings
    """How intervals are drawn."""
    text: TextLimits
    """When a text is valid."""
    report: ReportSettings
    """What participants may see."""
    explanation: ExplanationScore
    """How explanations are judged."""
    causes: str | None
    """Name of the file with the known causes of every clip; None where a phase has none."""
    observations: str | None
    """Name of the file with what people pointed at; None where a phase has none."""
    groups: str | None
    """Name of the table with the groups that people belong to; None where a phase has none."""
    selection_threshold: float | None
    """Main target from which on a person counts as selected, inside its range; None: the median of the labels."""
    landmarks: str | None
    """Name of the file with the scores of baselines; None where a phase has none."""
    jury: str | None
    """Name of the file with the ratings of a jury; None before there are any."""
    skill_reference: dict[str, float]
    """Mean absolute error that earns full credit in the total, by target; 0 where missing."""
    rank_by: str = EXPLANATION
    """What the leaderboard is ordered by: one of `RANK_BY`."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the targets, in order."""
        return tuple(target.name for target in self.targets)

    @property
    def heading(self) -> str:
        """Names of the challenge and the phase, for the head of a page."""
        return " · ".join(name for name in (self.challenge, self.task) if name)

    @property
    def main(self) -> Target:
        """The main target."""
        return self.targets[self.names.index(self.main_target)]

    def opened(self) -> Settings:
        """Return the same settings with everything shown, for organisers alone."""
        return replace(self, report=replace(self.report, clips=True, truth=True, gallery=MOST_SHOWN))


def read_settings(path: Path) -> Settings:
    """Read and check ``reference_data/<phase>/task.yaml``.

    Raises
    ------
    OrganiserError
        With every problem of the file at once.
    """
    problems: list[Problem] = []
    root = read_yaml(path, problems)
    if root.integer("format_version", 1, 1_000_000) != FORMAT_VERSION:
        root.add(f"{root.where}, format_version", "another version", str(FORMAT_VERSION))
    targets = tuple(_target(item) for item in root.sections("targets"))
    main_target = root.text("main_target", 32)
    settings = Settings(
        challenge=root.text("challenge", 100) if root.has("challenge") else "",
        task=root.text("task", 64),
        data_version=root.text("data_version", 100),
        targets=targets,
        main_target=main_target,
        group=_group(root.section("group")) if root.has("group") else None,
        bootstrap=_bootstrap(root.section("bootstrap")),
        text=_text_limits(root.section("explanation")),
        report=_report(root.section("report")),
        explanation=_explanation_score(root),
        causes=read_file_name(root, "causes"),
        observations=read_file_name(root, "observations"),
        groups=read_file_name(root, "groups", ".csv"),
        selection_threshold=_selection_threshold(root, targets, main_target),
        landmarks=read_file_name(root, "landmarks"),
        jury=read_file_name(root, "jury"),
        skill_reference=_skill_reference(root, targets),
        rank_by=_rank_by(root),
    )
    root.finish()
    _check_names(settings, root)
    if problems:
        raise OrganiserError("The settings of the reference data have mistakes.", problems)
    return settings


def _name(item: Checked, key: str = "name") -> str:
    name = item.text(key, 32)
    if name and not _NAME.fullmatch(name):
        item.add(f"{item.where}, {key}", repr(name), "lower-case letters, digits and underscores, a letter first")
    return name


def _target(item: Checked) -> Target:
    minimum, maximum = item.number("minimum", -1e6, 1e6), item.number("maximum", -1e6, 1e6)
    if minimum >= maximum:
        item.add(item.where, f"the range {minimum:g} to {maximum:g}", "minimum below maximum")
        maximum = minimum + 1
    constant = item.number("constant", minimum, maximum, secret=True)
    target = Target(_name(item), item.text("title", LONGEST_TITLE), minimum, maximum, constant)
    item.finish()
    return target


def _group(item: Checked) -> Group:
    group = Group(_name(item), item.text("title", LONGEST_TITLE), item.texts("targets"))
    item.finish()
    return group


def _bootstrap(item: Checked) -> BootstrapSettings:
    resamples, seed = item.integer("resamples", 0, 100_000), item.integer("seed", 0, 2**53)
    bootstrap = BootstrapSettings(resamples, item.number("level", 0.5, 0.999), seed)
    item.finish()
    return bootstrap


def _explanation_score(root: Checked) -> ExplanationScore:
    if not root.has("explanation_score"):
        return ExplanationScore()
    return read_explanation_score(root.section("explanation_score"))


def _skill_reference(root: Checked, targets: tuple[Target, ...]) -> dict[str, float]:
    if not root.has("skill_reference"):
        return {}
    spans = {target.name: target.maximum - target.minimum for target in targets}
    return read_skill_reference(root.section("skill_reference"), spans)


def _rank_by(root: Checked) -> str:
    chosen = root.text("rank_by", 32) if root.has("rank_by") else EXPLANATION
    if chosen not in RANK_BY:
        root.add(f"{root.where}, rank_by", repr(chosen), f"one of {', '.join(RANK_BY)}")
    return chosen


def _selection_threshold(root: Checked, targets: tuple[Target, ...], main_target: str) -> float | None:
    if not root.has("selection_threshold"):
        return None
    ranges = [(target.minimum, target.maximum) for target in targets if target.name == main_target]
    return root.number("selection_threshold", *(ranges[0] if ranges else (-1e6, 1e6)))


def _text_limits(item: Checked) -> TextLimits:
    text = item.section("text")
    limits = TextLimits(text.integer("minimum_chars", 1, 100_000), text.integer("maximum_chars", 1, 100_000))
    if limits.minimum_chars > limits.maximum_chars:
        text.add(text.where, "a minimum above the maximum", "minimum_chars <= maximum_chars")
    text.finish()
    item.finish()
    return limits


def _report(item: Checked) -> ReportSettings:
    report = ReportSettings(
        item.flag("clips"),
        item.flag("truth"),
        item.integer("gallery", 0, MOST_SHOWN),
        read_file_name(item, "key_frames", ".csv"),
    )
    item.finish()
    if report.truth and not report.clips:
        item.add(f"{item.where}, truth", "true while clips is false", "truth: false, or clips: true")
    if report.key_frames and not report.truth:
        item.add(f"{item.where}, key_frames", "pictures of clips while truth is false", "no key_frames, or truth: true")
    return report


def _check_names(settings: Settings, root: Checked) -> None:
    names = settings.names
    for name in sorted({name for name in names if name and names.count(name) > 1}):
        root.add(f"{root.where}, targets", f"{name} twice", "every name once")
    known = "one of " + ", ".join(names)
    if settings.main_target and settings.main_target not in names:
        root.add(f"{root.where}, main_target", repr(settings.main_target), known)
    if settings.group is None:
        return
    for name in settings.group.targets:
        if name not in names:
            root.add(f"{root.where}, group, targets", repr(name), known)
    if len(set(settings.group.targets)) != len(settings.group.targets):
        root.add(f"{root.where}, group, targets", "a name that stands twice", "every name once")
    if settings.group.name == settings.main_target:
        root.add(f"{root.where}, group, name", repr(settings.group.name), "another name than the main target's")
