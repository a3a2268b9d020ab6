"""Rules about video files: each can be decoded to its end, and has the same form as the others."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from bundle_tools.challenge.rules.clips.tables import PhaseData
from bundle_tools.challenge.rules.clips.video import UnreadableVideo, Video, count_frames, describe_file
from bundle_tools.codabench.keys import LONGEST_SHOWN
from bundle_tools.codabench.rules.dataset import Dataset
from bundle_tools.codabench.rules.findings import FAILS_LATER, Finding
from bundle_tools.console import Progress


@dataclass(frozen=True)
class Look:
    """The result of reading one file."""

    video: Video | None
    """Its header; None if it is not a video."""
    frames: int
    """Frames decoded before the first failure; the number of packets if nothing was decoded."""
    fault: str | None
    """Why it cannot be decoded; None if it can."""


def check_files(
    side: PhaseData,
    name: str,
    files: Mapping[str, str],
    videos: dict[str, Video],
    progress: Progress | None,
    whole: Callable[[str], bool] = lambda _: True,
) -> Iterator[Finding]:
    """Find files that cannot be decoded, several at once; missing files are skipped.

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


def _look(data: Dataset, file: str, whole: bool) -> Look:
    """Read and decode one file; several at once, so nothing is reported from here."""
    try:
        video = describe_file(data, file)
    except UnreadableVideo as error:
        return Look(None, 0, str(error))
    return Look(video, *(count_frames(data.read(file)) if whole else (video.packets, None)))


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
    # If the decoder stopped, the missing frames have already been reported.
    if claimed != video.packets or (look.fault is None and look.frames != video.packets):
        what = f"{clip}: claims {claimed} frames, holds {video.packets}, and {look.frames} can be decoded."
        effect = "Frames requested by time may be missing."
        yield Finding("clip-frames", "error", where, what, effect, "Encode it again.")


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
            effect = "Models must cope with all of them."
            fix = "Encode all clips alike (`bundle data from-folder --reencode 360`), unless this is intended."
            yield Finding("clips-mixed", "note", where, what, effect, fix)
    silent = sorted(clip for clip, video in videos.items() if not video.sound)
    if silent and len(silent) < len(videos):
        what = f"{len(silent)} clips without sound among {len(videos)}, such as {silent[0]}."
        yield Finding(
            "clips-sound", "note", where, what, "Models get no sound for them.", "Check whether the sound was lost."
        )


def check_tags(where: str, videos: dict[str, Video]) -> Iterator[Finding]:
    """Find tags that reveal something about the content of a file."""
    tagged = {clip: video.tags for clip, video in videos.items() if video.tags}
    if tagged:
        clip, tags = next(iter(tagged.items()))
        what = f"{len(tagged)} clips carry tags, such as {clip}: {', '.join(tags)[:LONGEST_SHOWN]}."
        effect = "Tags may name a person, a source or a label; models see pixels and sound only."
        fix = "Remove them: ffmpeg -i IN -map_metadata -1 -c copy OUT."
        yield Finding("clip-tags", "warning", where, what, effect, fix)


def check_extra(side: PhaseData, name: str, folder: str, files: Mapping[str, str]) -> Iterator[Finding]:
    """Find files in the folders of clips, copies or exchanges that their lists do not name."""
    listed = set(files.values())
    extra = sorted(file for file in side.data.names() if file.startswith(f"{folder}/") and file not in listed)
    if extra:
        what = f"{len(extra)} files are not in the list, such as {extra[0]}."
        effect = "They are packed but never used."
        yield Finding(f"{folder}-extra", "warning", side.at(name), what, effect, "Delete them.")
