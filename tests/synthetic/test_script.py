"""Words carry their brightness exactly, and their timing does not depend on which words they are."""

from hypothesis import given
from hypothesis import strategies as st

from bundle_tools.synthetic.person import WORD_STEPS
from bundle_tools.synthetic.script import ADJECTIVES, FASTEST, GAPS, SLOWEST, write_script

SEEDS = st.integers(0, 2**62)
STEPS = st.integers(0, WORD_STEPS).map(lambda step: step / WORD_STEPS)
RATES = st.floats(0, 1)
SCORES = {word: score for score, words in ADJECTIVES.items() for word in words}


@given(seed=SEEDS, words=STEPS, rate=RATES)
def test_the_adjectives_add_up_to_the_intensity(seed: int, words: float, rate: float) -> None:
    script = write_script(seed, words=words, speech_rate=rate, duration_s=5)
    scores = [SCORES[word] for word in script.text.lower().replace(".", "").split() if word in SCORES]
    assert len(scores) == GAPS
    assert len(script.telling_s) == sum(score != 0 for score in scores)
    assert sum(scores) == round(words * WORD_STEPS) - 2 * GAPS


@given(seed=SEEDS, words=STEPS, other=STEPS, rate=RATES)
def test_other_words_have_the_same_timing(seed: int, words: float, other: float, rate: float) -> None:
    one = write_script(seed, words=words, speech_rate=rate, duration_s=5)
    two = write_script(seed, words=other, speech_rate=rate, duration_s=5)
    assert (one.onsets, one.length_s) == (two.onsets, two.length_s)
    assert (one.text == two.text) == (words == other)


@given(seed=SEEDS, rate=RATES)
def test_syllables_come_at_the_rate_and_inside_the_clip(seed: int, rate: float) -> None:
    script = write_script(seed, words=0.5, speech_rate=rate, duration_s=5)
    expected = (SLOWEST + (FASTEST - SLOWEST) * rate) * 4.6
    assert abs(len(script.onsets) - expected) <= 0.5
    assert all(early < late for early, late in zip(script.onsets, script.onsets[1:], strict=False))
    assert script.onsets[0] >= 0
    assert script.onsets[-1] + script.length_s <= 5


@given(seed=SEEDS, rate=RATES)
def test_telling_words_come_where_the_text_has_them(seed: int, rate: float) -> None:
    # All three adjectives tell; the last word of the clip is one of them, so its middle is the last syllable's onset.
    script = write_script(seed, words=1.0, speech_rate=rate, duration_s=5)
    assert len(script.telling_s) == GAPS
    assert script.telling_s[-1] == script.onsets[-1]
    assert set(script.telling_s) <= set(script.onsets)
    assert list(script.telling_s) == sorted(script.telling_s)
