"""Clips in a form that every browser plays, small enough to embed all of them in one page."""

import io
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.container import InputContainer
from numpy.typing import NDArray

from bundle_tools.errors import BundleError

LARGEST_SIDE = 640
_QUALITY = "26"  # constant rate factor: no visible loss at this size
_MOST_BITS = 400_000
"""Most bits per second of video: a sheet with 15 clips of 15 s then stays under 20 MB and can be mailed."""
_SOUND_BITS = 64_000
_STAYS_BITS = 1_000_000
"""Most bits per second of a clip that is copied unchanged."""
_SOUND = 48_000
_PLAYED_SOUND = frozenset({"aac", "mp3"})


def for_browser(path: Path) -> bytes:
    """Return a clip as MP4 with H.264 and AAC, at most 640 pixels wide or high; a small clip in this form is kept.

    Raises BundleError when the clip cannot be decoded or encoded.
    """
    try:
        with av.open(str(path)) as source:
            return path.read_bytes() if _plays(source) else _transcoded(source)
    except (av.error.FFmpegError, OSError, IndexError, ValueError) as error:
        what = f"{path}: cannot be read, or cannot be made playable ({type(error).__name__})"
        raise BundleError(f"{what}. Run `bundle check`, or convert the clip to MP4 with H.264.") from error


def _plays(source: InputContainer) -> bool:
    picture = source.streams.video[0].codec_context
    return (
        "mp4" in source.format.name
        and picture.name == "h264"
        and picture.pix_fmt == "yuv420p"
        and max(picture.width, picture.height) <= LARGEST_SIDE
        and source.bit_rate <= _STAYS_BITS
        and all(stream.codec_context.name in _PLAYED_SOUND for stream in source.streams.audio)
    )


def _transcoded(source: InputContainer) -> bytes:
    target = io.BytesIO()
    given = source.streams.video[0]
    scale = min(1.0, LARGEST_SIDE / max(given.width, given.height))
    with av.open(target, "w", format="mp4") as made:
        options = {"crf": _QUALITY, "preset": "veryfast", "maxrate": str(_MOST_BITS), "bufsize": str(2 * _MOST_BITS)}
        video = made.add_stream("libx264", rate=given.average_rate or Fraction(25), options=options)
        video.pix_fmt = "yuv420p"
        if given.time_base is not None:  # frames keep their own times, which may be uneven
            video.codec_context.time_base = given.time_base
        sound = made.add_stream("aac", rate=_SOUND, layout="mono") if source.streams.audio else None
        if sound is not None:
            sound.bit_rate = _SOUND_BITS
        turned, samples = None, 0
        for frame in source.decode():
            if isinstance(frame, av.VideoFrame):
                if turned is None:  # phones store pictures unrotated, with the rotation as metadata
                    turned = round(frame.rotation / 90) % 4
                    sides = (given.height, given.width) if turned % 2 else (given.width, given.height)
                    video.width, video.height = (max(2, round(side * scale / 2) * 2) for side in sides)
                made.mux(video.encode(_upright(frame, turned, video.width, video.height)))
            elif sound is not None and isinstance(frame, av.AudioFrame):
                # Samples without their own times, which would not match where a recording has gaps.
                frame.pts, frame.time_base = samples, Fraction(1, frame.sample_rate)
                samples += frame.samples
                made.mux(sound.encode(frame))
        for stream in (video, sound):
            if stream is not None:
                made.mux(stream.encode())
    return target.getvalue()


def _upright(frame: av.VideoFrame, turned: int, width: int, height: int) -> av.VideoFrame:
    """Scale a frame, after rotating it counter-clockwise by some right angles."""
    if not turned:
        return frame.reformat(width, height, "yuv420p")
    pixels: NDArray[np.uint8] = np.ascontiguousarray(np.rot90(frame.to_ndarray(format="rgb24"), turned), np.uint8)
    picture = av.VideoFrame.from_ndarray(pixels, "rgb24")
    picture.pts, picture.time_base = frame.pts, frame.time_base
    return picture.reformat(width, height, "yuv420p")
