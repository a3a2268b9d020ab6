"""The two settings files of a phase, as docs/data_format.md describes them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import yaml

from bundle_tools.adapt.dataset import Dataset, Part
from bundle_tools.synth.settings import VOCABULARY


@dataclass(frozen=True)
class Rules:
    """What an organiser decides beside clips and labels."""

    challenge: str = ""
    """Name of the challenge, as people read it; empty where it has none yet."""
    group: tuple[str, str, tuple[str, ...]] | None = None
    """Name, title and targets of the group whose mean has score columns of its own."""
    skill_reference: Mapping[str, float] = field(default_factory=dict)
    """By target, the mean absolute error that earns full credit."""
    vocabulary: tuple[str, ...] = VOCABULARY
    """The closed vocabulary of cue claims."""
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Words for cues beyond the built-in lexicon, by cue."""
    time_limit_s: int = 600
    """Time limit of a phase, seconds: the same as `execution_time_limit` in competition.yaml."""
    rank_by: str = "prediction"
    """What the leaderboard is ordered by: prediction or explanation. Clips that were filmed have no exchange."""
    results: Mapping[str, str] | None = None
    """Whether results may take the place of code, and then older names of targets; None takes code only."""


ALIASES = "aliases.csv"
"""Older names of clips, where results of older challenges are taken."""
TEXT = {"minimum_chars": 20, "maximum_chars": 1200}


def input_settings(dataset: Dataset, part: Part, rules: Rules, version: str) -> str:
    """Return the text of ``input_data/<phase>/task.yaml``."""
    old_results = {"results": True, "aliases": ALIASES, "target_aliases": dict(rules.results or {})}
    return _yaml(
        {
            "format_version": 1,
            "task": part.name,
            "data_version": version,
            "seed": 20170721,
            "clips": "clips.csv",
            "transcripts": "transcripts.json",
            "targets": [{"name": one.name, "minimum": one.minimum, "maximum": one.maximum} for one in dataset.targets],
            "limits": {
                "time_limit_s": rules.time_limit_s,
                "load_s": 60,
                "call_s": 30,
                "restarts": 5,
                "memory_mb": 4096,
            },
            "isolation": {"require": "portable", "at_most": "full"},
            "explanation": {
                "text": TEXT,
                "image": {"width": 355, "height": 200},
                "evidence": {"grid": {"rows": 9, "columns": 16}, "cues": list(rules.vocabulary)},
            },
            "probes": {
                "operators": ["imputation", "blur", "median", "moment"],
                "edits": 3,
                "jitter": {"gain": 0.01, "shift_px": 2, "frames": 1},
            },
            "feedback": {"model_output": not part.closed},
            **(old_results if rules.results is not None else {}),
        }
    )


def reference_settings(
    dataset: Dataset, part: Part, rules: Rules, version: str, constants: Mapping[str, float], files: Mapping[str, str]
) -> str:
    """Return the text of ``reference_data/<phase>/task.yaml``.

    Parameters
    ----------
    constants
        Mean of every target over the training clips.
    files
        Optional files beside the settings, by their key, such as ``observations``.
    """
    settings: dict[str, object] = {
        "format_version": 1,
        **({"challenge": rules.challenge} if rules.challenge else {}),
        "task": part.name,
        "data_version": version,
        "targets": [
            {
                "name": one.name,
                "title": one.title,
                "minimum": one.minimum,
                "maximum": one.maximum,
                "constant": constants[one.name],
            }
            for one in dataset.targets
        ],
        "main_target": dataset.main_target,
        "rank_by": rules.rank_by,
    }
    if rules.group is not None:
        name, title, targets = rules.group
        settings["group"] = {"name": name, "title": title, "targets": list(targets)}
    settings["bootstrap"] = {"resamples": 1000, "level": 0.95, "seed": 20170722}
    settings |= files
    if rules.skill_reference:
        settings["skill_reference"] = dict(rules.skill_reference)
    settings |= {
        "explanation_score": {
            "vocabulary": list(rules.vocabulary),
            "aliases": {cue: list(words) for cue, words in rules.aliases.items()},
        },
        "explanation": {"text": TEXT},
        "report": {"clips": not part.closed, "truth": not part.closed, "gallery": 24},
    }
    return _yaml(settings)


def _yaml(settings: Mapping[str, object]) -> str:
    return yaml.dump(settings, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=120)


class _Dumper(yaml.SafeDumper):
    """Writes what stands twice out twice, instead of a reference to the first."""

    def ignore_aliases(self, _data: object) -> bool:
        """Never refer."""
        return True
