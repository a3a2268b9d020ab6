"""Clips of every kind that people have, all of the same truth.

Truth pictures carry their number as eight black or white bars, lowest bit left, above a white disc and three coloured
patches on grey. Truth sound is a beep of 0.1 s in each second s, 0.3 s after its start, of 500 + 100 s Hz. However a
clip stores them, turned, squeezed or with gaps, a player shows and plays this truth.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import av
import numpy as np
from av.container import OutputContainer
from av.stream import Disposition
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
RATE = 48_000
GREY, BLACK, WHITE = 90, 16, 235
PATCHES = ((200, 30, 30), (30, 160, 30), (30, 30, 200))
BITS = 8
BEEP_S = 0.3
"""When the beep of a second begins: encoders change the very first sound."""
UPRIGHT = (1, 0, 0, 1)
"""How a stored picture is shown: at (ax + cy, bx + dy), as (a, b, c, d)."""
ONE = 1 << 16
BT709, BT601, BT2020 = 1, 6, 9
"""Matrices by their numbers in ITU-T H.273."""


@lru_cache(maxsize=1024)
def truth(number: int, width: int, height: int) -> Pixels:
    """Return a truth picture, (height, width, 3) RGB."""
    frame = np.full((height, width, 3), GREY, np.uint8)
    for bit in range(BITS):
        bar = slice(bit * width // BITS, (bit + 1) * width // BITS)
        frame[: height // 4, bar] = WHITE if number >> bit & 1 else BLACK
    down, across = np.mgrid[:height, :width]
    frame[(down + 0.5 - height * 0.55) ** 2 + (across + 0.5 - width / 2) ** 2 < (height * 0.2) ** 2] = WHITE
    for place, colour in enumerate(PATCHES):
        frame[height * 5 // 6 :, width * place // 3 : width * (place + 1) // 3] = colour
    return frame


def beeps(seconds: float) -> NDArray[np.float32]:
    """Return truth sound at 48,000 samples per second."""
    time = np.arange(round(seconds * RATE)) / RATE
    tone = 0.5 * np.sin(2 * np.pi * (500 + 100 * np.floor(time)) * time)
    since = time % 1 - BEEP_S
    return np.where((since >= 0) & (since < 0.1), tone, 0).astype(np.float32)


@dataclass(frozen=True)
class Kind:
    """How a clip is stored."""

    name: str
    container: str = "mp4"
    codec: str = "libx264"
    pixels: str = "yuv420p"
    sound: str | None = "aac"
    layout: str = "mono"
    width: int = 160
    height: int = 120
    """Of the shown picture, pixels."""
    fps: int = 25
    seconds: float = 1.6
    squeezed: Fraction = Fraction(1)
    """Width of a pixel for its height."""
    shown: tuple[int, int, int, int] = UPRIGHT
    padded: int = 0
    """Columns on the left that the encoder's options cut off, pixels."""
    matrix: int = BT601
    full: bool = False
    tagged: bool = False
    curve: str = ""
    """hlg or pq, or sdr for the wide gamut alone."""
    levels: int = 10
    """How far colours may be off, of 255."""
    times_ms: tuple[int, ...] = ()
    late_s: float = 0.0
    """When the sound track begins: what would be heard before is missing."""
    muted: tuple[float, float] = (9.0, 9.0)
    """Seconds between which the sound track holds no packet."""
    options: dict[str, str] = field(default_factory=dict)
    """Of the picture's encoder."""
    container_options: dict[str, str] = field(default_factory=dict)
    cut_s: float = 0.0
    """How much of the beginning an edit hides."""
    then: "Kind | None" = None
    """A clip that is joined to the end of the file: numbers and beeps begin again."""
    change: Callable[[bytes], bytes] = bytes
    """What is done to the finished file."""

    def __str__(self) -> str:
        return self.name

    @property
    def times_s(self) -> NDArray[np.float64]:
        """When each picture is shown, seconds."""
        return np.array(self.times_ms) / 1000 if self.times_ms else np.arange(round(self.seconds * self.fps)) / self.fps

    def shown_numbers(self) -> list[tuple[float, int]]:
        """Return when each picture is shown, seconds, and its number."""
        later = [(self.seconds + time, number) for time, number in self.then.shown_numbers()] if self.then else []
        return [(time - self.cut_s, number) for number, time in enumerate(self.times_s.tolist())] + later

    def heard_beeps(self) -> list[tuple[float, int]]:
        """Return when each beep is heard, seconds, and its pitch."""
        later = [(self.seconds + time, pitch) for time, pitch in self.then.heard_beeps()] if self.then else []
        return [(second + BEEP_S - self.cut_s, 500 + 100 * second) for second in self._beeps()] + later

    def _beeps(self) -> list[int]:
        missing = (-1.0, self.late_s), self.muted
        heard = range(int(self.seconds - BEEP_S) + 1) if self.sound else ()
        return [second for second in heard if not any(begin < second + BEEP_S < end for begin, end in missing)]


def write(kind: Kind) -> bytes:
    """Return a clip of a kind."""
    target = io.BytesIO()
    with av.open(target, "w", format=kind.container, options=kind.container_options) as file:
        size = stored(truth(0, kind.width, kind.height), kind).shape
        fine = {"crf": "8", "preset": "veryfast"} if kind.codec == "libx264" else {"b": "2M"}
        picture = file.add_stream(kind.codec, rate=kind.fps, options={"threads": "1", **fine, **kind.options})
        assert isinstance(picture, av.VideoStream)
        picture.height, picture.width, picture.pix_fmt = size[0], size[1], kind.pixels
        codec = picture.codec_context
        codec.time_base = Fraction(1, 1000) if kind.times_ms else Fraction(1, kind.fps)
        if kind.squeezed != 1:
            codec.sample_aspect_ratio = kind.squeezed if kind.shown[0] else 1 / kind.squeezed
        if kind.shown != UPRIGHT:
            a, b, c, d = (ONE * value for value in kind.shown)
            picture.set_display_matrix([a, b, 0, c, d, 0, 0, 0, 1 << 30])
        if kind.tagged or kind.full:
            codec.color_range = 2 if kind.full else 1
        if kind.tagged:
            codec.colorspace = kind.matrix
            codec.color_primaries = 9 if kind.matrix == BT2020 else 1
            codec.color_trc = {"hlg": 18, "pq": 16}.get(kind.curve, 1)
        packets = []
        track = None
        if kind.sound:
            track = file.add_stream(kind.sound, rate=RATE, layout=kind.layout)
            assert isinstance(track, av.AudioStream)
            track.bit_rate = 96_000
            packets += _sound(kind, track)
        for number, time_s in enumerate(kind.times_s):
            frame = _frame(number, kind)
            frame.pts, frame.time_base = round(time_s / codec.time_base), codec.time_base
            packets += picture.encode(frame)
        packets += picture.encode(None)
        file.start_encoding()
        for packet in packets:
            file.mux(packet)
    return kind.change(target.getvalue()) + (write(kind.then) if kind.then else b"")


def stored(frame: Pixels, kind: Kind) -> Pixels:
    """Return a shown picture as it is stored: squeezed, and turned back."""
    if kind.squeezed == 1 and kind.shown == UPRIGHT and not kind.padded:
        return frame
    height, width = frame.shape[:2]
    if kind.squeezed != 1:
        frame = frame[:, (np.arange(round(width / kind.squeezed)) * float(kind.squeezed)).astype(int)]
        height, width = frame.shape[:2]
    frame = np.pad(frame, ((0, 0), (kind.padded, 0), (0, 0)))
    height, width = frame.shape[:2]
    a, b, c, d = kind.shown
    down, across = np.mgrid[: height if a else width, : width if a else height]
    x, y = a * across + c * down, b * across + d * down
    return np.ascontiguousarray(frame[y - y.min(), x - x.min()])


def _frame(number: int, kind: Kind) -> av.VideoFrame:
    rgb = stored(truth(number, kind.width, kind.height), kind)
    if kind.curve:
        return _high(rgb, kind.curve)
    frame = av.VideoFrame.from_ndarray(rgb, format="rgb24")
    if kind.pixels.startswith("yuv"):
        matrix = {BT709: 1, BT601: 5, BT2020: 9}[kind.matrix]
        return frame.reformat(format=kind.pixels, dst_colorspace=matrix, dst_color_range=2 if kind.full else 1)
    return frame.reformat(format=kind.pixels)


def _high(rgb: Pixels, curve: str) -> av.VideoFrame:
    """Return a picture whose white is the 203 cd/m2 of ITU-R BT.2408, in HLG or PQ of BT.2100, ten bits."""
    to_2020 = np.array([[0.6274, 0.3293, 0.0433], [0.0691, 0.9195, 0.0114], [0.0164, 0.0880, 0.8956]])
    luminance = np.array([0.2627, 0.6780, 0.0593])
    light = (rgb / 255.0) ** 2.4 @ to_2020.T * 203
    if curve == "hlg":
        scene = light / 1000
        scene = scene * np.maximum(scene @ luminance, 1e-9)[..., None] ** (1 / 1.2 - 1)
        a, b, c = 0.17883277, 0.28466892, 0.55991073
        signal = np.where(scene <= 1 / 12, np.sqrt(3 * scene), a * np.log(np.maximum(12 * scene - b, 1e-9)) + c)
    elif curve == "sdr":
        signal = (light / 203) ** (1 / 2.4)
    else:
        power = (light / 10_000) ** 0.1593017578125
        signal = ((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power)) ** 78.84375
    y = signal @ luminance
    blue, red = (signal[..., 2] - y) / 1.8814, (signal[..., 0] - y) / 1.4746
    frame = av.VideoFrame(rgb.shape[1], rgb.shape[0], "yuv420p10le")
    values = (64 + 876 * y, 512 + 896 * blue[::2, ::2], 512 + 896 * red[::2, ::2])
    for plane, value in zip(frame.planes, values, strict=True):
        rows = np.zeros((plane.height, plane.line_size // 2), np.uint16)
        rows[:, : plane.width] = np.rint(value)
        plane.update(rows.tobytes())
    return frame


def _sound(kind: Kind, track: av.AudioStream) -> "list[av.Packet[av.AudioStream]]":
    samples, layout = beeps(kind.seconds), av.AudioLayout(kind.layout)
    resampler = av.AudioResampler(
        track.format.name, kind.layout, RATE, frame_size=track.codec_context.frame_size or 960
    )
    frame = av.AudioFrame.from_ndarray(np.tile(samples, (layout.nb_channels, 1)), format="fltp", layout=kind.layout)
    frame.sample_rate, frame.pts, frame.time_base = RATE, 0, Fraction(1, RATE)
    packets = []
    for piece in [*resampler.resample(frame), *resampler.resample(None), None]:
        packets += track.encode(piece)
    begin, end = kind.muted
    return [
        packet
        for packet in packets
        if kind.late_s <= (time := float((packet.pts or 0) * packet.time_base)) + 0.001 and not begin <= time < end
    ]


def cover_alone() -> bytes:
    """Return sound files' picture without their sound."""
    target = io.BytesIO()
    with av.open(target, "w", format="mp4") as file:
        file.mux(_still(file, "mjpeg", Disposition.attached_pic))
    return target.getvalue()


def with_more_pictures(content: bytes) -> bytes:
    """Put a cover, and a track that is not shown by default, before the others."""
    target, packets = io.BytesIO(), list[Any]()
    with av.open(target, "w", format="mp4") as file:
        for codec, disposition in (("mjpeg", Disposition.attached_pic), ("mpeg4", Disposition.dub)):
            packets += _still(file, codec, disposition)
        with av.open(io.BytesIO(content), "r") as source:
            targets = {track.index: file.add_stream_from_template(track) for track in source.streams}
            targets[0].disposition = Disposition.default
            for packet in source.demux():
                if packet.size:
                    packet.stream = targets[packet.stream.index]
                    packets.append(packet)
        for packet in packets:
            file.mux(packet)
    return target.getvalue()


def _still(file: OutputContainer, codec: str, disposition: Disposition) -> list[Any]:
    track = file.add_stream(codec, rate=25)
    assert isinstance(track, av.VideoStream)
    track.width, track.height, track.pix_fmt = 320, 320, "yuvj420p" if codec == "mjpeg" else "yuv420p"
    track.disposition = disposition
    frame = av.VideoFrame.from_ndarray(np.full((320, 320, 3), 200, np.uint8), format="rgb24")
    return [*track.encode(frame), *track.encode(None)]
