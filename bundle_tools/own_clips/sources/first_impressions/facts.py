"""Facts about the data set's files: names, codes, and the meaning of columns."""

import re
from dataclasses import replace

from bundle_tools.synthetic.settings import CHALLENGE as DRAWN

CLIP_NAME = re.compile(r"([A-Za-z0-9_-]{11})\.[0-9]{3}\.mp4")
"""A YouTube video id and a segment number."""

OFFICIAL = {"training": "training", "practice": "validation", "final": "test"}
"""The official part, as spelt in file names, that each of our parts replicates."""
SPLITS = tuple(OFFICIAL.values())

OLD_TARGETS = {"neuroticism": "emotional_stability"}
"""Columns that have another name here."""
_COLUMNS = {name: column for column, name in OLD_TARGETS.items()}
CHALLENGE = replace(
    DRAWN,
    targets=tuple(replace(one, column=_COLUMNS.get(one.name, one.name)) for one in DRAWN.targets),
    # The 2017 winner reported errors between 0.076 and 0.085 for the traits.
    skill_reference={one.name: 0.08 for one in DRAWN.targets},
)

ETHNICITIES = {"1": "Asian", "2": "Caucasian", "3": "African-American"}
GENDERS = {"1": "male", "2": "female"}
AGES = {"1": "0-6", "2": "7-13", "3": "14-18", "4": "19-24", "5": "25-32", "6": "33-45", "7": "46-60", "8": "61+"}
OLDEST_MINOR = 3
"""The highest age group that includes people of 18 or younger."""
ATTRIBUTES = ("age", "ethnicity", "gender")

DOWNLOAD_AGAIN = "Download them again."
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
