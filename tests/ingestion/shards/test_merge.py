"""Shards of any cut, run in any order, merge to what a single model says, whatever becomes of it."""

from __future__ import annotations

import gc
import hashlib
import json
import tempfile
import weakref
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.clock import Clock
from ingest.errors import IngestionError
from ingest.lanes import lane as lane_module
from ingest.lanes.asker import Asking, Loaded, Pass, Work
from ingest.lanes.lane import Lane
from ingest.media.altered.alteration import Alteration, Slow
from ingest.media.altered.exchange import Exchange, Part
from ingest.media.altered.jitter import Jitter
from ingest.media.altered.material import Material
from ingest.media.altered.region import Box, Cells, Outside
from ingest.media.clip import ClipSource
from ingest.model.process import LoadFailed
from ingest.shards import STAGES, run
from ingest.shards.coding import Encoder, built
from ingest.shards.cuts import LONGEST_S, cut_by_cost, cut_evenly
from ingest.shards.names import shard_key
from ingest.shards.replay import ModelClock, Replay, Wanted
from ingest.shards.sealed import Facts, Sealed, Writer
from tests import there
from tests.ingestion.lanes import test_pool
from tests.ingestion.lanes.test_pool import FATES, FIRST, Model, nothing_is_read, problem, task, whole_run, works

if TYPE_CHECKING:
    from collections.abc import Iterator


__all__ = ["nothing_is_read"]
SECRET = b"s" * 32
of_clip = st.lists(st.sampled_from(FATES), min_size=1, max_size=3)


@pytest.fixture(scope="module", autouse=True)
def time_passes_only_in_models() -> Iterator[None]:
    """A slow answer takes a second, and everything else no time."""
    with mock.patch.object(lane_module, "time", SimpleNamespace(monotonic=lambda: Timed.now_s)):
        yield


class Timed(Model):
    """A model with a clock of its own."""

    ahead = 4
    now_s = 0.0

    def predict(self, clip: ClipSource, *rest: object) -> dict[str, float]:
        if clip.transcript == "slow":
            Timed.now_s += 1.0
        return super().predict(clip, *rest)


class ModelTime(Clock):
    """Time of the test."""

    def __init__(self, budget_s: float) -> None:
        super().__init__()
        self.budget_s, self._began_s = budget_s, Timed.now_s

    def elapsed_s(self) -> float:
        return Timed.now_s - self._began_s


def lane(restarts: int, budget_s: float) -> Lane:
    return Lane(Timed([]), task(restarts), ModelTime(budget_s), hidden=False)  # type: ignore[arg-type]


def run_shards(folder: Path, stage: str, wanted: Wanted, cuts: list[list[int]], budget_s: float) -> list[Sealed]:
    """Run the shards of a stage, the last one first, and read their results."""
    results = []
    for index, cut in reversed(list(enumerate(cuts))):
        result = folder / f"{stage}-{index}"
        result.mkdir()
        texts = [wanted.works[place].text for place in cut]
        of_shard: tuple[Work, ...] = tuple(built(json.loads(text), Path()) for text in texts)
        asking, writer = lane(run.UNCOUNTED, budget_s), Writer(result)
        loaded, stopped_by = run._ask(asking, [], of_shard, wanted.how, writer)
        place = {"plan": "p", "stage": stage, "index": index, "works_sha256": "w"}
        key = shard_key(SECRET, "p", stage, index)
        writer.seal(place, Facts(loaded=loaded, stopped_by=stopped_by), b"", key)
        results.append(Sealed(result, place, tuple(work.clip_id for work in of_shard), key))
    return results[::-1]


def merged(folder: Path, fates: list[list[str]], restarts: int, budget_s: float, draw: st.DataObject) -> list[object]:
    """Run stage after stage, each cut at random, until nothing is missing; return what the whole run says."""
    shards: dict[str, list[Sealed]] = {}
    for _ in range(len(STAGES)):
        clock = ModelClock()
        clock.budget_s = budget_s
        replay = Replay(shards, task(restarts).limits, clock, Path(), Path())
        said = whole_run(replay, fates)
        if not replay.missing:
            return said
        for stage, wanted in replay.missing.items():
            order = draw.draw(st.permutations(range(len(wanted.works))))
            edges = sorted(draw.draw(st.sets(st.integers(1, len(order)), max_size=3)) | {0, len(order)})
            cuts = [sorted(order[a:b]) for a, b in pairwise(edges)]
            cuts.sort(key=lambda cut: 0 not in cut)  # as a single model, the first shard begins with the first clip
            shards[stage] = run_shards(folder, stage, wanted, cuts, budget_s)
    raise AssertionError("a stage is missing for ever")


@given(
    fates=st.lists(of_clip, max_size=8),
    restarts=st.sampled_from([0, 1, 5]),
    draw=st.data(),
)
def test_random_shards_merge_to_what_one_model_says(fates: list[list[str]], restarts: int, draw: st.DataObject) -> None:
    wanted = whole_run(lane(restarts, 1000.0), fates)
    with tempfile.TemporaryDirectory() as folder:
        assert merged(Path(folder), fates, restarts, 1000.0, draw) == wanted


@given(
    fates=st.lists(
        st.lists(st.sampled_from(["slow", "slow", "ok", "dies"]), min_size=1, max_size=2), min_size=2, max_size=5
    ),
    budget_s=st.integers(1, 20),
    spare_s=st.sampled_from([0.0, 3.0]),
    draw=st.data(),
)
def test_time_runs_out_where_it_would_for_one_model(
    fates: list[list[str]], budget_s: int, spare_s: float, draw: st.DataObject
) -> None:
    with mock.patch.object(test_pool, "SECOND", Pass(counts=False, call_s=20.0, spare_s=spare_s)):
        wanted = whole_run(lane(100, budget_s), fates)
        with tempfile.TemporaryDirectory() as folder:
            assert merged(Path(folder), fates, 100, budget_s, draw) == wanted


def sealed(folder: Path, stage: str = "first", index: int = 0) -> tuple[Path, dict[str, Any], bytes]:
    """Return a good result of one shard, with the place and the key with which it is read."""
    result = folder / f"{stage}-{index}"
    result.mkdir(parents=True)
    asking, writer = lane(run.UNCOUNTED, 1000.0), Writer(result)
    all_works = list(works([["ok"], ["dies"], ["ok"]]))
    run._ask(asking, [work.askings[0].shown for work in all_works], all_works, FIRST, writer)
    place = {"plan": "p", "stage": stage, "index": index, "works_sha256": "w"}
    key = shard_key(SECRET, "p", stage, index)
    writer.seal(place, Facts(loaded=Loaded("x", 1.0, None, alone=False, cores=1.0)), b"printed", key)
    return result, place, key


def forged(result: Path, **changes: object) -> None:
    manifest = json.loads((result / "manifest.json").read_text())
    (result / "manifest.json").write_text(json.dumps({**manifest, **changes}))


def test_a_good_result_is_read(tmp_path: Path) -> None:
    result, place, key = sealed(tmp_path)
    read = Sealed(result, place, ("0", "1", "2"), key)
    assert [len(read.answers(clip)) for clip in read.clip_ids] == [1, 1, 1]
    assert read.answers("1")[0].died
    assert read.output == b"printed"


@pytest.mark.parametrize("file", ["answers.jsonl", "times.jsonl", "output.bin"])
def test_changed_files_are_refused_by_name(tmp_path: Path, file: str) -> None:
    result, place, key = sealed(tmp_path)
    with (result / file).open("ab") as opened:
        opened.write(b" ")
    with pytest.raises(IngestionError, match=rf"shard_refused · shard first 0 · found {file} changed"):
        Sealed(result, place, (), key)


def test_forged_swapped_and_foreign_results_are_refused_by_name(tmp_path: Path) -> None:
    result, place, key = sealed(tmp_path)
    for index, found in ((0, "a wrong seal"), (1, "the result of another shard")):
        other = shard_key(SECRET, "p", "first", 1)
        with pytest.raises(IngestionError, match=rf"shard first {index} · found {found}"):
            Sealed(result, {**place, "index": index}, (), other)
    for change, found in (({"plan": "q"}, "another plan"), ({"works_sha256": "v"}, "other works")):
        with pytest.raises(IngestionError, match=rf"shard first 0 · found the result of {found}"):
            Sealed(result, {**place, **change}, (), key)
    answers = (result / "answers.jsonl").read_bytes().replace(b"0.02", b"0.99")
    (result / "answers.jsonl").write_bytes(answers)
    files = json.loads((result / "manifest.json").read_text())["files"]
    forged(result, files={**files, "answers.jsonl": hashlib.sha256(answers).hexdigest()})
    with pytest.raises(IngestionError, match="a wrong seal"):
        Sealed(result, place, (), key)
    (result / "manifest.json").write_text("[]")
    with pytest.raises(IngestionError, match="a manifest that cannot be read"):
        Sealed(result, place, (), key)


def test_answers_of_two_runs_are_the_same_bytes_whatever_time_they_took(tmp_path: Path) -> None:
    first, second = sealed(tmp_path / "1")[0], sealed(tmp_path / "2")[0]
    assert (first / "answers.jsonl").read_bytes() == (second / "answers.jsonl").read_bytes()


def test_a_model_that_cannot_be_loaded_is_told_as_by_a_single_one(tmp_path: Path) -> None:
    result, place, key = sealed(tmp_path)
    shard = Sealed(result, place, (), key)
    shard.facts = Facts(stopped_by=problem("class_missing"))
    replay = Replay({"first": [shard]}, task(1).limits, ModelClock(), Path(), Path())
    with pytest.raises(LoadFailed, match="class_missing"):
        replay.start([])


def test_works_keep_all_that_is_shown(tmp_path: Path) -> None:
    """Every field of a work comes back, and what its questions share is shared again."""
    outline = ((0.1, 0.2), (0.3, 0.4), (0.5, 0.1))
    exchange = Exchange(
        tmp_path / "b.mp4",
        "e" * 64,
        (Part("mouth", outline, (0.5, 1.25)), Part("hair", outline, None), Part("words", (), (1.0, 1.5), "héllo yóu")),
    )
    plain = Alteration(
        Material(tmp_path / "a.mp4"), Jitter(1.01, 0.1 + 0.2, -1, 2, 0, 1.3), 2**64 - 1, exchange=exchange
    )
    clip = ClipSource("a", tmp_path / "a.mp4", "héllo", "a" * 64)
    altered = [
        {"exchanged": ("mouth",), "region": Cells(9, 16, (1, 2)), "operator": "blur", "seconds": (0, 3)},
        {"region": Outside(Box(0.1, 0.2, 1 / 3, 0.9)), "slow": Slow(0.25, 0.125), "voice": tmp_path / "c.mp4"},
        {"copy": tmp_path / "d.mp4", "brightness": 0.7, "zoom": 1.125},
    ]
    shown = [replace(clip, alteration=replace(plain, **change)) for change in altered]  # type: ignore[arg-type]
    work = Work("a", tuple(Asking(one, explains=False) for one in (clip, *shown)))
    encoder = Encoder(tmp_path, {"c.mp4": "c" * 64, "d.mp4": "d" * 64})
    text = json.dumps(encoder.plain(work))
    assert str(tmp_path) not in text
    assert text.count("mouth") == 2  # once as a part, once exchanged
    again: Work = built(json.loads(text), Path("/elsewhere"))
    assert json.loads(json.dumps(Encoder(Path("/elsewhere"), encoder.listed()).plain(again))) == json.loads(text)
    one, *others = [asking.shown.alteration for asking in again.askings[1:]]
    assert one is not None
    assert all(other is not None and other.material is one.material for other in others)
    assert all(other is not None and other.exchange is one.exchange for other in others)
    assert hash(one.exchange) == hash(replace(exchange, path=Path("/elsewhere/b.mp4")))
    assert encoder.listed() == {f"{name}.mp4": hashed * 64 for name, hashed in zip("abcd", "aecd", strict=True)}


def test_a_shard_holds_the_frames_of_few_clips(tmp_path: Path) -> None:
    """A clip's frames can take 160 MB, and a shard has some hundred clips."""
    clips = [ClipSource(name, tmp_path / f"{name}.mp4", "ok", "a" * 64) for name in "12345678"]
    altered = [
        replace(clip, alteration=Alteration(Material(clip.path), Jitter(1.0, 1.0, 0, 0, 0, 0.0), 1)) for clip in clips
    ]
    hashes = {f"{clip.clip_id}.mp4": clip.sha256 for clip in clips}
    lines = [Encoder(tmp_path, hashes).plain(Work(one.clip_id, (Asking(one, explains=False),) * 6)) for one in altered]
    materials: list[weakref.ref[Material]] = []

    def noted() -> Iterator[Work]:
        for work in run.build_works(lines, tmp_path):
            material = there(work.askings[0].shown.alteration).material
            material.share([])  # the calls name it, until their frames are read
            materials.append(weakref.ref(material))
            del material
            yield work

    asking = lane(run.UNCOUNTED, 1000.0)
    asking.start([])
    gc.disable()  # a collection comes too late, when the memory is full
    try:
        alive = [
            sum(material() is not None for material in materials) for _ in asking.ask(noted(), Pass(False, 1.0, 0.0))
        ]
    finally:
        gc.enable()
    assert len(alive) == 6 * len(clips)
    assert max(alive) <= 3  # this clip, the next one, and the one before


@given(works=st.integers(0, 300), workers=st.integers(1, 16), most=st.integers(1, 60))
def test_cuts_of_unknown_length_hold_every_clip_once(works: int, workers: int, most: int) -> None:
    cuts = cut_evenly(works, workers, most)
    assert [place for cut in cuts for place in cut] == list(range(works))
    assert all(0 < len(cut) <= most for cut in cuts)
    assert len(cuts) == works or len(cuts) % workers == 0


@given(costs=st.lists(st.floats(0, 200), max_size=100), workers=st.integers(1, 16))
def test_cuts_of_known_length_hold_every_clip_once_and_the_longest_comes_first(
    costs: list[float], workers: int
) -> None:
    cuts = cut_by_cost(costs, workers)
    assert sorted(place for cut in cuts for place in cut) == list(range(len(costs)))
    lengths = [sum(costs[place] for place in cut) for cut in cuts]
    assert lengths == pytest.approx(sorted(lengths, reverse=True))
    assert max(lengths, default=0.0) <= LONGEST_S + max(costs, default=0.0)
    assert len(cuts) <= workers or len(cuts) == len(costs) or len(cuts) % workers == 0
