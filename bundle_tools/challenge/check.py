"""Check a bundle of this challenge: its data and settings, and the rules for any bundle.

No code of the bundle is run, except that the organiser's own programs read their settings (`reading.program_settings`).
"""

from datetime import datetime
from pathlib import Path

from bundle_tools.challenge.rules.clips import check_data
from bundle_tools.challenge.rules.leaks import check_identities, check_leaks
from bundle_tools.challenge.rules.lengths import check_lengths
from bundle_tools.challenge.rules.phases import check_hidden_labels, check_openness, check_training
from bundle_tools.challenge.rules.placeholders import check_placeholders
from bundle_tools.challenge.rules.programs import (
    check_keys,
    check_models,
    check_registry,
    check_rendered_pages,
    check_revealed,
    check_settings,
)
from bundle_tools.challenge.rules.reference import check_groups_misplaced, check_landmarks, check_misplaced
from bundle_tools.challenge.rules.shortcuts import check_shortcuts
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
    check_rendered_pages,
    check_keys,
    check_models,
    check_placeholders,
    check_data,
    check_lengths,
    check_misplaced,
    check_groups_misplaced,
    check_landmarks,
    check_leaks,
    check_identities,
    check_shortcuts,
    check_training,
)


def check(
    path: Path, now: datetime | None = None, progress: Progress | None = None, *, trust: bool = False
) -> list[Finding]:
    """Check a bundle by all rules, see `bundle_tools.codabench.rules.check`."""
    return check_with(path, RULES, now, progress, trust=trust)
