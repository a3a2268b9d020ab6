"""The canonical clip: the one form of clips (docs/data_format.md), what a file lacks of it, and how it gets it.

Each track that has the form is copied without loss; any other is encoded again, as players show and play it.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import av
import numpy as np
from av.bitstream import BitStreamFilterContext
from av.error import FFmpegError

from bundle_tools.decoding import (
    LARGEST_SD,
    PROGRESSIVE,
    UNTAGGED,
    Pictures,
    Sound,
    Unusable,
    open_clip,
    own_size,
    picture_track,
    sound_track,
    turns_of,
)
from bundle_tools.errors import BundleError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from av import AudioStream, Packet, VideoFrame, VideoStream
    from av.container import InputContainer, OutputContainer

    from bundle_tools.decoding import Size

SOUND_RATE, SOUND_BITS = 44_100, 96_000
MICROSECONDS = 1_000_000
"""One second, in the unit of a file's start time and length."""
LONGEST_S = 600
"""The longest clip, seconds: one model call has to process all of it."""
LARGEST_SHOWN = 640
"""Largest width or height of a clip for a browser, pixels."""
UNCHANGED_BITS = 1_000_000
"""Most bits per second of a clip that a browser gets unchanged."""
OWN = {"crf": "23", "preset": "veryfast", "tune": "fastdecode", "threads": "1", "flags": "+bitexact"}
"""Options of libx264 for clips of a phase."""
SMALL = {"crf": "26", "preset": "veryfast", "maxrate": "400000", "bufsize": "800000"}
"""Options for browsers, without visible loss: a sheet with 15 clips of 15 s stays under 20 MB and can be mailed."""
BT709, LIMITED = 1, 1
"""Code points of ITU-T H.273 and of FFmpeg."""
BT601 = (UNTAGGED, 5, 6)
"""Code points of matrices that players read as BT.601 in small pictures: none, and its two names."""
EARLIEST_S, LATEST_S = -0.15, 0.05
"""When a copied sound track may begin, seconds after the picture: an encoder's own delay is cut off by players."""
OFF_S = 0.04
"""How far from its place a packet of sound may be, seconds, that is copied."""
FASTEST = 60
"""Most pictures per second of a clip encoded at a constant rate."""

TAGS = "h264_metadata=colour_primaries=1:transfer_characteristics=1:matrix_coefficients=1"

FORM_VERSION = 1
"""Changes with the form: a run that began with another is not continued."""

PICTURE, SOUND = "picture", "sound"
KINDS = {
    "container": (),
    "tracks": (),
    "times": (),
    "colour tags": (),
    "picture codec": (PICTURE,),
    "pixel format": (PICTURE,),
    "colour range": (PICTURE,),
    "colours": (PICTURE,),
    "interlaced": (PICTURE,),
    "turned or mirrored": (PICTURE,),
    "pixel shape": (PICTURE,),
    "frame sizes": (PICTURE,),
    "cut pictures": (PICTURE,),
    "joints": (PICTURE, SOUND),
    "sound codec": (SOUND,),
    "sound times": (SOUND,),
    "sound layout": (SOUND,),
}
"""Kinds of differences from the form, and which tracks each makes to be encoded again; none if a new file is enough."""


@dataclass(frozen=True)
class Difference:
    """Something of the form that a file lacks."""

    kind: str
    """A key of `KINDS`."""
    found: str
    """What the file has instead, in words."""


@dataclass(frozen=True)
class Facts:
    """A clip's properties according to its headers."""

    duration_s: float
    """Length, > 0."""
    width: int
    """Pixels; so is the height."""
    height: int
    sound: bool
    encoded: tuple[str, ...] = ()
    """Kinds of differences for which a track was encoded again without being asked; empty if all were copied."""


class _Clip:
    """An open clip with the packets of its picture and its sound, in the order of the file."""

    def __init__(self, source: InputContainer) -> None:
        self.source, self.picture, self.sound = source, picture_track(source), sound_track(source)
        if (lasts_s := (source.duration or 0) / MICROSECONDS) > LONGEST_S:
            raise Unusable(f"it lasts {lasts_s / 60:.0f} minutes: cut it into clips of at most {LONGEST_S // 60}")
        self.unit = self.picture.time_base or Fraction(1, 25)
        """Of time stamps of pictures, seconds."""
        self.picture.thread_type = "NONE"  # clips are made in parallel, which is faster than several threads per clip
        self.packets: list[Packet[Any]] = list(source.demux([self.picture, *([self.sound] if self.sound else [])]))
        self.has_joints = any(packet.is_corrupt for packet in self.packets)
        """Whether packets are missing, or a joined stream counts them anew: then decoding must tell which."""
        if self.has_joints:
            if source.format.name != "mpegts":
                raise Unusable("it is cut off or damaged")
            self.picture.codec_context.options = {"err_detect": "explode"}
        self.pictures = self._of(self.picture)
        if not self.pictures:
            raise Unusable("its picture track is empty")
        self.sounds = self._of(self.sound)

    def _of(self, track: VideoStream | AudioStream | None) -> list[Packet[Any]]:
        # The last packet of each track is empty and only marks its end.
        return [packet for packet in self.packets if packet.stream is track and packet.size]

    @property
    def duration_s(self) -> float:
        """How long the pictures last."""
        times, mean_s = self.times(), 1 / float(self.picture.average_rate or 25)
        if not times:
            return len(self.pictures) * mean_s
        last = max(self.pictures, key=lambda packet: packet.pts or 0).duration
        return float((times[-1] - times[0] + (last or 0)) * self.unit) or mean_s

    def times(self) -> list[int]:
        """Return the time stamps of all pictures that are shown, ascending."""
        return sorted(packet.pts for packet in self.pictures if packet.pts is not None and not packet.is_discard)


def differences(content: bytes) -> list[Difference]:
    """Return what a file lacks of the canonical form.

    Headers and packets are read, and the key frames decoded. Raises Unusable or FFmpegError when it is no video.
    """
    with open_clip(content) as source:
        return list(_differences(_Clip(source)))


def _differences(clip: _Clip) -> Iterator[Difference]:
    names, brand = clip.source.format.name, str(clip.source.metadata.get("major_brand", ""))
    if "mp4" not in names.split(",") or brand.startswith("qt"):
        yield Difference("container", "QuickTime" if "mp4" in names else names)
    if others := len(clip.source.streams) - 1 - (clip.sound is not None):
        yield Difference("tracks", f"{others} more than a picture and a sound track")
    if clip.has_joints:
        yield Difference("joints", "parts that were joined")
    yield from _of_picture(clip)
    if clip.sound is not None:
        yield from _of_sound(clip, clip.sound)


def _of_picture(clip: _Clip) -> Iterator[Difference]:
    track, codec = clip.picture, clip.picture.codec_context
    if codec.name != "h264":
        yield Difference("picture codec", codec.name)
    if codec.pix_fmt not in ("yuv420p", "yuvj420p"):
        yield Difference("pixel format", str(codec.pix_fmt))
    if codec.color_range not in (0, LIMITED) or codec.pix_fmt == "yuvj420p":
        yield Difference("colour range", "full")
    if codec.colorspace != BT709 and not (codec.colorspace in BT601 and codec.height <= LARGEST_SD):
        untagged = codec.colorspace == UNTAGGED
        yield Difference("colour tags" if untagged else "colours", "none" if untagged else f"matrix {codec.colorspace}")
    if track.sample_aspect_ratio not in (None, 0, 1):
        yield Difference("pixel shape", str(track.sample_aspect_ratio))
    keys = [frame for packet in _new_forms(clip) for frame in _alone(packet)]
    if codec.field_order not in PROGRESSIVE or any(frame.interlaced_frame for frame in keys):
        yield Difference("interlaced", "two fields a frame")
    if any(turns_of(frame) for frame in keys):
        yield Difference("turned or mirrored", "by a display matrix")
    if len(sizes := {(frame.width, frame.height) for frame in keys}) > 1:
        yield Difference("frame sizes", ", ".join(f"{width} x {height}" for width, height in sorted(sizes)))
    times = clip.times()
    hidden = [packet.pts for packet in clip.pictures if packet.is_discard and packet.pts is not None]
    if len(times) < len(clip.pictures) - len(hidden) or len(set(times)) < len(times):
        yield Difference("cut pictures", "pictures without a time of their own")
    elif not times or not clip.pictures[0].is_keyframe or any(time > times[0] for time in hidden):
        yield Difference("cut pictures", "an edit, or a beginning without a key frame")
    elif times[0]:
        yield Difference("times", f"begins at {float(times[0] * clip.unit):.2f} s")


def _new_forms(clip: _Clip) -> Iterator[Packet[VideoStream]]:
    """Yield the first key frame, and those of H.264 with other parameters than the one before."""
    keys, known = [packet for packet in clip.pictures if packet.is_keyframe], b""
    if clip.picture.codec_context.name != "h264":
        yield from keys[:1]
        return
    parameters = BitStreamFilterContext("h264_mp4toannexb,extract_extradata", clip.picture)
    for packet in keys:
        copy = av.Packet(bytes(packet))  # the filter empties what it is given
        copy.is_keyframe = True
        for one in parameters.filter(copy):
            found = bytes(one.get_sidedata("new_extradata"))
            if found != known:
                yield packet
            known = found


def _alone(packet: Packet[VideoStream]) -> list[VideoFrame]:
    codec = packet.stream.codec_context
    frames = [*codec.decode(packet), *codec.decode(None)]
    codec.flush_buffers()
    return frames


def _of_sound(clip: _Clip, track: AudioStream) -> Iterator[Difference]:
    codec = track.codec_context
    if codec.name != "aac" or not codec.extradata:
        yield Difference("sound codec", codec.name if codec.name != "aac" else "aac for streaming")
        return
    times = np.array([packet.pts for packet in clip.sounds if packet.pts is not None], np.float64)
    unit, began = float(track.time_base or 1 / codec.sample_rate), clip.times()[:1]
    if len(times) < len(clip.sounds) or not codec.frame_size or not len(times):
        yield Difference("sound times", "packets without a time")
        return
    begins_s = times[0] * unit - float(sum(began) * clip.unit)
    off_s = (times - times[0]) * unit - np.arange(len(times)) * (codec.frame_size / codec.sample_rate)
    if not EARLIEST_S <= begins_s <= LATEST_S:
        yield Difference("sound times", f"begins {begins_s:+.2f} s beside the picture")
    elif (most := np.abs(off_s).max()) > OFF_S:
        yield Difference("sound times", f"gaps or jumps of up to {most:.2f} s")
    # A packet begins with the type of its first element, 3 bits: 0 for one channel, 1 for a pair (ISO/IEC 14496-3).
    if {0, 1} <= {memoryview(packet)[0] >> 5 for packet in clip.sounds}:
        yield Difference("sound layout", "one channel here, two there")


def canonical(content: bytes, height: int | None = None) -> tuple[bytes, Facts]:
    """Return a clip in the canonical form, without metadata.

    `height`: encode all again at this height, pixels, an even number, and at a constant rate: clips become uniform and
    faster to decode, but lose a little quality. None encodes only tracks without the form.

    Raises Unusable when it is not a video, or is truncated.
    """
    try:
        with open_clip(content) as source:
            clip = _Clip(source)
            found = list(_differences(clip))
            again = {part for one in found for part in KINDS[one.kind]} if height is None else {PICTURE, SOUND}
            duration_s = clip.duration_s  # before writing, which moves the time stamps of packets
            made, size = _written(
                clip, again, partial(_of_height, height), OWN, SOUND_BITS, constant=height is not None
            )
            kinds = tuple(sorted({one.kind for one in found if KINDS[one.kind]})) if height is None else ()
            return made, Facts(duration_s, *size, clip.sound is not None, kinds)
    except (FFmpegError, ValueError, IndexError) as error:
        raise Unusable(f"FFmpeg: {getattr(error, 'strerror', None) or error}"[:200]) from error


def for_browser(path: Path) -> bytes:
    """Return a canonical clip at most 640 pixels wide or high; a small clip in this form is kept.

    Raises BundleError when the clip cannot be decoded or encoded.
    """
    try:
        content = path.read_bytes()
        with open_clip(content) as source:
            clip = _Clip(source)
            large = max(clip.picture.width, clip.picture.height) > LARGEST_SHOWN or source.bit_rate > UNCHANGED_BITS
            if not large and not any(_differences(clip)):
                return content
            return _written(clip, {PICTURE, SOUND}, _small, SMALL, 64_000)[0]
    except (FFmpegError, OSError, IndexError, ValueError, Unusable) as error:
        what = f"{path}: cannot be read, or cannot be made playable ({type(error).__name__})"
        raise BundleError(f"{what}. Run `bundle check`, or convert the clip to MP4 with H.264.") from error


def _written(
    clip: _Clip, again: set[str], size: Size, options: dict[str, str], bits: int, *, constant: bool = False
) -> tuple[bytes, tuple[int, int]]:
    """Write picture and sound as MP4; `again`: which of both to encode. Returns the file, and width and height."""
    target = io.BytesIO()
    # bitexact omits the time of writing and the version of the library.
    with av.open(target, "w", format="mp4", options={"fflags": "+bitexact"}) as written:
        picture: _CopiedPicture | _EncodedPicture
        if PICTURE in again:
            picture = _EncodedPicture(clip, written, size, options, constant=constant)
        else:
            picture = _CopiedPicture(clip, written)
        sound = None
        if clip.sound is not None:
            sound = _EncodedSound(written, bits) if SOUND in again else _Copied(clip.sound, written)
        # Sound waits for the first picture: its time is 0, and before its size is known nothing can be written.
        waiting: list[Packet[Any]] = []
        for packet in clip.packets:
            if packet.stream.index == clip.picture.index:
                picture.put(packet)
            else:
                waiting.append(packet)
            if sound is not None and picture.begins_s is not None:
                sound.begins_s = picture.begins_s
                for early in waiting:
                    sound.put(early)
                waiting.clear()
        if picture.begins_s is None:
            raise Unusable("no picture of it can be decoded")
    return target.getvalue(), picture.size


class _Copied:
    """A track whose packets are copied."""

    def __init__(self, track: VideoStream | AudioStream, written: OutputContainer) -> None:
        self.begins_s: Fraction | None = None
        self._written = written
        self._track = written.add_stream_from_template(track, opaque=True)  # there may be no encoder for it here

    def put(self, packet: Packet[Any]) -> None:
        if packet.size:
            begins = round((self.begins_s or 0) / packet.time_base)
            packet.pts, packet.dts = (None if time is None else time - begins for time in (packet.pts, packet.dts))
            packet.stream = self._track
            self._written.mux(packet)


class _CopiedPicture(_Copied):
    """A picture track whose packets are copied; one too large for BT.601 is tagged as what players take it for."""

    def __init__(self, clip: _Clip, written: OutputContainer) -> None:
        super().__init__(clip.picture, written)
        codec = clip.picture.codec_context
        self.begins_s, self.size = clip.times()[0] * clip.unit, (codec.width, codec.height)
        untagged = codec.colorspace == UNTAGGED and codec.height > LARGEST_SD
        self._tags = BitStreamFilterContext(TAGS, clip.picture, self._track) if untagged else None

    def put(self, packet: Packet[Any]) -> None:
        for tagged in [packet] if self._tags is None else self._tags.filter(packet):
            super().put(tagged)


class _EncodedPicture:
    """A picture track that is encoded again."""

    def __init__(
        self, clip: _Clip, written: OutputContainer, size: Size, options: dict[str, str], *, constant: bool
    ) -> None:
        self.begins_s: Fraction | None = None
        self.size = (0, 0)
        self._written, self._unit = written, clip.unit
        rate = _rate(clip)
        self._pictures = Pictures(clip.picture, size=size, rate=rate if constant else None)
        self._track = written.add_stream("libx264", rate=rate, options=options)
        codec = self._track.codec_context
        # Without a constant rate all time stamps stay, so that a phone's variable one stays in step with the sound.
        codec.time_base = 1 / rate if constant else self._unit
        codec.pix_fmt = "yuv420p"
        codec.colorspace = codec.color_primaries = codec.color_trc = BT709
        codec.color_range = LIMITED

    def put(self, packet: Packet[VideoStream]) -> None:
        for frame in [*packet.decode(), *([] if packet.size else [None])]:
            for picture in self._pictures.put(frame):
                if self.begins_s is None:
                    self.size = self._track.width, self._track.height = picture.width, picture.height
                    self.begins_s = (self._pictures.begins or 0) * self._unit
                self._written.mux(self._track.encode(picture))
        if not packet.size and self.begins_s is not None:
            self._written.mux(self._track.encode(None))


class _EncodedSound:
    """A sound track that is encoded again."""

    def __init__(self, written: OutputContainer, bits: int) -> None:
        self.begins_s: Fraction | None = None
        self._written = written
        self._sound: Sound | None = None
        self._track = written.add_stream("aac", rate=SOUND_RATE, layout="mono", options={"flags": "+bitexact"})
        self._track.bit_rate = bits

    def put(self, packet: Packet[AudioStream]) -> None:
        if self._sound is None:
            self._sound = Sound(SOUND_RATE, self.begins_s or Fraction(0))
        for frame in [*packet.decode(), *([] if packet.size else [None])]:
            for piece in self._sound.put(frame):
                self._written.mux(self._track.encode(piece))
        if not packet.size:
            self._written.mux(self._track.encode(None))


def _rate(clip: _Clip) -> Fraction:
    """Return the usual number of pictures per second: their mean, unless most are closer together."""
    mean = clip.picture.average_rate or Fraction(25)
    steps = np.diff(clip.times())
    usual = 1 / (Fraction(int(np.median(steps))) * clip.unit) if len(steps) and np.median(steps) else mean
    return min(mean if usual < mean * Fraction(21, 20) else Fraction(round(usual)), Fraction(FASTEST))


def _of_height(height: int | None, width: int, own_height: int) -> tuple[int, int]:
    """Return width and height, both even, in the proportions of a picture: of a given height, or of its own."""
    if height is None:
        return own_size(width, own_height)
    return max(2, round(width * height / own_height / 2) * 2), height


def _small(width: int, height: int) -> tuple[int, int]:
    scale = min(1.0, LARGEST_SHOWN / max(width, height))
    return max(2, round(width * scale / 2) * 2), max(2, round(height * scale / 2) * 2)
