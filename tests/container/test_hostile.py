"""The hostile corpus where it counts: in the competition's image with the worker's flags, with and without Landlock."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bundle_tools.codabench.worker.engine import Command, Docker, docker_command
from tests import warm
from tests.hostile.cases import CASES, Case
from tests.hostile.stage import CLIPS, SECRETS, Stage, set_stage, write_clips
from tests.hostile.test_corpus import check_verdict
from tests.ingestion.conftest import Outcome

pytestmark = [pytest.mark.container, pytest.mark.slow]
HERE = Path(__file__).resolve().parent
CHOSEN = [case for case in CASES.values() if case.container]
NO_LANDLOCK = {
    "defaultAction": "SCMP_ACT_ALLOW",
    "syscalls": [
        {
            "names": ["landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"],
            "action": "SCMP_ACT_ERRNO",
            "errnoRet": 38,
        }
    ],
}


def docker_run(image: str, app: Path, arguments: list[str], name: str, options: list[str]) -> str:
    """Run a command in a container with the worker's flags; return what it printed."""
    command = docker_command(Command("hostile", arguments), {"/app": app}, Docker(image), name)
    where = command.index("--workdir")
    command[where : where + 2] = ["--workdir", "/app", "--rm", *options]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=1200, check=False)
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def short_phase(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clips(tmp_path_factory.mktemp("short"))


@pytest.fixture(scope="module", params=["full", "seccomp"])
def played(
    request: pytest.FixtureRequest, image: str, short_phase: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path, dict[str, dict[str, str]]]]:
    """All cases, played in one container: the level, the folder of the stages, and how they looked before."""
    level: str = request.param
    app = tmp_path_factory.mktemp(f"app-{level}")
    before = {}
    # Models run alone at one level, and side by side at the other.
    workers = {} if level == "full" else {"workers": 1}
    for case in [CASES["honest_model"], *(case for case in CHOSEN if case.at(level))]:
        played_so = replace(case, settings={**workers, **case.settings})
        before[case.name] = set_stage(app / "cases" / case.name, short_phase, played_so).snapshot()
    shutil.copy(HERE / "driver.py", app)
    (app / "tests").mkdir()
    for name in ("warm.py", "compiled.py"):
        shutil.copy(Path(warm.__file__).with_name(name), app / "tests")
    options = []
    if level == "seccomp":
        (app / "profile.json").write_text(json.dumps(NO_LANDLOCK))
        options = ["--security-opt", f"seccomp={app / 'profile.json'}"]
    docker_run(image, app, ["python3", "/app/driver.py", "/app/cases"], f"hostile-{level}", options)
    yield level, app / "cases", before
    shutil.rmtree(app)


def outcome_of(folder: Path) -> tuple[Outcome, list[str]]:
    result = json.loads((folder / "result.json").read_text())
    return Outcome(result["exit_code"], folder / "output", result["printed"]), result["strangers"]


@pytest.mark.parametrize("case", CHOSEN, ids=lambda case: case.name)
def test_verdict_in_a_container(case: Case, played: tuple[str, Path, dict[str, dict[str, str]]]) -> None:
    level, cases, before = played
    honest, _ = outcome_of(cases / "honest_model")
    assert honest.json("run.json")["isolation"] == level, honest.printed
    verdict = case.at(level)
    if verdict is None:
        pytest.skip(f"nothing is promised at level {level}")
    outcome, strangers = outcome_of(cases / case.name)
    stage = Stage(cases / case.name)
    try:
        assert "Traceback" not in outcome.printed, outcome.printed
        assert strangers == []
        assert stage.leaks(outcome.printed) == []
        assert stage.snapshot() == before[case.name]
        assert list((stage.app / "tmp").iterdir()) == []
        check_verdict(verdict, outcome, honest)
    except (AssertionError, OSError) as error:
        if verdict.hole:
            pytest.xfail(verdict.hole)
        raise AssertionError(str(error)) from error


FOLDERS = [f"/app/{folder}" for folder in ("input_data", "output", "program", "ingested_program")]
FIRST = ["python3", "/app/program/ingestion.py", *FOLDERS]
IN_APP = ["--env", "TMPDIR=/app/tmp", "--env", "PYTHONDONTWRITEBYTECODE=1"]
FIRST_PROCESS = (
    "honest_model",
    "daemon",
    "kills_ingestion",
    "closes_the_clips",
    "finds_what_it_left",
    "reads_ingestions_memory",
)


@pytest.mark.parametrize("name", FIRST_PROCESS)
def test_ingestion_as_the_first_process(name: str, image: str, short_phase: Path, tmp_path: Path) -> None:
    """As on the platform: ingestion is process 1, and shared memory is its own to sweep."""
    case = CASES[name]
    stage = set_stage(tmp_path / "app", short_phase, case)
    before = stage.snapshot()
    printed = docker_run(image, stage.app, FIRST, f"first-{name}", [*IN_APP, "--env", f"CANARY={SECRETS[1]}"])
    run = json.loads((stage.output / "run.json").read_text())
    assert run["isolation"] == "full", printed
    assert run["clips"]["ok"] == CLIPS - (case.verdict.kind == "C"), printed
    assert stage.snapshot() == before
    assert stage.leaks(printed) == []


TAKES_THREADS = """
import threading
import time

from honest import Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        threading.stack_size(65536)
        ends = []
        try:
            for _ in range(3000):
                end = threading.Event()
                threading.Thread(target=end.wait, daemon=True).start()
                ends.append(end)
        except RuntimeError:
            pass
        # Leaves ingestion one thread, then two ...: enough to begin, too few to decode.
        for size in range(40, 48):
            ends.pop().set()
            time.sleep(0.002)
            try:
                list(clip.frames(count=5, size=(2 * size, size)))
            except ValueError:
                pass
        raise ValueError("it had all threads")
"""


@pytest.mark.parametrize("most", [64, 100, 150])
def test_a_model_that_takes_every_thread_makes_no_clip_unreadable(
    most: int, image: str, short_phase: Path, tmp_path: Path
) -> None:
    stage = set_stage(tmp_path / "app", short_phase, CASES["honest_model"])
    (stage.app / "ingested_program" / "model.py").write_text(TAKES_THREADS)
    printed = docker_run(image, stage.app, FIRST, f"few-{most}", [*IN_APP, "--pids-limit", str(most)])
    run = json.loads((stage.output / "run.json").read_text())
    assert run["container"]["processes"] == most
    # Its threads may cost the next clip, too.
    assert 1 <= run["clips"]["failed"] <= 2, printed
    assert run["clips"]["ok"] + run["clips"]["failed"] == CLIPS, printed
    assert "Traceback" not in printed
    assert "for the organisers" not in printed
