"""A miniature of First Impressions V2 in the formats of the real one; every clip and number in it is made up.

Nested archives of clips, pickles as Python 2 wrote them (protocol 2, NumPy scalars), tables with semicolons.
"""

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from .clips import make_clip, make_zip

COLUMNS = ("extraversion", "neuroticism", "agreeableness", "conscientiousness", "interview", "openness")
PLAN = {"training": (1, 2, 3, 4, 5, 6, 7, 8), "validation": (1, 9, 10), "test": (2, 11, 12)}
"""Numbers of the videos by official part: two are in two parts, as in the real one."""
MINOR, UNCERTAIN, DISPUTED = 4, 8, 9
"""The video of a child, one that a rater took for a minor's in one of its clips, and one of somebody of any age."""


def video(number: int) -> str:
    """Return an id like YouTube's; one begins with a hyphen."""
    return f"{'-' if number == 3 else 'v'}{number:02d}AbCdEf_-"


def clips_of(split: str) -> list[str]:
    """Return the names of a part's clips: two of each video, with other numbers in each part."""
    first = {"training": 0, "validation": 2, "test": 4}[split]
    return [f"{video(number)}.{first + segment:03d}.mp4" for number in PLAN[split] for segment in (0, 1)]


def labels_of(split: str) -> dict[str, dict[str, float]]:
    """Return labels by column: clips of one video are alike, and neuroticism is high where interview is."""
    table: dict[str, dict[str, float]] = {column: {} for column in COLUMNS}
    for name in clips_of(split):
        level = int(name[1:3]) / 14
        draw = np.random.default_rng(list(name.encode()))
        for column in COLUMNS:
            table[column][name] = float(np.clip(level + draw.normal(0, 0.05), 0, 1))
    return table


def old_pickle(value: object) -> bytes:
    """Write a dict of dicts of numbers, or of texts, byte by byte as Python 2 did."""
    return b"\x80\x02" + _old(value) + b"."


def _old(value: object) -> bytes:
    if isinstance(value, dict):
        return b"}(" + b"".join(_old(key) + _old(item) for key, item in value.items()) + b"u"
    if isinstance(value, float):
        number_type = b"cnumpy\ndtype\nU\x02f8K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        return b"cnumpy.core.multiarray\nscalar\n" + number_type + b"U\x08" + struct.pack("<d", value) + b"\x86R"
    text = str(value)
    if text.isascii() and len(text) < 40:
        return b"U" + bytes([len(text)]) + text.encode()
    encoded = text.encode()
    return b"X" + struct.pack("<I", len(encoded)) + encoded


def clip(name: str) -> bytes:
    """Return a clip that no other name has."""
    return make_clip(10 * int(name[1:3]) + int(name[-5]), seconds=1)


def miniature(root: Path, *, skip: tuple[str, ...] = ()) -> Path:
    """Write the data set as it is downloaded, without the files that `skip` names; return its folder."""
    files: dict[str, bytes] = {}
    for split in PLAN:
        names, short = clips_of(split), {"training": "train", "validation": "val", "test": "test"}[split]
        half = len(names) // 2
        inner = {
            f"{split}80_0{number}.zip": make_zip({name: clip(name) for name in part})
            for number, part in ((1, names[:half]), (2, names[half:]))
        }
        # One outer archive is compressed: archives come both ways.
        files[f"{short}-1.zip"] = make_zip(inner, stored=split != "validation")
        files[f"{short}-annotation.zip"] = make_zip({f"annotation_{split}.pkl": old_pickle(labels_of(split))})
        texts = {name: "" if name.startswith("-") else f"Well, this is number {name[1:3]}. Café!" for name in names}
        files[f"transcription_{split}.pkl"] = old_pickle(texts)
    for part, splits in (("dev", ("training", "validation")), ("test", ("test",))):
        rows = [
            (name, name[:11], 1 + int(name[1:3]) % 3, 1 + int(name[1:3]) % 2) for s in splits for name in clips_of(s)
        ]
        files[f"eth_gender_annotations_{part}.csv"] = table(
            ("VideoName", "YouTubeID", "Ethnicity", "Gender"), rows, ";"
        )
    ages = {f"age_anno_{split}.csv": table(("VideoName", "AgeGroup"), age_rows(split), ",") for split in PLAN}
    files["fi_age_labels.zip"] = make_zip(ages)
    root.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if name not in skip:
            (root / name).write_bytes(content)
    return root


def age_rows(split: str) -> list[tuple[str, int]]:
    """Return one to three ratings a clip."""
    rows = []
    for name in clips_of(split):
        number = int(name[1:3])
        rows += [(name, 2 if number == MINOR else 4 + number % 4)] * (1 + number % 2)
        if number == DISPUTED:
            # The middle one, the lower of two, is what the others say.
            rows += [(name, 7), (name, 8)]
        if number == UNCERTAIN and name.endswith("000.mp4"):
            rows += [(name, 3), (name, 5)]
    return rows


def table(header: tuple[str, ...], rows: Sequence[tuple[str | int, ...]], separator: str) -> bytes:
    """Return a table as CSV."""
    return "\r\n".join(separator.join(map(str, row)) for row in (header, *rows)).encode() + b"\r\n"


def expected_minors() -> set[str]:
    """Return the clips of the videos that show minors."""
    young = (video(MINOR), video(UNCERTAIN))
    return {name for split in PLAN for name in clips_of(split) if name.startswith(young)}


def all_labels() -> Mapping[str, Mapping[str, float]]:
    """Return labels by column, of all parts."""
    return {column: {k: v for split in PLAN for k, v in labels_of(split)[column].items()} for column in COLUMNS}
