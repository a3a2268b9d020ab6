"""Whether a call of the second pass can be told from a plain one, intervention by intervention.

Detectors are trained on some persons and tested on others: one uses hand-made features (detail, repeated frames, seams,
light, sound, words), one uses patches across the outlines of the parts. They know these
outlines and the jitter of each call, which a submission does not. An area under the ROC curve of 0.5 is chance;
intervals of 95 % are by bootstrap over persons.

"The same cues": against plain clips with the same values of all cues, drawn that way at once. "First pass": against the
clips of the first pass, among which counterparts are as frequent as what they replace, but neutral cues are rare.
The draws of filmed clips are tried on drawn clips without their second drawing. At last, a model with a clock measures
how long it waits in each call of a whole run.
"""

import argparse
import multiprocessing
import operator
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "ingestion_program"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks import workload
from benchmarks.detect import clock, detectors
from benchmarks.detect.drawings import Drawn, draw
from benchmarks.detect.features import Seen, look
from benchmarks.detect.shown import Shown, copied_calls, exchanged_calls, filmed_calls
from ingest.data import Dataset, read_dataset
from ingest.draws import KeyedRandom
from ingest.media.exchange import Part
from ingest.settings import Task, read_task

ROOT = Path(__file__).resolve().parents[1]
PHASES = ("practice", "final")
LIMIT = 0.60
SEED = 20
FEWEST_PEOPLE = 10
"""With fewer persons, detectors do not generalise."""


@dataclass(frozen=True, eq=False)
class MeasuredCall:
    """One call and its measurements."""

    intervention: str
    """The intervention, or the one that a plain call is compared with."""
    role: str
    """``altered``, ``matched`` or ``plain``."""
    person: str
    seen: Seen


@dataclass(frozen=True)
class DetectionRow:
    """One line of the table."""

    intervention: str
    people: int
    calls: int
    matched: dict[str, detectors.Area]
    """By detector, against plain clips with the same cues; empty without such clips."""
    naive: dict[str, detectors.Area]
    """By detector, against the clips of the first pass."""
    telling: list[tuple[str, float]]
    """The most telling single features, in the harder comparison available."""

    @property
    def worst(self) -> float:
        """The largest area of any detector with equal cues, or else against the first pass."""
        return max(area.value for area in (self.matched or self.naive).values())


def measure(calls: Iterable[Shown]) -> list[MeasuredCall]:
    """Measure every call, but the same call with the same suspects only once."""
    cv2.setNumThreads(1)
    looked: dict[tuple[str, tuple[Part, ...]], Seen] = {}
    samples = []
    for call in calls:
        if call.role == "altered":
            seen = look(call)
        else:
            key = (call.clip.clip_id, call.parts)
            seen = looked[key] = looked.get(key) or look(call)
        samples.append(MeasuredCall(call.intervention, call.role, call.person, seen))
    return samples


def measure_drawn(drawn: Drawn, filmed: Sequence[Drawn], task: Task, draws: KeyedRandom) -> list[MeasuredCall]:
    """Measure the exchanges of one clip, and the cue edits of filmed clips if it is in `filmed`."""
    samples = measure(exchanged_calls(drawn, task, draws))
    return samples + (measure(filmed_calls(drawn, filmed, task, draws)) if drawn in filmed else [])


def measure_copies(
    clip: str, dataset: Dataset, people: dict[str, str], task: Task, draws: KeyedRandom
) -> list[MeasuredCall]:
    """Measure the rendered copies of one clip of a phase."""
    only = Dataset(
        [listed for listed in dataset.clips if listed.clip_id == clip], dataset.copies, dataset.exchanges, {}
    )
    return measure(copied_calls(only, people, task, draws))


def jobs_of(drawn: Sequence[Drawn], filmed: int, *, seed: int, copies: bool) -> list[Callable[[], list[MeasuredCall]]]:
    """Return the jobs, one per clip."""
    task, draws = read_task(ROOT / "input_data" / "final" / "task.yaml"), KeyedRandom(None, seed)
    jobs: list[Callable[[], list[MeasuredCall]]] = [
        partial(measure_drawn, spec, drawn[:filmed], task, draws) for spec in drawn
    ]
    for phase in PHASES if copies else ():
        dataset = read_dataset(ROOT / "input_data" / phase, read_task(ROOT / "input_data" / phase / "task.yaml"))
        people = workload.people_of(phase)
        jobs += [partial(measure_copies, clip.clip_id, dataset, people, task, draws) for clip in dataset.clips]
    return jobs


def row_of(intervention: str, calls_seen: Sequence[MeasuredCall]) -> DetectionRow:
    """Train and test the detectors for one intervention."""
    areas: dict[str, dict[str, detectors.Area]] = {"matched": {}, "plain": {}}
    telling: list[tuple[str, float]] = []
    altered = [call for call in calls_seen if call.role == "altered"]
    for role, of_role in areas.items():
        others = [call for call in calls_seen if call.role == role]
        if not others:
            continue
        both = [*altered, *others]
        sample = detectors.Sample(
            [call.seen for call in both],
            np.array([call.role == "altered" for call in both]),
            np.array([call.person for call in both]),
        )
        for detector in detectors.DETECTORS:
            of_role[detector] = detectors.area(sample, detectors.scores(sample, detector))
        telling = telling or detectors.telling(sample)
    people = len({call.person for call in altered})
    return DetectionRow(intervention, people, len(altered), areas["matched"], areas["plain"], telling)


def table(rows: Sequence[DetectionRow]) -> str:
    """Return the rows in Markdown."""
    names = list(detectors.DETECTORS)
    head = ["intervention", "persons", "calls", *(f"same cues, {name}" for name in names), "first pass, best", "tells"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for row in rows:
        same = [str(row.matched[name]) if row.matched else "–" for name in names]
        best = str(max(row.naive.values(), key=lambda area: area.value))
        tells = ", ".join(f"{name} {value:.2f}" for name, value in row.telling[:2])
        lines.append("| " + " | ".join([row.intervention, str(row.people), str(row.calls), *same, best, tells]) + " |")
    return "\n".join(lines)


def main() -> int:
    """Measure and print; the exit code tells whether the limit holds for every intervention on drawn clips."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=60, help="drawn clips, two of each person (default 60)")
    parser.add_argument("--filmed", type=int, default=24, help="of these, to try the cue edits of filmed clips on (24)")
    parser.add_argument("--seed", type=int, default=SEED, help=f"of the clips and their calls (default {SEED})")
    parser.add_argument("--no-copies", action="store_true", help="leave out the rendered copies of the phases")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    options = parser.parse_args()
    started = time.perf_counter()
    folder = workload.CACHE / "detect"
    drawn = draw(folder, clips=options.clips, seed=options.seed, workers=options.workers)
    print(f"     {len(drawn)} clips drawn, {time.perf_counter() - started:.0f} s", flush=True)
    jobs = jobs_of(drawn, options.filmed, seed=options.seed, copies=not options.no_copies)
    calls: list[MeasuredCall] = []
    with ProcessPoolExecutor(options.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for batch in pool.map(operator.call, jobs):
            calls += batch
        print(f"     {len(calls)} calls seen, {time.perf_counter() - started:.0f} s", flush=True)
        holds = report(calls, pool.map)
    with tempfile.TemporaryDirectory() as temporary:
        by_clock, telling = clock.area_of_clock(PHASES, Path(temporary))
    print(f"by the clock: {by_clock}; " + ", ".join(f"{name} {value:.2f}" for name, value in telling))
    holds &= workload.verdict("a model with a clock, area", by_clock.value, LIMIT)
    print(f"     {time.perf_counter() - started:.0f} s in all", flush=True)
    return 0 if holds else 1


def report(calls: Sequence[MeasuredCall], each: Callable[..., Iterable[DetectionRow]] = map) -> bool:
    """Print the table and all figures with their limits; return whether all hold.

    `each`: applies a function to every item, as `map` does.
    """
    by_name: dict[str, list[MeasuredCall]] = {}
    for call in calls:
        by_name.setdefault(call.intervention, []).append(call)
    enough = {name: some for name, some in by_name.items() if len({call.person for call in some}) >= FEWEST_PEOPLE}
    rows = list(each(row_of, enough, enough.values()))
    print(table(rows))
    for name in sorted(set(by_name) - set(enough)):
        print(f"     {name}: too few persons")
    limited = [row for row in rows if row.matched]
    holds = [workload.verdict(f"{row.intervention}, largest area", row.worst, LIMIT) for row in limited]
    return bool(holds) and all(holds)


if __name__ == "__main__":
    sys.exit(main())
