"""Check a bundle of this challenge: its data and settings, and the rules for any bundle.

No code of the bundle is run, except that the organiser's own programs read their settings (`rules.program_settings`).
"""

from datetime import datetime
from pathlib import Path

from bundle_tools.challenge.rules.clips.data import check_data
from bundle_tools.challenge.rules.clips.misplaced import check_groups_misplaced, check_misplaced
from bundle_tools.challenge.rules.clips.reference import check_landmarks
from bundle_tools.challenge.rules.clips.shortcuts import check_shortcuts
from bundle_tools.challenge.rules.programs.keys import check_keys
from bundle_tools.challenge.rules.programs.models import check_models
from bundle_tools.challenge.rules.secrets.identities import check_identities
from bundle_tools.challenge.rules.secrets.leaks import check_leaks
from bundle_tools.challenge.rules.settings.figures import check_figures
from bundle_tools.challenge.rules.settings.hidden_labels import check_hidden_labels
from bundle_tools.challenge.rules.settings.openness import check_openness
from bundle_tools.challenge.rules.settings.refused import check_settings
from bundle_tools.challenge.rules.settings.registry import check_registry, check_revealed
from bundle_tools.challenge.rules.settings.training import check_training
from bundle_tools.codabench.rules import GENERAL, Rule
from bundle_tools.codabench.rules import check as check_with
from bundle_tools.codabench.rules.findings import Finding
from bundle_tools.console import Progress

RULES: tuple[Rule, ...] = (
    *GENERAL,
    check_openness,
    check_settings,
    check_registry,
    check_revealed,
    check_hidden_labels,
    check_figures,
    check_keys,
    check_models,
    check_data,
    check_misplaced,
    check_groups_misplaced,
    check_landmarks,
    check_leaks,
    check_identities,
    check_shortcuts,
    check_training,
)


def check(path: Path, now: datetime | None = None, progress: Progress | None = None) -> list[Finding]:
    """Check a bundle by all rules, see `bundle_tools.codabench.rules.check`."""
    return check_with(path, RULES, now, progress)
