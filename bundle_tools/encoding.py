"""Write clips as MP4: tracks are copied packet by packet, or encoded as H.264 in BT.709 and mono AAC."""

from __future__ import annotations

import io
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import av
import numpy as np
from av.bitstream import BitStreamFilterContext
from av.codec.context import Flags

from bundle_tools.decoding import LARGEST_SD, UNTAGGED, OpenClip, Pictures, Sound, Unusable

if TYPE_CHECKING:
    from collections.abc import Callable

    from av import AudioStream, Packet, VideoFrame, VideoStream
    from av.container import OutputContainer

    from bundle_tools.decoding import Size

    Paint = Callable[[VideoFrame], VideoFrame]

PICTURE, SOUND = "picture", "sound"
"""The tracks of a clip."""
SOUND_RATE = 44_100
BT709, LIMITED = 1, 1
"""Code points of ITU-T H.273 and of FFmpeg."""
TAGS = "h264_metadata=colour_primaries=1:transfer_characteristics=1:matrix_coefficients=1"
FASTEST = 60
"""Most pictures per second of a clip encoded at a constant rate."""


def write_clip(
    clip: OpenClip,
    again: set[str],
    size: Size,
    options: dict[str, str],
    bits: int,
    *,
    constant: bool = False,
    paint: Paint | None = None,
) -> tuple[bytes, tuple[int, int]]:
    """Write picture and sound as MP4; `again`: which of both to encode. Returns the file, and width and height.

    `paint`: changes each picture that is encoded, in their order.
    """
    target = io.BytesIO()
    # bitexact omits the time of writing and the version of the library.
    with av.open(target, "w", format="mp4", options={"fflags": "+bitexact"}) as written:
        picture: _CopiedPicture | _EncodedPicture
        if PICTURE in again:
            picture = _EncodedPicture(clip, written, size, options, constant=constant, paint=paint)
        else:
            picture = _CopiedPicture(clip, written)
        sound = None
        if clip.sound is not None:
            sound = _EncodedSound(clip.sound, written, bits) if SOUND in again else _Copied(clip.sound, written)
        # Sound waits for the first picture: its time is 0, and before its size is known nothing can be written.
        waiting: list[Packet[Any] | None] = []
        for packet in [*clip.packets, None]:
            of_picture = packet is None or packet.stream_index == clip.picture.index
            if packet is None or not of_picture:
                waiting.append(packet)
            if of_picture:
                picture.put(packet)
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
        self._begins: int | None = None

    def put(self, packet: Packet[Any] | None) -> None:
        """Write a packet; None ends the track."""
        if packet is None:
            return
        if self._begins is None:
            self._begins = round((self.begins_s or 0) / packet.time_base)
        if self._begins:
            packet.pts, packet.dts = (
                None if time is None else time - self._begins for time in (packet.pts, packet.dts)
            )
        packet.stream = self._track
        self._written.mux_one(packet)


class _CopiedPicture(_Copied):
    """A picture track whose packets are copied; one too large for BT.601 is tagged as what players take it for."""

    def __init__(self, clip: OpenClip, written: OutputContainer) -> None:
        super().__init__(clip.picture, written)
        codec = clip.picture.codec_context
        self.begins_s, self.size = clip.times()[0] * clip.unit, (codec.width, codec.height)
        untagged = codec.colorspace == UNTAGGED and codec.height > LARGEST_SD
        self._tags = BitStreamFilterContext(TAGS, clip.picture, self._track) if untagged else None

    def put(self, packet: Packet[Any] | None) -> None:
        """Write a packet; None ends the track."""
        for tagged in [packet] if self._tags is None else self._tags.filter(packet):
            super().put(tagged)


class _EncodedPicture:
    """A picture track that is encoded again."""

    def __init__(
        self,
        clip: OpenClip,
        written: OutputContainer,
        size: Size,
        options: dict[str, str],
        *,
        constant: bool,
        paint: Paint | None,
    ) -> None:
        self._paint = paint
        self.begins_s: Fraction | None = None
        self.size = (0, 0)
        self._source, self._written, self._unit = clip.picture, written, clip.unit
        # Without this, FFmpeg leaves a few columns that the file cuts off on the left.
        clip.picture.codec_context.flags |= Flags.unaligned
        rate = _rate(clip)
        self._pictures = Pictures(clip.picture, size=size, rate=rate if constant else None)
        self._track = written.add_stream("libx264", rate=rate, options=options)
        codec = self._track.codec_context
        # Without a constant rate all time stamps stay, so that a phone's variable one stays in step with the sound.
        codec.time_base = 1 / rate if constant else self._unit
        codec.pix_fmt = "yuv420p"
        codec.colorspace = codec.color_primaries = codec.color_trc = BT709
        codec.color_range = LIMITED

    def put(self, packet: Packet[VideoStream] | None) -> None:
        """Decode a packet and write its pictures; None ends the track."""
        for frame in [*self._source.decode(packet), *([None] if packet is None else [])]:
            for picture in self._pictures.put(frame):
                if self.begins_s is None:
                    self.size = self._track.width, self._track.height = picture.width, picture.height
                    self.begins_s = (self._pictures.begins or 0) * self._unit
                self._written.mux(self._track.encode(self._paint(picture) if self._paint else picture))
        if packet is None and self.begins_s is not None:
            self._written.mux(self._track.encode(None))


class _EncodedSound:
    """A sound track that is encoded again."""

    def __init__(self, source: AudioStream, written: OutputContainer, bits: int) -> None:
        self.begins_s: Fraction | None = None
        self._source, self._written = source, written
        self._sound: Sound | None = None
        self._track = written.add_stream("aac", rate=SOUND_RATE, layout="mono", options={"flags": "+bitexact"})
        self._track.bit_rate = bits

    def put(self, packet: Packet[AudioStream] | None) -> None:
        """Decode a packet and write its sound; None ends the track."""
        if self._sound is None:
            self._sound = Sound(self._source, SOUND_RATE, self.begins_s or Fraction(0))
        for frame in [*self._source.decode(packet), *([None] if packet is None else [])]:
            for piece in self._sound.put(frame):
                self._written.mux(self._track.encode(piece))
        if packet is None:
            self._written.mux(self._track.encode(None))


def _rate(clip: OpenClip) -> Fraction:
    """Return the usual number of pictures per second: their mean, unless most are closer together."""
    mean, times = clip.picture.average_rate or Fraction(25), clip.times()
    if len(times) > 1 and times[-1] > times[0]:  # headers can say anything
        mean = (Fraction(len(times) - 1, times[-1] - times[0]) / clip.unit).limit_denominator(1001)
    steps = np.diff(times)
    usual = 1 / (Fraction(int(np.median(steps))) * clip.unit) if len(steps) and np.median(steps) else mean
    return min(mean if usual < mean * Fraction(21, 20) else Fraction(round(usual)), Fraction(FASTEST))
