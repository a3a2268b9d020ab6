"""The header of a video file, and whether the file can be fully decoded."""

import contextlib
from dataclasses import dataclass
from functools import lru_cache

import av
import numpy as np
from av.error import FFmpegError
from numpy.typing import NDArray

from bundle_tools.codabench.rules.dataset import DataFiles
from bundle_tools.decoding import Unusable, moments, open_clip, picture_track, pictures

# Tags that muxers and cameras write; any other tag in a container is about the clip.
TECHNICAL_TAGS = frozenset(
    {
        *("major_brand", "minor_version", "compatible_brands", "encoder", "creation_time", "language", "handler_name"),
        *("vendor_id", "duration", "timecode", "rotate", "bps", "number_of_frames", "number_of_bytes"),
    }
)


# A model that counts would notice one frame more or less; containers round lengths to less than this.
SAME_LENGTH_S = 0.03
APART = 12


class UnreadableVideo(Exception):
    """A file that cannot be decoded to its end."""


@dataclass(frozen=True)
class Video:
    """A video file as its container describes it, without decoding; `packets` are coded frames."""

    file_bytes: int
    duration_s: float
    """Length, seconds; 0 if the container has none."""
    claimed_frames: int
    """Frames according to the container; 0 if it has no number."""
    packets: int
    fps: float
    """Frames per second on average; 0 if the container has none."""
    width: int
    height: int
    codec: str
    video_bytes: int
    sound_bytes: int
    """Bytes of all coded sound; 0 without sound."""
    sound: bool
    created: str
    tags: tuple[str, ...]
    """Names of tags that are not technical, such as title or comment."""

    def differences(self, other: "Video") -> list[str]:
        """Name the differences to another drawing of this clip that a model can see without decoding."""
        differences = [
            f"{what} {theirs} instead of {ours}"
            for what, ours, theirs in (
                ("frame size", f"{self.width} x {self.height}", f"{other.width} x {other.height}"),
                ("frame rate", f"{self.fps:g}", f"{other.fps:g}"),
                ("frames", self.packets, other.packets),
                ("codec", self.codec, other.codec),
                ("sound", self.sound, other.sound),
            )
            if ours != theirs
        ]
        if abs(self.duration_s - other.duration_s) > SAME_LENGTH_S:
            differences.append(f"length {other.duration_s:.2f} s instead of {self.duration_s:.2f} s")
        return differences


def describe_file(data: DataFiles, file: str) -> Video:
    """Describe a file of a data set, once for all rules.

    Raises UnreadableVideo: see `describe`.
    """
    state = (data.path / file if data.path.is_dir() else data.path).stat()
    return _described(data, file, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=20_000)
def _described(data: DataFiles, file: str, _changed_ns: int, _size: int) -> Video:
    return describe(data.read(file))


def describe(content: bytes) -> Video:
    """Read a file's packets without decoding them.

    Raises UnreadableVideo when the file is not a video, or is truncated.
    """
    try:
        with open_clip(content) as container:
            stream = picture_track(container)
            sizes = {"video": 0, "audio": 0}
            packets = 0
            for packet in container.demux():
                kind = packet.stream.type
                if kind in sizes and packet.size:
                    sizes[kind] += packet.size
                    packets += packet.stream.index == stream.index
            tags = dict(container.metadata)
            for other in container.streams:
                tags |= other.metadata
            return Video(
                file_bytes=len(content),
                duration_s=(container.duration or 0) / av.time_base,
                claimed_frames=stream.frames,
                packets=packets,
                fps=float(stream.average_rate or 0),
                width=stream.codec_context.width,
                height=stream.codec_context.height,
                codec=stream.codec_context.name,
                video_bytes=sizes["video"],
                sound_bytes=sizes["audio"],
                sound=bool(container.streams.audio),
                created=str(container.metadata.get("creation_time", "")),
                tags=tuple(sorted(name for name in tags if not _technical(name))),
            )
    except (FFmpegError, IndexError, ValueError, Unusable) as error:
        raise UnreadableVideo(f"{type(error).__name__}: {error}") from error


def some_frames(content: bytes) -> list[NDArray[np.uint8]]:
    """Return the brightness of every twelfth frame, each (height, width); for a damaged file, only the decoded ones."""
    frames: list[NDArray[np.uint8]] = []
    with contextlib.suppress(FFmpegError, IndexError, ValueError, Unusable):
        frames.extend(pictures(content, range(APART // 2, len(moments(content)), APART), "gray"))
    return frames


def _technical(tag: str) -> bool:
    name = tag.lower()
    return name in TECHNICAL_TAGS or name.startswith(("_statistics", "com.android", "com.apple.quicktime.software"))
