"""Rule about the public data: whether there are enough labelled clips to learn from."""

from collections.abc import Iterator

from bundle_tools.challenge.rules.clips.tables import read_settings, read_table
from bundle_tools.codabench.rules.dataset import find, opened, uses_of
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import Finding

ENOUGH = 100
"""Fewest labelled clips from which a small model learns something."""
LABELS = "labels.csv"
SYNTHETIC = "synthetic"
"""Start of the `data_version` of drawn clips."""


def is_drawn(draft: Draft) -> bool:
    """Whether all clips are drawn, so that `bundle build` makes its own training set."""
    settings = [read_settings(data) or {} for data in opened(draft, "input_data").values()]
    return bool(settings) and all(str(one.get("data_version")).startswith(SYNTHETIC) for one in settings)


def check_training(draft: Draft) -> Iterator[Finding]:
    """Find too few public clips; a sample of drawn clips is replaced when the zip is built."""
    if draft.folder and is_drawn(draft):
        return
    seen: set[str] = set()
    for place, path in uses_of(draft, "public_data"):
        data = find(draft, path)
        if data is None or LABELS not in data.names() or path in seen:
            continue
        seen.add(path)
        clips = max(0, len(read_table(data.text(LABELS))) - 1)
        if clips < ENOUGH:
            what = f"The public data have {clips} labelled clips; expected {ENOUGH} or more."
            effect = (
                "Models trained on so few clips score below the constant, although they fit their training clips well."
            )
            drawn = "Leave out --no-training: `bundle build` then draws 240."
            fix = drawn if is_drawn(draft) else "Publish more labelled clips: smaller phases leave more of them."
            yield Finding("training-few", "warning", draft.at(*place), what, effect, fix)
