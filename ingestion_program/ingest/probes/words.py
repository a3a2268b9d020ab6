"""Drop the words of masked seconds. A transcript has no times, so its words are spread evenly over the clip."""

import re
from collections.abc import Collection

WORD = re.compile(r"\S+\s*")


def drop_words(transcript: str, seconds: Collection[int], duration_s: float) -> str:
    """Return the transcript without the words whose middle lies in one of the given seconds, each [i, i + 1)."""
    words = WORD.findall(transcript)
    if not words or not seconds:
        return transcript
    each_s = duration_s / len(words)
    return "".join(word for number, word in enumerate(words) if int((number + 0.5) * each_s) not in seconds)
