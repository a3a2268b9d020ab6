"""Claims from plain English: properties, then tables of sentences, then sentences that nobody wrote to fit."""

from __future__ import annotations

import string
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from score.text import (
    Level,
    LevelStatement,
    TextClaim,
    Vocabulary,
    consistent,
    parse_claims,
    parse_levels,
    readability,
    text_validity,
)
from score.text.phrases import lexicon, sentences_of, spelled_out
from score.text.validity import syllables
from tests import ROOT

HERE = Path(__file__).parent
LEAST_READ = 0.9
"""Share of the plain sentences that have to be read exactly."""
LEAST_READ_OUTSIDE = 0.55
"""The same of the sentences in the styles of others; the rest should be read as no claim."""
MOST_TURNED = 0.02
"""Share of the claims that may be read with the other sign."""
TRAITS = ("extraversion", "agreeableness", "conscientiousness", "emotional_stability", "openness")
CUES = (
    "smile", "gaze", "motion", "posture", "lighting", "framing",
    "background", "clothing", "speech_rate", "words", "face", "voice", "hair",
)  # fmt: skip
WORDS = Vocabulary(CUES, (*TRAITS, "interview"), "interview")
STATES = {
    "smile": ["the smile", "a missing smile", "hanging mouth corners", "her grin"],
    "gaze": ["the wandering gaze", "steady eye contact", "looking away", "averted eyes"],
    "motion": ["little motion", "the lively gestures", "frequent nodding", "his fidgeting"],
    "posture": ["an upright posture", "slumped shoulders", "slouching"],
    "lighting": ["dim lighting", "the bright picture", "a dark room"],
    "framing": ["close framing", "the distance from the camera", "the close-up"],
    "background": ["the cluttered background", "a tidy room behind her"],
    "clothing": ["the dark jacket", "his shirt", "formal clothes"],
    "speech_rate": ["a slow speech rate", "the quick pace", "long pauses"],
    "words": ["the gloomy words", "what she says", "the choice of words"],
    "face": ["the facial features", "his face"],
    "voice": ["a loud voice", "the calm tone of voice"],
    "hair": ["the long hair", "his haircut"],
}
VERBS = {
    1: ["raised", "lifted", "helped", "pushed up", "added to"],
    -1: ["lowered", "hurt", "took away from", "reduced"],
}
CLAUSES = st.tuples(
    st.sampled_from(CUES).flatmap(lambda cue: st.tuples(st.just(cue), st.sampled_from(STATES[cue]))),
    st.sampled_from([1, -1]).flatmap(lambda sign: st.tuples(st.just(sign), st.sampled_from(VERBS[sign]))),
    st.sampled_from(WORDS.targets),
)
ENGLISH = st.lists(
    st.sampled_from(
        sorted({word.strip("*") for word in " ".join(state for some in STATES.values() for state in some).split()})
        + [verb for some in VERBS.values() for verb in some]
        + [
            "it",
            "the",
            "score",
            "openness",
            "not",
            "but",
            "and",
            "which",
            "because",
            "of",
            "by",
            "despite",
            "would",
            "this",
        ]
        + [*",.;:", "high", "low", "0.5", "+0.1"]
    ),
    max_size=40,
).map(" ".join)
OUTSIDE: dict[str, dict[str, list[tuple[str, str]]]] = yaml.load(
    (HERE / "outside_sentences.yaml").read_text(), yaml.CSafeLoader
)
CLAIMED = {
    "the smile raised the score": "+smile",
    "the score was raised by the smile": "+smile",
    "the averted gaze lowered the score": "-gaze",
    "the score is low because of the dim light": "-lighting",
    "the lack of gestures lowered the score": "-motion",
    "the voice was a plus": "+voice",
    "removing the smile lowers the score": "+smile",
    "hiding the background raises the prediction": "-background",
    "the score drops when the smile is masked": "+smile",
    "the score would be higher with more eye contact": "-gaze",
}
DENIED = (
    "the smile did not raise the score",
    "the voice had no effect",
    "removing the smile changes nothing",
    "hiding the background does not lower the score",
    "it is unclear whether the smile raised the score",
    "I doubt that the posture hurt the score",
    "neither the smile nor the gaze raised the score",
)
BEFORE = (
    "", "As expected, ", "I think that ", "Nobody would invite him: ", "He removed his hat; ", "Without doubt, ",
    "She speaks of her work, and ", "Although the other cues helped, ", "The interview score is high (0.66), and ",
    "The openness score is low, but ", "To test this I masked each cue: ", "Nothing else helped: ",
    "Compared with other clips, ", "The person would make a good colleague. ", "Apart from the lighting, ",
    "With a weight of 0.4, ", "When she starts to speak, ",
)  # fmt: skip
AFTER = (
    ".", " a little (0.05).", " by 0.05 points, from 0.60 to 0.65.", ", as one would expect.", ", as hiding it shows.",
    ", which would be no surprise to a person.", ", and she would be invited.", ", so the model would invite her.",
    " (measured by masking).", ", but the clothes did not matter.", ", not the words.", " because it is so clear.",
    "; without it nothing would change.", " despite everything.",
)  # fmt: skip
SENTENCES: list[dict[str, Any]] = yaml.load((HERE / "sentences.yaml").read_text(), yaml.CSafeLoader)


def claims_of(text: str) -> set[tuple[str, str, int]]:
    return {(claim.cue, claim.target, claim.sign) for claim in parse_claims(text, WORDS)}


def claims_in(notation: str) -> set[tuple[str, str, int]]:
    """Read ``+smile -gaze@openness``."""
    result = set()
    for part in notation.split():
        cue, _, target = part[1:].partition("@")
        result.add((cue, target or "interview", {"+": 1, "-": -1}[part[0]]))
    return result


def turned(claims: set[tuple[str, str, int]]) -> set[tuple[str, str, int]]:
    return {(cue, target, -sign) for cue, target, sign in claims}


def levels_of(text: str) -> list[tuple[str, str]]:
    return [(item.target, item.level) for item in parse_levels(text, WORDS)]


@settings(deadline=None)
@given(st.one_of(st.text(max_size=300), st.text(string.printable, max_size=300), ENGLISH))
def test_any_text_is_read_and_claims_stay_in_the_vocabulary(text: str) -> None:
    few = Vocabulary(("smile", "voice"), ("openness", "interview"), "interview")
    claims = parse_claims(text, few)
    assert len({(claim.cue, claim.target) for claim in claims}) == len(claims)
    assert all(c.cue in few.cues and c.target in few.targets and c.sign in (1, -1) for c in claims)
    assert all(
        item.target in few.targets and item.level in ("low", "medium", "high") for item in parse_levels(text, few)
    )
    assert isinstance(readability(text), float)
    assert all(text_validity(text)) or text_validity(text) == ()


@settings(deadline=None)
@given(CLAUSES)
def test_one_cue_one_verb_one_target(clause: tuple[tuple[str, str], tuple[int, str], str]) -> None:
    (cue, state), (sign, verb), target = clause
    text = f"{state.capitalize()} {verb} {target.replace('_', ' ')}."
    assert claims_of(text) == {(cue, target, sign)}


@settings(deadline=None)
@given(st.lists(CLAUSES, min_size=2, max_size=5, unique_by=lambda clause: clause[0][0]), st.randoms())
def test_order_of_sentences_about_different_cues_does_not_matter(clauses: list[Any], random: Random) -> None:
    sentences = [
        f"{state.capitalize()} {verb} {target.replace('_', ' ')}." for (_, state), (_, verb), target in clauses
    ]
    told = claims_of(" ".join(sentences))
    random.shuffle(sentences)
    assert claims_of(" ".join(sentences)) == told == {(cue, t, sign) for (cue, _), (sign, _), t in clauses}


@settings(deadline=None)
@given(
    st.lists(CLAUSES, min_size=2, max_size=3, unique_by=lambda clause: clause[0][0]),
    st.sampled_from(["; ", ", and ", ", but ", ", while "]),
)
def test_clauses_in_one_sentence_say_what_they_say_alone(clauses: list[Any], joint: str) -> None:
    parts = [f"{state} {verb} {target.replace('_', ' ')}" for (_, state), (_, verb), target in clauses]
    assert claims_of(joint.join(parts) + ".") == {(cue, t, sign) for (cue, _), (sign, _), t in clauses}


@settings(deadline=None)
@given(CLAUSES)
def test_a_denied_effect_is_no_claim(clause: tuple[tuple[str, str], tuple[int, str], str]) -> None:
    (_, state), (sign, _), target = clause
    verb = "raise" if sign > 0 else "reduce"
    assert claims_of(f"{state.capitalize()} did not {verb} {target.replace('_', ' ')}.") == set()


@settings(deadline=None)
@given(CLAUSES)
def test_who_claims_both_ways_claims_nothing(clause: tuple[tuple[str, str], tuple[int, str], str]) -> None:
    (_, state), _, target = clause
    name = target.replace("_", " ")
    assert claims_of(f"{state.capitalize()} raised {name}. {state.capitalize()} lowered {name}.") == set()


def test_sentences_in_the_styles_of_others() -> None:
    cases = [case for part in OUTSIDE.values() for style in part.values() for case in style]
    read = [(claims_of(text), claims_in(told)) for text, told in cases]
    assert sum(found == told for found, told in read) >= LEAST_READ_OUTSIDE * len(cases)
    assert sum(len(turned(found) & told) for found, told in read) <= MOST_TURNED * sum(len(told) for _, told in read)


@pytest.mark.parametrize("told", CLAIMED)
def test_words_around_a_claim_do_not_turn_it_round(told: str) -> None:
    expected = claims_in(CLAIMED[told])
    texts = [before + told + after for before in BEFORE for after in AFTER]
    assert sum(bool(turned(claims_of(text)) & expected) for text in texts) <= MOST_TURNED * len(texts)
    assert claims_of(f"As expected, {told}.") == expected


@pytest.mark.parametrize("told", DENIED)
def test_words_around_a_denial_make_no_claim_of_it(told: str) -> None:
    for text in (before + told + after for before in BEFORE for after in AFTER):
        assert claims_of(text) == set(), text


@pytest.mark.parametrize("half", [SENTENCES[:150], SENTENCES[150:]], ids=["first half", "held-out half"])
def test_sentences_that_were_not_written_for_the_reader(half: list[dict[str, Any]]) -> None:
    read = [(claims_of(item["text"]), {tuple(claim) for claim in item["claims"]}) for item in half]
    assert sum(found == told for found, told in read) >= LEAST_READ * len(half)
    assert not [found for found, told in read if turned(found) & told]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The interview score is high (0.62).", [("interview", "high")]),
        (
            "Openness and agreeableness are high, extraversion is low.",
            [("openness", "high"), ("agreeableness", "high"), ("extraversion", "low")],
        ),
        ("Low openness.", [("openness", "low")]),
        ("Emotional stability comes out as moderate.", [("emotional_stability", "medium")]),
        (
            "The person scores low on openness and high on extraversion.",
            [("openness", "low"), ("extraversion", "high")],
        ),
        ("Neuroticism is low.", [("emotional_stability", "high")]),
        ("The score is medium to high.", [("interview", "medium"), ("interview", "high")]),
        ("The openness score is high. It is high.", [("openness", "high")]),
        ("The overall score is below average.", [("interview", "low")]),
        ("All traits are high.", [(trait, "high") for trait in TRAITS]),
        ("The smile raised extraversion and agreeableness is high.", [("agreeableness", "high")]),
        ("The high score was raised by the smile.", [("interview", "high")]),
        ("The score is not high.", []),
        ("The score would be high with more light.", []),
        ("The low light and the high pitch lowered it.", []),
        ("The interview score is 0.62.", []),
    ],
)
def test_levels(text: str, expected: list[tuple[str, str]]) -> None:
    assert levels_of(text) == expected


@pytest.mark.parametrize(
    ("value", "level", "expected"),
    [
        (0.44, "low", True), (0.46, "low", False), (0.39, "medium", False), (0.40, "medium", True),
        (0.60, "medium", True), (0.61, "medium", False),
        (0.54, "high", False), (0.56, "high", True), (0.42, "medium", True),
        (0.42, "low", True),
    ],
)  # fmt: skip
def test_bands_overlap(value: float, level: Level, expected: bool) -> None:
    assert consistent({"interview": value}, [LevelStatement("interview", level)]) is expected


def test_consistency_needs_a_statement_and_no_contradiction() -> None:
    high, low = LevelStatement("interview", "high"), LevelStatement("openness", "low")
    prediction = {"interview": 0.7, "openness": 0.7}
    assert not consistent(prediction, [])
    assert consistent(prediction, [high])
    assert not consistent(prediction, [high, low])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "shorter"),
        ("Smile up.", "shorter"),
        ("The smile raised the score. " * 60, "longer"),
        ("7 8 9 10 11 12 13 14 15 16 17 18 19", "letters"),
        ("Улыбка повысила оценку, а взгляд её понизил.", "letters"),
        ("See https://example.org for what raised the score.", "markup"),
        ("The <b>smile</b> raised the score of this clip.", "markup"),
        ("The smile raised the score" + "a" * 31 + " of the clip.", "word of more than 30"),
        ("zorp blick fendle wusk gribbet tranfle moxid plonter.", "common words"),
        (
            "Unquestionably heterogeneous physiognomical characteristics extraordinarily influenced it " * 3 + ".",
            "grade",
        ),
        ("This score is the average of the training clips. Nothing in this clip was looked at.", "starting kit"),
    ],
)
def test_what_is_no_explanation(text: str, reason: str) -> None:
    assert any(reason in found for found in text_validity(text)), text_validity(text)


@pytest.mark.parametrize(
    "text",
    [
        "A warm smile raised the score.",
        "smile +0.10, gaze -0.04; the interview score is high",
        "The untidy background slightly undermines the otherwise favourable impression.",
        "The score is high (0.62). A smile and a gaze that stays on the camera raised it; dim lighting lowered it.",
        "Honestly, I would say the slouching hurt this one most.",
        'The words were judged by "proud" and "glad". They lifted openness.',
        "The candidate doesn't look at the camera, so I gave a low score.",
    ],
)
def test_what_is_an_explanation(text: str) -> None:
    assert text_validity(text) == ()


def test_a_huge_text_is_cut_before_it_is_read() -> None:
    text = "A smile raised the score. " + "not push which because of by " * 500_000 + "The gaze lowered it."
    assert claims_of(text) == claims_of(text[:1200])
    assert any("longer" in reason for reason in text_validity(text))
    assert readability(text) == readability(text[:1200])


def test_flesch_kincaid_by_hand() -> None:
    # 6 words, 1 sentence, 6 syllables: 0.39 * 6 + 11.8 * 1 - 15.59
    assert readability("The cat sat on the mat.") == pytest.approx(-1.45)
    # 10 words, 1 sentence, 16 syllables, "lowered" with three: 0.39 * 10 + 11.8 * 1.6 - 15.59
    assert [syllables(word) for word in ("openness", "lowered", "smile", "table", "the")] == [3, 3, 1, 2, 1]
    assert readability("It was lowered by averted eyes and a slumped posture.") == pytest.approx(7.19)
    assert readability("") == 0.0


def test_cues_that_the_lexicon_does_not_know() -> None:
    words = Vocabulary(("hair_colour", "smile"), ("trust",), "trust", {"hair_colour": ("red hair", "blond hair")})
    assert parse_claims("The hair colour raised trust, but the blond hair of her friend did not.", words) == (
        TextClaim("hair_colour", "trust", 1),
    )
    assert parse_claims("Red hair and a smile lowered the score.", words) == (
        TextClaim("hair_colour", "trust", -1),
        TextClaim("smile", "trust", -1),
    )
    # A cue of the lexicon that the task does not have is understood, and left out.
    assert parse_claims("The dim light lowered trust.", words) == ()


def test_every_cue_of_the_lexicon_is_found_by_each_of_its_phrases() -> None:
    for cue, phrases in lexicon()["cues"].items():
        for phrase in (one for some in phrases["strong"] for one in spelled_out(some)):
            text = f"The {' '.join(phrase).replace('*', '')} raised the score."
            assert cue in {claim[0] for claim in claims_of(text)}, text


def test_contractions_hyphens_and_quotations() -> None:
    assert sentences_of("It didn't matter; a close-up - he can't…") == (
        ("it", "did", "not", "matter"),
        ("a", "close", "up", ",", "he", "can", "not"),
    )
    assert claims_of('He said "the smile raised my score a lot" twice.') == set()
    assert claims_of('The "smile" raised the score.') == {("smile", "interview", 1)}


def rows_of(heading: str) -> list[tuple[str, str]]:
    """Return the example rows of the page between a heading of a table and the next empty line."""
    page = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    lines = page.split(heading, 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [(cells[1].strip(), cells[2].strip()) for cells in (line.split("|") for line in lines)]


def test_the_examples_of_the_page_are_read_as_it_says() -> None:
    rows = rows_of("| the text says | claims |")
    assert len(rows) >= 6
    for text, told in rows:
        expected = set()
        for part in told.split(", "):
            cue, sign, *target = part.replace(" on ", " ").split(" ", 2)
            expected.add((cue, "_".join(target[0].split()) if target else "interview", 1 if sign == "+" else -1))
        assert claims_of(text) == expected, text


def test_what_the_page_calls_no_claim_is_none() -> None:
    rows = rows_of("| the text says | why it is no claim |")
    assert len(rows) >= 3
    for text, why in rows:
        only = why.removeprefix("a claim for the ").removesuffix(" only") if why.startswith("a claim") else None
        assert {claim[0] for claim in claims_of(text)} == ({only} if only else set()), text
