"""A phase whose secrets are unmistakable, and the search for them in everything that comes out.

Labels, means and errors are rare numbers, ids are rare words. A secret counts as found in any dress: rounded to three
to six decimals, as a percentage, in scientific or hexadecimal notation, or in base64. Few decimals prove nothing alone
where a page is full of them; there it takes four of the six labels.
"""

import base64
import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.scoring.conftest import Outcome
from tests.scoring.factory import Case, known_causes, make_case

LABELS = (0.6180339887, 0.7182818284, 0.1415926535, 0.3025850929, 0.8414709848, 0.2357022604)
CONSTANT = 0.5671432904
CAUSE = 0.1732050807
"""A contribution of the known causes: as good as a label."""
WORDS = ("finch", "wagtail", "siskin", "bunting", "linnet", "serin")
CLIP_IDS = tuple(f"canary-{word}-7d1" for word in WORDS)
SOURCES = tuple(f"aviary/{word}.mp4" for word in WORDS[::-1])
NO_NUMBER = r"(?<![\d.])"


def canary_labels() -> np.ndarray[Any, np.dtype[np.float64]]:
    """(6, 6) labels, each row another rotation, so that every label is a canary."""
    return np.array([np.roll(LABELS, shift) for shift in range(len(LABELS))])


def canary_case(report: Mapping[str, Any], statuses: list[str] | None = None) -> Case:
    """A run over six clips that predicts 0.5 or 0.45, so that the errors are rare numbers, too."""
    prediction = np.full((6, 6), 0.5)
    prediction[::2] = 0.45
    case = make_case(canary_labels(), prediction, statuses=statuses, report=dict(report))
    case.clip_ids, case.sources = list(CLIP_IDS), list(SOURCES)
    for target in case.settings["targets"]:
        target["constant"] = CONSTANT
    case.causes = canary_causes
    return case


def canary_causes(clip_ids: Sequence[str]) -> dict[str, Any]:
    """Known causes in which every clip has one rare number."""
    content: dict[str, Any] = known_causes(clip_ids)
    for clip in content["clips"].values():
        for cues in clip["contributions"].values():
            cues[next(iter(cues))] = CAUSE
    return content


@dataclass(frozen=True)
class Dress:
    """One notation of a secret."""

    text: str
    """What stands there literally."""
    before: str = ""
    """Pattern of what must stand before it."""
    after: str = ""
    """Pattern of what must stand behind it."""

    def found_in(self, everything: str) -> bool:
        """Tell whether it stands there; the literal text alone is looked for first, in a hundredth of the time."""
        return self.text in everything and bool(re.search(self.before + re.escape(self.text) + self.after, everything))


def coded(data: bytes) -> Dress:
    """Give base64 without its last characters, which depend on what follows."""
    return Dress(base64.b64encode(data).decode().rstrip("=")[:-1])


def written(value: float, places: int) -> Dress:
    """Give a number in so many decimals, alone."""
    return Dress(f"{value:.{places}f}", NO_NUMBER, r"(?!\d)")


def dresses(value: float, fewest: int) -> Iterator[Dress]:
    """Give a number in every notation that a leak could have, with ``fewest`` decimals or more."""
    for places in range(fewest, 7):
        yield written(value, places)
    for text in (repr(value), f"{value:.4e}", value.hex(), f"{100 * value:.2f}"):
        yield Dress(text, NO_NUMBER)
    yield Dress(f"{100 * value:.1f}", NO_NUMBER, r"\s?%")
    for data in (repr(value).encode(), f"{value:.4f}".encode(), struct.pack("<d", value), struct.pack("<f", value)):
        yield coded(data)


def words(text: str) -> Iterator[Dress]:
    """Give an id, plain and in base64."""
    yield Dress(text)
    yield coded(text.encode())


@dataclass(frozen=True)
class Secrets:
    """All notations by what they give away."""

    dresses: dict[str, tuple[Dress, ...]]
    labels: bool

    def found_in(self, texts: Iterable[str]) -> list[str]:
        """Name what is given away, each secret once."""
        everything = "\n".join(texts)
        found = [name for name, all_ in self.dresses.items() if any(one.found_in(everything) for one in all_)]
        for places in (2, 3) if self.labels else ():
            if sum(written(label, places).found_in(everything) for label in LABELS) >= 4:
                found.append(f"labels in {places} decimals")
        return found


@cache
def secrets(*, labels: bool = True, clips: bool = True) -> Secrets:
    """What must not get out; sources and means never may. A page that is open for clips is full of three decimals."""
    fewest = 3 if clips else 4
    found = {f"source {source}": tuple(words(source)) for source in SOURCES}
    numbers = {"constant": CONSTANT, "cause": CAUSE}
    if labels:
        errors = {round(abs(label - guess), 12) for label in LABELS for guess in (0.5, 0.45)}
        numbers |= {"mean label": float(np.mean(LABELS))} | {f"label {value}": value for value in LABELS}
        numbers |= {f"error {error}": error for error in errors}
    found |= {name: tuple(dresses(value, fewest)) for name, value in numbers.items()}
    if clips:
        found |= {f"clip {clip_id}": tuple(words(clip_id)) for clip_id in CLIP_IDS}
    return Secrets(found, labels)


def texts_of(folder: Path) -> Iterator[str]:
    """Everything below a folder: names and contents, embedded pictures decoded; no style, no script."""
    for path in sorted(folder.rglob("*")):
        yield path.relative_to(folder).as_posix()
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "replace")
            for embedded in re.findall(r"base64,([A-Za-z0-9+/=]+)", text):
                yield base64.b64decode(embedded).decode("latin-1")
            text = re.sub(r"base64,[A-Za-z0-9+/=]+", "", text)
            yield re.sub(r'<style>.*?</style>|<script type="module">.*?</script>', "", text, flags=re.S)


def leaks(done: Outcome, what: Secrets) -> list[str]:
    """Search what one run of scoring printed and wrote."""
    return what.found_in([done.log, *texts_of(done.out)])
