"""What is known of the data set's files: names, codes, and what a column means."""

import re

from bundle_tools.adapt.dataset import Target
from bundle_tools.adapt.settings import Rules
from bundle_tools.synth.settings import CHALLENGE

CLIP_NAME = re.compile(r"([A-Za-z0-9_-]{11})\.[0-9]{3}\.mp4")
"""The id of a video on YouTube and the number of the segment."""

SPLITS = ("training", "validation", "test")
"""The official parts, as they stand in the names of files."""

NAME_IN_FILES = {
    "extraversion": "extraversion",
    "agreeableness": "agreeableness",
    "conscientiousness": "conscientiousness",
    "emotional_stability": "neuroticism",
    "openness": "openness",
    "interview": "interview",
}
"""Our targets, and what their columns are called in the data set."""
OLD_TARGETS = {old: name for name, old in NAME_IN_FILES.items() if old != name}
"""Targets that submissions of 2017 call otherwise, and ours."""

TARGETS = (
    Target("extraversion", "Extraversion", 0.0, 1.0),
    Target("agreeableness", "Agreeableness", 0.0, 1.0),
    Target("conscientiousness", "Conscientiousness", 0.0, 1.0),
    Target("emotional_stability", "Emotional stability", 0.0, 1.0),
    Target("openness", "Openness", 0.0, 1.0),
    Target("interview", "Invite to interview", 0.0, 1.0),
)
MAIN_TARGET = "interview"

RULES = Rules(
    challenge=CHALLENGE,
    group=("traits", "Five traits", tuple(one.name for one in TARGETS if one.name != MAIN_TARGET)),
    # The errors of the trait predictions that the 2017 winner published lie between 0.076 and 0.085.
    skill_reference={one.name: 0.08 for one in TARGETS},
)

ETHNICITIES = {"1": "Asian", "2": "Caucasian", "3": "African-American"}
GENDERS = {"1": "male", "2": "female"}
AGES = {"1": "0-6", "2": "7-13", "3": "14-18", "4": "19-24", "5": "25-32", "6": "33-45", "7": "46-60", "8": "61+"}
OLDEST_MINOR = 3
"""The last age group of people who are 18 or younger."""
ATTRIBUTES = ("age", "ethnicity", "gender")

STABILITY = """\
`emotional_stability` is called "neuroticism" in the files of the data set, which is the wrong way round: raters were
asked who looks more comfortable, and high values mean calm. The values are unchanged, only the name is put right.
"""
NOTES = f"""\
{STABILITY}
The labels are first impressions of strangers. They are neither personality nor suitability for a job, and they carry
the raters' prejudices about gender, age and ethnicity.

The clips and labels come from ChaLearn First Impressions V2, for research only: labels under CC BY-NC 4.0, clips under
the terms of the data set. Do not pass them on, and do not try to find out who is shown.
"""
