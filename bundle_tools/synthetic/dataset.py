"""The two settings files of a phase, and the texts that go with a labelled folder."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bundle_tools.phase_data import settings
from bundle_tools.phase_data.settings import Challenge, PhaseValues, Target
from bundle_tools.synthetic.causes import choose_edits, draw_set
from bundle_tools.synthetic.clip import ClipSpec
from bundle_tools.synthetic.person import MAIN_TARGET, TARGETS, draw_cast, opaque_id, rule_of, stream

DATA_VERSION = "synthetic-4"
PHASES = {"practice": True, "final": False}
"""Whether each is open: labels, single clips and the model's output are shown."""
_TITLES = (
    "Extraversion",
    "Agreeableness",
    "Conscientiousness",
    "Emotional stability",
    "Openness",
    "Invite to interview",
)
CHALLENGE = Challenge(
    title="First Impressions, Explained",
    targets=tuple(Target(name, title, 0.0, 1.0) for name, title in zip(TARGETS, _TITLES, strict=True)),
    main_target=MAIN_TARGET,
    group={"name": "traits", "title": "Five traits", "targets": TARGETS[:-1]},
    # Mean absolute error of the cue reader on the training set, cross-validated, rounded up to three decimals.
    skill_reference={
        "extraversion": 0.047, "agreeableness": 0.042, "conscientiousness": 0.034,
        "emotional_stability": 0.042, "openness": 0.032, "interview": 0.035,
    },
)  # fmt: skip
WEIGHTING = {
    "weights": {
        "cue_claims": 0.37, "faithfulness_space": 0.21, "known_causes": 0.21, "faithfulness_time": 0.16, "text": 0.05,
    },
    "power": 0.5,
    "gate": 0.1,
    "bands": {"at chance": 0, "weak": 5, "fair": 25, "good": 65, "excellent": 75},
}  # fmt: skip

_SPLITS = {
    "independent": "All of these are drawn independently of each other.",
    "stress": "In this split the causes go together (correlation about 0.5): which one matters is harder to tell.",
    "spurious": "In this split vivid clothes go with a high interview score (correlation about 0.8), by chance alone.",
}


def input_settings(phase: str) -> str:
    """Return the text of ``input_data/<phase>/task.yaml``."""
    files = {"copies": "copies.csv", "exchanges": "exchanges.json"}
    return settings.input_settings(CHALLENGE, PhaseValues(phase, DATA_VERSION, PHASES[phase]), files=files)


def reference_settings(phase: str, constants: dict[str, float]) -> str:
    """Return the text of ``reference_data/<phase>/task.yaml``; `constants` are the means of the training labels."""
    return settings.reference_settings(
        CHALLENGE,
        PhaseValues(phase, DATA_VERSION, PHASES[phase]),
        constants,
        files={"causes": "causes.json", "groups": "groups.csv", "landmarks": "landmarks.json"},
        weighting=WEIGHTING,
        key_frames="key_frames.csv" if PHASES[phase] else "",
    )


def readme(clips: int, split: str) -> str:
    """Return the README of a labelled folder."""
    return f"""\
# Synthetic talking heads with labels

{clips} short clips of invented people (drawn, no real person) with labels for six targets.

| file | what it holds |
|---|---|
| `clips/<clip_id>.mp4` | 5 s, 640x360, 25 frames a second, H.264 with mono AAC sound |
| `labels.csv` | `clip_id,source_id` and one column per target, each in [0, 1]; one `source_id` is one person |
| `transcripts.json` | `{{clip_id: text}}`: what is said |

Targets: {", ".join(TARGETS)}.

The labels are a function of what a person does and how the clip is made: smile, gaze, motion, posture, lighting,
framing, speech rate and words. Skin, hair, face, clothes, voice pitch, room and station logo never change a label.
{_SPLITS[split]}
Keep clips of one person on the same side of every split.

The drawings and the rule are free to use for any purpose. They say nothing about real people.
"""


CLIPS_PER_PERSON = 2
TRAINING_CLIPS, TRAINING_SEED = 240, 2017
"""The training set: the means of its labels are the constant baseline."""


@dataclass(frozen=True)
class NeutralCopy:
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
    copies: tuple[NeutralCopy, ...]
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
        copies = tuple(
            NeutralCopy(opaque_id("c", seed, *clip, "without", cue), cue, spec.without(cue)) for cue in edits
        )
        exchange_id = opaque_id("c", seed, *clip, "exchange")
        members.append(Member(opaque_id("c", seed, *clip), opaque_id("s", seed, *source), spec, copies, exchange_id))
    return sorted(members, key=lambda member: member.clip_id)


@lru_cache(maxsize=1)
def training_means() -> dict[str, float]:
    """Return the mean of every target over the training set, rounded to four decimals."""
    rows = [member.spec.labels() for member in plan("training", clips=TRAINING_CLIPS, seed=TRAINING_SEED)]
    return {name: round(float(np.mean([row[name] for row in rows])), 4) for name in TARGETS}
