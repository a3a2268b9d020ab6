"""Decode a clip as players show and play it: upright, with square pixels, at one level, in step."""

from __future__ import annotations

import io
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar, cast

import av
import numpy as np
from av.error import FFmpegError
from av.filter import Graph
from av.stream import Disposition
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from av import AudioFrame, AudioStream, Packet, VideoFrame, VideoStream
    from av.container import InputContainer

    Size = Callable[[int, int], tuple[int, int]]

Pixels = NDArray[np.uint8]
AnyFrame = TypeVar("AnyFrame", "VideoFrame", "AudioFrame")

LONGEST_S = 600
"""The longest clip, seconds: one model call has to process all of it."""
LARGEST_SIDE = 16_384
"""Largest width or height of a picture, pixels: that of H.264."""
LARGEST_SD = 576
"""Most rows of a picture that players take for BT.601 if its file names no colours; for BT.709 above."""
UNTAGGED, BT2020, PQ, HLG = 2, 9, 16, 18
"""Code points of ITU-T H.273: of anything that a file does not name, of primaries and of transfer curves."""
DOLBY_VISION = ("dvh1", "dvhe")
"""Codecs of HEVC, as MP4 names them, whose pictures may have colours that only Dolby Vision can show."""
LARGEST_STEP_BACK_S = 1
"""How far time stamps may go back; further ones are those of another clip."""
SMALLEST_GAP_S = 0.02
"""Sound is moved to its time stamp if it is this far from it, seconds; containers round by less."""


class Unusable(Exception):
    """A clip that cannot be used; its text says why."""


def open_clip(content: bytes) -> InputContainer:
    """Open a clip for reading."""
    return av.open(io.BytesIO(content), "r", metadata_errors="replace")


def picture_track(container: InputContainer) -> VideoStream:
    """Return the track that players show, as the ffmpeg program chooses it: never a cover.

    Raises Unusable without one.
    """
    tracks = [track for track in container.streams.video if not track.disposition & Disposition.attached_pic]
    if not tracks:
        raise Unusable("it holds no picture track")
    return max(tracks, key=lambda track: (track.disposition & Disposition.default, track.width * track.height))


def sound_track(container: InputContainer) -> AudioStream | None:
    """Return the track that players play; None without one, or without a decoder for it."""
    tracks = [track for track in container.streams.audio if track.codec_context is not None]
    return max(tracks, key=lambda track: (track.disposition & Disposition.default, track.channels), default=None)


def own_size(width: int, height: int) -> tuple[int, int]:
    """Return a size as it is, but even."""
    return max(2, width // 2 * 2), max(2, height // 2 * 2)


class OpenClip:
    """An open clip with the packets of its picture and its sound, in the order of the file."""

    def __init__(self, source: InputContainer) -> None:
        self.source, self.picture, self.sound = source, picture_track(source), sound_track(source)
        if (lasts_s := (source.duration or 0) / av.time_base) > LONGEST_S:
            raise Unusable(f"it lasts {lasts_s / 60:.0f} minutes: cut it into clips of at most {LONGEST_S // 60}")
        codec = self.picture.codec_context
        if codec.codec_tag in DOLBY_VISION and codec.colorspace != BT2020:
            raise Unusable("its colours are those of Dolby Vision alone: export it as HDR10, HLG or SDR")
        self.unit = self.picture.time_base or Fraction(1, 25)
        """Of time stamps of pictures, seconds."""
        self.picture.thread_type = "NONE"  # clips are made in parallel, which is faster than several threads per clip
        tracks = [self.picture, *([self.sound] if self.sound else [])]
        # Empty packets mark ends of tracks.
        self.packets: list[Packet[Any]] = [packet for packet in source.demux(tracks) if packet.size]
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
        for packets in (self.pictures, self.sounds):
            counted = [packet.dts for packet in packets if packet.dts is not None]
            least = min((later - earlier for earlier, later in pairwise(counted)), default=0)
            if packets and least * packets[0].time_base < -LARGEST_STEP_BACK_S:
                raise Unusable("its time begins again in the middle: join its parts anew, as with ffmpeg -f concat")

    def keep(self, start_s: float, stop_s: float) -> None:
        """Drop all packets but those shown from `start_s` until `stop_s`, seconds; a key frame must be the first."""
        self.packets = [p for p in self.packets if start_s <= float((p.pts or 0) * p.time_base) < stop_s]
        self.pictures, self.sounds = self._of(self.picture), self._of(self.sound)

    def _of(self, track: VideoStream | AudioStream | None) -> list[Packet[Any]]:
        return [] if track is None else [packet for packet in self.packets if packet.stream_index == track.index]

    @property
    def duration_s(self) -> float:
        """How long the pictures last."""
        times, mean_s = self.times(), 1 / float(self.picture.average_rate or 25)
        if not times:
            return len(self.pictures) * mean_s
        last = max(self.pictures, key=lambda packet: packet.pts or 0).duration
        return float((times[-1] - times[0]) * self.unit) + (float((last or 0) * self.unit) or mean_s)

    def times(self) -> list[int]:
        """Return the time stamps of all pictures that are shown, ascending."""
        return sorted(packet.pts for packet in self.pictures if packet.pts is not None and not packet.is_discard)


class Pictures:
    """Filters that turn decoded frames into pictures as players show them: FFmpeg's own, as its program sets them."""

    def __init__(
        self, track: VideoStream, *, size: Size = own_size, form: str = "yuv420p", rate: Fraction | None = None
    ) -> None:
        """Take the frames of a track.

        `size`: gives width and height, pixels, for those of an upright picture of square pixels. `form`: pixel format
        of the pictures; YUV is BT.709 in limited range. `rate`: pictures per second; None keeps all time stamps.
        """
        self._track, self._size, self._form, self._rate = track, size, form, rate
        self._interlaced = False
        self._graph: Graph | None = None
        self._built_for: tuple[object, ...] = ()
        self._made: tuple[int, int] | None = None
        self._steady: Graph | None = None
        self.begins: int | None = None
        """Time stamp of the first frame, which becomes 0; None before it."""
        self._last = -1

    def put(self, frame: VideoFrame | None) -> Iterator[VideoFrame]:
        """Take a frame, whose form may be another than the last one's, and yield finished pictures; None ends them."""
        for picture in self._shown(frame):
            if self._rate is None:
                yield picture
                continue
            if self._steady is None:
                self._steady = _video_graph(picture, [("fps", f"fps={self._rate}:start_time=0")])
            yield from _through(self._steady, picture)
        if frame is None and self._steady is not None:
            yield from _through(self._steady, None)

    def _shown(self, frame: VideoFrame | None) -> Iterator[VideoFrame]:
        if frame is not None:
            self._interlaced |= frame.interlaced_frame
            self._set_time(frame)
            turns = turns_of(frame)
            form = (frame.width, frame.height, frame.format.name, frame.colorspace, frame.color_range, frame.color_trc)
            built_for = (*form, self._interlaced, *turns)
            if built_for != self._built_for:
                yield from self._shown(None)
                self._graph, self._built_for = _video_graph(frame, self._filters(frame, turns)), built_for
        if self._graph is not None:
            yield from _through(self._graph, frame)

    def _set_time(self, frame: VideoFrame) -> None:
        """Count time stamps from 0, each later than the last one; a frame without any follows at the track's rate."""
        unit = self._track.time_base or Fraction(1, 25)
        if self.begins is None:
            self.begins = frame.pts or 0
        if frame.pts is None:
            frame.duration = round(1 / ((self._track.average_rate or 25) * unit))
            frame.pts = self.begins + (self._last + frame.duration if self._last >= 0 else 0)
        self._last = frame.pts = max(frame.pts - self.begins, self._last + 1)
        frame.time_base = unit

    def _filters(self, frame: VideoFrame, turns: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
        if self._made is None:
            width = round(frame.width * (self._track.sample_aspect_ratio or 1))
            shown = (frame.height, width) if any(name == "transpose" for name, _ in turns) else (width, frame.height)
            if max(shown) > LARGEST_SIDE or min(shown) < 1:
                raise Unusable(f"its pictures are {shown[0]} x {shown[1]}: at most {LARGEST_SIDE} are supported")
            self._made = self._size(*shown)
        scaled = {"w": self._made[0], "h": self._made[1], "out_range": "limited", "out_color_matrix": "bt709"}
        if self._form.startswith(("bgr", "rgb", "gray")):
            scaled = {"w": self._made[0], "h": self._made[1]}
        if frame.colorspace == UNTAGGED and not frame.format.is_rgb:
            scaled["in_color_matrix"] = "bt601" if frame.height <= LARGEST_SD else "bt709"
        mapped = []
        if (high := frame.color_trc in (PQ, HLG)) or frame.color_primaries == BT2020:
            curve = ":in_primaries=bt2020" if high else ""
            mapped = [("scale", f"out_primaries=bt709:out_transfer=bt709:intent=relative_colorimetric{curve}")]
        return [
            *([("bwdif", "mode=send_frame:deint=interlaced")] if self._interlaced else []),
            *turns,
            *mapped,
            ("scale", ":".join(f"{key}={value}" for key, value in scaled.items())),
            ("setsar", "1"),
            ("format", self._form),
        ]


def turns_of(frame: VideoFrame) -> tuple[tuple[str, str], ...]:
    """Return the filters that turn and mirror a frame as its display matrix says (ISO/IEC 14496-12, 8.3.2).

    Raises Unusable if it says anything but quarter turns and mirrors.
    """
    matrix: Any = frame.side_data.get("DISPLAYMATRIX")
    if matrix is None:
        return ()
    across, down, _, right, below, *_ = np.frombuffer(matrix, np.int32).tolist()
    straight, turned = max(abs(across), abs(below)), max(abs(down), abs(right))
    if min(straight, turned) > 0.02 * max(straight, turned):
        raise Unusable("players turn it by an odd angle: export it again")
    if straight >= turned:
        return tuple((name, "") for name, sign in (("hflip", across), ("vflip", below)) if sign < 0)
    way = ("cclock_flip" if right > 0 else "clock") if down > 0 else ("clock_flip" if right < 0 else "cclock")
    return (("transpose", f"dir={way}"),)


class FromPixels:
    """Filters that turn BGR pixels into pictures for an encoder: YUV 4:2:0 in BT.709 and limited range."""

    def __init__(self) -> None:
        self._graph: Graph | None = None

    def picture(self, pixels: Pixels, like: VideoFrame) -> VideoFrame:
        """Return pixels, (height, width, 3), as a picture at the time of another one, whose size they have."""
        frame = av.VideoFrame.from_ndarray(pixels, format="bgr24")
        frame.pts, frame.time_base = like.pts, like.time_base
        if self._graph is None:
            scaled = ("scale", "out_range=limited:out_color_matrix=bt709")
            self._graph = _video_graph(frame, [scaled, ("setsar", "1"), ("format", "yuv420p")])
        return next(_through(self._graph, frame))


class Sound:
    """Filters that turn decoded sound into the mean of its channels, without gaps: silence where there is nothing."""

    def __init__(self, track: AudioStream, rate: int, begins_s: Fraction) -> None:
        """Take the frames of a track, and give `rate` samples per second from `begins_s` seconds of it on."""
        self._track, self._rate, self._begins_s = track, rate, begins_s
        self._graph: Graph | None = None
        self._built_for: tuple[object, ...] = ()
        self._heard = 0
        """Number of samples given so far."""

    def put(self, frame: AudioFrame | None) -> Iterator[AudioFrame]:
        """Take a frame, whose layout may be another than the last one's, and yield finished sound; None ends it."""
        if frame is not None:
            built_for = (frame.format.name, frame.layout.name, frame.sample_rate)
            if built_for != self._built_for:
                yield from self.put(None)
                self._graph, self._built_for = self._for(frame), built_for
            if frame.pts is not None:  # in samples: some containers count in whole packets
                unit = frame.time_base or self._track.time_base or Fraction(1, frame.sample_rate)
                frame.pts = round((frame.pts * unit - self._begins_s) * frame.sample_rate)
            frame.time_base = Fraction(1, frame.sample_rate)
        if self._graph is not None:
            for made in _through(self._graph, frame):
                made.pts, made.time_base = self._heard, Fraction(1, self._rate)
                self._heard += made.samples
                yield made

    def _for(self, frame: AudioFrame) -> Graph:
        count = frame.layout.nb_channels
        mean = "+".join(f"{1 / count:.9f}*c{channel}" for channel in range(count))
        # Where the sound so far ends, in samples of what comes in: a gap before the first frame is filled as well.
        first = round(self._heard * frame.sample_rate / self._rate)
        step = f"first_pts={first}:min_hard_comp={SMALLEST_GAP_S}"
        return _graph(
            ("abuffer", "abuffersink"),
            [
                *([("pan", f"mono|c0={mean}")] if count > 1 else []),
                ("aresample", f"{self._rate}:{step}"),
                ("aformat", "sample_fmts=fltp:channel_layouts=mono"),
            ],
            sample_rate=str(frame.sample_rate),
            sample_fmt=frame.format.name,
            channel_layout=f"{count}c" if "channels" in frame.layout.name else frame.layout.name,
            time_base=f"1/{frame.sample_rate}",
        )


def _video_graph(frame: VideoFrame, filters: list[tuple[str, str]]) -> Graph:
    return _graph(
        ("buffer", "buffersink"),
        filters,
        video_size=f"{frame.width}x{frame.height}",
        pix_fmt=frame.format.name,
        time_base=str(frame.time_base),
        pixel_aspect="1",
        colorspace=str(int(frame.colorspace)),
        range=str(int(frame.color_range)),
    )


def _graph(ends: tuple[str, str], filters: list[tuple[str, str]], **form: str) -> Graph:
    graph = Graph()
    graph.threads = 1  # clips are decoded in parallel
    nodes = [graph.add(ends[0], **form), *(graph.add(*arguments) for arguments in filters), graph.add(ends[1])]
    graph.link_nodes(*nodes).configure()
    return graph


def _through(graph: Graph, frame: AnyFrame | None) -> Iterator[AnyFrame]:
    graph.push(frame)
    while True:
        try:
            yield cast("AnyFrame", graph.pull())
        except (BlockingIOError, EOFError):
            return


def moments(content: bytes) -> list[float]:
    """Return when each picture is shown, seconds after the first one, ascending; read from packets."""
    with open_clip(content) as source:
        track = picture_track(source)
        packets = [packet for packet in source.demux(track) if packet.size and not packet.is_discard]
        stamps = sorted(packet.pts for packet in packets if packet.pts is not None)
        if len(stamps) < len(packets) or track.time_base is None:
            return [number / float(track.average_rate or 25) for number in range(len(packets))]
        return [float((stamp - stamps[0]) * track.time_base) for stamp in stamps]


def pictures(content: bytes, numbers: Sequence[int], form: str, size: Size = own_size) -> Iterator[Pixels]:
    """Yield some pictures of a clip as a player shows them: (height, width, 3) for "bgr24", (height, width) for "gray".

    `numbers`: which ones, ascending, from 0. `size`: as for `Pictures`. Raises FFmpegError when one cannot be decoded.
    """
    wanted = set(numbers)
    with open_clip(content) as source:
        track = picture_track(source)
        track.thread_type = "NONE"  # clips are read in parallel
        shown = Pictures(track, size=size, form=form)
        for number, frame in enumerate(source.decode(track)):
            if number in wanted:
                yield from (np.asarray(picture.to_ndarray(), np.uint8) for picture in shown.put(frame))
                wanted.remove(number)
            if not wanted:
                break
        yield from (np.asarray(picture.to_ndarray(), np.uint8) for picture in shown.put(None))


def count_frames(content: bytes) -> tuple[int, str | None]:
    """Decode every frame, and the sound.

    Returns why the decoder stopped, and at which frame, counted from 0; None if it reached the end.
    """
    frames = 0
    try:
        with open_clip(content) as source:
            track, sound = picture_track(source), sound_track(source)
            track.thread_type = "NONE"  # clips are read in parallel
            # The pictures are not shown. Damage is found without this filter, in two thirds of the time.
            track.codec_context.options = {"skip_loop_filter": "all"}
            for frame in source.decode(track, *([sound] if sound else [])):
                frames += isinstance(frame, av.VideoFrame)
    except (FFmpegError, IndexError, ValueError, Unusable) as error:
        return frames, f"frame {frames}: {type(error).__name__}: {error}"
    return frames, None
