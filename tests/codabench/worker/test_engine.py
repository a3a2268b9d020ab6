"""The command line of the Docker engine, and the paths of the process engine, without running anything."""

import io
from pathlib import Path

import pytest

from bundle_tools.cli.main import main
from bundle_tools.codabench.worker.command import arguments
from bundle_tools.codabench.worker.docker import DockerEngine, open_to_all
from bundle_tools.codabench.worker.engine import Container, ProcessEngine


def test_containers_get_the_workers_flags(tmp_path: Path) -> None:
    container = Container(
        "ingestion",
        {"/app/program": tmp_path, "/app/output": tmp_path / "o", "/app/data": tmp_path / "d"},
        ["python3", "x.py", ">"],
    )
    command = DockerEngine("image:1").command(container, "name")
    line = " ".join(command)
    assert command[:2] == ["docker", "run"]
    for flags in (
        *("--cap-drop ALL", "--security-opt no-new-privileges", "--shm-size 64m", "--network none", "--pull never"),
        *("--workdir /app/program", "-e PYTHONUNBUFFERED=1", "-e http_proxy=", "-e https_proxy="),
        "--userns host",
        *(f"-v {tmp_path.resolve()}:/app/program:rw", f"-v {tmp_path.resolve() / 'o'}:/app/output:rw"),
        f"-v {tmp_path.resolve() / 'd'}:/app/data:ro",
    ):
        assert f" {flags} " in line
    assert command[-4:] == ["image:1", "python3", "x.py", ">"]
    assert "--network" not in DockerEngine("image:1", network=True).command(container, "name")
    assert "--gpus" not in command
    assert " --gpus all " in " ".join(DockerEngine("image:1", gpus="all").command(container, "name"))


@pytest.mark.parametrize(
    ("role", "command", "split"),
    [
        ("ingestion", "a $input $output $program", ["a", "/app/input_data", "/app/output", "/app/program"]),
        ("ingestion", "a $submission_program $ingestion_program", ["a", "/app/ingested_program", "/app/program"]),
        ("ingestion", "a $input_data", ["a", "/app/input_data_data"]),
        ("ingestion", "a $predictions $tmp", ["a", "/app/output", "/app/output"]),
        ("scoring", "a $input $hidden $predictions", ["a", "/app/input", "/app/input/ref", "/app/input/res"]),
        ("submission", "a $input $predictions", ["a", "/app/input", "/app/output"]),
        ("scoring", "a 'b c' > d && e | $HOME", ["a", "b c", ">", "d", "&&", "e", "|", "$HOME"]),
    ],
)
def test_commands_are_split_as_the_worker_splits_them(role: str, command: str, split: list[str]) -> None:
    assert arguments(command, role) == split  # type: ignore[arg-type]


def test_the_process_engine_maps_only_paths_below_app(tmp_path: Path) -> None:
    for name in ("program", "input", "input_data"):
        (tmp_path / name).mkdir()
    mounts = {f"/app/{name}": tmp_path / name for name in ("program", "input", "input_data")}
    echo = "import sys; print(*sys.argv[1:], sep='\\n')"
    given = ["/app/input/", "/app/input_data", "--to=/app/input/res", "/app/inputs", "/my/app/input", "/app/other"]
    ProcessEngine().run(Container("scoring", mounts, ["python3", "-c", echo, *given]), tmp_path / "logs")
    root = str(tmp_path)
    assert (tmp_path / "logs" / "scoring_stdout.txt").read_text().splitlines() == [
        *(f"{root}/input/", f"{root}/input_data", f"--to={root}/input/res"),
        *("/app/inputs", "/my/app/input", "/app/other"),
    ]


def test_paths_in_the_sources_of_a_program_are_mapped_too(tmp_path: Path) -> None:
    for name in ("program", "input_data"):
        (tmp_path / name).mkdir()
    source = b"# caf\xe9\nprint('/app/input_data/', \"/app/input_data\", '/app/input_datas', '/my/app/program')\n"
    (tmp_path / "program" / "x.py").write_bytes(b"# -*- coding: latin-1 -*-\n" + source)
    mounts = {f"/app/{name}": tmp_path / name for name in ("program", "input_data")}
    ProcessEngine().run(Container("scoring", mounts, ["python3", "x.py"]), tmp_path / "logs")
    mapped = tmp_path / "input_data"
    printed = (tmp_path / "logs" / "scoring_stdout.txt").read_text()
    assert printed == f"{mapped}/ {mapped} /app/input_datas /my/app/program\n"
    assert b"caf\xe9" in (tmp_path / "program" / "x.py").read_bytes()


def test_the_environment_is_as_bare_as_the_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    monkeypatch.setenv("SECRET", "token")
    (tmp_path / "program").mkdir()
    code = (
        "import os; print({k: os.environ.get(k) for k in ('PYTHONPATH', 'SECRET', 'http_proxy', 'PYTHONUNBUFFERED')})"
    )
    container = Container("scoring", {"/app/program": tmp_path / "program"}, ["python3", "-c", code])
    ProcessEngine().run(container, tmp_path / "logs")
    assert (tmp_path / "logs" / "scoring_stdout.txt").read_text().strip() == str(
        {"PYTHONPATH": None, "SECRET": None, "http_proxy": "", "PYTHONUNBUFFERED": "1"}
    )


class Screen(io.StringIO):
    encoding = "ascii"

    def __init__(self, works: bool) -> None:
        super().__init__()
        self.works = works

    def write(self, text: str) -> int:
        text.encode(self.encoding)
        if not self.works:
            raise BrokenPipeError
        return super().write(text)


@pytest.mark.parametrize("works", [True, False])
def test_no_screen_stops_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, works: bool) -> None:
    screen = Screen(works)
    monkeypatch.setattr("sys.stdout", screen)
    (tmp_path / "program").mkdir()
    code = "import sys\nfor _ in range(3): sys.stdout.buffer.write('é'.encode() + b'\\xff' + b'x' * 100_000 + b'\\n')"
    container = Container("scoring", {"/app/program": tmp_path / "program"}, ["python3", "-c", code])
    assert ProcessEngine().run(container, tmp_path / "logs", timeout_s=600).exit_code == 0
    assert (tmp_path / "logs" / "scoring_stdout.txt").stat().st_size == 3 * 100_004
    assert screen.getvalue().count("x") == (300_000 if works else 0)


def test_what_is_shown_is_in_the_log_already(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever loses a run has its log."""
    log, logged = tmp_path / "logs" / "scoring_stdout.txt", []

    class Watching(Screen):
        def write(self, text: str) -> int:
            logged.append(text in log.read_text())
            return len(text)

    monkeypatch.setattr("sys.stdout", Watching(works=True))
    (tmp_path / "program").mkdir()
    container = Container(
        "scoring", {"/app/program": tmp_path / "program"}, ["python3", "-c", "print('a'); print('b')"]
    )
    ProcessEngine().run(container, tmp_path / "logs")
    assert logged == [True, True]


def test_folders_are_opened_for_a_root_without_capabilities(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir(mode=0o700)
    (tmp_path / "a" / "b").write_text("x")
    (tmp_path / "a" / "b").chmod(0o600)
    (tmp_path / "a" / "link").symlink_to("/etc/hostname")
    open_to_all(tmp_path)
    assert [path.stat().st_mode & 0o777 for path in (tmp_path, tmp_path / "a", tmp_path / "a" / "b")] == [
        *(0o777, 0o777, 0o666)
    ]


def test_a_missing_docker_is_named(
    tiny: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tiny))
    out = str(tiny.parent / "out")
    arguments_ = ["run", str(tiny / "solutions" / "half"), "--bundle", str(tiny), "--engine", "docker", "--out", out]
    assert main(arguments_) == 1
    assert "expected the docker command, found none" in capsys.readouterr().err
