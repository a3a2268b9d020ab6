"""The numbers of the page once more, for machines."""

from __future__ import annotations

import json
from typing import Any

from score import __version__
from score.columns import spread_decimals
from score.report.scored import Scored

FORMAT_VERSION = 1


def record(scored: Scored) -> str:
    """Write the scores, and what they depend on, as JSON that may stand inside HTML.

    It holds no more than the page shows: where clips are closed the numbers are already rounded.
    """
    run, settings = scored.results.run, scored.settings
    content = {
        "format_version": FORMAT_VERSION,
        "task": settings.task,
        "data_version": settings.data_version,
        "scoring_version": __version__,
        "ingestion_version": run.program_version,
        "status": run.status,
        "clips": {"total": len(scored.outcomes.clip_ids), "failed": scored.outcomes.failed},
        "duration_s": round(run.duration_s, 1),
        "isolation": run.isolation,
        "sealed": scored.results.folder.sealed,
        "level": settings.bootstrap.level,
        "scores": _scores(scored),
        "input_data_sha256": run.data_sha256 or None,
        "input_settings_sha256": run.settings_sha256 or None,
        "scoring_settings_sha256": scored.beside.hashes.settings or None,
        "reference_data_sha256": scored.beside.hashes.labels or None,
        "submission_sha256": run.submission_sha256 or None,
    }
    text = json.dumps(content, indent=1, allow_nan=False)
    for sign in "<>&":  # so that nothing in it can end the element it stands in
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _scores(scored: Scored) -> dict[str, dict[str, Any]]:
    scores: dict[str, dict[str, Any]] = {}
    for column, estimate in scored.evaluation.columns:
        places = spread_decimals(column, open_=scored.settings.report.truth)
        ends = estimate.interval
        scores[column.key] = {
            "value": column.rounded(estimate.value),
            "interval": [round(end, places) + 0.0 for end in ends] if ends else None,
        }
    return scores
