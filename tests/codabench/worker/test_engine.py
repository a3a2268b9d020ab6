"""One program: as a process with paths and packages of its own, or in a container, told by a stand-in for `docker`."""

import compileall
import io
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal
from unittest.mock import Mock

import pytest

from bundle_tools.cli.main import main
from bundle_tools.codabench.worker import CannotStart, engine
from bundle_tools.codabench.worker.engine import Command, Docker, Outcome, docker_command, open_to_all, prepare
from bundle_tools.codabench.worker.environment import KEPT_PROGRAMS, add_compiled, python_for
from bundle_tools.codabench.worker.jobs import Role, arguments
from bundle_tools.errors import BundleError
from tests import ROOT
from tests.tiny import end_when

IMAGE = Docker("image:1")
in_venv = pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="these tests run outside of a virtual environment")


@pytest.mark.parametrize(
    ("role", "command", "split"),
    [
        ("ingestion", "a $input $output $program", ["a", "/app/input_data", "/app/output", "/app/program"]),
        ("ingestion", "a $submission_program $ingestion_program", ["a", "/app/ingested_program", "/app/program"]),
        ("ingestion", "a $input_data $predictions $tmp", ["a", "/app/input_data_data", "/app/output", "/app/output"]),
        ("scoring", "a $input $hidden $predictions", ["a", "/app/input", "/app/input/ref", "/app/input/res"]),
        ("submission", "a $input $predictions", ["a", "/app/input", "/app/output"]),
        ("scoring", "a 'b c' > d && e | $HOME", ["a", "b c", ">", "d", "&&", "e", "|", "$HOME"]),
    ],
)
def test_commands_are_split_as_the_worker_splits_them(role: Role, command: str, split: list[str]) -> None:
    assert arguments(command, role) == split


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    """The mounts of a program."""
    for name in ("program", "input", "input_data"):
        (tmp_path / name).mkdir()
    return {f"/app/{name}": tmp_path / name for name in ("program", "input", "input_data")}


def run_code(code: str, folders: dict[str, Path], *words: str, timeout_s: float | None = None) -> tuple[Outcome, str]:
    """Run a line of Python as a process; return how it ended, and its log."""
    logs = folders["/app/program"].parent / "logs"
    command = Command("scoring", ["python3", "-c", code, *words])
    outcome = engine.run(command, folders, logs, timeout_s=timeout_s)
    return outcome, (logs / "scoring_stdout.txt").read_bytes().decode("utf-8", "replace")


def test_only_paths_below_app_are_mapped_in_arguments_and_sources(folders: dict[str, Path]) -> None:
    given = ["/app/input/", "/app/input_data", "--to=/app/input/res", "/app/inputs", "/my/app/input", "/app/other"]
    root = folders["/app/program"].parent
    _, printed = run_code("import sys; print(*sys.argv[1:], sep='\\n')", folders, *given)
    assert printed.splitlines() == [
        *(f"{root}/input/", f"{root}/input_data", f"--to={root}/input/res"),
        *("/app/inputs", "/my/app/input", "/app/other"),
    ]
    source = b"# -*- coding: latin-1 -*-\n# caf\xe9\nprint('/app/input_data/', '/app/input_datas', '/my/app/program')\n"
    (root / "program" / "x.py").write_bytes(source)
    engine.run(Command("x", ["python3", "x.py"]), folders, root)
    assert (root / "x_stdout.txt").read_text() == f"{root}/input_data/ /app/input_datas /my/app/program\n"
    assert b"caf\xe9" in (root / "program" / "x.py").read_bytes()


def test_the_environment_is_as_bare_as_the_workers(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    monkeypatch.setenv("SECRET", "token")
    names = ("PYTHONPATH", "SECRET", "http_proxy", "PYTHONUNBUFFERED")
    _, printed = run_code(f"import os; print([os.environ.get(name) for name in {names}])", folders)
    assert printed == "[None, None, '', '1']\n"


class Screen(io.StringIO):
    encoding = "ascii"

    def __init__(self, log: Path, works: bool) -> None:
        super().__init__()
        self.log, self.works, self.logged = log, works, True

    def write(self, text: str) -> int:
        text.encode(self.encoding)
        self.logged = self.logged and (text[-10:].strip() or "é") in self.log.read_text(errors="replace")
        if not self.works:
            raise BrokenPipeError
        return super().write(text)


@pytest.mark.parametrize("works", [True, False])
def test_no_screen_stops_a_program_and_the_log_comes_first(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, works: bool
) -> None:
    log = folders["/app/program"].parent / "logs" / "scoring_stdout.txt"
    screen = Screen(log, works)
    monkeypatch.setattr("sys.stdout", screen)
    code = "import sys\nfor _ in range(3): sys.stdout.buffer.write('é'.encode() + b'\\xff' + b'x' * 100_000 + b'\\n')"
    assert run_code(code, folders, timeout_s=600)[0].exit_code == 0
    assert log.stat().st_size == 3 * 100_004
    assert screen.getvalue().count("x") == (300_000 if works else 0)
    assert screen.logged


def importable(python: Path, *names: str) -> list[bool]:
    code = "import json; from importlib.util import find_spec; "
    code += f"print(json.dumps([find_spec(name) is not None for name in {names}]))"
    found: list[bool] = json.loads(subprocess.check_output([python, "-I", "-c", code]))
    return found


@in_venv
def test_each_program_has_the_packages_of_its_lock_and_no_others() -> None:
    scoring, ingestion = (python_for(ROOT / name) for name in ("scoring_program", "ingestion_program"))
    assert importable(scoring, "numpy", "jinja2", "yaml", "pip", "cv2", "pytest") == [True] * 4 + [False] * 2
    assert importable(ingestion, "numpy", "cv2", "av", "sklearn", "pytest", "bundle_tools") == [True] * 4 + [False] * 2


@in_venv
def test_an_environment_is_made_once_even_by_two_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert python_for(tmp_path) == Path(sys.executable)  # without a lock
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    lock = tmp_path / "requirements.lock"
    lock.write_text('PyYAML==1.0 \\\n  --hash=x\nnot-here==1 ; sys_platform == "win32"\n')
    with ThreadPoolExecutor(2) as pool:
        made = set(pool.map(python_for, [tmp_path] * 2))
    assert made == {python_for(tmp_path)}
    assert len(list((tmp_path / "programs").iterdir())) == 1
    assert importable(made.pop(), "yaml", "numpy") == [True, False]
    lock.write_text("not-here==1 \\\n  --hash=x\nnumpy==1\nnor-here==2\n")
    with pytest.raises(CannotStart, match=r"not installed here: not-here, nor-here; install them: .* -m pip install"):
        python_for(tmp_path)


def test_copies_of_a_program_are_compiled_once_and_their_sources_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    compiling = Mock(wraps=compileall.compile_dir)
    monkeypatch.setattr(compileall, "compile_dir", compiling)

    def copy(number: int, name: str = "first") -> Path:
        folder = tmp_path / f"copy{number}"
        (folder / "inside").mkdir(parents=True)
        (folder / "inside" / "part.py").write_text(f"print('{name}')\n")
        (folder / "broken.py").write_text("def\n")
        add_compiled(folder)
        return folder

    def printed(folder: Path) -> str:
        return subprocess.check_output([sys.executable, "-B", "-c", "import inside.part"], cwd=folder, text=True)

    one, two = copy(1), copy(2)
    assert compiling.call_count == 1
    assert [len([*folder.rglob("*.pyc")]) for folder in (one, two)] == [1, 1]
    assert printed(two) == "first\n"
    (two / "inside" / "part.py").write_text("print('other')\n")
    assert printed(two) == "other\n"
    (kept,) = (tmp_path / "programs" / "compiled").iterdir()
    kept.write_bytes(b"damaged")
    assert printed(copy(3)) == "first\n"
    for number in range(4, 5 + KEPT_PROGRAMS):
        copy(number, str(number))
    assert len([*kept.parent.iterdir()]) == KEPT_PROGRAMS


def test_containers_get_the_workers_flags(tmp_path: Path) -> None:
    mounts = {"/app/program": tmp_path, "/app/output": tmp_path / "o", "/app/data": tmp_path / "d"}
    words = docker_command(Command("ingestion", ["python3", "x.py", ">"]), mounts, IMAGE, "name")
    line, root = " ".join(words), tmp_path.resolve()
    for flags in (
        *("docker run --name name --pull never --workdir /app/program", "--cap-drop ALL", "--userns host"),
        *("--security-opt no-new-privileges", "--shm-size 64m", "--network none", "-e PYTHONUNBUFFERED=1"),
        *("-e http_proxy=", "-e https_proxy=", f"-v {root}:/app/program:rw", f"-v {root / 'o'}:/app/output:rw"),
        f"-v {root / 'd'}:/app/data:ro image:1 python3 x.py >",
    ):
        assert f" {flags} " in f" {line} "
    assert "--gpus" not in words
    more = docker_command(Command("x", []), mounts, Docker("image:1", network=True, gpus="all"), "name")
    assert "--network" not in more
    assert " --gpus all " in " ".join(more)


STAND_IN = """\
#!/bin/sh
cd "$(dirname "$0")"
echo "$*" >>calls
case "$1 $2" in
"version "*) test ! -f dead || { echo "Cannot connect to the Docker daemon." >&2; exit 1; } ;;
"image inspect") cat config 2>/dev/null ;;
"pull "*) test -f registry || { echo "manifest unknown" >&2; exit 1; }; cp registry config ;;
"run "*) sh ./program ;;
"container inspect") cat state ;;
esac
"""


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in {"docker": STAND_IN, "config": "{}", "calls": "", "state": "exited 0\n", "program": ""}.items():
        (folder / name).write_text(text)
    (folder / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def calls(docker: Path) -> list[str]:
    return (docker / "calls").read_text().splitlines()


@pytest.mark.parametrize(
    ("pull", "here", "registered", "pulls"),
    [
        ("never", True, True, 0), ("missing", True, True, 0), ("always", True, True, 1), ("missing", False, True, 1),
        ("missing", False, False, 3), ("always", True, False, 3), ("never", False, True, 0),
    ],
)  # fmt: skip
def test_an_image_is_pulled_when_asked_in_three_tries(
    docker: Path, pull: Literal["never", "missing", "always"], here: bool, registered: bool, pulls: int
) -> None:
    if registered:
        (docker / "registry").write_text("{}")
    if not here:
        (docker / "config").unlink()
    if pulls == 3:
        with pytest.raises(BundleError, match="image:1 cannot be pulled: manifest unknown"):
            prepare(Docker("image:1", pull=pull))
    elif pull == "never" and not here:
        with pytest.raises(BundleError, match=r"expected image:1 on this machine, .*--pull missing.*fails there"):
            prepare(Docker("image:1", pull=pull))
    else:
        assert prepare(Docker("image:1", pull=pull)) == []
    assert calls(docker).count("pull image:1") == pulls


@pytest.mark.parametrize(
    ("config", "note"),
    [
        ({"User": "app"}, "runs as the user 'app', who cannot write /app/output"),
        ({"User": "1000:1000"}, "cannot write /app/output"),
        ({"Entrypoint": ["tini", "--"]}, "its entrypoint 'tini --' stays"),
        ({"User": "", "Entrypoint": None}, None),
        ({"User": "0:0"}, None),
        ({"User": "root"}, None),
    ],
)
def test_images_that_will_not_do_are_told(docker: Path, config: dict[str, object], note: str | None) -> None:
    (docker / "config").write_text(json.dumps(config))
    notes = prepare(IMAGE)
    assert len(notes) == (note is not None)
    assert note is None or note in notes[0]


def run_in_container(folders: dict[str, Path], timeout_s: float | None = None) -> Outcome:
    logs = folders["/app/program"].parent / "logs"
    return engine.run(Command("scoring", ["python3", "x.py"]), folders, logs, docker=IMAGE, timeout_s=timeout_s)


@pytest.mark.parametrize("code", [0, 1, 125, 127, 137])
def test_a_programs_exit_code_comes_from_the_engine(docker: Path, folders: dict[str, Path], code: int) -> None:
    (docker / "state").write_text(f"exited {code}\n")
    # What the command itself answers does not count: it has its own meanings for the same codes.
    (docker / "program").write_text("exit 125\n")
    assert run_in_container(folders).exit_code == code
    assert calls(docker)[-1].startswith("rm --force bundle-scoring-")


@pytest.mark.parametrize("state", ["created 127", None])
def test_a_container_that_never_ran_has_no_exit_code(docker: Path, folders: dict[str, Path], state: str | None) -> None:
    (docker / "program").write_text("echo 'exec: \"python3\": not found' >&2; echo \"See 'docker run --help'.\" >&2\n")
    if state is None:
        (docker / "state").unlink()
    else:
        (docker / "state").write_text(state)
    with pytest.raises(CannotStart, match='Docker cannot start it: exec: "python3": not found'):
        run_in_container(folders)
    assert calls(docker)[-1].startswith("rm --force")


def test_a_container_over_its_time_is_removed_by_name(
    docker: Path, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (docker / "program").write_text("exec sleep 600\n")
    end_when(lambda: bool(calls(docker)), monkeypatch)
    # The stand-in ends nothing, however long one waits.
    monkeypatch.setattr(engine, "GRACE_S", 0.1)
    assert run_in_container(folders, timeout_s=0.5).killed
    name = next(call.split()[2] for call in calls(docker) if call.startswith("run "))
    assert calls(docker).count(f"rm --force {name}") == 2


def test_folders_are_opened_for_a_root_without_capabilities_and_handed_back(
    docker: Path, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir(mode=0o700)
    (tmp_path / "program" / "link").symlink_to("/etc/hostname")
    (tmp_path / "program" / "file").touch(0o600)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    run_in_container({"/app/program": folders["/app/program"], "/app/data": tmp_path / "data"})
    names = ("data", "program", "program/file")
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in names] == [0o700, 0o777, 0o666]
    root = tmp_path.resolve()
    assert calls(docker)[-1].endswith(f"-v {root / 'program'}:/app/program image:1 -R a+rwX /app/program")
    open_to_all(tmp_path / "program")  # a link is left alone


def test_the_command_takes_the_competitions_image_and_says_what_is_missing(
    docker: Path, tiny: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (docker / "config").write_text('{"User": "app"}')
    (docker / "program").write_text("echo out\n")
    out = tiny.parent / "out"
    words = ["run", str(tiny / "solutions" / "half"), "--bundle", str(tiny), "--engine", "docker", "--out", str(out)]
    # The stand-in runs nothing, so there are no scores; the notes are told all the same.
    assert main(words) == 1
    assert "image example/tiny:1: it runs as the user 'app'" in capsys.readouterr().out
    assert any("example/tiny:1 python3 /app/program/score.py" in call for call in calls(docker))
    assert (out / "logs" / "scoring_stdout.txt").read_text() == "out\n"
    (docker / "config").unlink()
    assert main([*words, "--image", "other:2"]) == 1
    assert "expected other:2 on this machine" in capsys.readouterr().err
    (docker / "dead").touch()
    assert main(words) == 1
    assert "no engine answers: Cannot connect to the Docker daemon" in capsys.readouterr().err
    monkeypatch.setenv("PATH", str(tiny))
    assert main(words) == 1
    assert "expected the docker command, found none" in capsys.readouterr().err
