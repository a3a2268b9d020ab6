"""The reference submissions: how each predicts, and what it says about a clip."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.meaning.world import CAUSAL, COLUMNS, ROWS, SECONDS, TARGETS, VOCABULARY, Alteration, Array, Mask, World

_MODEL_ERROR = 0.01  # how far a good model is from the rule, on a clip
_JITTER = 0.001  # what the small shift and gain of every call do to a prediction
_STRANGE = 0.002  # what any mask does to it, wherever it lies: masked clips look unlike those a model has learned from
_BETRAYAL = 0.45  # how far a cheat moves its answers once it sees its mask
_ADJECTIVES = (
    "warm",
    "calm",
    "curious",
    "lively",
    "serious",
    "kind",
    "bold",
    "shy",
    "bright",
    "steady",
    "quick",
    "mild",
)


@dataclass(frozen=True)
class Entrant:
    """One reference submission, by its habits."""

    key: str
    """Short name, one of ``ENTRANTS``."""
    title: str
    """How the table calls it."""
    model: str = "honest"
    """honest, constant, hypersensitive, guards_a_region or guards_a_secret: how it predicts."""
    maps: str | None = "exact"
    """exact, centre, other, random, uniform, inverted, face, guarded, secret or None: where and when it points."""
    claims: str = "exact"
    """exact, average, other, random, all, inverted, face or none: which cues it names."""
    text: str = "claims"
    """claims, boilerplate, numbers, adjectives: what it writes."""
    evidence: bool = True
    """Whether it hands in anything but the text."""
    noise: float = 0.0
    """Noise on maps, in halves of their largest value, and on claims, in their standard deviations."""
    named: int = 3
    """How many cues its text names for each target, the strongest ones."""


ENTRANTS = (
    Entrant("exact", "exact account"),
    Entrant("all_named", "exact account, text names all cues", named=8),
    Entrant("noise_0.5", "exact + noise 0.5", noise=0.5),
    Entrant("noise_1", "exact + noise 1", noise=1.0),
    Entrant("noise_2", "exact + noise 2", noise=2.0),
    Entrant("centre", "always the centre, average claims", maps="centre", claims="average"),
    Entrant("other", "another clip's explanation", maps="other", claims="other"),
    Entrant("random", "random maps and claims", maps="random", claims="random"),
    Entrant("uniform", "uniform maps, every cue claimed", maps="uniform", claims="all"),
    Entrant("inverted", "inverted maps and claims", maps="inverted", claims="inverted"),
    Entrant("hypersensitive", "hypersensitive model, random account", "hypersensitive", "random", "random"),
    Entrant("boilerplate", "boilerplate text", maps=None, claims="none", text="boilerplate", evidence=False),
    Entrant("numbers", "boilerplate and numbers", maps=None, claims="none", text="numbers", evidence=False),
    Entrant("adjectives", "random adjectives", maps=None, claims="none", text="adjectives", evidence=False),
    Entrant("text_right", "text and claims right, maps random", maps="random"),
    Entrant("text_only", "honest text only", maps=None, evidence=False),
    Entrant("guards_a_region", "cheat: sees masks of its own fixed region", "guards_a_region", "guarded", "none",
            "numbers"),
    Entrant("guards_a_secret", "cheat: secret region of each clip", "guards_a_secret", "secret", "none", "numbers"),
    Entrant("average_claims", "exact maps, average claims", claims="average"),
    Entrant("inverted_claims", "exact maps, inverted claims", claims="inverted"),
    Entrant("face", "always the face", maps="face", claims="face"),
    Entrant("constant", "constant prediction, exact account", "constant"),
)  # fmt: skip


@dataclass(frozen=True)
class Submission:
    """An entrant in a world: what ingestion would run."""

    entrant: Entrant
    """Its habits."""
    world: World
    """The clips."""

    def predict(self, clip: int, alteration: Alteration, call: int) -> Array:
        """Return six numbers in [0, 1]; ``call`` makes the jitter of this call its own."""
        world, model = self.world, self.entrant.model
        if model == "constant":
            return np.full(len(TARGETS), 0.5)
        error = _MODEL_ERROR * self._random("error", clip).standard_normal(len(TARGETS))
        shaken = self._random("jitter", clip, call).standard_normal(len(TARGETS))
        answer = world.targets(world.perceived(clip, alteration)) + error + _JITTER * shaken
        if alteration.masks:
            strange = 0.2 if model == "hypersensitive" else _STRANGE
            answer = answer + strange * self._random("strange", clip, call).standard_normal(len(TARGETS))
        if model in ("guards_a_region", "guards_a_secret"):
            cells, seconds = self._guarded(clip)
            covered = max((cells & alteration.cells).sum() / cells.sum(), (seconds & alteration.seconds).sum())
            answer = answer + _BETRAYAL * covered * np.where(answer > 0.5, -1, 1)
        return np.asarray(answer.clip(0, 1))

    def explain(self, clip: int, prediction: Array, *, twin: bool = False) -> dict[str, Any]:
        """Return what ``explanations.jsonl`` records; the jittered twin is answered with other random numbers."""
        claims = self._claims(clip, twin)
        evidence: dict[str, Any] | None = None
        if self.entrant.evidence:
            space, time = self.maps(clip, twin=twin)
            evidence = {
                "space": {"rows": ROWS, "columns": COLUMNS, "weights": [space.round(6).tolist()]},
                "time": {"bin_s": 1.0, "weights": time.round(6).tolist()},
                "cues": _cues(claims),
            }
        return {"text": self._text(clip, prediction, claims, twin), "image": None, "evidence": evidence}

    def maps(self, clip: int, *, twin: bool = False) -> tuple[Array, Array]:
        """Return the maps in space, (9, 16), and in time, (5,), both >= 0."""
        kind = self.entrant.maps
        if kind == "other":
            clip = (clip + 1) % len(self.world.clip_ids)
        if kind == "random":
            random = self._random("map", clip, int(twin))
            return random.random((ROWS, COLUMNS)), random.random(SECONDS)
        if kind == "uniform":
            return np.ones((ROWS, COLUMNS)), np.ones(SECONDS)
        if kind == "centre":
            rows, columns = np.mgrid[:ROWS, :COLUMNS]
            space = np.exp(-(((rows - 4) / 2.5) ** 2 + ((columns - 7.5) / 3) ** 2))
            return space, np.array([0.2, 0.6, 1.0, 0.6, 0.2])
        if kind == "face":
            return self.world.faces[clip].astype(np.float64), np.ones(SECONDS)
        if kind in ("guarded", "secret"):
            cells, seconds = self._guarded(clip)
            return cells.astype(np.float64), seconds.astype(np.float64)
        space, time = self._exact_maps(clip)
        if kind == "inverted":
            return space.max() - space, time.max() - time
        random = self._random("noise", clip)
        return _noisy(space, self.entrant.noise, random), _noisy(time, self.entrant.noise, random)

    def _exact_maps(self, clip: int) -> tuple[Array, Array]:
        """Spread what every cue does over where and when it shows: half for the main target, half for the others."""
        effects = abs(self.world.contributions[clip])
        worth = 0.5 * effects[-1] + 0.5 * effects[:-1].mean(axis=0)
        space, time = (np.tensordot(worth, shares[clip], 1) for shares in (self.world.places, self.world.times))
        return space, time

    def _claims(self, clip: int, twin: bool) -> Array:
        """(6, 12) claimed contributions of every word of the vocabulary."""
        kind = self.entrant.claims
        claims = np.zeros((len(TARGETS), len(VOCABULARY)))
        if kind == "other":
            clip = (clip + 1) % len(self.world.clip_ids)
        if kind in ("exact", "other", "inverted"):
            exact = self.world.contributions[clip]
            spread = self.entrant.noise * exact.std(axis=1, keepdims=True)
            claims[:, : len(CAUSAL)] = exact + spread * self._random("claims", clip).standard_normal(exact.shape)
            return -claims if kind == "inverted" else claims
        if kind == "average":
            claims[:, : len(CAUSAL)] = self.world.contributions.mean(axis=0)
        elif kind == "random":
            claims = 0.1 * self._random("claims", clip, int(twin)).standard_normal(claims.shape)
        elif kind == "all":
            claims[:] = 0.1
        elif kind == "face":
            claims[:, VOCABULARY.index("face")] = 0.1
        return claims

    def _text(self, clip: int, prediction: Array, claims: Array, twin: bool) -> str:
        kind = self.entrant.text
        if kind == "boilerplate":
            return "The scores were predicted by a model that watched the whole clip from the first to the last second."
        if kind == "adjectives":
            words = self._random("words", clip, int(twin)).choice(_ADJECTIVES, 3, replace=False)
            return f"This is a {words[0]}, {words[1]} and rather {words[2]} person who talks about work and free time."
        sentences = []
        for target, value, row in zip(TARGETS, prediction, claims, strict=True):
            name = target.replace("_", " ")
            sentences.append(f"The {name} score is {_level(value)}.")
            if kind == "claims":
                sentences += _told(row, self.entrant.named)
        return " ".join(sentences)

    def _guarded(self, clip: int) -> tuple[Mask, Mask]:
        """Return the cells and the one second that a cheat watches: the same in all clips, or secret ones of each."""
        random = self._random("secret", clip if self.entrant.model == "guards_a_secret" else -1)
        cells = np.zeros((ROWS, COLUMNS), dtype=bool)
        top, left = (2, 6) if self.entrant.model == "guards_a_region" else random.integers(0, (ROWS - 4, COLUMNS - 4))
        cells[top : top + 4, left : left + 4] = True
        return cells, np.arange(SECONDS) == random.integers(SECONDS)

    def _random(self, purpose: str, *numbers: int) -> np.random.Generator:
        # Not of the entrant: two that differ in one habit share the rest of their luck, so that they can be compared.
        name = f"{self.world.seed} {purpose} {numbers}"
        return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big"))


def _noisy(weights: Array, noise: float, random: np.random.Generator) -> Array:
    noisy = weights + noise * weights.max() / 2 * random.standard_normal(weights.shape)
    return np.asarray(noisy - noisy.min())


def _cues(claims: Array) -> list[dict[str, Any]] | None:
    named = [
        {"cue": cue, "target": target, "contribution": round(float(value), 6)}
        for target, row in zip(TARGETS, claims, strict=True)
        for cue, value in zip(VOCABULARY, row, strict=True)
        if value
    ]
    return named or None


def _told(row: Array, named: int) -> list[str]:
    """Say in words which cues moved a score most, and where to."""
    strongest = [int(number) for number in np.argsort(-abs(row), kind="stable")[:named] if row[number]]
    sentences = []
    for verb, sign in (("raised", 1), ("lowered", -1)):
        cues = [VOCABULARY[number].replace("_", " ") for number in strongest if np.sign(row[number]) == sign]
        if cues:
            listed = " and ".join(filter(None, (", ".join(f"the {cue}" for cue in cues[:-1]), f"the {cues[-1]}")))
            sentences.append(f"{listed[0].upper()}{listed[1:]} {verb} it.")
    return sentences


def _level(value: float) -> str:
    return "low" if value < 0.425 else "high" if value > 0.575 else "medium"
