"""Texts about a clip are true and differently worded."""

from itertools import product

import pytest

from bundle_tools.phase_data.settings import VOCABULARY
from bundle_tools.synthetic.person import CAUSAL, CUE_NAMES, NEUTRAL, TARGETS, Cues, stream
from bundle_tools.synthetic.script import explain, paraphrases
from score.text import Vocabulary, parse_claims


@pytest.mark.parametrize("cue", CAUSAL)
def test_every_cue_has_twenty_wordings_of_each_statement(cue: str) -> None:
    sets = {
        (much, sign): set(paraphrases(cue, much=much, sign=sign, score="the interview score"))
        for much in (False, True)
        for sign in (1, -1)
    }
    assert all(len(wordings) >= 20 for wordings in sets.values())
    everything = [wording for wordings in sets.values() for wording in wordings]
    assert len(everything) == len(set(everything))
    assert all(wording[0].isupper() for wording in everything)


@pytest.mark.parametrize("cue", CAUSAL)
def test_the_published_lexicon_reads_every_wording(cue: str) -> None:
    vocabulary = Vocabulary(cues=VOCABULARY, targets=TARGETS, main="interview", aliases={})
    for much, sign in product((False, True), (1, -1)):
        for wording in paraphrases(cue, much=much, sign=sign, score="the interview score"):
            claims = {(claim.cue, claim.target, claim.sign) for claim in parse_claims(f"{wording}.", vocabulary)}
            assert claims == {(cue, "interview", sign)}, wording


@pytest.mark.parametrize(("label", "level"), [(0.2, "low"), (0.5, "medium"), (0.9, "high")])
def test_a_text_names_the_two_strongest_causes_as_they_are(label: float, level: str) -> None:
    cues = Cues(**dict.fromkeys(CUE_NAMES, NEUTRAL) | {"smile": 0.9, "posture": 0.1, "gaze": 0.6})
    shares = dict.fromkeys(CAUSAL, 0.0) | {"smile": 0.1, "posture": -0.08, "gaze": 0.01}
    texts = explain(cues, shares, label, "the interview score", stream(1, "telling"))
    smiles = paraphrases("smile", much=True, sign=1, score="the interview score")
    slouches = paraphrases("posture", much=False, sign=-1, score="the interview score")
    assert len(texts) == 2
    for text in texts:
        opening, first, second = text.removesuffix(".").split(". ")
        assert opening == f"The interview score is {level}"
        assert first in smiles
        assert second in slouches
        assert text.isascii()
        assert 20 <= len(text) <= 1200
