"""Rules about secrets: no file that participants or models can open gives away labels, clips, people or the seal key.

Files are searched for hidden content, for ids of clips and for values of labels, also inside zips.
A task whose own report shows the true values hides nothing. Bundles of other formats name the same ids in many places,
so there only whole files, and ids together with their values, count. docs/security.md lists what is not searched.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from bundle_tools.challenge.reading.answers import (
    HiddenAnswers,
    Text,
    hidden_answers,
    holds_labels_in_order,
    is_public,
    labelled_clips,
    named_ids,
    numbers_of_clip,
    read_text,
)
from bundle_tools.challenge.reading.inside import File, Unopened, look_inside
from bundle_tools.challenge.reading.program_settings import SEAL
from bundle_tools.challenge.reading.tables import LABELS, SETTINGS, read_clips, read_labels
from bundle_tools.challenge.rules import finding
from bundle_tools.codabench.rules.dataset import DataFiles, find, opened
from bundle_tools.codabench.rules.document import FILE, ParsedBundle
from bundle_tools.codabench.rules.findings import Finding

# Files that are the same in every folder and reveal nothing.
NEUTRAL = ("readme", "license", "licence", "notice", ".git", "__init__", "metadata")
# Shorter texts are not compared with normalised white space.
SHORTEST_TEXT = 16
# A shorter source id, such as 7, occurs in other words by chance.
SHORTEST_SOURCE = 4
Audience = Literal["participants", "models", "scoring"]
PROGRAMS = ("ingestion_program", "scoring_program")
# A shorter text could occur in a file by chance.
SHORTEST_KEY = 16
# The format that both programs accept, apart from surrounding white space.
KEY = re.compile(rb"[0-9a-f]{64}")


@dataclass(frozen=True)
class Location:
    """One folder, zip or page of the bundle."""

    name: str
    audience: Audience
    """participants: anybody can download it; models: a running submission can read it; scoring: neither."""
    data: DataFiles
    page: str = ""
    """The only file that counts, if it is a page; else empty."""

    def files(self, unopened: list[Unopened]) -> Iterator[File]:
        """Yield its files, also those in archives; what cannot be opened goes to `unopened`."""
        if self.page:
            yield File(self.page, self.data.read(self.page))
        else:
            yield from look_inside(self.data, unopened)

    def at(self, name: str) -> str:
        """Return the path of one of its files inside the bundle."""
        return name if self.page else str(PurePosixPath(self.name) / name)


@dataclass(frozen=True)
class Secrets:
    """All secrets of a bundle."""

    files: dict[str, str]
    """SHA-256 of a reference file, or of its words -> its path."""
    answers: list[HiddenAnswers]
    """The labels of each task that hides them."""
    keys: set[bytes]
    programs: set[str]


def check_leaks(bundle: ParsedBundle) -> Iterator[Finding]:
    """Compare all open files with the reference data, the hidden clips and the seal keys."""
    yield from check_seals(bundle)
    unopened: list[Unopened] = []
    programs = opened(bundle, *PROGRAMS)
    secrets = Secrets(_reference_files(bundle), hidden_answers(bundle), seal_keys(programs.values()), set(programs))
    for location in all_locations(bundle):
        unopened.clear()
        names = [] if location.page else location.data.names(junk=True)
        clips: list[str] = []
        for file in location.files(unopened):
            names.append(file.name)
            yield from check_key_in(location, file, secrets.keys, secrets.programs)
            text = read_text(file) if secrets.files or secrets.answers else None
            yield from _check_copies(location, file, text, secrets)
            if text is not None:
                yield from _check_text(location, text, secrets)
                own = [answers for answers in secrets.answers if answers.inputs == location.name]
                clips += [line for answers in own if (line := numbers_of_clip(file, text, answers))]
        yield from _check_text(location, Text("the file names", "\n".join(dict.fromkeys(names))), secrets)
        yield from _check_text(location, Text("the content of the clips", "\n".join(clips)), secrets)
        yield from (_cannot_open(location, problem) for problem in unopened)
    yield from _check_reference_seals(bundle, secrets)


def _reference_files(bundle: ParsedBundle) -> dict[str, str]:
    paths: dict[str, str] = {}
    for folder, reference in opened(bundle, "reference_data").items():
        for file in () if is_public(reference) else look_inside(reference, []):
            if not PurePosixPath(file.name).name.lower().startswith(NEUTRAL):
                paths |= dict.fromkeys(_digests(file, read_text(file)), str(PurePosixPath(folder) / file.name))
    return paths


def _digests(file: File, text: Text | None) -> list[str]:
    """Hash the content, and just its words, so that line endings, indentation or a byte order mark hide nothing."""
    words = "" if text is None or text.binary else " ".join(text.text.split())
    spoken = [hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()] if len(words) >= SHORTEST_TEXT else []
    return [file.sha256, *spoken]


def _check_copies(location: Location, file: File, text: Text | None, secrets: Secrets) -> Iterator[Finding]:
    if location.audience == "scoring":
        return
    copied = next((secrets.files[digest] for digest in _digests(file, text) if digest in secrets.files), None)
    if copied is not None:
        yield finding("leak", location.name, f"{location.at(file.name)} has the same content as {copied}.")
    for answers in secrets.answers:
        clip = answers.clips.get(file.sha256) or answers.starts.get(file.start_of_clip or "none")
        if clip is not None and location.name != answers.inputs:
            what = f"{location.at(file.name)} is the clip {clip} of {answers.inputs}, whose labels are hidden."
            yield finding("leak-clip", location.name, what)


def _check_text(location: Location, text: Text, secrets: Secrets) -> Iterator[Finding]:
    for answers in secrets.answers:
        path = location.at(text.name)
        if answers.ours and location.audience == "participants" and location.name != answers.inputs:
            named = sorted(named_ids(text.text, answers.telling_ids))
            if named:
                what = f"{path} names {len(named)} clips of {answers.place}, such as {named[0]}."
                yield finding("leak-id", location.name, what)
        labelled = sorted(labelled_clips(text.text, answers))
        if labelled:
            clips = f"{len(labelled)} clips of {answers.place}"
            what = f"{path} shows {clips} beside their {answers.what}, such as {labelled[0]}."
        elif holds_labels_in_order(text, answers):
            what = f"{path} holds {answers.what} of {answers.place} one after the other."
        else:
            continue
        code = "leak-labels (scoring)" if location.audience == "scoring" else "leak-labels"
        yield finding(code, location.name, what)


def _check_reference_seals(bundle: ParsedBundle, secrets: Secrets) -> Iterator[Finding]:
    """Look for zip bombs, and for the key in the reference data, too, because older servers protected them weakly."""
    unopened: list[Unopened] = []
    for folder, reference in opened(bundle, "reference_data").items():
        location = Location(folder, "scoring", reference)
        unopened.clear()
        for file in location.files(unopened):
            yield from check_key_in(location, file, secrets.keys, secrets.programs)
        yield from (_cannot_open(location, problem) for problem in unopened if problem.bomb)


def _cannot_open(location: Location, problem: Unopened) -> Finding:
    what = f"{location.at(problem.name)}: {problem.reason}."
    return finding("archive-bomb" if problem.bomb else "archive-unopened", location.name, what)


def check_identities(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find source videos that a hidden task shares with another set, and clips that name their source."""
    seen: dict[str, tuple[set[str], bool]] = {}
    for task in bundle.keys.tasks:
        inputs, reference = find(bundle, task.input_data), find(bundle, task.reference_data)
        folder = str(task.reference_data)
        if reference is None or folder in seen or not {SETTINGS, LABELS} <= set(reference.names()):
            continue
        sources = read_labels(reference).sources
        seen[folder] = set(sources.values()), not is_public(reference)
        if inputs is not None:
            yield from _check_names(str(task.input_data), inputs, sources)
            yield from _check_transcripts(str(task.input_data), inputs, sources)
    for folder, data in opened(bundle, "public_data").items():
        if LABELS in data.names() and data.text(LABELS).startswith("clip_id,source_id,"):
            seen[folder] = set(read_labels(data).sources.values()), False
    yield from _check_siblings(seen)


def _check_siblings(sets: dict[str, tuple[set[str], bool]]) -> Iterator[Finding]:
    places = list(sets)
    for at, first in enumerate(places):
        for second in places[at + 1 :]:
            shared = sorted(sets[first][0] & sets[second][0])
            if shared and (sets[first][1] or sets[second][1]):
                what = f"{len(shared)} sources are in both {first} and {second}, such as {shared[0]}."
                # In the 2017 data the mean label of sibling clips alone reached accuracy 0.911, the winner 0.919.
                yield finding("data-siblings", second, what)


def _check_names(folder: str, data: DataFiles, sources: dict[str, str]) -> Iterator[Finding]:
    telling = [
        clip
        for clip, file, _ in read_clips(data)
        if len(sources.get(clip, "")) >= SHORTEST_SOURCE and sources[clip] != clip and sources[clip] in f"{clip} {file}"
    ]
    if telling:
        what = f"{len(telling)} clips have their source in their name, such as {telling[0]}."
        yield finding("leak-source", folder, what)


def _check_transcripts(folder: str, data: DataFiles, sources: dict[str, str]) -> Iterator[Finding]:
    if "transcripts.json" not in data.names():
        return
    try:
        content = json.loads(data.text("transcripts.json"))
    except (ValueError, RecursionError):
        return
    names = {name for name in (*sources, *sources.values()) if len(name) >= SHORTEST_SOURCE and not name.isalpha()}
    texts = content.items() if isinstance(content, dict) else ()
    telling = sorted(clip for clip, text in texts if isinstance(text, str) and named_ids(text, names))
    if telling:
        what = f"{len(telling)} transcripts name a clip or a source, such as that of {telling[0]}."
        yield finding("leak-transcript", folder, what)


def all_locations(bundle: ParsedBundle) -> list[Location]:
    """Return all locations except the reference data; one with several keys appears once, with its widest audience."""
    keys = {"public_data", "starting_kit", "path"}
    keys |= {"ingestion_program", "scoring_program"} if bundle.keys.make_programs_available else set()
    keys |= {"input_data"} if bundle.keys.make_input_data_available else set()
    audiences: dict[Audience, set[str]] = {
        "participants": keys,
        "models": {"input_data", "ingestion_program"},
        "scoring": {"scoring_program"},
    }
    locations: dict[str, Location] = {}
    for audience, keys in audiences.items():
        for path, data in opened(bundle, *keys).items():
            locations.setdefault(path, Location(path, audience, data))
    return [*locations.values(), *_pages(bundle)]


def _pages(bundle: ParsedBundle) -> Iterator[Location]:
    root = DataFiles(bundle.root)
    names = [FILE, bundle.keys.terms, *(page.file for page in bundle.keys.pages)]
    for name in dict.fromkeys(name for name in names if isinstance(name, str) and name):
        inside = not name.startswith("/") and ".." not in PurePosixPath(name).parts
        if inside and (bundle.root / name).is_file():
            yield Location(name, "participants", root, name)


def seal_keys(programs: Iterable[DataFiles]) -> set[bytes]:
    """Return the keys at the roots of programs."""
    keys = {program.read(SEAL).strip() for program in programs if SEAL in program.names()}
    return {key for key in keys if len(key) >= SHORTEST_KEY}


def check_seals(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find keys that are damaged, or differ between a task's two programs, so that scoring accepts no run."""
    for task in bundle.keys.tasks:
        where = bundle.at(*task.key_path)
        programs = {key: program for key in PROGRAMS if (program := find(bundle, getattr(task, key))) is not None}
        keys = {key: program.read(SEAL).strip() for key, program in programs.items() if SEAL in program.names()}
        for key in sorted(key for key, content in keys.items() if not KEY.fullmatch(content)):
            what = f"{SEAL} of the {key}: expected 64 hexadecimal digits in lower case; found something else."
            yield finding("seal-damaged", where, what)
        if len(programs) == len(PROGRAMS) and len(keys) == 1:
            what = f"Expected {SEAL} in both programs or in none; found it in the {next(iter(keys))} only."
            yield finding("seal-alone (scoring)" if PROGRAMS[1] in keys else "seal-alone", where, what)
        elif len(set(keys.values())) > 1:
            yield finding("seal-differs", where, f"The two programs hold different keys in {SEAL}.")


def check_key_in(location: Location, file: File, keys: set[bytes], programs: set[str]) -> Iterator[Finding]:
    """Find a key outside the root of a program, by name or by content."""
    own = location.name in programs and file.name == SEAL
    if own and location.audience != "participants":
        return
    if file.name.rpartition("/")[2] == SEAL or any(key in file.content for key in keys):
        what = f"{location.at(file.name)} contains the seal key" + (
            ", and make_programs_available is true." if own else "."
        )
        yield finding("leak-seal (open)" if own else "leak-seal", location.name, what)
