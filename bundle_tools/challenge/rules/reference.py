"""Rules about reference data: they belong to the clips, are of use, and lie where only scoring sees them."""

import hashlib
import io
import json
import warnings
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import PurePosixPath

import numpy as np
from PIL import Image

from bundle_tools.challenge.enough import LEAST_SKILL
from bundle_tools.challenge.reading.tables import (
    LABELS,
    SETTINGS,
    PhaseData,
    fingerprint,
    read_by_clip,
    read_json,
    read_labels,
    read_settings,
    read_table,
    side_of,
    vocabulary_of,
)
from bundle_tools.challenge.rules import finding
from bundle_tools.codabench.rules.dataset import DataFiles, opened
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.codabench.rules.findings import Finding, shown

FEWEST_PEOPLE = 5
FEWEST_CLIPS = 10
"""Of fewer labels, the training mean's error says little."""
LARGEST_PICTURE = 64 * 2**10
LONGEST_SIDE = 1024
KNOWLEDGE = ("causes", "observations")
SEEN = ("input_data", "path", "public_data")
"""Keys of data that models or participants see; the kit may contain data of an open phase."""
LARGEST_TABLE = 20_000_000


def check_reference(inputs: PhaseData, reference: PhaseData, clips: Collection[str]) -> Iterator[Finding]:
    """Find labels and other reference data whose clips are not in the input data, and what reports cannot show."""
    labelled = set(read_labels(reference.data).rows)
    for kind, odd in (
        ("have no label", sorted(set(clips) - labelled)),
        ("have a label and are not in the input data", sorted(labelled - set(clips))),
    ):
        if odd:
            yield finding("labels-clips", reference.at(LABELS), f"{len(odd)} clips {kind}, such as {odd[0]}.")
    for key in ("causes", "observations"):
        if odd := sorted(read_by_clip(reference.data, key).keys() - labelled):
            what = f"{len(odd)} clips have no label, such as {shown(odd[0])}."
            yield finding("causes-clips", reference.at(str(reference.settings[key])), what)
    own, vocabulary = reference.section("explanation_score").get("vocabulary"), vocabulary_of(inputs.settings)
    if isinstance(own, list) and vocabulary and {str(cue) for cue in own} != set(vocabulary):
        what = "explanation_score.vocabulary: the cues differ from those of the input data."
        yield finding("score-vocabulary", reference.at(SETTINGS), what)
    yield from _check_groups(reference)
    yield from _check_key_frames(reference)


def check_landmarks(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find landmarks that are missing or belong to other data, and skill references that mean nothing."""
    for task in bundle.keys.tasks:
        inputs, reference = (side_of(bundle, task, key) for key in ("input_data", "reference_data"))
        name = reference.settings.get("landmarks") if reference is not None else None
        if reference is not None and _near_the_mean(reference):
            what = "skill_reference: hardly below the error of the training mean."
            yield finding("skill-reference", reference.at(SETTINGS), what)
        if inputs is None or reference is None or name is None:
            continue
        where = reference.at(str(name))
        if str(name) not in reference.data.names():
            yield finding("landmarks-missing", where, f"landmarks: {shown(name)} is missing from the reference data.")
            continue
        record = read_json(reference.data, name)
        if isinstance(record, dict) and record.get("data_sha256") != fingerprint(inputs.data, reference.data):
            what = "The baselines were computed from different clips, labels or settings."
            yield finding("landmarks-stale", where, what)


def _near_the_mean(side: PhaseData) -> bool:
    """Whether the training mean reaches the skill reference, or nearly, in the mean over the targets that have one."""
    references, labels, shares = side.section("skill_reference"), read_labels(side.data), list[float]()
    truth = np.array([*labels.rows.values()])
    with suppress(TypeError, KeyError, ValueError, IndexError):  # mistakes that scoring names
        for target in side.settings["targets"]:
            if target["name"] in references:
                error = np.abs(truth[:, labels.targets.index(target["name"])] - target["constant"]).mean()
                shares.append(references[target["name"]] / error)
    return len(truth) >= FEWEST_CLIPS and bool(shares) and float(np.mean(shares)) > 1 - LEAST_SKILL


def _check_groups(side: PhaseData) -> Iterator[Finding]:
    name = side.settings.get("groups")
    if name is None:
        return
    if str(name) not in side.data.names():
        what = f"groups: {shown(name)} is missing from the reference data."
        yield finding("groups-missing", side.at(str(name)), what)
        return
    header, *rows = read_table(side.data.text(str(name))) or [[]]
    sources = read_labels(side.data).sources
    sizes: list[list[int]] = []
    for at in range(1, len(header)):
        people: dict[str, set[str]] = {}
        for row in rows:
            if len(row) == len(header):
                people.setdefault(row[at].strip(), set()).add(sources.get(row[0], row[0]))
        sizes.append([len(group) for group in people.values()])
    if not any(sum(size >= FEWEST_PEOPLE for size in groups) >= 2 for groups in sizes):
        what = f"No attribute has two groups of {FEWEST_PEOPLE} people or more."
        yield finding("groups-small", side.at(str(name)), what)


def _check_key_frames(side: PhaseData) -> Iterator[Finding]:
    """Find pictures that scoring silently leaves out of the report."""
    name = side.section("report").get("key_frames")
    if not isinstance(name, str) or name not in side.data.names():
        return
    names = set(side.data.names())
    faults: dict[str, list[str]] = {}
    for row in read_table(side.data.text(name))[1:]:
        if len(row) == 4 and (fault := _fault(side, row[1], row[3], names)):
            faults.setdefault(fault, []).append(row[1])
    for fault, files in faults.items():
        yield finding("key-frames-picture", side.at(name), f"{len(files)} files {fault}, such as {shown(files[0])}.")


def _fault(side: PhaseData, file: str, digest: str, names: set[str]) -> str | None:
    """Return what is wrong with a picture."""
    if file not in names:
        return "are not there"
    if side.data.size(file) > LARGEST_PICTURE:
        return "are larger than 64 KiB"
    content = side.data.read(file)
    if hashlib.sha256(content).hexdigest() != digest.lower():
        return "differ from the list"
    try:
        with warnings.catch_warnings(action="ignore"), Image.open(io.BytesIO(content), formats=["JPEG"]) as image:
            # A small file can claim any number of pixels.
            if max(image.size) <= LONGEST_SIDE:
                image.load()
                return None
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        pass
    return "are not JPEGs of at most 1024 x 1024 pixels"


def check_misplaced(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find causes and observations that models or participants can see; the kit may contain those of an open phase."""
    names = {f"{kind}.json" for kind in KNOWLEDGE} | {name for kind in KNOWLEDGE for _, name in _named(bundle, kind)}
    for folder, data in opened(bundle, *SEEN).items():
        for name in data.names(junk=True):
            if PurePosixPath(name).name in names:
                yield finding("causes-misplaced", folder, f"{name} belongs to the reference data.")


def check_groups_misplaced(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find attributes of people that models or participants can see, although they are for auditing only."""
    tables = [(data, name) for data, name in _named(bundle, "groups") if name in data.names()]
    files = {name for _, name in tables}
    attributes = {column for data, name in tables for column in _header(data, name)[1:]}
    for folder, data in opened(bundle, *SEEN, "starting_kit").items() if files else ():
        for name in data.names(junk=True):
            if PurePosixPath(name).name in files:
                what = f"{name} belongs to the reference data."
            elif columns := sorted(_columns(data, name) & attributes):
                what = f"{name} holds {shown(columns[0])}, an attribute of people."
            else:
                continue
            yield finding("groups-misplaced", folder, what)


def _named(bundle: ParsedBundle, key: str) -> Iterator[tuple[DataFiles, str]]:
    """Yield all reference data, each with the file that its settings name under a key."""
    for data in opened(bundle, "reference_data").values():
        if name := (read_settings(data) or {}).get(key):
            yield data, str(name)


def _header(data: DataFiles, name: str) -> list[str]:
    return [cell.strip() for cell in next(iter(read_table(data.text(name))), [])]


def _columns(data: DataFiles, name: str) -> set[str]:
    """Return the names of a table's columns, or of the keys of JSON objects."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in (".csv", ".json") or data.size(name) > LARGEST_TABLE:
        return set()
    if suffix == ".csv":
        return set(_header(data, name))
    try:
        content = json.loads(data.text(name))
    except (ValueError, RecursionError):
        return set()
    entries = content if isinstance(content, list) else [content]
    entries += [value for entry in entries if isinstance(entry, dict) for value in entry.values()]
    return {str(key) for entry in entries if isinstance(entry, dict) for key in entry}
