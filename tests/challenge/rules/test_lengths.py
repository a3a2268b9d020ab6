"""Short clips are named, once for each way of being short."""

from pathlib import Path

import pytest

from bundle_tools.challenge.rules.lengths import check_lengths, short_clips
from tests.own_clips.clips import make_clip
from tests.tiny import draft_of

USUAL = {f"c{number}": 12.0 for number in range(9)}
QUARTER = "than a quarter of the usual 12.0 s, such as "


@pytest.mark.parametrize(
    ("lengths_s", "said"),
    [
        ({}, []),
        (USUAL, []),
        (USUAL | {"a": 3.0, "b": 90.0}, []),
        (USUAL | {"a": 2.9}, [f"1 clip is shorter {QUARTER}a (2.9 s)"]),
        (USUAL | {"a": 2.9, "b": 2.1}, [f"2 clips are shorter {QUARTER}b (2.1 s)"]),
        (
            USUAL | {"a": 2.9, "b": 1.0},
            [f"2 clips are shorter {QUARTER}b (1.0 s)", "1 clip is shorter than 1.5 s, such as b (1.0 s)"],
        ),
        (dict.fromkeys("abc", 1.0), ["3 clips are shorter than 1.5 s, such as a (1.0 s)"]),
    ],
)
def test_short_clips_are_named(lengths_s: dict[str, float], said: list[str]) -> None:
    assert list(short_clips(lengths_s)) == said


def test_the_check_reads_the_lengths_of_every_task(tiny: Path) -> None:
    folder = tiny / "input_data/practice"
    (folder / "task.yaml").write_text("clips: clips.csv\n")
    lengths_s = {"a": 8.0, "b": 8.0, "c": 1.6, "broken": 0.0, "gone": 0.0}
    for name in "abc":
        (folder / f"{name}.mp4").write_bytes(make_clip(seconds=lengths_s[name]))
    (folder / "broken.mp4").write_bytes(b"no clip")
    rows = "".join(f"{name},{name}.mp4,{'0' * 64}\n" for name in lengths_s)
    (folder / "clips.csv").write_text(f"clip_id,file,sha256\n{rows}")
    (finding,) = check_lengths(draft_of(tiny))
    assert (finding.code, finding.where) == ("clips-short", "input_data/practice/clips.csv")
    assert finding.what == "1 clip is shorter than a quarter of the usual 8.0 s, such as c (1.6 s)."
