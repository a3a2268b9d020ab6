"""Clips without anything but picture and sound: stripped where they stand, muxed again, or encoded again."""

import io
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from bundle_tools.adapt.mp4 import Content, Facts, NotPlain, strip

if TYPE_CHECKING:
    from av import AudioFrame, AudioStream, Packet, VideoFrame
    from av.container import InputContainer, OutputContainer
    from numpy.typing import NDArray

SOUND_RATE, SOUND_BITS = 44_100, 96_000
MICROSECONDS = 1_000_000
"""A second in the unit of a file's start time."""
QUALITY = "23"
"""Constant rate factor of libx264."""


class Unusable(Exception):
    """A clip that cannot be handed out; its text says why."""


@dataclass(frozen=True)
class Treatment:
    """What is done to every clip."""

    height: int | None = None
    """Encode again at this height, pixels, even; None leaves pictures and sound as they are."""

    def __str__(self) -> str:
        return "pictures and sound unchanged" if self.height is None else f"encoded again, {self.height} pixels high"


def clean(data: Content, treatment: Treatment) -> tuple[Content, Facts]:
    """Return a clip without metadata.

    A file that can be stripped where it stands is; any other is muxed into a new MP4 file, its packets unchanged.
    Encoding again makes all clips alike and quicker to decode; it takes time and a little quality.

    Parameters
    ----------
    data
        The file; it may be changed.
    treatment
        What is done.

    Raises
    ------
    Unusable
        When it is no video, breaks off, or holds what MP4 cannot.
    """
    if treatment.height is not None:
        return _stripped(_written(data, treatment.height))
    try:
        return data, strip(data)
    except NotPlain:
        return _stripped(_written(data, None))


def _stripped(data: Content) -> tuple[Content, Facts]:
    try:
        return data, strip(data)
    except NotPlain as error:
        raise Unusable(f"after muxing {error}; try --reencode") from error


def _written(data: Content, height: int | None) -> bytearray:
    """Write a new MP4 file from a clip's first picture and sound track."""
    import av  # noqa: PLC0415 - takes as long to load as hundreds of clips to strip
    from av.error import FFmpegError  # noqa: PLC0415

    target = io.BytesIO()
    try:
        # bitexact leaves out the time of writing and the writer's version.
        with (
            av.open(io.BytesIO(data), "r", metadata_errors="replace") as source,
            av.open(target, "w", format="mp4", options={"fflags": "+bitexact"}) as written,
        ):
            if not source.streams.video:
                raise Unusable("it holds no picture track")
            if height is None:
                _copy(source, written)
            else:
                _encode(source, written, height)
    except (FFmpegError, ValueError) as error:
        raise Unusable(f"FFmpeg: {error}"[:200]) from error
    return bytearray(target.getbuffer())


def _copy(source: "InputContainer", written: "OutputContainer") -> None:
    streams = [source.streams.video[0], *source.streams.audio[:1]]
    targets = {stream.index: written.add_stream_from_template(stream) for stream in streams}
    for packet in source.demux(streams):
        # The last packet of each stream is empty and only says that it ends.
        if packet.size:
            packet.stream = targets[packet.stream.index]
            written.mux(packet)


def _encode(source: "InputContainer", written: "OutputContainer", height: int) -> None:
    import av  # noqa: PLC0415

    video, sounds = source.streams.video[0], source.streams.audio[:1]
    # Clips are encoded side by side, which is faster than several threads for one.
    video.thread_type = "NONE"
    rate = video.average_rate or Fraction(25)
    options = {"crf": QUALITY, "preset": "veryfast", "tune": "fastdecode", "threads": "1", "flags": "+bitexact"}
    target = written.add_stream("libx264", rate=rate, options=options)
    target.pix_fmt = "yuv420p"
    # Pictures keep their times, so that those of a phone, which come at no constant rate, stay with the sound.
    unit = video.time_base or 1 / rate
    target.codec_context.time_base = unit
    step = max(1, round(1 / (rate * unit)))
    # Some containers count from the middle of a recording; picture and sound are moved to its start alike.
    begins = Fraction(max(0, source.start_time or 0), MICROSECONDS)
    sound = (
        written.add_stream("aac", rate=SOUND_RATE, layout="mono", options={"flags": "+bitexact"}) if sounds else None
    )
    if sound is not None:
        sound.bit_rate = SOUND_BITS
    resampler = av.AudioResampler("fltp", "mono", SOUND_RATE)
    last: int | None = None
    # Nothing can be muxed before the size of the first picture is known.
    waiting: list[Packet[AudioStream]] = []
    for frame in source.decode(video, *sounds):
        if isinstance(frame, av.VideoFrame):
            picture = _picture(frame, height)
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


def _time(frame: "VideoFrame", last: int | None, step: int, begins: int) -> int:
    """Return when a picture is shown: always later than the one before it, and a step later where nothing is said."""
    if frame.pts is None:
        return 0 if last is None else last + step
    return frame.pts - begins if last is None else max(frame.pts - begins, last + 1)


def _moved(frame: "AudioFrame", begins: Fraction) -> "AudioFrame":
    """Return sound so many seconds earlier."""
    if frame.pts is not None and frame.time_base:
        frame.pts -= round(begins / frame.time_base)
    return frame


def _picture(frame: "VideoFrame", height: int) -> "VideoFrame":
    """Return a picture upright and at a height; its width follows and is even."""
    import av  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415

    if frame.rotation:
        # Players turn what a phone took on its side; a file encoded again carries no such note.
        turned: NDArray[np.uint8] = np.rot90(frame.to_ndarray(format="rgb24"), round(frame.rotation / 90))
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(turned), format="rgb24")
    width = max(2, round(frame.width * height / frame.height / 2) * 2)
    return frame.reformat(width=width, height=height, format="yuv420p")
