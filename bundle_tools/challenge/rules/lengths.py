"""Rule about clips that are much shorter than the others, or so short that hardly anything happens in them."""

import statistics
from collections.abc import Iterator, Mapping

from bundle_tools.challenge.reading.tables import read_clips, side_of
from bundle_tools.challenge.reading.video import UnreadableVideo, describe_file
from bundle_tools.challenge.rules import finding
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.codabench.rules.findings import Finding

SHORT = 4
"""A clip is short if the middle one of its set is so many times longer."""
SHORTEST_S = 1.5
"""In shorter clips hardly anything happens, seconds."""


def short_clips(lengths_s: Mapping[str, float]) -> Iterator[str]:
    """Yield what is to be said of the lengths of clips, by name: nothing if all is well."""
    usual_s = statistics.median(lengths_s.values()) if lengths_s else 0.0
    for bound_s, words in (
        (usual_s / SHORT, f"shorter than a quarter of the usual {usual_s:.1f} s"),
        (SHORTEST_S, f"shorter than {SHORTEST_S:g} s"),
    ):
        short = sorted((length_s, name) for name, length_s in lengths_s.items() if length_s < bound_s)
        if short:
            are = "1 clip is" if len(short) == 1 else f"{len(short)} clips are"
            yield f"{are} {words}, such as {short[0][1]} ({short[0][0]:.1f} s)"


def check_lengths(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find short clips of every task."""
    for task in bundle.keys.tasks:
        side = side_of(bundle, task, "input_data")
        if side is None:
            continue
        lengths_s: dict[str, float] = {}
        for clip, file, _ in read_clips(side.data):
            try:
                lengths_s[clip] = describe_file(side.data, file).duration_s
            except (UnreadableVideo, OSError, KeyError):  # other rules report them
                continue
        for what in short_clips(lengths_s):
            yield finding("clips-short", side.at(str(side.settings.get("clips"))), f"{what}.")
