"""Rules about people: the same in two phases, and names or transcripts that reveal whom a clip shows."""

import json
from collections.abc import Iterator

from bundle_tools.challenge.rules.clips.tables import LABELS, SETTINGS, read_clips, read_labels
from bundle_tools.challenge.rules.secrets.answers import is_public
from bundle_tools.challenge.rules.secrets.search import named_ids
from bundle_tools.codabench.rules.dataset import Dataset, find, opened
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import Finding

# A shorter source id, such as 7, occurs in other words by chance.
SHORTEST_SOURCE = 4


def check_identities(draft: Draft) -> Iterator[Finding]:
    """Find source videos that a hidden task shares with another set, and clips that name their source."""
    seen: dict[str, tuple[set[str], bool]] = {}
    for task in draft.keys.tasks:
        given, wanted = find(draft, task.input_data), find(draft, task.reference_data)
        place = str(task.reference_data)
        if wanted is None or place in seen or not {SETTINGS, LABELS} <= set(wanted.names()):
            continue
        sources = read_labels(wanted).sources
        seen[place] = set(sources.values()), not is_public(wanted)
        if given is not None:
            yield from _check_names(str(task.input_data), given, sources)
            yield from _check_transcripts(str(task.input_data), given, sources)
    for place, data in opened(draft, "public_data").items():
        if LABELS in data.names() and data.text(LABELS).startswith("clip_id,source_id,"):
            seen[place] = set(read_labels(data).sources.values()), False
    yield from _check_siblings(seen)


def _check_siblings(sets: dict[str, tuple[set[str], bool]]) -> Iterator[Finding]:
    places = list(sets)
    for at, first in enumerate(places):
        for second in places[at + 1 :]:
            shared = sorted(sets[first][0] & sets[second][0])
            if shared and (sets[first][1] or sets[second][1]):
                what = f"{len(shared)} sources are in both {first} and {second}, such as {shared[0]}."
                # In the 2017 data the mean label of sibling clips alone reached accuracy 0.911, the winner 0.919.
                effect = "A model that recognises a person can look up the labels of their other clips."
                fix = "Split by source, or number the sources of each set differently."
                yield Finding("data-siblings", "warning", second, what, effect, fix)


def _check_names(place: str, data: Dataset, sources: dict[str, str]) -> Iterator[Finding]:
    telling = [
        clip
        for clip, file, _ in read_clips(data)
        if len(sources.get(clip, "")) >= SHORTEST_SOURCE and sources[clip] != clip and sources[clip] in f"{clip} {file}"
    ]
    if telling:
        what = f"{len(telling)} clips have their source in their name, such as {telling[0]}."
        effect = "Clips of one person can be linked without watching them, and found elsewhere."
        yield Finding("leak-source", "warning", place, what, effect, "Rename the clips at random.")


def _check_transcripts(place: str, data: Dataset, sources: dict[str, str]) -> Iterator[Finding]:
    if "transcripts.json" not in data.names():
        return
    try:
        content = json.loads(data.text("transcripts.json"))
    except (ValueError, RecursionError):
        return
    names = {name for name in (*sources, *sources.values()) if len(name) >= SHORTEST_SOURCE and not name.isalpha()}
    texts = content.items() if isinstance(content, dict) else ()
    telling = sorted(clip for clip, text in texts if isinstance(text, str) and named_ids(text, names))
    if telling:
        what = f"{len(telling)} transcripts name a clip or a source, such as that of {telling[0]}."
        effect = "Models read transcripts: they could look the clip up."
        yield Finding("leak-transcript", "warning", place, what, effect, "Remove the names.")
