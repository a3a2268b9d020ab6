"""Rules about the files of a list: each clip, or copy of one, is there, whole, readable, and like the others."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from bundle_tools.challenge.rules.clips.video import UnreadableVideo, Video, count_frames, describe_file
from bundle_tools.codabench.rules.dataset import Dataset
from bundle_tools.codabench.rules.findings import FAILS_LATER, LONGEST_SHOWN, Finding, shown
from bundle_tools.console import Progress

CLIP_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
COLUMNS = 3


@dataclass(frozen=True)
class Look:
    """What came out of reading one clip."""

    sha256: str
    """Of the file."""
    video: Video | None
    """What it says of itself; None where it is no video."""
    frames: int
    """Frames that can be decoded, up to the first that cannot; the packets where nothing was decoded."""
    fault: str | None
    """Why it cannot be decoded; None where it can."""


def check_files(
    where: str,
    rows: list[list[str]],
    data: Dataset,
    videos: dict[str, Video],
    ids: list[str],
    progress: Progress | None,
    whole: Callable[[str], bool] | None = None,
) -> Iterator[Finding]:
    """Find files that are missing, changed or broken; several are decoded at once.

    Parameters
    ----------
    where
        The list.
    rows
        Its lines below the header: id, file, SHA-256.
    data
        The input data.
    videos
        Receives what each file says of itself, by id.
    ids
        Ids that are taken already; receives those of the list.
    progress
        Told of each file.
    whole
        Whether all frames of a file are decoded, by its name; of the others the packets are counted. None: of all.
    """
    names = set(data.names())
    files = {row[1] for row in rows if len(row) == COLUMNS and row[1] in names}
    with ThreadPoolExecutor() as pool:
        looks = {file: pool.submit(_look, data, file, whole is None or whole(file)) for file in sorted(files)}
        yield from _check_rows(where, rows, looks, videos, ids, progress)


def _check_rows(
    where: str,
    rows: list[list[str]],
    looks: dict[str, "Future[Look]"],
    videos: dict[str, Video],
    ids: list[str],
    progress: Progress | None,
) -> Iterator[Finding]:
    for line, row in enumerate(rows, start=2):
        place = f"{where}:{line}"
        if progress is not None:
            progress(line - 1, len(rows))
        if len(row) != COLUMNS or not CLIP_ID.fullmatch(row[0]):
            what = f"Expected an id, a file and its SHA-256; found {shown(','.join(row))}."
            yield Finding("clips-row", "error", place, what, FAILS_LATER, "Correct the line.")
            continue
        clip, file, digest = row
        if clip in ids:
            yield Finding("clips-twice", "error", place, f"{clip} stands there twice.", FAILS_LATER, "Delete one.")
        ids.append(clip)
        if file not in looks:
            what = f"{clip}: {file} is missing."
            yield Finding("clip-missing", "error", place, what, FAILS_LATER, "Put the file there.")
            continue
        look = looks[file].result()
        if look.sha256 != digest.lower():
            what = f"{clip}: {file} has another SHA-256 than the list says."
            yield Finding("clip-hash", "error", place, what, "Ingestion stops.", "Write the list again.")
        yield from _check_video(place, clip, look, videos)


def _look(data: Dataset, file: str, whole: bool) -> Look:
    """Read and decode one clip; several at once, so nothing is reported from here."""
    content = data.read(file)
    sha256 = hashlib.sha256(content).hexdigest()
    try:
        video = describe_file(data, file)
    except UnreadableVideo as error:
        return Look(sha256, None, 0, str(error))
    return Look(sha256, video, *(count_frames(content) if whole else (video.packets, None)))


def _check_video(where: str, clip: str, look: Look, videos: dict[str, Video]) -> Iterator[Finding]:
    video = look.video
    if video is not None:
        videos[clip] = video
    if video is None or look.fault is not None:
        what = f"{clip}: cannot be decoded: {look.fault}."
        yield Finding("clip-unreadable", "error", where, what, FAILS_LATER, "Encode it again as H.264 in MP4.")
    if video is None:
        return
    claimed = video.claimed_frames or video.packets
    # Where the decoder stopped, fewer frames came out for a reason that has been said.
    if claimed != video.packets or (look.fault is None and look.frames != video.packets):
        what = f"{clip}: claims {claimed} frames, holds {video.packets}, and {look.frames} can be decoded."
        effect = "Frames asked for by their time may be missing."
        yield Finding("clip-frames", "error", where, what, effect, "Encode it again.")


def check_alike(where: str, videos: dict[str, Video]) -> Iterator[Finding]:
    """Find clips that differ in form from the others, and tags that tell about their content."""
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
            effect = "Models must cope with all of them."
            yield Finding("clips-mixed", "note", where, what, effect, "Encode all clips alike, unless it is meant.")
    silent = sorted(clip for clip, video in videos.items() if not video.sound)
    if silent and len(silent) < len(videos):
        what = f"{len(silent)} clips without sound among {len(videos)}, such as {silent[0]}."
        yield Finding("clips-sound", "note", where, what, "Models get no sound for them.", "Is the sound lost?")
    yield from check_tags(where, videos)


def check_tags(where: str, videos: dict[str, Video]) -> Iterator[Finding]:
    """Find tags that tell about the content of a file."""
    tagged = {clip: video.tags for clip, video in videos.items() if video.tags}
    if tagged:
        clip, tags = next(iter(tagged.items()))
        what = f"{len(tagged)} clips carry tags, such as {clip}: {', '.join(tags)[:LONGEST_SHOWN]}."
        effect = "Tags may name a person, a source or a label; models see pixels and sound only."
        fix = "Remove them: ffmpeg -i IN -map_metadata -1 -c copy OUT."
        yield Finding("clip-tags", "warning", where, what, effect, fix)


def check_extra(code: str, folder: str, where: str, data: Dataset, listed: set[str]) -> Iterator[Finding]:
    """Find files of the folder of clips, or of copies, that its list does not name."""
    extra = sorted(name for name in data.names() if name.startswith(f"{folder}/") and name not in listed)
    if extra:
        what = f"{len(extra)} files that the list does not name, such as {extra[0]}."
        yield Finding(code, "warning", where, what, "They are packed and never used.", "Delete them.")
