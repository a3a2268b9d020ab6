"""What the Docker engine asks of `docker` and makes of the answers, told by a stand-in for that command."""

import json
import os
import shutil
from pathlib import Path

import pytest

from bundle_tools.cli.main import main
from bundle_tools.codabench.worker import CannotStart, engine
from bundle_tools.codabench.worker.docker import DockerEngine, Pull
from bundle_tools.codabench.worker.engine import Container
from bundle_tools.errors import BundleError
from tests.tiny import end_when

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
    (folder / "docker").write_text(STAND_IN)
    (folder / "docker").chmod(0o755)
    (folder / "config").write_text("{}")
    (folder / "calls").touch()
    (folder / "state").write_text("exited 0\n")
    (folder / "program").write_text("echo out; echo err >&2\n")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def calls(docker: Path) -> list[str]:
    return (docker / "calls").read_text().splitlines()


def container(tmp_path: Path) -> Container:
    (tmp_path / "program").mkdir(exist_ok=True)
    return Container("scoring", {"/app/program": tmp_path / "program"}, ["python3", "x.py"])


def test_nothing_is_pulled_unless_asked(docker: Path) -> None:
    assert DockerEngine("image:1").prepare() == []
    assert DockerEngine("image:1", pull="missing").prepare() == []
    assert not any(call.startswith("pull") for call in calls(docker))


def test_a_missing_image_is_explained_or_pulled(docker: Path) -> None:
    (docker / "config").rename(docker / "registry")
    with pytest.raises(
        BundleError, match=r"expected image:1 on this machine, found none\..*--pull missing.*fails there"
    ):
        DockerEngine("image:1").prepare()
    assert DockerEngine("image:1", pull="missing").prepare() == []
    assert calls(docker).count("pull image:1") == 1
    DockerEngine("image:1", pull="always").prepare()
    assert calls(docker).count("pull image:1") == 2


@pytest.mark.parametrize("pull", ["missing", "always"])
def test_a_pull_is_tried_three_times(docker: Path, pull: Pull) -> None:
    if pull == "missing":
        (docker / "config").unlink()
    with pytest.raises(BundleError, match="image:1 cannot be pulled: manifest unknown"):
        DockerEngine("image:1", pull=pull).prepare()
    assert calls(docker).count("pull image:1") == 3


def test_no_engine_and_no_command_are_told_apart(docker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (docker / "dead").touch()
    with pytest.raises(BundleError, match="no engine answers: Cannot connect to the Docker daemon"):
        DockerEngine("image:1").prepare()
    monkeypatch.setenv("PATH", str(docker / "nowhere"))
    with pytest.raises(BundleError, match="expected the docker command, found none"):
        DockerEngine("image:1").prepare()


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
    found = DockerEngine("image:1").prepare()
    assert len(found) == (note is not None)
    assert note is None or note in found[0]


@pytest.mark.parametrize("code", [0, 1, 125, 126, 127, 137])
def test_a_programs_exit_code_comes_from_the_engine(docker: Path, tmp_path: Path, code: int) -> None:
    (docker / "state").write_text(f"exited {code}\n")
    # What the command itself answers does not count: it has its own meanings for the same codes.
    (docker / "program").write_text("exit 125\n")
    assert DockerEngine("image:1").run(container(tmp_path), tmp_path / "logs").exit_code == code
    assert calls(docker)[-1].startswith("rm --force bundle-scoring-")


@pytest.mark.parametrize("state", ["created 127", ""])
def test_a_container_that_never_ran_is_no_exit_code(docker: Path, tmp_path: Path, state: str) -> None:
    (docker / "state").write_text(state)
    (docker / "program").write_text("echo 'exec: \"python3\": not found' >&2; echo \"See 'docker run --help'.\" >&2\n")
    if not state:
        (docker / "state").unlink()
    with pytest.raises(CannotStart, match='Docker cannot start it: exec: "python3": not found'):
        DockerEngine("image:1").run(container(tmp_path), tmp_path / "logs")
    assert calls(docker)[-1].startswith("rm --force")


def test_a_container_over_its_time_is_removed_by_name(
    docker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (docker / "program").write_text("exec sleep 600\n")
    end_when(lambda: bool(calls(docker)), monkeypatch)
    # The stand-in ends nothing, however long one waits.
    monkeypatch.setattr(engine, "GRACE_S", 0.1)
    outcome = DockerEngine("image:1").run(container(tmp_path), tmp_path / "logs", timeout_s=0.5)
    assert outcome.killed
    name = next(call.split()[2] for call in calls(docker) if call.startswith("run "))
    assert calls(docker).count(f"rm --force {name}") == 2


def test_what_the_containers_root_wrote_is_opened_to_another_user(
    docker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    DockerEngine("image:1").run(container(tmp_path), tmp_path / "logs")
    before = len(calls(docker))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    DockerEngine("image:1").run(container(tmp_path), tmp_path / "logs")
    assert calls(docker)[-1].endswith(
        f"-v {(tmp_path / 'program').resolve()}:/app/program image:1 -R a+rwX /app/program"
    )
    assert len(calls(docker)) == 2 * before + 1


def test_the_workers_own_data_keep_their_modes(docker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir(mode=0o700)
    mounts = {**container(tmp_path).mounts, "/app/data": tmp_path / "data"}
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    DockerEngine("image:1").run(Container("scoring", mounts, ["python3"]), tmp_path / "logs")
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "program").stat().st_mode & 0o777 == 0o777
    assert "/app/data" not in calls(docker)[-1]


def test_the_competitions_image_is_the_default(docker: Path, tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (docker / "config").write_text('{"User": "app"}')
    out = tiny.parent / "out"
    arguments = ["run", str(tiny / "solutions" / "half"), "--bundle", str(tiny), "--engine", "docker"]
    # The stand-in runs nothing, so there are no scores; the notes are told all the same.
    assert main([*arguments, "--out", str(out)]) == 1
    assert "image example/tiny:1: it runs as the user 'app'" in capsys.readouterr().out
    assert any("example/tiny:1 python3 /app/program/score.py" in call for call in calls(docker))
    assert (out / "logs" / "scoring_stdout.txt").read_text() == "out\n"
    shutil.rmtree(out)
    (docker / "config").unlink()
    assert main([*arguments, "--out", str(out), "--image", "other:2"]) == 1
    assert "expected other:2 on this machine" in capsys.readouterr().err
