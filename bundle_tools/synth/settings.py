"""The two settings files of a phase, and the texts that go with a labelled folder."""

from dataclasses import dataclass

from bundle_tools.synth.labels import MAIN_TARGET, TARGETS

CHALLENGE = "First Impressions, Explained"
DATA_VERSION = "synthetic-3"
VOCABULARY = (
    "smile", "gaze", "motion", "posture", "lighting", "framing",
    "background", "clothing", "speech_rate", "words", "face", "voice",
)  # fmt: skip
_TITLES = (
    "Extraversion",
    "Agreeableness",
    "Conscientiousness",
    "Emotional stability",
    "Openness",
    "Invite to interview",
)
SKILL_REFERENCE = {
    "extraversion": 0.049, "agreeableness": 0.047, "conscientiousness": 0.043,
    "emotional_stability": 0.048, "openness": 0.031, "interview": 0.040,
}  # fmt: skip
"""Mean absolute error of the cue reader on the training set, cross-validated, rounded up to three decimals."""


@dataclass(frozen=True)
class Disclosure:
    """What participants may see of a phase."""

    model_output: bool
    """Whether what the model prints is handed back."""
    clips: bool
    """Whether the report shows single clips."""
    truth: bool
    """Whether the report shows labels and errors of single clips."""


DISCLOSURES = {
    "practice": Disclosure(model_output=True, clips=True, truth=True),
    "final": Disclosure(model_output=False, clips=False, truth=False),
}


_SPLITS = {
    "independent": "All of these are drawn independently of each other.",
    "stress": "In this split the causes go together (correlation about 0.5): which one matters is harder to tell.",
    "spurious": "In this split vivid clothes go with a high interview score (correlation about 0.8), by chance alone.",
}


def input_settings(phase: str) -> str:
    """Return the text of ``input_data/<phase>/task.yaml``."""
    targets = "\n".join(f"  - {{name: {name}, minimum: 0.0, maximum: 1.0}}" for name in TARGETS)
    return f"""\
format_version: 1
task: {phase}
data_version: {DATA_VERSION}
seed: 20170721                 # the only source of randomness in ingestion
clips: clips.csv
transcripts: transcripts.json
copies: copies.csv
exchanges: exchanges.json
targets:
{targets}
limits:
  time_limit_s: 600            # this phase's execution_time_limit in competition.yaml
  load_s: 60
  call_s: 30
  restarts: 5
  memory_mb: 4096
isolation: {{require: portable, at_most: full}}   # docs/security.md; require seccomp for a phase that counts
explanation:
  text: {{minimum_chars: 20, maximum_chars: 1200}}
  image: {{width: 355, height: 200}}
  evidence:
    grid: {{rows: 9, columns: 16}}
    cues: [{", ".join(VOCABULARY)}]
probes:
  operators: [imputation, blur, median, moment]
  edits: 3
  jitter: {{gain: 0.01, shift_px: 2, frames: 1}}
feedback:
  model_output: {_yaml(DISCLOSURES[phase].model_output)}
"""


def reference_settings(phase: str, constants: dict[str, float]) -> str:
    """Return the text of ``reference_data/<phase>/task.yaml``; `constants` are the means of the training labels."""
    targets = "\n".join(
        f"  - {{name: {name}, title: {title}, minimum: 0.0, maximum: 1.0, constant: {constants[name]}}}"
        for name, title in zip(TARGETS, _TITLES, strict=True)
    )
    references = ", ".join(f"{name}: {SKILL_REFERENCE[name]}" for name in TARGETS)
    shown = DISCLOSURES[phase]
    key_frames = "  key_frames: key_frames.csv\n" if shown.truth else ""
    return f"""\
format_version: 1
challenge: {CHALLENGE}
task: {phase}
data_version: {DATA_VERSION}
targets:                       # constant: the mean over the training set, the baseline of the skill
{targets}
main_target: {MAIN_TARGET}
group: {{name: traits, title: Five traits, targets: [{", ".join(TARGETS[:-1])}]}}
bootstrap: {{resamples: 1000, level: 0.95, seed: 20170722}}
causes: causes.json
groups: groups.csv
landmarks: landmarks.json
skill_reference: {{{references}}}
explanation_score:
  weights: {{cue_claims: 0.37, faithfulness_space: 0.21, known_causes: 0.21, faithfulness_time: 0.16, text: 0.05}}
  power: 0.5
  gate: 0.1
  vocabulary: [{", ".join(VOCABULARY)}]
  aliases: {{}}
  bands: {{at chance: 0, weak: 5, fair: 20, good: 40, excellent: 65}}
explanation:
  text: {{minimum_chars: 20, maximum_chars: 1200}}
report:
  clips: {_yaml(shown.clips)}
  truth: {_yaml(shown.truth)}
  gallery: 24
{key_frames}"""


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


def _yaml(value: bool) -> str:
    return "true" if value else "false"
