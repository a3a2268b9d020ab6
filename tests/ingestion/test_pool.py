"""Several models side by side say what a single one says, in the same order, whatever becomes of them."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Event, Thread
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest import capacity, pool, workers
from ingest.clock import Clock
from ingest.errors import IngestionError, Problem
from ingest.media.alteration import ClipSource
from ingest.media.frame_server import DESCRIPTORS, ClipEnd
from ingest.media.video import UnreadableClip
from ingest.model import CallFailed, LoadFailed
from ingest.pool import WorkerPool
from ingest.workers import ClipTask, ModelWorker, PassLimits, Query

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


FATES = ("ok", "slow", "raises", "dies", "unreadable", "spoiled")
FIRST = PassLimits(counts=True, call_s=20.0, spare_s=0.0)
SECOND = PassLimits(counts=False, call_s=20.0, spare_s=0.0)


def problem(code: str) -> Problem:
    return Problem(code, "predict", "predict", "x", "y", "z")


def told(value: dict[str, str]) -> SimpleNamespace:
    return SimpleNamespace(text=value["text"], image=None, evidence=None)


@pytest.fixture(scope="module", autouse=True)
def nothing_is_read() -> Iterator[None]:
    """There are no files, and an explanation is right as it is."""
    with (
        mock.patch.object(workers, "check_unchanged"),
        mock.patch.object(workers, "can_decode", lambda path, _: path.name == "spoiled"),
        mock.patch("ingest.model.check_explanation", lambda value, *_: (told(value), [])),
    ):
        yield


class Model:
    """A model process whose clips say what becomes of them; nothing is started, decoded or kept."""

    name, survivor, loaded, faster = "model process", "a process that keeps running", "loaded", "be faster"
    explains = runs_code = True

    def __init__(self, journal: list[str], *, number: int = 0, loads: bool = True) -> None:
        self.journal, self.number, self.loads = journal, number, loads
        self.alone, self.warm_up_s, self.busy_s, self.used_s = False, 0.0, 0.0, 0.0
        self.killed = Event()
        # Where all models must have been asked before one answers.
        self.meeting: Barrier | None = None
        self.process = SimpleNamespace(
            alive=False,
            held=None,
            refused=Counter(["bind"]),
            output=b"%d" % number,
            used_s=lambda: self.used_s,
            kill=self.killed.set,
        )
        self.frames = SimpleNamespace(begin=self.begin, end=lambda: ClipEnd([], []), close=lambda: None)

    def start(self, timeout_s: float) -> None:
        assert timeout_s > 0
        if not self.loads:
            raise LoadFailed(problem("load_failed"))
        self.journal.append(f"start {self.number}")
        self.process.alive = True

    def stop(self) -> None:
        if self.process.alive:
            self.journal.append(f"stop {self.number}")
        self.process.alive = False

    def begin(self, clip: ClipSource) -> SimpleNamespace:
        if clip.transcript in {"unreadable", "spoiled"}:
            raise UnreadableClip(clip.transcript)
        return SimpleNamespace(duration_s=2.0)

    def forget(self, _: list[int]) -> None:
        """Nothing was kept."""

    def remarks(self) -> list[Problem]:
        return []

    def predict(self, clip: ClipSource, *_: object) -> dict[str, float]:
        self.shown = clip.clip_id
        if self.meeting is not None and clip.transcript != "warm-up":
            self.meeting.wait(60)
            self.meeting = None
        match clip.transcript:
            case "warm-up":
                time.sleep(self.warm_up_s)
                self.used_s += self.busy_s
            case "slow":
                time.sleep(0.002)
            case "hangs":
                self.journal += [] if self.killed.wait(30) else ["nobody ended it"]
                self.process.alive = False
                raise CallFailed(problem("crashed"))
            case "dies":
                self.process.alive = False
                raise CallFailed(problem("crashed"))
            case "fills the disk":
                raise IngestionError([problem("disk_full")])
            case "raises":
                raise CallFailed(problem("model_raised"))
        return {"interview": float(clip.clip_id.partition("-")[0]) / 100}

    def explain(self, *_: object) -> dict[str, str]:
        return {"text": f"A text about clip {self.shown}, long enough to count."}


TASK: Any = SimpleNamespace(
    limits=SimpleNamespace(restarts=1, load_s=20.0, call_s=20.0),
    targets=(SimpleNamespace(name="interview", minimum=0.0, maximum=1.0),),
    explanation=SimpleNamespace(text=SimpleNamespace(minimum_chars=20, maximum_chars=200)),
)


def task(restarts: int) -> Any:  # noqa: ANN401
    return SimpleNamespace(**{**vars(TASK), "limits": SimpleNamespace(**{**vars(TASK.limits), "restarts": restarts})})


def pool_of(
    count: int, restarts: int = 1, *, broken: int | None = None, changes: dict[str, Any] | None = None
) -> tuple[WorkerPool, list[str]]:
    """Return one model, or several side by side, and the journal that all of them write."""
    clock, journal, settings = Clock(), list[str](), task(restarts)
    clock.budget_s = 1000.0
    models: list[Any] = [Model(journal, number=number, loads=number != broken) for number in range(count)]
    for model in models:
        vars(model).update(changes or {})
    each = [ModelWorker(model, settings, clock, hidden=False) for model in models]
    return WorkerPool(each, settings.limits), journal


def tasks(fates: Sequence[Sequence[str]]) -> Iterator[ClipTask]:
    for number, of_clip in enumerate(fates):
        shown = [ClipSource(f"{number}-{place}", Path(fate), fate) for place, fate in enumerate(of_clip)]
        yield ClipTask(str(number), tuple(Query(clip, explains=place == 0) for place, clip in enumerate(shown)))


class Said(NamedTuple):
    """An answer without its times."""

    clip: str
    place: int
    prediction: object
    explanation: object
    problems: object
    unreadable: bool
    crashed: bool


def whole_run(pool: WorkerPool, fates: list[list[str]]) -> list[object]:
    """Ask all, then in a fresh process those before the first death, then all again; return all that was said."""
    said: list[object] = []

    def ask(how: PassLimits, *, until_death: bool = False) -> None:
        for task, place, answer in pool.ask(tasks(fates), how):
            told = answer.explanation and answer.explanation.text
            facts = (answer.prediction, told, answer.problems, answer.unreadable, answer.crashed)
            said.append(Said(task.clip_id, place, *facts))
            if until_death and answer.crashed:
                break
        said.append((pool.stopped_by, pool.restarts))

    pool.start([])
    ask(FIRST)
    if pool.stopped_by is None:
        pool.start_afresh()
        ask(SECOND, until_death=True)
        ask(SECOND)
    pool.stop()
    return said


of_clip = st.lists(st.sampled_from(FATES), min_size=1, max_size=3)


@given(
    fates=st.lists(of_clip, max_size=8),
    workers=st.sampled_from([2, 3]),
    restarts=st.sampled_from([0, 1, 5]),
    broken=st.sampled_from([None, 1]),
)
def test_several_models_say_what_one_says(
    fates: list[list[str]], workers: int, restarts: int, broken: int | None
) -> None:
    one, _ = pool_of(1, restarts)
    several, _ = pool_of(workers, restarts, broken=broken)
    wanted = whole_run(one, fates)
    assert whole_run(several, fates) == wanted
    assert [brief(said) for said in wanted] == list(expected(fates, restarts))


def brief(said: Any) -> tuple[object, ...]:  # noqa: ANN401
    if isinstance(said, Said):
        return said.clip, said.place, said.prediction is not None, said.unreadable, said.crashed
    return said[0] and said[0].code, said[1]


def expected(fates: list[list[str]], restarts: int) -> Iterator[tuple[object, ...]]:
    """Yield what `whole_run` has to say, from the rules alone: in order, until the restarts are used up."""
    crashed, used, ended = False, 0, None
    for counts, until_death in ((True, False), (False, True), (False, False)):
        queries = [(str(clip), place, fate) for clip, every in enumerate(fates) for place, fate in enumerate(every)]
        for clip, place, fate in queries:
            if crashed and used == restarts:
                ended = "restarts_used_up"
                break
            used += crashed
            crashed = fate in {"dies", "spoiled"}
            yield clip, place, fate in {"ok", "slow"}, fate == "unreadable", crashed
            if until_death and crashed:
                break
        yield ended, used
        if counts:
            crashed = False  # the next pass begins with a fresh process
            if ended:
                return


@pytest.mark.parametrize("fate", ["spoiled", "unreadable"])
def test_a_clip_of_which_no_copies_could_be_made_is_tested_without_the_model(fate: str) -> None:
    """Whether a clip or a model is at fault is found out once, for all calls."""
    several, journal = pool_of(1, restarts=2)
    several.start([])
    (task,) = tasks([[fate] * 3])
    answers = [answer for _, _, answer in several.ask([replace(task, undecoded=True)], SECOND)]
    assert [answer.unreadable for answer in answers] == [fate == "unreadable"] * 3
    assert [answer.crashed for answer in answers] == [fate == "spoiled", False, False]
    assert not any(answer.prediction for answer in answers)
    assert journal == ["start 0", "stop 0"]
    again = [answer for _, _, answer in several.ask([replace(task, undecoded=True)], SECOND)]
    assert not any(answer.crashed for answer in again)  # nothing was running


@pytest.mark.parametrize("explains", [True, False])
def test_what_a_call_leaves_to_be_closed_is_its_own_time(explains: bool) -> None:
    def end() -> ClipEnd:
        time.sleep(0.2)
        return ClipEnd([], [])

    clock, model = Clock(), Model([])
    clock.budget_s, model.frames.end = 1000.0, end
    worker = ModelWorker(model, TASK, clock, hidden=False)  # type: ignore[arg-type]
    clip = ClipSource("1-0", Path("ok"), "ok")
    for call_s, late in ((20.0, False), (0.1, True)):
        (answer,) = worker.answer(ClipTask("1", (Query(clip, explains),)), PassLimits(True, call_s, 0.0), 1)
        assert answer.seconds["explain" if explains else "predict"] >= 0.2
        assert [told.code for told in answer.problems] == ["timeout"] * late
        assert (answer.prediction is None) == (late and not explains)
        assert (answer.explanation is None) == (late or not explains)
        assert not answer.crashed


@pytest.mark.parametrize("workers", [1, 2])
def test_a_model_without_restarts_left_is_not_started_again(workers: int) -> None:
    pool, journal = pool_of(workers, restarts=0)
    whole_run(pool, [["dies", "ok", "ok"]])
    assert journal.count("start 0") + journal.count("start 1") == workers


def test_every_model_is_asked_and_none_of_before_is_left() -> None:
    several, journal = pool_of(3, changes={"meeting": Barrier(3)})
    whole_run(several, [["slow"]] * 20)
    assert several.workers == 3
    assert several.output() == b"012"
    assert several.refused == {"bind": 3}
    # All are stopped before the first one starts again.
    assert [word.split()[0] for word in journal] == [word for word in ("start", "stop") * 2 for _ in range(3)]


def test_the_last_pass_has_one_model_alone() -> None:
    several, journal = pool_of(2)
    several.start([])
    assert several.start_afresh()
    assert several.start_afresh(alone=True)
    assert journal[-1] == "start 0"
    assert Counter(word.split()[0] for word in journal) == {"start": 5, "stop": 4}
    answers = [answer for _, _, answer in several.ask(tasks([["ok"]] * 4), SECOND)]
    assert len(answers) == 4
    assert len(journal) == 9
    several.stop()


@pytest.mark.parametrize(
    ("changes", "workers"),
    [({}, 3), ({"alone": True}, 1), ({"busy_s": 1000.0}, 1)],
    ids=["others", "asks to be alone", "keeps all cores busy"],
)
def test_a_model_that_has_to_be_alone_is(changes: dict[str, Any], workers: int) -> None:
    several, _ = pool_of(3, changes={**changes, "meeting": Barrier(workers)})
    with mock.patch.object(pool, "cores", lambda: 3):
        several.start([ClipSource("0", Path("0"), "warm-up")])
    list(several.ask(tasks([["slow"]] * 20), FIRST))
    several.stop()
    assert several.workers == workers


def test_a_model_that_is_slow_has_all_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TASK.limits, "call_s", 0.01)
    several, _ = pool_of(2, changes={"warm_up_s": 0.01})
    several.start([ClipSource("0", Path("0"), "warm-up")])
    list(several.ask(tasks([["slow"]] * 20), FIRST))
    several.stop()
    assert several.workers == 1


def test_nobody_waits_for_an_answer_that_is_not_wanted() -> None:
    several, journal = pool_of(2, restarts=0)
    said: list[Any] = whole_run(several, [["dies"], ["hangs"], ["ok"], ["hangs"], ["hangs"]])
    assert len(said) == 2
    assert said[0].crashed
    assert (said[1][0].code, said[1][1]) == ("restarts_used_up", 0)
    assert "nobody ended it" not in journal


def test_a_fault_while_a_model_is_asked_is_told_in_its_turn_and_nobody_waits_for_the_answer() -> None:
    several, _ = pool_of(2)
    several.start([])
    reached, told = list[str](), list[str]()

    def ask() -> None:
        try:
            for task, _, _ in several.ask(tasks([["slow"], ["fills the disk"], ["ok"]]), FIRST):
                reached.append(task.clip_id)
        except IngestionError as error:
            told.append(error.problems[0].code)

    asking = Thread(target=ask, daemon=True)  # without the answer it would never end
    asking.start()
    asking.join(60)
    assert (reached, told) == (["0"], ["disk_full"])
    several.stop()


def test_a_fault_of_the_machine_is_told_where_one_model_would_meet_it() -> None:
    def fails() -> Iterator[ClipTask]:
        yield from tasks([["slow"], ["ok"], ["ok"]])
        raise IngestionError([problem("disk_full")])

    several, _ = pool_of(2)
    several.start([])
    reached = []
    with pytest.raises(IngestionError):
        reached += [task.clip_id for task, _, _ in several.ask(fails(), FIRST)]
    asking, reached = several.ask(fails(), FIRST), []
    with pytest.raises(IngestionError):
        for task, _, _ in asking:
            reached.append(task.clip_id)
    assert reached == ["0", "1", "2"]
    several.stop()


def test_there_are_as_many_models_as_there_is_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: dict[str, int | None] = {"memory_mb": None, "processes": None}
    disk = SimpleNamespace(free=10 << 30)
    memory = tmp_path / "meminfo"
    memory.write_text("MemTotal:  99 kB\nMemAvailable:  16777216 kB\n")  # 16 GB
    monkeypatch.setattr(capacity, "MEMORY", memory)
    monkeypatch.setattr(capacity, "DEVICES", tmp_path)
    monkeypatch.setattr(capacity, "limits", lambda: limits)
    monkeypatch.setattr(capacity, "cores", lambda: 8)
    monkeypatch.setattr("shutil.disk_usage", lambda _: disk)
    files = [20_000, 20_000]
    monkeypatch.setattr("resource.getrlimit", lambda _: files)
    assert capacity.workers_for(None, 512) == 8
    assert capacity.workers_for(4, 512) == 4
    files[0] = capacity.OWN_DESCRIPTORS + 3 * (DESCRIPTORS + capacity.PROCESS_DESCRIPTORS)
    assert capacity.workers_for(None, 512) == 3
    files[0] = 20_000
    monkeypatch.setenv(capacity.MODEL_WORKERS, "2")
    assert (capacity.workers_for(None, 512), capacity.workers_for(1, 512)) == (2, 1)
    monkeypatch.delenv(capacity.MODEL_WORKERS)
    assert capacity.workers_for(None, 4096) == 3
    limits["memory_mb"] = 9216
    assert capacity.workers_for(None, 3072) == 2
    limits["processes"] = 2048
    assert capacity.workers_for(None, 512) == 2
    disk.free = 600 << 20
    assert capacity.workers_for(None, 512) == 1
    limits.update(memory_mb=64, processes=64)
    assert capacity.workers_for(None, 512) == 1
    memory.unlink()
    assert capacity.workers_for(1, 64) == 1


def test_graphics_cards_hold_one_model_unless_the_settings_say_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nvidia0").touch()
    monkeypatch.setattr("resource.getrlimit", lambda _: (20_000, 20_000))
    monkeypatch.setattr(capacity, "DEVICES", tmp_path)
    monkeypatch.setattr(capacity, "MEMORY", tmp_path / "none")
    monkeypatch.setattr(capacity, "limits", lambda: {"memory_mb": None, "processes": None})
    monkeypatch.setattr(capacity, "cores", lambda: 8)
    assert capacity.workers_for(None, 64) == 1
    assert capacity.workers_for(3, 64) == 3
