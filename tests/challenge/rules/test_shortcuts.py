"""What clips tell without being watched: planted giveaways are found, chance is left alone."""

import csv
import io
import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest
import yaml
from numpy.typing import NDArray
from scipy.stats import spearmanr

from bundle_tools.challenge.reading.video import describe_file
from bundle_tools.challenge.rules import clips, shortcuts
from bundle_tools.challenge.rules.clips import check_data
from bundle_tools.challenge.rules.shortcuts import ERROR_P, WARNING_P, associate, check_shortcuts
from bundle_tools.codabench.rules.dataset import DataFiles
from bundle_tools.codabench.rules.document import ParsedBundle
from bundle_tools.codabench.rules.findings import Finding
from tests import ROOT, there
from tests.tiny import draft_of, write_files

TARGETS = ("openness", "interview")
Array = NDArray[np.float64]


@pytest.fixture(autouse=True)
def few_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try as many orders as the strictest limit of chance needs."""
    monkeypatch.setattr(shortcuts, "PERMUTATIONS", 1000)


def null_set(seed: int, sizes: list[int], features: int = 8) -> tuple[Array, Array, list[str]]:
    """Draw features and labels that know nothing of each other, both alike within a person with so many clips."""
    draw = np.random.default_rng(seed)
    person = np.repeat(np.arange(len(sizes)), sizes)
    y = draw.normal(size=(len(person), 6)) + 2 * draw.normal(size=(len(sizes), 6))[person]
    x = draw.normal(size=(len(person), features)) + 2 * draw.normal(size=(len(sizes), features))[person]
    return x, y, [f"s{number}" for number in person]


def numbered(table: Array) -> dict[str, list[float]]:
    return {f"n{at}": column.tolist() for at, column in enumerate(table.T)}


def p_value(x: Array, y: Array, sources: list[str]) -> float:
    return there(associate(numbered(x), numbered(y), sources)).p


@pytest.mark.parametrize("sizes", [[1] * 24, [2] * 12, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]])
def test_chance_alone_is_hardly_ever_accused(sizes: list[int]) -> None:
    p = np.array([p_value(*null_set(seed, sizes)) for seed in range(100)])
    assert (p < ERROR_P).sum() <= 1
    assert (p < WARNING_P).sum() <= 4
    assert 0.1 < (p < 0.2).mean() < 0.3


def test_taking_clips_of_a_person_for_independent_would_accuse_by_chance() -> None:
    alone = [f"s{clip}" for clip in range(48)]
    drawn = [null_set(seed, [6] * 8, 3)[:2] for seed in range(10)]
    assert sum(p_value(x, y, alone) < WARNING_P for x, y in drawn) >= 5


@pytest.mark.parametrize(("people", "least"), [(4, 0.05), (5, 0.01), (6, 0.001)])
def test_few_people_prove_little(people: int, least: float) -> None:
    """All orders of so few people are tried: even the strictest relation has two of them, up and down."""
    line = np.arange(4.0 * people)[:, None]
    sources = [f"s{clip // 4}" for clip in range(4 * people)]
    assert least < p_value(line, line, sources) == pytest.approx(2 / math.factorial(people))


def test_one_strong_feature_is_named_with_its_rank_correlation() -> None:
    x, y, sources = null_set(3, [1] * 24)
    x[:, 4] = np.exp(y[:, 2]) + 0.2 * x[:, 4]
    result = there(associate(numbered(x), numbered(y), sources))
    assert result.p < ERROR_P
    first = result.relations[0]
    assert (first.feature, first.target) == ("n4", "n2")
    assert first.correlation == pytest.approx(spearmanr(x[:, 4], y[:, 2]).statistic)


def test_a_u_shape_is_found() -> None:
    x, y, sources = null_set(4, [1] * 100)
    x[:, 1] = y[:, 0] * np.random.default_rng(1).choice([-1.0, 1.0], 100)
    y[:, 0] = np.abs(x[:, 1])
    result = there(associate(numbered(x), numbered(y), sources))
    assert result.p < ERROR_P
    assert result.relations[0].feature == "n1 (middle against ends)"


def test_the_result_is_the_same_for_any_rising_scale_and_direction() -> None:
    x, y, sources = null_set(7, [1] * 24)
    assert p_value(np.exp(x), -y, sources) == p_value(x, -np.exp(-np.exp(-y)), sources)


def test_nothing_is_told_without_features_that_vary_people_or_labels() -> None:
    x, y, sources = null_set(8, [2] * 12)
    gaps = np.where(np.arange(24)[:, None] == 0, np.nan, y)
    odd = [(np.ones((24, 2)), y, sources), (np.empty((24, 0)), y, sources), (x, y, ["s"] * 24), (x, gaps, sources)]
    assert [associate(numbered(features), numbered(labels), people) for features, labels, people in odd] == [None] * 4


def encode(
    *,
    frames: int = 10,
    size: int = 32,
    tags: dict[str, str] | None = None,
    sound: bool = False,
    rate: int = 10,
    moving: int = 0,
) -> bytes:
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        container.metadata.update(tags or {})
        stream = container.add_stream("mpeg4", rate=rate)
        stream.width = stream.height = size
        stream.pix_fmt = "yuv420p"
        voice = container.add_stream("aac", rate=16000, layout="mono") if sound else None
        noise = np.random.default_rng(0).integers(0, 255, (frames, size, size, 3), np.uint8)
        noise[:, moving:] = 0
        for pixels in noise:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
        if voice is not None:
            silence = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
            silence.sample_rate = 16000
            container.mux(voice.encode(silence))
            container.mux(voice.encode(None))
    return buffer.getvalue()


CLIPS = 24
LABELS = np.random.default_rng(11).random((CLIPS, len(TARGETS))).round(4)
RANKS = LABELS[:, 0].argsort().argsort()
# Equal in everything but for what a test changes; padded, because headers differ by a few bytes.
PADDED = 4096


def pad(content: bytes, size: int = PADDED) -> bytes:
    free = size - len(content)
    assert free >= 8
    return content + free.to_bytes(4, "big") + b"free" + bytes(free - 8)


def write_set(
    bundle: Path,
    clip: Callable[[int], bytes],
    ids: list[str] | None = None,
    order: list[int] | None = None,
    transcripts: list[int] | None = None,
) -> ParsedBundle:
    names = ids or [f"c{number:03x}zz" for number in np.random.default_rng(12).permutation(4096)[:CLIPS]]
    folder, reference = "input_data/practice", "reference_data/practice"
    files: dict[str, str | bytes] = {f"{folder}/clips/{name}.mp4": clip(at) for at, name in enumerate(names)}
    listed = [names[at] for at in order or np.random.default_rng(13).permutation(CLIPS)]
    spoken = [names[at] for at in transcripts or range(CLIPS)]
    rows = [f"{name},s{name},{','.join(map(str, LABELS[at]))}" for at, name in enumerate(names)]
    targets = [{"name": name, "minimum": 0.0, "maximum": 1.0} for name in TARGETS]
    settings = {"task": "x", "data_version": "1", "targets": targets, "clips": "clips.csv"}
    files |= {
        f"{folder}/task.yaml": yaml.safe_dump(settings),
        f"{folder}/clips.csv": "clip_id,file,sha256\n" + "".join(f"{name},clips/{name}.mp4,0\n" for name in listed),
        f"{folder}/transcripts.json": json.dumps(dict.fromkeys(spoken, "hello")),
        f"{reference}/task.yaml": yaml.safe_dump(settings),
        f"{reference}/labels.csv": "\n".join([f"clip_id,source_id,{','.join(TARGETS)}", *rows]) + "\n",
    }
    return draft_of(write_files(bundle, files))


PLAIN = encode()
SECONDS = [f"2026-11-{1 + rank:02}T12:00:00.000000Z" for rank in range(CLIPS)]


def test_equal_clips_in_random_order_are_no_finding(tiny: Path) -> None:
    assert list(check_shortcuts(write_set(tiny, lambda _: pad(PLAIN)))) == []


@pytest.mark.parametrize(
    ("feature", "options"),
    [
        ("file size", {"clip": lambda at: pad(PLAIN, PADDED + 10 * int(RANKS[at]))}),
        ("duration", {"clip": lambda at: pad(encode(frames=10 + int(RANKS[at])))}),
        ("frame rate", {"clip": lambda at: pad(encode(rate=10 + int(RANKS[at]) // 3))}),
        ("width", {"clip": lambda at: pad(encode(size=32 + 2 * (int(RANKS[at]) // 3)))}),
        ("creation time", {"clip": lambda at: pad(encode(tags={"creation_time": SECONDS[RANKS[at]]}))}),
        ("size of the sound", {"clip": lambda at: pad(encode(sound=bool(RANKS[at] >= CLIPS // 2)))}),
        ("alphabetical place of the id", {"ids": [f"c{chr(97 + rank)}b" for rank in RANKS]}),
        ("number 2 in the id", {"ids": [f"c{at * 5 % 7}x{round(1000 * LABELS[at, 0])}" for at in range(CLIPS)]}),
        ("place in the list", {"order": RANKS.argsort().tolist()}),
        ("place in the list", {"order": RANKS.argsort().tolist()[::-1]}),
        ("place in the transcripts", {"transcripts": RANKS.argsort().tolist()}),
    ],
)
def test_a_giveaway_is_named(tiny: Path, feature: str, options: dict[str, object]) -> None:
    arguments = {"clip": lambda _: pad(PLAIN)} | options
    found = list(check_shortcuts(write_set(tiny, **arguments)))  # type: ignore[arg-type]
    assert [(finding.code, finding.severity) for finding in found] == [("giveaway", "error")]
    assert re.search(rf"(: |= ){feature} ", found[0].what)
    assert "unless that was done (`bundle data from-folder --reencode 360`)" in found[0].fix
    assert "openness" in found[0].what


@pytest.mark.parametrize(
    ("order", "copies", "severity"),
    [(None, False, "warning"), (None, True, "error"), (RANKS.argsort().tolist(), False, "error")],
)
def test_sizes_may_follow_what_moves_in_filmed_clips_alone(
    tiny: Path, order: list[int] | None, copies: bool, severity: str
) -> None:
    draft = write_set(tiny, lambda at: encode(moving=int(RANKS[at])), order=order)
    if copies:
        folder = tiny / "input_data/practice"
        with (folder / "task.yaml").open("a") as settings:
            settings.write("copies: copies.csv\n")
        (folder / "copies.csv").write_text("copy_id,clip_id,cue,file,sha256\nx,y,smile,copies/x.mp4,0\n")
    (found,) = check_shortcuts(draft)
    assert (found.code, found.severity) == ("giveaway", severity)
    assert "file size" in found.what
    assert ("follow motion" in found.effect) == (severity == "warning")


def test_too_few_clips_prove_nothing(tiny: Path) -> None:
    draft = write_set(tiny, lambda at: pad(PLAIN, PADDED + 10 * int(RANKS[at])))
    path = tiny / "input_data/practice/clips.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:8]))
    assert list(check_shortcuts(draft)) == []


def test_a_file_is_described_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_files = []

    def counted(data: DataFiles, name: str) -> bytes:
        read_files.append(name)
        return (data.path / name).read_bytes()

    monkeypatch.setattr(DataFiles, "read", counted)
    (tmp_path / "a.mp4").write_bytes(PLAIN)
    for _ in range(2):
        assert describe_file(DataFiles(tmp_path), "a.mp4").file_bytes == len(PLAIN)
    assert read_files == ["a.mp4"]
    (tmp_path / "a.mp4").write_bytes(pad(PLAIN))
    assert describe_file(DataFiles(tmp_path), "a.mp4").file_bytes == PADDED


def data_findings(draft: ParsedBundle) -> list[Finding]:
    found = [finding for finding in check_data(draft) if finding.code.startswith("clip")]
    return [finding for finding in found if finding.code != "clip-form"]  # MPEG-4: small at once


@pytest.mark.parametrize(
    ("code", "severity", "odd"),
    [
        ("clips-mixed", "note", encode(size=48)),
        ("clips-mixed", "note", encode(rate=20)),
        ("clips-sound", "note", encode(sound=True)),
        ("clip-tags", "warning", encode(tags={"title": "openness 0.7"})),
        ("clip-tags", "warning", encode(tags={"comment": "Ann"})),
    ],
)
def test_a_clip_unlike_the_others_is_noted(tiny: Path, code: str, severity: str, odd: bytes) -> None:
    draft = write_set(tiny, lambda at: pad(odd if at == 5 else PLAIN))
    assert [(finding.code, finding.severity) for finding in data_findings(draft)] == [(code, severity)]


def test_a_frame_that_never_comes_out_is_found(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clips, "count_frames", lambda _: (9, None))
    found = data_findings(write_set(tiny, lambda _: pad(PLAIN)))
    assert {finding.code for finding in found} == {"clip-frames"}
    assert "claims 10 frames, holds 10, and 9 can be decoded" in found[0].what


@pytest.mark.usefixtures("decoded_once")
@pytest.mark.parametrize(("kind", "packet"), [("video", 60), ("audio", 56)])
def test_a_clip_that_breaks_in_the_middle_is_found_with_its_frame(tiny: Path, kind: str, packet: int) -> None:
    clip = (ROOT / "input_data/practice/clips").glob("*.mp4")
    content = bytearray(min(clip).read_bytes())
    with av.open(io.BytesIO(content), "r") as container:
        middle = [found for found in container.demux(**{kind: 0}) if found.size][packet]
    assert middle.pos is not None
    content[middle.pos : middle.pos + middle.size] = b"\xff" * middle.size
    found = data_findings(write_set(tiny, lambda _: bytes(content)))
    assert {finding.code for finding in found} == {"clip-unreadable"}
    assert len(found) == CLIPS
    # The decoder holds a few frames back before it gives them out.
    assert re.search(r"frame (5\d|60): \w+Error", found[0].what)


def test_the_real_clips_give_nothing_away() -> None:
    assert list(check_shortcuts(draft_of(ROOT))) == []


def test_sorting_the_real_clips_by_label_would_be_found(tmp_path: Path) -> None:
    """The list of the final phase in the order of one label; ids stay as they are."""
    for name in ("competition.yaml", "input_data/final", "reference_data/final"):
        source = ROOT / name
        files = [source] if source.is_file() else [path for path in source.rglob("*") if path.is_file()]
        write_files(tmp_path, {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in files})
    with (tmp_path / "reference_data/final/labels.csv").open() as opened:
        label = {row["clip_id"]: float(row["conscientiousness"]) for row in csv.DictReader(opened)}
    path = tmp_path / "input_data/final/clips.csv"
    header, *rows = path.read_text().splitlines()
    path.write_text("\n".join([header, *sorted(rows, key=lambda row: label[row.split(",")[0]])]) + "\n")
    found = list(check_shortcuts(draft_of(tmp_path)))
    assert [finding.severity for finding in found] == ["error"]
    assert re.search(r"place in the list.* and conscientiousness \+1.00", found[0].what)
