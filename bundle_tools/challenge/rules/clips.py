"""Rules about the data of this project's tasks: both sides agree, and every clip, copy and exchange can be used.

They apply to a task whose input and reference data both hold a `task.yaml` (docs/data_format.md). Only their content
may distinguish copies, with one cue neutral, and exchanges, which differ in every part, from their clip. What either
program would refuse is up to `check_settings`.
"""

import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import cv2
import numpy as np
from av.error import FFmpegError
from numpy.typing import NDArray

from bundle_tools.canonical import FormGap, differences
from bundle_tools.challenge.reading.tables import SETTINGS, PhaseData, read_by_clip, read_clips, read_list, side_of
from bundle_tools.challenge.reading.video import UnreadableVideo, Video, describe_file, some_frames
from bundle_tools.challenge.rules import finding
from bundle_tools.challenge.rules.detectability import is_filmed
from bundle_tools.challenge.rules.phases import check_probes, check_ranking, check_results, check_yardstick
from bundle_tools.challenge.rules.reference import check_reference
from bundle_tools.codabench.competition import DEFAULT_TIME_LIMIT_S
from bundle_tools.codabench.keys import LONGEST_SHOWN, TaskKeys
from bundle_tools.codabench.rules.dataset import DataFiles
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.codabench.rules.findings import Finding, shown
from bundle_tools.console import Progress
from bundle_tools.decoding import Unusable, count_frames

Outlines = dict[str, NDArray[np.float32]]
"""Corners of the parts of an exchange by name, pixels."""

DECODED_ONE_IN = 6
"""Of copies, one in so many is decoded, drawn by its name. The program that made a clip made its copies, and the list
has their hashes: decoding all would hardly find more, and take three times as long as decoding the clips."""
SEEN = 10.0
"""Mean difference of a block of 20 x 20 pixels, of 255, that exceeds encoding loss, which reaches 5.4."""
BLOCK = 20


def check_data(bundle: ParsedBundle) -> Iterator[Finding]:
    """Find where input data, reference data and phases contradict each other, and clips that cannot be used.

    Every clip is fully decoded, so large sets take a while; the draft's `progress` is called for each clip of a task.
    """
    for task in bundle.keys.tasks:
        inputs, reference = (side_of(bundle, task, key) for key in ("input_data", "reference_data"))
        if inputs is None or reference is None:
            continue
        clips = {clip: file for clip, file, _ in read_clips(inputs.data)}
        yield from _check_agreement(bundle, task, inputs, reference)
        yield from _check_videos(inputs, clips, bundle.progress)
        yield from check_probes(inputs, len(clips))
        yield from check_yardstick(inputs, reference, clips)
        yield from check_ranking(bundle, inputs, reference, clips)
        yield from check_results(inputs, list(clips))
        yield from check_reference(inputs, reference, clips.keys())


def _check_agreement(
    bundle: ParsedBundle, task: TaskKeys, inputs: PhaseData, reference: PhaseData
) -> Iterator[Finding]:
    where, ours, theirs = inputs.at(SETTINGS), inputs.settings, reference.settings
    for key in ("task", "data_version"):
        if ours.get(key) != theirs.get(key) or ours.get(key) is None:
            what = f"{key}: {shown(ours.get(key))} in the input data, {shown(theirs.get(key))} in the reference data."
            yield finding("data-version", where, what)
    if _targets(ours) != _targets(theirs) or not _targets(ours):
        what = f"Targets: {_targets(ours)} in the input data, {_targets(theirs)} in the reference data."
        yield finding("data-targets", where, what)
    title, named = bundle.keys.title or "", theirs.get("challenge")
    if title and isinstance(named, str) and named.strip() != title.strip():
        what = f"challenge: {shown(named)}; the title of the competition is {shown(title)}."
        yield finding("data-challenge", reference.at(SETTINGS), what)
    if ours.get("environment") == "gpu" and bundle.keys.queue is None:
        yield finding("data-gpu", where, "environment: gpu, and no queue in competition.yaml.")
    limit = inputs.section("limits").get("time_limit_s")
    for phase in bundle.keys.phases:
        allowed = phase.execution_time_limit or DEFAULT_TIME_LIMIT_S
        if task in bundle.tasks_of(phase) and limit != allowed:
            what = f"time_limit_s: {shown(limit)}; execution_time_limit of the phase is {allowed}."
            yield finding("data-time-limit", where, what)


def _check_videos(side: PhaseData, clips: dict[str, str], progress: Progress | None) -> Iterator[Finding]:
    name = str(side.settings.get("clips"))
    videos: dict[str, Video] = {}
    yield from check_files(side, name, clips, videos, progress)
    yield from check_alike(side.at(name), videos)
    yield from check_tags(side.at(name), videos)
    yield from check_extra(side, name, "clips", clips)
    yield from check_copies(side, videos, progress)
    yield from check_exchanges(side, clips, videos, progress)


def _targets(settings: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    targets = settings.get("targets")
    if not isinstance(targets, list):
        return []
    return [
        (str(target.get("name")), target.get("minimum"), target.get("maximum"))
        for target in targets
        if isinstance(target, dict)
    ]


@dataclass(frozen=True)
class ClipCheck:
    """The result of reading one file: its header, if it is a video, and why it cannot be decoded, if it cannot."""

    video: Video | None
    frames: int
    """Frames decoded before the first failure; the number of packets if nothing was decoded."""
    fault: str | None
    form: Sequence[FormGap] = ()
    """What it lacks of the canonical form."""


def check_files(
    side: PhaseData,
    name: str,
    files: Mapping[str, str],
    videos: dict[str, Video],
    progress: Progress | None,
    whole: Callable[[str], bool] = lambda _: True,
) -> Iterator[Finding]:
    """Find files that cannot be decoded or are not canonical, several at once; missing files are skipped.

    `files`: their names by the ids of clips, or of copies. `whole`: whether to decode all frames of a file, by its
    name; otherwise only packets are counted.
    """
    there = sorted(set(files.values()) & set(side.data.names()))
    with ThreadPoolExecutor() as pool:
        looks = {file: pool.submit(_look, side.data, file, whole(file)) for file in there}
        for number, (clip, file) in enumerate(files.items(), start=1):
            if progress is not None:
                progress(number, len(files))
            if file in looks:
                yield from _check_video(side.at(name), clip, looks[file].result(), videos)
    files_by_kind: dict[str, dict[str, str]] = {}
    for file, look in looks.items():
        for difference in look.result().form:
            files_by_kind.setdefault(difference.kind, {})[file] = difference.found
    for kind, by_file in files_by_kind.items():
        example, what = next(iter(by_file.items()))
        files_of_kind = f"{len(by_file)} of {len(looks)} files, such as {example}"
        yield finding("clip-form", side.at(name), f"{kind}: {files_of_kind} ({what}).", folder=side.folder)


def _look(data: DataFiles, file: str, whole: bool) -> ClipCheck:
    """Read and decode one file; several at once, so nothing is reported from here."""
    try:
        video = describe_file(data, file)
    except UnreadableVideo as error:
        return ClipCheck(None, 0, str(error))
    content = data.read(file)
    frames, fault = count_frames(content) if whole else (video.packets, None)
    try:
        return ClipCheck(video, frames, fault, () if fault else differences(content))
    except (FFmpegError, Unusable, ValueError) as error:
        return ClipCheck(video, frames, str(error))


def _check_video(where: str, clip: str, look: ClipCheck, videos: dict[str, Video]) -> Iterator[Finding]:
    video = look.video
    if video is not None:
        videos[clip] = video
    if video is None or look.fault is not None:
        yield finding("clip-unreadable", where, f"{clip}: cannot be decoded: {look.fault}.")
    if video is None:
        return
    claimed = video.claimed_frames or video.packets
    # If the decoder stopped, the missing frames have already been reported.
    if claimed != video.packets or (look.fault is None and look.frames != video.packets):
        what = f"{clip}: claims {claimed} frames, holds {video.packets}, and {look.frames} can be decoded."
        yield finding("clip-frames", where, what)


def check_alike(where: str, videos: dict[str, Video]) -> Iterator[Finding]:
    """Find clips that differ in form from the others."""
    for form, values in (
        ("frame size", {clip: f"{video.width} x {video.height}" for clip, video in videos.items()}),
        ("frame rate", {clip: f"{video.fps:g}" for clip, video in videos.items()}),
        ("codec", {clip: video.codec for clip, video in videos.items()}),
    ):
        counts = Counter(values.values())
        if len(counts) > 1:
            (usual, _), (odd, count), *_ = counts.most_common()
            example = next(clip for clip, value in values.items() if value == odd)
            what = f"{form}: {usual} for most clips, {odd} for {count}, such as {example}; {len(counts)} kinds in all."
            yield finding("clips-mixed", where, what)
    silent = sorted(clip for clip, video in videos.items() if not video.sound)
    if silent and len(silent) < len(videos):
        what = f"{len(silent)} clips without sound among {len(videos)}, such as {silent[0]}."
        yield finding("clips-sound", where, what)


def check_tags(where: str, videos: dict[str, Video]) -> Iterator[Finding]:
    """Find tags that reveal something about the content of a file."""
    tagged = {clip: video.tags for clip, video in videos.items() if video.tags}
    if tagged:
        clip, tags = next(iter(tagged.items()))
        what = f"{len(tagged)} clips carry tags, such as {clip}: {', '.join(tags)[:LONGEST_SHOWN]}."
        yield finding("clip-tags", where, what)


def check_extra(side: PhaseData, name: str, folder: str, files: Mapping[str, str]) -> Iterator[Finding]:
    """Find files in the folders of clips, copies or exchanges that their lists do not name."""
    listed = set(files.values())
    extra = sorted(file for file in side.data.names() if file.startswith(f"{folder}/") and file not in listed)
    if extra:
        yield finding(f"{folder}-extra", side.at(name), f"{len(extra)} files are not in the list, such as {extra[0]}.")


def check_copies(side: PhaseData, videos: dict[str, Video], progress: Progress | None = None) -> Iterator[Finding]:
    """Find copies that are broken, or unlike their clip."""
    name = side.settings.get("copies")
    if not isinstance(name, str):
        return
    rows = read_list(side.data, "copies", 5)
    files = {copy: file for copy, _, _, file, _ in rows}
    copies: dict[str, Video] = {}
    yield from check_files(
        side, name, files, copies, progress, lambda file: zlib.crc32(file.encode()) % DECODED_ONE_IN == 0
    )
    yield from check_tags(side.at(name), copies)
    yield from check_extra(side, name, "copies", files)
    for copy, clip, *_ in rows:
        if copy in copies and clip in videos and (differences := videos[clip].differences(copies[copy])):
            yield finding("copy-differs", side.at(name), f"{copy}, a copy of {clip}: {', '.join(differences)}.")


def check_exchanges(
    side: PhaseData, clips: Mapping[str, str], videos: dict[str, Video], progress: Progress | None = None
) -> Iterator[Finding]:
    """Find exchanges that are broken, unlike their clip, or different from it outside their parts.

    `clips`: file of every clip of the list, by its id.
    """
    name = side.settings.get("exchanges")
    if not isinstance(name, str):
        return
    where = side.at(name)
    listed = read_by_clip(side.data, "exchanges")
    filmed = {clip for clip, entry in listed.items() if is_filmed(entry)}
    if listed and not filmed and (without := sorted(clips.keys() - listed.keys())):
        yield finding("exchanges-some", where, f"{len(without)} clips have no exchange, such as {without[0]}.")
    readable = {clip: read for clip, entry in listed.items() if clip in clips and (read := _read(entry))}
    files = {clip: file for clip, (file, _, _) in readable.items()}
    firsts = {f"{clip}, first": first for clip, (_, first, _) in readable.items() if first is not None}
    exchanges: dict[str, Video] = {}
    yield from check_files(side, name, files | firsts, exchanges, progress, lambda _: False)
    yield from check_tags(where, exchanges)
    yield from check_extra(side, name, "exchanges", files | firsts)
    for made in sorted(exchanges):
        clip = made.removesuffix(", first")
        if clip not in videos:
            continue
        if differences := videos[clip].differences(exchanges[made]):
            yield finding("exchange-differs", where, f"The exchange of {made}: {', '.join(differences)}.")
            continue
        if made != clip:
            continue
        file, plain, outlines = readable[clip]
        # Moving outlines of a face may meet: the nearest part counts.
        for (part, first), (other, second) in combinations(outlines.items() if clip not in filmed else (), 2):
            if cv2.intersectConvexConvex(first, second)[0] > 0:
                what = f"The exchange of {clip}: the outlines of {shown(part)} and {shown(other)} meet."
                yield finding("exchange-meets", where, what)
        if (most := _outside(side, plain or clips[clip], file, outlines)) > SEEN:
            what = f"The exchange of {clip} differs by {most:.0f} of 255 outside its parts; expected at most {SEEN:g}."
            yield finding("exchange-outside", where, what)


def _read(entry: Any) -> tuple[str, str | None, Outlines] | None:  # noqa: ANN401 - from a JSON file
    """Return the file, that of the plain call if it is another than the clip, and outlines of parts that can be seen.

    None after a mistake, which ingestion reports. A moving part has one outline around all of its own.
    """
    try:
        outlines: Outlines = {}
        for part in entry["parts"]:
            keys = [corners for _, corners in part["keys"]] if "keys" in part else [part.get("outline", ())]
            if corners := [corner for key in keys for corner in key]:
                hull = cv2.convexHull(np.array(corners, np.float32))
                outlines[str(part["name"])] = np.asarray(hull[:, 0], np.float32)
        if not all(outline.ndim == 2 and outline.shape[1] == 2 for outline in outlines.values()):
            return None
        return str(entry["file"]), str(entry["first"]["file"]) if "first" in entry else None, outlines
    except (ValueError, TypeError, KeyError, AttributeError, cv2.error):
        return None


def _outside(side: PhaseData, clip: str, exchange: str, outlines: Outlines) -> float:
    """Return the largest difference of a block between both, outside the parts."""
    most = 0.0
    ours, theirs = some_frames(side.data.read(clip)), some_frames(side.data.read(exchange))
    parts = np.zeros(ours[0].shape if ours else (1, 1), np.uint8)
    for outline in outlines.values():
        cv2.fillConvexPoly(parts, np.rint(outline).astype(np.int32), 255)
    outside = cv2.dilate(parts, np.ones((BLOCK + 1, BLOCK + 1), np.uint8)) == 0
    for frame, other in zip(ours, theirs, strict=False):
        difference = cv2.absdiff(frame, other).astype(np.float32)
        most = max(most, float((cv2.blur(difference, (BLOCK, BLOCK)) * outside).max()))
    return most
