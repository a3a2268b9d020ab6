"""Clips as new MP4 files: copied track by track, re-encoded, or made small for a browser; and pictures of them."""

from __future__ import annotations

import io
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import av
import cv2
import numpy as np
from av.error import ArgumentError, FFmpegError
from numpy.typing import NDArray

from bundle_tools.errors import BundleError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from av import AudioFrame, AudioStream, Packet, VideoFrame
    from av.container import InputContainer, OutputContainer
    from numpy.typing import NDArray


SOUND_RATE, SOUND_BITS = 44_100, 96_000
MICROSECONDS = 1_000_000
"""One second, in the unit of a file's start time and length."""
LONGEST_S = 600
"""The longest clip, seconds: one model call has to process all of it."""
LARGEST_SIDE = 640
"""Largest width or height of a clip for a browser, pixels."""
UNCHANGED_BITS = 1_000_000
"""Most bits per second of a clip that a browser gets unchanged."""
PLAYED_SOUND = frozenset({"aac", "mp3"})
OWN = {"crf": "23", "preset": "veryfast", "tune": "fastdecode", "threads": "1", "flags": "+bitexact"}
"""Options of libx264 for clips of a phase."""
SMALL = {"crf": "26", "preset": "veryfast", "maxrate": "400000", "bufsize": "800000"}
"""Options for browsers, without visible loss: a sheet with 15 clips of 15 s stays under 20 MB and can be mailed."""
PICTURE_WIDTH = 355
LARGEST_PICTURE = 10_000
"""Most bytes of a small picture, where its content allows it."""
PICTURE_QUALITIES = (85, 75, 65, 55, 45, 35, 25)

Pixels = NDArray[np.uint8]


class Unusable(Exception):
    """A clip that cannot be used; its text says why."""


class _NotHeldError(Exception):
    """MP4 cannot hold a track as it is."""


@dataclass(frozen=True)
class Facts:
    """A clip's properties according to its headers."""

    duration_s: float
    """Length, > 0."""
    width: int
    """Pixels, as stored; so is the height."""
    height: int
    sound: bool
    encoded: bool = False
    """Whether it had to be re-encoded, since MP4 cannot hold it as it is."""


def clean(data: bytes, height: int | None) -> tuple[bytes, Facts]:
    """Return a clip as a new MP4 file with one video track, at most one sound track, and no metadata.

    If MP4 cannot hold the codec, as with VP8, the clip is re-encoded at its own height.

    `height`: re-encode at this height, pixels, an even number: clips become uniform and faster to decode, but lose a
    little quality. None copies pictures and sound bit by bit if MP4 can hold them.

    Raises Unusable when it is not a video, or is truncated.
    """
    try:
        encoded = False
        try:
            written = _muxed(data, _copy if height is None else partial(_encode, size=partial(_of_height, height)))
        except _NotHeldError:
            written, encoded = _muxed(data, partial(_encode, size=partial(_of_height, None))), True
        with av.open(io.BytesIO(written), "r") as made:
            video = made.streams.video[0].codec_context
            duration_s = (made.duration or 0) / MICROSECONDS
            facts = Facts(duration_s, video.width, video.height, bool(made.streams.audio), encoded)
    except (FFmpegError, ValueError, IndexError) as error:
        hint = "; if it plays, try --reencode" if height is None else ""
        reason = getattr(error, "strerror", None) or error
        raise Unusable(f"FFmpeg: {reason}"[:200] + hint) from error
    if facts.duration_s <= 0:
        raise Unusable("its headers give no length")
    return written, facts


def _muxed(data: bytes, transfer: Callable[[InputContainer, OutputContainer], None]) -> bytes:
    target = io.BytesIO()
    # bitexact omits the time of writing and the version of the library.
    with (
        av.open(io.BytesIO(data), "r", metadata_errors="replace") as source,
        av.open(target, "w", format="mp4", options={"fflags": "+bitexact"}) as written,
    ):
        if not source.streams.video:
            raise Unusable("it holds no picture track")
        if (lasts_s := (source.duration or 0) / MICROSECONDS) > LONGEST_S:
            raise Unusable(f"it lasts {lasts_s / 60:.0f} minutes: cut it into clips of at most {LONGEST_S // 60}")
        transfer(source, written)
    return target.getvalue()


def _copy(source: InputContainer, written: OutputContainer) -> None:
    """Copy the packets of the first video track and the first sound track."""
    streams = [source.streams.video[0], *source.streams.audio[:1]]
    try:
        # Opaque: there may be no encoder for the codec here.
        targets = {stream.index: written.add_stream_from_template(stream, opaque=True) for stream in streams}
    except ValueError as error:
        raise _NotHeldError from error
    pictures = 0
    for packet in source.demux(streams):
        if packet.is_corrupt:
            raise Unusable("it is cut off or damaged")
        # The last packet of each stream is empty and only marks its end.
        if packet.size:
            pictures += packet.stream.index == streams[0].index
            packet.stream = targets[packet.stream.index]
            try:
                written.mux(packet)
            except ArgumentError as error:  # timestamps that MP4 does not allow
                raise _NotHeldError from error
    if not pictures:
        raise Unusable("its picture track is empty")


def _encode(
    source: InputContainer,
    written: OutputContainer,
    size: Callable[[int, int], tuple[int, int]],
    options: dict[str, str] = OWN,
    sound_bits: int = SOUND_BITS,
) -> None:
    video, sounds = source.streams.video[0], source.streams.audio[:1]
    # Clips are encoded in parallel, which is faster than several threads per clip.
    video.thread_type = "NONE"
    rate = video.average_rate or Fraction(25)
    target = written.add_stream("libx264", rate=rate, options=options)
    target.pix_fmt = "yuv420p"
    # Frames keep their timestamps, so that a phone's variable frame rate stays in sync with the sound.
    unit = video.time_base or 1 / rate
    target.codec_context.time_base = unit
    step = max(1, round(1 / (rate * unit)))
    # Some files' timestamps do not start at 0; picture and sound are shifted by the same amount.
    begins = Fraction(max(0, source.start_time or 0), MICROSECONDS)
    sound = (
        written.add_stream("aac", rate=SOUND_RATE, layout="mono", options={"flags": "+bitexact"}) if sounds else None
    )
    if sound is not None:
        sound.bit_rate = sound_bits
    resampler = av.AudioResampler("fltp", "mono", SOUND_RATE)
    last: int | None = None
    # Nothing can be muxed before the size of the first frame is known.
    waiting: list[Packet[AudioStream]] = []
    for frame in source.decode(video, *sounds):
        if isinstance(frame, av.VideoFrame):
            # Players rotate a phone's sideways video by its metadata; a re-encoded file has none.
            picture = av.VideoFrame.from_ndarray(upright(frame, "rgb24"), format="rgb24") if frame.rotation else frame
            width, height = size(picture.width, picture.height)
            picture = picture.reformat(width=width, height=height, format="yuv420p")
            if last is None:
                target.width, target.height = picture.width, picture.height
            last = _time(frame, last, step, round(begins / unit))
            picture.pts, picture.time_base = last, unit
            written.mux(target.encode(picture))
        elif isinstance(frame, av.AudioFrame) and sound is not None:
            for piece in resampler.resample(_moved(frame, begins)):
                waiting += sound.encode(piece)
        if last is not None:
            written.mux(waiting)
            waiting.clear()
    if last is None:
        raise Unusable("no picture of it can be decoded")
    written.mux(target.encode(None))
    if sound is not None:
        for piece in resampler.resample(None):
            written.mux(sound.encode(piece))
        written.mux(sound.encode(None))


def _time(frame: VideoFrame, last: int | None, step: int, begins: int) -> int:
    """Return the timestamp of a frame: always after the previous one, and one step later if it has none."""
    if frame.pts is None:
        return 0 if last is None else last + step
    return frame.pts - begins if last is None else max(frame.pts - begins, last + 1)


def _moved(frame: AudioFrame, begins: Fraction) -> AudioFrame:
    """Return sound shifted earlier by some seconds, timed in samples, since a container may count in whole packets."""
    if frame.pts is not None and frame.time_base:
        frame.pts = round((frame.pts * frame.time_base - begins) * frame.sample_rate)
        frame.time_base = Fraction(1, frame.sample_rate)
    return frame


def _of_height(height: int | None, width: int, own_height: int) -> tuple[int, int]:
    """Return width and height, both even, in the proportions of a picture: of a given height, or of its own."""
    height = height or max(2, own_height // 2 * 2)
    return max(2, round(width * height / own_height / 2) * 2), height


def for_browser(path: Path) -> bytes:
    """Return a clip as MP4 with H.264 and AAC, at most 640 pixels wide or high; a small clip in this form is kept.

    Raises BundleError when the clip cannot be decoded or encoded.
    """
    try:
        with av.open(str(path)) as source:
            plays = _plays(source)
        data = path.read_bytes()
        return data if plays else _muxed(data, partial(_encode, size=_small, options=SMALL, sound_bits=64_000))
    except (FFmpegError, OSError, IndexError, ValueError, Unusable) as error:
        what = f"{path}: cannot be read, or cannot be made playable ({type(error).__name__})"
        raise BundleError(f"{what}. Run `bundle check`, or convert the clip to MP4 with H.264.") from error


def _plays(source: InputContainer) -> bool:
    picture = source.streams.video[0].codec_context
    return (
        "mp4" in source.format.name
        and picture.name == "h264"
        and picture.pix_fmt == "yuv420p"
        and max(picture.width, picture.height) <= LARGEST_SIDE
        and source.bit_rate <= UNCHANGED_BITS
        and all(stream.codec_context.name in PLAYED_SOUND for stream in source.streams.audio)
    )


def _small(width: int, height: int) -> tuple[int, int]:
    scale = min(1.0, LARGEST_SIDE / max(width, height))
    return max(2, round(width * scale / 2) * 2), max(2, round(height * scale / 2) * 2)


def upright(frame: VideoFrame, form: str) -> Pixels:
    """Return the pixels of a frame as players show it: turned as its file says.

    `form`: "rgb24", "bgr24" or "gray".
    """
    return np.ascontiguousarray(np.rot90(frame.to_ndarray(format=form), round(frame.rotation / 90)), np.uint8)


def middle_frame(video: bytes) -> tuple[Pixels, float]:
    """Return the frame in the middle of a video, (height, width, 3) BGR, and its seconds from the beginning."""
    with av.open(io.BytesIO(video), "r", metadata_errors="replace") as container:
        stream = container.streams.video[0]
        moments = sorted(packet.pts for packet in container.demux(stream) if packet.pts is not None)
        wanted = moments[len(moments) // 2]
        container.seek(0)
        for frame in container.decode(stream):
            if frame.pts is not None and frame.pts >= wanted and stream.time_base is not None:
                return upright(frame, "bgr24"), float((frame.pts - moments[0]) * stream.time_base)
    raise ValueError("a video without a frame in its middle")


def small_jpeg(picture: Pixels) -> bytes:
    """Encode a BGR picture as a JPEG at most 355 pixels wide, in the best quality within 10 kB."""
    height, width = picture.shape[:2]
    if width > PICTURE_WIDTH:
        size = PICTURE_WIDTH, max(1, round(height * PICTURE_WIDTH / width))
        picture = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)
    data = b""
    for quality in PICTURE_QUALITIES:
        data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()
        if len(data) <= LARGEST_PICTURE:
            break
    return data
