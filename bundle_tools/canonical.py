"""The canonical clip: the one form of clips (docs/data_format.md), what a file lacks of it, and how it gets it.

Each track that has the form is copied without loss; any other is encoded again, as players show and play it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import av
import numpy as np
from av.bitstream import BitStreamFilterContext
from av.error import FFmpegError

from bundle_tools.decoding import (
    HLG,
    LARGEST_SD,
    PQ,
    UNTAGGED,
    OpenClip,
    Unusable,
    open_clip,
    own_size,
    turns_of,
)
from bundle_tools.encoding import BT709, LIMITED, PICTURE, SOUND, write_clip
from bundle_tools.errors import BundleError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from av import AudioStream, Packet, VideoFrame, VideoStream


SOUND_BITS = 96_000
LARGEST_SHOWN = 640
"""Largest width or height of a clip for a browser, pixels."""
UNCHANGED_BITS = 1_000_000
"""Most bits per second of a clip that a browser gets unchanged."""
OWN = {"crf": "23", "preset": "veryfast", "tune": "fastdecode", "threads": "1", "flags": "+bitexact"}
"""Options of libx264 for clips of a phase."""
SMALL = {"crf": "26", "preset": "veryfast", "maxrate": "400000", "bufsize": "800000"}
"""Options for browsers, without visible loss: a sheet with 15 clips of 15 s stays under 20 MB and can be mailed."""
BT601 = (UNTAGGED, 5, 6)
"""Code points of matrices that players read as BT.601 in small pictures: none, and its two names."""
EARLIEST_S, LATEST_S = -0.15, 0.05
"""When a copied sound track may begin, seconds after the picture: an encoder's own delay is cut off by players."""
PROGRESSIVE = (0, 1)
"""Orders of fields of a track that is not interlaced: not known, and none."""
OFF_S = 0.04
"""How far from its place a packet of sound may be, seconds, that is copied."""


FORM_VERSION = 1
"""Changes with the form: a run that began with another is not continued."""

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
class FormGap:
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


def differences(content: bytes) -> list[FormGap]:
    """Return what a file lacks of the canonical form.

    Headers and packets are read, and the key frames decoded. Raises Unusable or FFmpegError when it is no video.
    """
    with open_clip(content) as source:
        return list(_differences(OpenClip(source)))


def _differences(clip: OpenClip) -> Iterator[FormGap]:
    names, brand = clip.source.format.name, str(clip.source.metadata.get("major_brand", ""))
    if "mp4" not in names.split(",") or brand.startswith("qt"):
        yield FormGap("container", "QuickTime" if "mp4" in names else names)
    if others := len(clip.source.streams) - 1 - (clip.sound is not None):
        yield FormGap("tracks", f"{others} more than a picture and a sound track")
    if clip.has_joints:
        yield FormGap("joints", "parts that were joined")
    yield from _of_picture(clip)
    if clip.sound is not None:
        yield from _of_sound(clip, clip.sound)


def _of_picture(clip: OpenClip) -> Iterator[FormGap]:
    track, codec = clip.picture, clip.picture.codec_context
    if codec.name != "h264":
        yield FormGap("picture codec", codec.name)
    if codec.pix_fmt not in ("yuv420p", "yuvj420p"):
        yield FormGap("pixel format", str(codec.pix_fmt))
    if codec.color_range not in (0, LIMITED) or codec.pix_fmt == "yuvj420p":
        yield FormGap("colour range", "full")
    if codec.color_trc in (PQ, HLG):
        yield FormGap("colours", "high dynamic range")
    elif codec.colorspace != BT709 and not (codec.colorspace in BT601 and codec.height <= LARGEST_SD):
        untagged = codec.colorspace == UNTAGGED
        yield FormGap("colour tags" if untagged else "colours", "none" if untagged else f"matrix {codec.colorspace}")
    if track.sample_aspect_ratio not in (None, 0, 1):
        yield FormGap("pixel shape", str(track.sample_aspect_ratio))
    keys = [frame for packet in _new_forms(clip) for frame in _alone(packet)]
    if codec.field_order not in PROGRESSIVE or any(frame.interlaced_frame for frame in keys):
        yield FormGap("interlaced", "two fields a frame")
    if any(turns_of(frame) for frame in keys):
        yield FormGap("turned or mirrored", "by a display matrix")
    # A file that cuts off some columns on the left has two sizes, and readers differ in which they use.
    if len(sizes := {(codec.width, codec.height), *((frame.width, frame.height) for frame in keys)}) > 1:
        yield FormGap("frame sizes", ", ".join(f"{width} x {height}" for width, height in sorted(sizes)))
    times = clip.times()
    hidden = [packet.pts for packet in clip.pictures if packet.is_discard and packet.pts is not None]
    if len(times) < len(clip.pictures) - len(hidden) or len(set(times)) < len(times):
        yield FormGap("cut pictures", "pictures without a time of their own")
    elif not times or not clip.pictures[0].is_keyframe or any(time > times[0] for time in hidden):
        yield FormGap("cut pictures", "an edit, or a beginning without a key frame")
    elif times[0]:
        yield FormGap("times", f"begins at {float(times[0] * clip.unit):.2f} s")


def _new_forms(clip: OpenClip) -> Iterator[Packet[VideoStream]]:
    """Yield the first key frame, and those of H.264 with other parameters than the one before."""
    keys, known = [packet for packet in clip.pictures if packet.is_keyframe], b""
    if clip.picture.codec_context.name != "h264":
        yield from keys[:1]
        return
    parameters = BitStreamFilterContext("h264_mp4toannexb,extract_extradata", clip.picture)
    for packet in keys:
        copy = av.Packet(bytes(packet))  # the filter empties what it is given
        copy.is_keyframe = True
        for key_frame in parameters.filter(copy):
            form = bytes(key_frame.get_sidedata("new_extradata"))
            if form != known:
                yield packet
            known = form


def _alone(packet: Packet[VideoStream]) -> list[VideoFrame]:
    codec = packet.stream.codec_context
    frames = [*codec.decode(packet), *codec.decode(None)]
    codec.flush_buffers()
    return frames


def _of_sound(clip: OpenClip, track: AudioStream) -> Iterator[FormGap]:
    codec = track.codec_context
    if codec.name != "aac" or not codec.extradata:
        yield FormGap("sound codec", codec.name if codec.name != "aac" else "aac for streaming")
        return
    times = np.array([packet.pts for packet in clip.sounds if packet.pts is not None], np.float64)
    unit, began = float(track.time_base or 1 / codec.sample_rate), clip.times()[:1]
    if len(times) < len(clip.sounds) or not codec.frame_size or not len(times):
        yield FormGap("sound times", "packets without a time")
        return
    begins_s = times[0] * unit - float(sum(began) * clip.unit)
    off_s = (times - times[0]) * unit - np.arange(len(times)) * (codec.frame_size / codec.sample_rate)
    if not EARLIEST_S <= begins_s <= LATEST_S:
        yield FormGap("sound times", f"begins {begins_s:+.2f} s beside the picture")
    elif (most := np.abs(off_s).max()) > OFF_S:
        yield FormGap("sound times", f"gaps or jumps of up to {most:.2f} s")
    # A packet begins with the type of its first element, 3 bits: 0 for one channel, 1 for a pair (ISO/IEC 14496-3).
    if {0, 1} <= {memoryview(packet)[0] >> 5 for packet in clip.sounds}:
        yield FormGap("sound layout", "one channel here, two there")


def canonical(content: bytes, height: int | None = None) -> tuple[bytes, Facts]:
    """Return a clip in the canonical form, without metadata.

    `height`: encode all again at this height, pixels, an even number, and at a constant rate: clips become uniform and
    faster to decode, but lose a little quality. None encodes only tracks without the form.

    Raises Unusable when it is not a video, or is truncated.
    """
    try:
        with open_clip(content) as source:
            clip = OpenClip(source)
            gaps = list(_differences(clip))
            again = {part for gap in gaps for part in KINDS[gap.kind]} if height is None else {PICTURE, SOUND}
            duration_s = clip.duration_s  # before writing, which moves the time stamps of packets
            made, size = write_clip(
                clip, again, partial(_of_height, height), OWN, SOUND_BITS, constant=height is not None
            )
            kinds = tuple(sorted({gap.kind for gap in gaps if KINDS[gap.kind]})) if height is None else ()
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
            clip = OpenClip(source)
            large = max(clip.picture.width, clip.picture.height) > LARGEST_SHOWN or source.bit_rate > UNCHANGED_BITS
            if not large and not any(_differences(clip)):
                return content
            return write_clip(clip, {PICTURE, SOUND}, small_size, SMALL, 64_000)[0]
    except (FFmpegError, OSError, IndexError, ValueError, Unusable) as error:
        what = f"{path}: cannot be read, or cannot be made playable ({type(error).__name__})"
        raise BundleError(f"{what}. Run `bundle check`, or convert the clip to MP4 with H.264.") from error


def _of_height(height: int | None, width: int, own_height: int) -> tuple[int, int]:
    """Return width and height, both even, in the proportions of a picture: of a given height, or of its own."""
    if height is None:
        return own_size(width, own_height)
    return max(2, round(width * height / own_height / 2) * 2), height


def small_size(width: int, height: int) -> tuple[int, int]:
    """Return width and height, both even, of a picture at most `LARGEST_SHOWN` wide or high."""
    scale = min(1.0, LARGEST_SHOWN / max(width, height))
    return max(2, round(width * scale / 2) * 2), max(2, round(height * scale / 2) * 2)
