"""Taking everything out of an MP4 file that is neither picture nor sound, without moving a byte of either.

The boxes of the format (ISO/IEC 14496-12) that a player needs are kept; every other box becomes a `free` box of zeros
of the same size, and times of making, names of handlers, encoders and languages are blanked where they stand. As
nothing moves, no offset changes and the file is not muxed again, which would cost some ten times as much as copying it.
A file with anything that this module does not know is refused, so that nothing unknown is ever handed out.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

Content = bytearray | memoryview
"""A file in memory, which may be changed."""

_CONTAINERS = frozenset({b"moov", b"trak", b"edts", b"mdia", b"minf", b"dinf", b"stbl"})
_KEPT = frozenset(
    {
        *(b"mvhd", b"tkhd", b"elst", b"mdhd", b"hdlr", b"vmhd", b"smhd", b"dref"),
        *(b"stsd", b"stts", b"ctts", b"cslg", b"stsc", b"stsz", b"stco", b"co64", b"stss", b"stps", b"sdtp"),
        *(b"sgpd", b"sbgp"),
    }
)
_DATED = frozenset({b"mvhd", b"tkhd", b"mdhd"})
"""Boxes that begin with two times of making: 4 bytes each, or 8 in version 1."""
_VIDEO = frozenset({b"avc1", b"avc3", b"hvc1", b"hev1", b"av01", b"vp09", b"mp4v"})
_SOUND = frozenset({b"mp4a", b"Opus", b"ac-3", b"ec-3", b"fLaC", b".mp3"})
_VIDEO_ENTRY, _SOUND_ENTRY = 86, 36
"""Bytes of a sample entry before its own boxes."""
_CODEC_BOXES = frozenset(
    {
        *(b"avcC", b"hvcC", b"av1C", b"vpcC", b"esds", b"dOps", b"dac3", b"dec3", b"dfLa"),
        *(b"pasp", b"colr", b"clap", b"fiel"),
    }
)
_FRAGMENTS = frozenset({b"moof", b"styp", b"sidx"})
_UNDETERMINED = bytes.fromhex("55c4")
"""The language code "und"."""
_DEEPEST = 8


class NotPlain(Exception):
    """A file with something in it that is not known to be harmless; its text says what."""


@dataclass(frozen=True)
class Facts:
    """What the headers say of a clip."""

    duration_s: float
    """Length of the longest track, seconds, > 0."""
    width: int
    """Pixels, as stored."""
    height: int
    """Pixels, as stored."""
    sound: bool
    """Whether there is a sound track."""


@dataclass
class _Track:
    """What has been read of one track so far."""

    kind: bytes = b""
    timescale: int = 0
    duration: int = 0
    width: int = 0
    height: int = 0
    samples: int = 0
    sample_bytes: int = 0


@dataclass
class _File:
    """A file while it is read; nothing in it is changed before all of it is known to be plain."""

    data: Content
    tracks: list[_Track] = field(default_factory=list)
    edits: list[tuple[int, bytes]] = field(default_factory=list)
    """What to write, and where."""

    def blank(self, start: int, end: int) -> None:
        """Fill a stretch with zeros."""
        self.edits.append((start, bytes(end - start)))

    def free(self, start: int, end: int) -> None:
        """Turn a box into free space."""
        self.edits.append((start + 4, b"free"))
        self.blank(start + _head(self.data, start), end)


def strip(data: Content) -> Facts:
    """Blank everything but picture and sound, in place.

    Parameters
    ----------
    data
        A whole MP4 file; its size stays.

    Returns
    -------
    Facts
        What the headers say.

    Raises
    ------
    NotPlain
        When the file is no MP4, breaks off, is fragmented, or holds other tracks, unknown codecs, or bytes that belong
        to neither picture nor sound. It is unchanged then.
    """
    file = _File(data)
    media = 0
    kinds: list[bytes] = []
    for start, end, kind in _boxes(data, 0, len(data)):
        kinds.append(kind)
        inner = start + _head(data, start)
        if kind == b"mdat":
            media += end - inner
        elif kind == b"moov":
            _walk(file, inner, end, 0)
        elif kind in _FRAGMENTS:
            raise NotPlain("it is cut into fragments")
        elif kind != b"ftyp":
            file.free(start, end)
    for kind, name in ((b"ftyp", "a file type"), (b"moov", "a table of contents"), (b"mdat", "content")):
        if kind not in kinds or (kind != b"mdat" and kinds.count(kind) > 1):
            raise NotPlain(f"expected {name} ({kind.decode()}) once")
    facts = _judge(file.tracks, media)
    for at, content in file.edits:
        data[at : at + len(content)] = content
    return facts


def _judge(tracks: list[_Track], media: int) -> Facts:
    pictures = [track for track in tracks if track.kind == b"vide"]
    sounds = [track for track in tracks if track.kind == b"soun"]
    if len(pictures) != 1 or len(sounds) > 1 or len(tracks) > len(pictures) + len(sounds):
        found = ", ".join(track.kind.decode("latin-1") or "none" for track in tracks) or "none"
        raise NotPlain(f"expected one picture track and at most one sound track, found {found[:80]}")
    if not pictures[0].samples:
        raise NotPlain("its picture track is empty")
    coded = sum(track.sample_bytes for track in tracks)
    if coded != media:
        raise NotPlain(f"{media} bytes of content, of which pictures and sound are {coded}")
    length = max(track.duration / track.timescale if track.timescale else 0.0 for track in tracks)
    if length <= 0:
        raise NotPlain("its headers give no length")
    return Facts(length, pictures[0].width, pictures[0].height, bool(sounds))


def _boxes(data: Content, start: int, end: int) -> Iterator[tuple[int, int, bytes]]:
    """Give start, end and type of each box of a stretch."""
    while start < end:
        if end - start < 8:
            raise NotPlain("it breaks off, or has something behind its end")
        size, kind = struct.unpack_from(">I4s", data, start)
        if size == 1 and end - start >= 16:
            (size,) = struct.unpack_from(">Q", data, start + 8)
        elif size == 0:
            size = end - start
        if size < _head(data, start) or size > end - start:
            raise NotPlain("it breaks off, or one of its sizes is wrong")
        yield start, start + size, kind
        start += size


def _head(data: Content, start: int) -> int:
    """Return the length of a box's own header."""
    return 16 if bytes(data[start : start + 4]) == b"\0\0\0\1" else 8


def _walk(file: _File, start: int, end: int, depth: int) -> None:
    """Go through the boxes of the table of contents."""
    if depth > _DEEPEST:
        raise NotPlain("its boxes are nested too deeply")
    for first, last, kind in _boxes(file.data, start, end):
        inner = first + _head(file.data, first)
        if kind == b"trak":
            file.tracks.append(_Track())
        if kind in _CONTAINERS:
            _walk(file, inner, last, depth + 1)
        elif kind not in _KEPT:
            file.free(first, last)
        else:
            try:
                _keep(file, inner, last, kind)
            except (struct.error, IndexError) as error:
                raise NotPlain(f"its box {kind.decode()} is too short, or outside a track") from error


def _keep(file: _File, inner: int, last: int, kind: bytes) -> None:
    """Blank what tells something in a box that is kept, and note what it says."""
    data = file.data
    wide = data[inner] == 1
    if kind in _DATED:
        file.blank(inner + 4, inner + (20 if wide else 12))
    if kind == b"mdhd":
        track, at = file.tracks[-1], inner + (20 if wide else 12)
        track.timescale, track.duration, _ = struct.unpack_from(">IQI" if wide else ">III", data, at)
        file.edits.append((at + (12 if wide else 8), _UNDETERMINED))
    elif kind == b"hdlr":
        file.tracks[-1].kind = bytes(data[inner + 8 : inner + 12])
        file.blank(inner + 12, last)
    elif kind == b"stsz":
        track = file.tracks[-1]
        size, track.samples = struct.unpack_from(">II", data, inner + 4)
        if size == 0 and inner + 12 + 4 * track.samples > last:
            raise struct.error
        sizes = struct.unpack_from(f">{track.samples}I", data, inner + 12) if size == 0 else ()
        track.sample_bytes = sum(sizes) if size == 0 else size * track.samples
    elif kind == b"stsd":
        for start, end, codec in _boxes(data, inner + 8, last):
            _sample_entry(file, start, end, codec)
    elif kind == b"dref":
        for start, end, _ in _boxes(data, inner + 8, last):
            # An entry without the flag "in this file" names another file, and where that lay.
            if bytes(data[start + 8 : start + 12]) != b"\0\0\0\1" or end - start != 12:
                raise NotPlain("its content lies in another file")


def _sample_entry(file: _File, start: int, end: int, codec: bytes) -> None:
    data = file.data
    if codec in _VIDEO:
        boxes = start + _VIDEO_ENTRY
        file.tracks[-1].width, file.tracks[-1].height = struct.unpack_from(">HH", data, start + 32)
        # The name of the encoder, 32 bytes.
        file.blank(start + 50, start + 82)
    elif codec in _SOUND and bytes(data[start + 16 : start + 18]) == b"\0\0":
        boxes = start + _SOUND_ENTRY
    else:
        raise NotPlain(f"a codec that is not known ({codec.decode('latin-1')!r})")
    if boxes > end:
        raise struct.error
    for first, last, kind in _boxes(data, boxes, end):
        if kind not in _CODEC_BOXES:
            file.free(first, last)
