"""Plan sets of clips: person, intensities of cues, label rule, and copies of each clip."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bundle_tools.synthetic.clip import ClipSpec
from bundle_tools.synthetic.people.cast import draw_cast
from bundle_tools.synthetic.people.causes import choose_edits
from bundle_tools.synthetic.people.draws import draw_set
from bundle_tools.synthetic.people.labels import MAIN_TARGET, TARGETS, rule_of
from bundle_tools.synthetic.seeds import opaque_id, stream

CLIPS_PER_PERSON = 2
TRAINING_CLIPS, TRAINING_SEED = 240, 2017
"""The training set: the means of its labels are the constant baseline."""


@dataclass(frozen=True)
class Copy:
    """One clip drawn again with one cue neutral."""

    copy_id: str
    """Opaque name of the same form as a clip's."""
    cue: str
    """The cue that is neutral."""
    spec: ClipSpec


@dataclass(frozen=True)
class Member:
    """One clip of a set."""

    clip_id: str
    """Opaque name of the clip."""
    source_id: str
    """Opaque name of the person."""
    spec: ClipSpec
    copies: tuple[Copy, ...]
    """Copies of the clip, each with one neutral cue: two that cause the main target's label and one that does not."""
    exchange_id: str
    """Opaque name of its exchange: the same clip with every part drawn differently."""


def plan(phase: str, *, clips: int, seed: int, split: str = "independent") -> list[Member]:
    """Return the clips of a set in the order of their opaque ids.

    `phase`: ``training``, ``practice`` or ``final``.
    `clips`: number of clips, at least 1; two of each person.
    `seed`: any integer >= 0; a set with secret labels needs one that nobody can guess.
    `split`: one of ``draws.SPLITS``: how the cues are related.
    """
    if clips < 1 or seed < 0:
        raise ValueError(f"expected clips >= 1 and seed >= 0, found clips = {clips} and seed = {seed}")
    rule = rule_of(phase, seed)
    people = [index // CLIPS_PER_PERSON for index in range(clips)]
    members = []
    for index, (person, cues) in enumerate(zip(people, draw_set(seed, phase, people, split, rule), strict=True)):
        source, clip = (phase, "person", person), (phase, "clip", index)
        spec = ClipSpec(
            seed=int(stream(seed, *clip).integers(2**62)),
            cast=draw_cast(stream(seed, *source, "cast")),
            cues=cues,
            rule=rule,
        )
        edits = choose_edits(rule, cues, MAIN_TARGET, stream(seed, *clip, "edits"))
        copies = tuple(Copy(opaque_id("c", seed, *clip, "without", cue), cue, spec.without(cue)) for cue in edits)
        exchange_id = opaque_id("c", seed, *clip, "exchange")
        members.append(Member(opaque_id("c", seed, *clip), opaque_id("s", seed, *source), spec, copies, exchange_id))
    return sorted(members, key=lambda member: member.clip_id)


@lru_cache(maxsize=1)
def training_means() -> dict[str, float]:
    """Return the mean of every target over the training set, rounded to four decimals."""
    rows = [member.spec.labels() for member in plan("training", clips=TRAINING_CLIPS, seed=TRAINING_SEED)]
    return {name: round(float(np.mean([row[name] for row in rows])), 4) for name in TARGETS}
