"""Rules about secrets: no file that participants or models can open may give away labels, clips or the seal key.

Files are searched for hidden content, for ids of clips and for values of labels, also inside zips.
A task whose own report shows the true values hides nothing. Bundles of other formats name the same ids in many places,
so there only whole files, and ids together with their values, count. docs/security.md lists what is not searched.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from bundle_tools.challenge.rules.secrets.answers import Answers, hidden_answers, is_public
from bundle_tools.challenge.rules.secrets.inside import File, Unopened, look_inside
from bundle_tools.challenge.rules.secrets.places import Place, places
from bundle_tools.challenge.rules.secrets.seal import PROGRAMS, check_key_in, check_seals, seal_keys
from bundle_tools.challenge.rules.secrets.search import (
    Text,
    holds_labels_in_order,
    labelled_clips,
    named_ids,
    numbers_of_clip,
    read_text,
)
from bundle_tools.codabench.rules.dataset import opened
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import Finding

# Files that are the same in every folder and reveal nothing.
NEUTRAL = ("readme", "license", "licence", "notice", ".git", "__init__", "metadata")
KNOWN = "Anybody who opens it knows the answers."
# Shorter texts are not compared with normalised white space.
SHORTEST_TEXT = 16


@dataclass(frozen=True)
class Secrets:
    """All secrets of a bundle."""

    files: dict[str, str]
    """SHA-256 of a reference file, or of its words -> its path."""
    answers: list[Answers]
    """The labels of each task that hides them."""
    keys: set[bytes]
    """The seal keys of the programs."""
    programs: set[str]
    """Names of the places that are programs."""


def check_leaks(draft: Draft) -> Iterator[Finding]:
    """Compare all open files with the reference data, the hidden clips and the seal keys."""
    yield from check_seals(draft)
    unopened: list[Unopened] = []
    programs = opened(draft, *PROGRAMS)
    secrets = Secrets(_reference_files(draft), hidden_answers(draft), seal_keys(programs.values()), set(programs))
    for place in places(draft):
        unopened.clear()
        names = [] if place.page else place.data.names(junk=True)
        clips: list[str] = []
        for file in place.files(unopened):
            names.append(file.name)
            yield from check_key_in(place, file, secrets.keys, secrets.programs)
            text = read_text(file) if secrets.files or secrets.answers else None
            yield from _check_copies(place, file, text, secrets)
            if text is not None:
                yield from _check_text(place, text, secrets)
                own = [answers for answers in secrets.answers if answers.inputs == place.name]
                clips += [line for answers in own if (line := numbers_of_clip(file, text, answers))]
        yield from _check_text(place, Text("the file names", "\n".join(dict.fromkeys(names))), secrets)
        yield from _check_text(place, Text("the content of the clips", "\n".join(clips)), secrets)
        yield from (_cannot_open(place, problem) for problem in unopened)
    yield from _check_reference_seals(draft, secrets)


def _reference_files(draft: Draft) -> dict[str, str]:
    found: dict[str, str] = {}
    for folder, reference in opened(draft, "reference_data").items():
        for file in () if is_public(reference) else look_inside(reference, []):
            if not PurePosixPath(file.name).name.lower().startswith(NEUTRAL):
                found |= dict.fromkeys(_digests(file, read_text(file)), str(PurePosixPath(folder) / file.name))
    return found


def _digests(file: File, text: Text | None) -> list[str]:
    """Hash the content, and just its words, so that line endings, indentation or a byte order mark hide nothing."""
    words = "" if text is None or text.binary else " ".join(text.text.split())
    spoken = [hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()] if len(words) >= SHORTEST_TEXT else []
    return [file.sha256, *spoken]


def _check_copies(place: Place, file: File, text: Text | None, secrets: Secrets) -> Iterator[Finding]:
    if place.audience == "scoring":
        return
    copied = next((secrets.files[digest] for digest in _digests(file, text) if digest in secrets.files), None)
    if copied is not None:
        what = f"{place.at(file.name)} has the same content as {copied}."
        yield Finding("leak", "error", place.name, what, KNOWN, "Delete it there.")
    for answers in secrets.answers:
        clip = answers.clips.get(file.sha256) or answers.starts.get(file.start_of_clip or "none")
        if clip is not None and place.name != answers.inputs:
            what = f"{place.at(file.name)} is the clip {clip} of {answers.inputs}, whose labels are hidden."
            effect = "Participants can train on it, or collect its labels, before the phase begins."
            yield Finding("leak-clip", "error", place.name, what, effect, "Use other clips there.")


def _check_text(place: Place, text: Text, secrets: Secrets) -> Iterator[Finding]:
    for answers in secrets.answers:
        path = place.at(text.name)
        if answers.ours and place.audience == "participants" and place.name != answers.inputs:
            named = sorted(named_ids(text.text, answers.telling_ids))
            if named:
                what = f"{path} names {len(named)} clips of {answers.place}, such as {named[0]}."
                effect = "Participants see which clips are hidden, and what the file says about them."
                yield Finding("leak-id", "error", place.name, what, effect, "Delete the file, or make it again.")
        labelled = sorted(labelled_clips(text.text, answers))
        if labelled:
            clips = f"{len(labelled)} clips of {answers.place}"
            what = f"{path} shows {clips} beside their {answers.what}, such as {labelled[0]}."
        elif holds_labels_in_order(text, answers):
            what = f"{path} holds {answers.what} of {answers.place} one after the other."
        else:
            continue
        if place.audience == "scoring":
            effect, fix = "They become public when the programs do.", "Keep them only in the reference data."
            yield Finding("leak-labels", "warning", place.name, what, effect, fix)
        else:
            yield Finding("leak-labels", "error", place.name, what, KNOWN, "Delete them there.")


def _check_reference_seals(draft: Draft, secrets: Secrets) -> Iterator[Finding]:
    """Look for zip bombs, and for the key in the reference data, too, because older servers protected them weakly."""
    unopened: list[Unopened] = []
    for folder, reference in opened(draft, "reference_data").items():
        place = Place(folder, "scoring", reference)
        unopened.clear()
        for file in place.files(unopened):
            yield from check_key_in(place, file, secrets.keys, secrets.programs)
        yield from (_cannot_open(place, problem) for problem in unopened if problem.bomb)


def _cannot_open(place: Place, problem: Unopened) -> Finding:
    what = f"{place.at(problem.name)}: {problem.reason}."
    if problem.bomb:
        effect, fix = "Unpacking it would fill a disk.", "Check its contents."
        return Finding("archive-bomb", "error", place.name, what, effect, fix)
    effect, fix = "It was not searched for answers.", "Make sure that it contains none."
    return Finding("archive-unopened", "note", place.name, what, effect, fix)
