"""A tiny bundle in real containers: what only an engine can show about the imitation of the worker."""

import ast
import subprocess
import time
from pathlib import Path

import pytest

from bundle_tools.cli.main import main
from tests.tiny import FILES, write_files

pytestmark = [pytest.mark.container, pytest.mark.slow]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_files(tmp_path / "tiny", FILES)


def run(tiny: Path, image: str, *options: str) -> tuple[int, Path]:
    out = tiny.parent / "out"
    arguments = ["run", str(tiny / "solutions" / "half"), "--bundle", str(tiny), "--out", str(out)]
    return main([*arguments, "--engine", "docker", "--image", image, *options]), out


def docker(*arguments: str) -> str:
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, check=True).stdout


def test_the_workers_data_can_be_read_and_not_written(image: str, tiny: Path) -> None:
    write_files(tiny.parent / "worker", {"labels.bin": "x"})
    look = (
        "import os\n"
        "print(os.listdir('/app/data'))\n"
        "for place in ('data', 'program', 'ingested_program', 'output', 'input_data', 'input', 'shared'):\n"
        "    try:\n"
        "        open(f'/app/{place}/new', 'w').close()\n"
        "        print(place, 'written')\n"
        "    except OSError as error:\n"
        "        print(place, error.strerror)\n"
    )
    for program in ("ingestion_program/ingest.py", "scoring_program/score.py"):
        with (tiny / program).open("a") as file:
            file.write(look)
    code, out = run(tiny, image, "--data", str(tiny.parent / "worker"))
    assert code == 0
    missing = "No such file or directory"
    seen = {}
    for log in ("prediction_ingestion", "scoring"):
        lines = (out / "logs" / f"{log}_stdout.txt").read_text().splitlines()
        assert "['labels.bin']" in lines
        pairs = [line.split(" ", 1) for line in lines if line.split(" ")[0] in look]
        seen[log] = {place: answer for place, answer in pairs if place != "ingestion"}
    assert seen["prediction_ingestion"] == {
        "data": "Read-only file system",
        **dict.fromkeys(("program", "ingested_program", "output", "input_data"), "written"),
        **dict.fromkeys(("input", "shared"), missing),
    }
    assert seen["scoring"] == {
        "data": "Read-only file system",
        **dict.fromkeys(("program", "output", "input", "shared"), "written"),
        **dict.fromkeys(("ingested_program", "input_data"), missing),
    }
    assert [path.name for path in (tiny.parent / "worker").iterdir()] == ["labels.bin"]


@pytest.mark.parametrize("network", [False, True])
def test_the_network_is_off_unless_asked(
    image: str, tiny: Path, monkeypatch: pytest.MonkeyPatch, network: bool
) -> None:
    with (tiny / "ingestion_program" / "ingest.py").open("a") as file:
        file.write("import socket\nprint([name for _, name in socket.if_nameindex()])\n")
    if network and "bridge" not in docker("network", "ls", "--format", "{{.Name}}").split():
        pytest.skip("CONTAINERS NOT TESTED WITH A NETWORK: this engine has no bridge.")
    _, out = run(tiny, image, *(["--network"] if network else []))
    names = ast.literal_eval((out / "logs" / "prediction_ingestion_stdout.txt").read_text().splitlines()[-1])
    assert (names == ["lo"]) == (not network)


def containers() -> str:
    """List the containers of all runs on this machine; an interrupted run of another day may have left one."""
    return docker("ps", "--all", "--quiet", "--filter", "name=bundle-")


def test_a_container_over_the_limit_is_gone(image: str, tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with (tiny / "ingestion_program" / "ingest.py").open("a") as file:
        file.write("import time; time.sleep(120)\n")
    before, started = containers(), time.monotonic()
    code, out = run(tiny, image, "--over-limit", "kill", "--time-limit", "5")
    assert code == 1
    assert time.monotonic() - started < 60
    assert "execution time limit exceeded: ingestion was removed at 5 s" in capfd.readouterr().err
    assert not (out / "logs" / "scoring_stdout.txt").exists()
    assert containers() == before


def test_a_command_that_is_not_there_is_no_exit_code_127(
    image: str, tiny: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = containers()
    (tiny / "ingestion_program" / "metadata.yaml").write_text("command: no-such-program")
    (tiny / "solutions" / "half" / "predictions.txt").write_text("0.5")
    code, out = run(tiny, image)
    assert code == 0
    assert "ingestion: Docker cannot start it" in capfd.readouterr().out
    assert "ingestionExitCode: null" in (out / "ingestion_output" / "metadata").read_text()
    (tiny / "ingestion_program" / "metadata.yaml").write_text("command: python3 -c 'raise SystemExit(127)'")
    code, out = run(tiny, image)
    assert code == 0
    assert "ingestion: exit code 127 is ignored" in capfd.readouterr().out
    assert containers() == before


def test_an_image_with_a_user_fails_as_on_the_platform(
    image: str, tiny: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    name = f"{image.partition(':')[0]}-user:latest"
    recipe = write_files(tiny.parent / "recipe", {"Dockerfile": f"FROM {image}\nUSER 1000\n"})
    docker("build", "--quiet", "--network", "none", "--tag", name, str(recipe))
    try:
        assert run(tiny, name)[0] == 1
    finally:
        docker("image", "rm", name)
    printed = capfd.readouterr()
    assert "it runs as the user '1000', who cannot write /app/output" in printed.out
    assert "Permission denied" in printed.err


def test_an_image_that_is_not_here_is_explained(image: str, tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(tiny, f"{image}-elsewhere")[0] == 1
    assert "fetch it with --pull missing. Codabench pulls" in capfd.readouterr().err
