"""The real bundle in the competition's image, with the flags and mounts of the platform's worker, and no network."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bundle_tools.challenge.build import TOP_LEVEL
from bundle_tools.cli.main import main
from tests import ROOT
from tests.fewer import comparable, copy_with
from tests.guides import fork_programs
from tests.scoring.pages import assert_complete

CLIPS = 1
pytestmark = [pytest.mark.container, pytest.mark.slow]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the bundle with fewer clips."""
    return copy_with(ROOT, tmp_path_factory.mktemp("few") / "bundle", CLIPS, *TOP_LEVEL)


@pytest.mark.parametrize(("solution", "phase"), [("constant", "final"), ("cue_reader", "practice")])
def test_containers_and_processes_give_the_same_scores(
    image: str, bundle: Path, tmp_path: Path, solution: str, phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fork_programs(monkeypatch)
    found = {}
    for engine, options in (("process", []), ("docker", ["--image", image])):
        out = tmp_path / engine
        arguments = ["run", str(bundle / "solutions" / solution), "--phase", phase, "--out", str(out)]
        assert main([*arguments, "--bundle", str(bundle), "--engine", engine, *options]) == 0
        found[engine] = comparable(out / "scoring_output" / "scores.json")
        probes = json.loads((out / "ingestion_output" / "run.json").read_text())["probes"]
        records = (out / "ingestion_output" / "probes.jsonl").read_text().splitlines()
        lines = [line for line in records if not json.loads(line)["again"]]
        # The constant gives no maps: the originals, the copies without a cue and the twins are asked all the same.
        assert 3 * CLIPS < probes["planned"] == probes["asked"] == probes["answered"] == len(lines) <= 16 * CLIPS
        page = (out / "scoring_output" / "detailed_results.html").read_text()
        if phase == "practice":
            assert_complete(page)
        # The first log ends with the report's address.
        *_, last = (out / "logs" / "prediction_ingestion_stdout.txt").read_text().splitlines()
        assert "/detailed_results/SUBMISSION/" in last or engine == "process"
    assert found["docker"] == pytest.approx(found["process"], abs=1e-3)


def test_an_evaluation_in_containers_leaves_the_bytes_of_a_run(image: str, bundle: Path, tmp_path: Path) -> None:
    submission, options = bundle / "solutions" / "constant", ["--bundle", str(bundle), "--engine", "docker"]
    options += ["--image", image, "--phase", "final"]
    assert main(["run", str(submission), "--out", str(tmp_path / "one"), *options]) == 0
    assert main(["evaluate", str(submission), "--out", str(tmp_path / "all"), "--workers", "2", *options]) == 0
    one, merged = (folder / "ingestion_output" for folder in (tmp_path / "one", tmp_path / "all" / "constant"))
    for name in ("predictions.csv", "explanations.jsonl", "probes.jsonl"):
        assert (merged / name).read_bytes() == (one / name).read_bytes()


def test_an_evaluations_container_ends_with_its_driver(image: str, bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "hangs").mkdir()
    (tmp_path / "hangs" / "model.py").write_text("import time\ntime.sleep(1000)")
    words = ["evaluate", str(tmp_path / "hangs"), "--out", str(tmp_path / "all"), "--bundle", str(bundle)]
    words += ["--phase", "final", "--engine", "docker", "--image", image]

    def containers() -> str:
        call = [
            "docker",
            "ps",
            "--quiet",
            "--filter",
            "name=bundle-prediction_ingestion-",
            "--filter",
            "status=running",
        ]
        return subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()

    driver = subprocess.Popen([sys.executable, "-m", "bundle_tools.cli.main", *words], cwd=ROOT)
    while not containers():
        time.sleep(0.1)
    driver.kill()
    driver.wait()
    while containers():
        time.sleep(0.1)


def test_the_containers_are_as_bare_as_the_workers(image: str, bundle: Path, tmp_path: Path) -> None:
    probe = tmp_path / "submission"
    probe.mkdir()
    (probe / "metadata").write_text("command: python3 /app/program/look.py")
    (probe / "look.py").write_text(
        "import json, os, pathlib, shutil, socket\n"
        "status = pathlib.Path('/proc/self/status').read_text()\n"
        "lines = [line.split() for line in status.splitlines()]\n"
        "facts = {line[0][:-1]: line[1] for line in lines if line[0].startswith(('Cap', 'NoNew'))}\n"
        "facts['shm'] = shutil.disk_usage('/dev/shm').total\n"
        "facts['app'] = sorted(os.listdir('/app'))\n"
        "facts['cwd'] = os.getcwd()\n"
        "facts['uid'] = os.getuid()\n"
        "facts['interfaces'] = [name for _, name in socket.if_nameindex()]\n"
        "facts['environment'] = {k: os.environ.get(k) for k in ('PYTHONUNBUFFERED', 'http_proxy', 'https_proxy')}\n"
        "print(json.dumps(facts))\n"
    )
    out = tmp_path / "out"
    # Ingestion refuses a submission that brings its own command; what that command saw before is in the log.
    main(["run", str(probe), "--bundle", str(bundle), "--out", str(out), "--engine", "docker", "--image", image])
    facts = json.loads((out / "logs" / "prediction_stdout.txt").read_text())
    assert facts["CapEff"] == facts["CapPrm"] == facts["CapBnd"] == "0000000000000000"
    assert facts["NoNewPrivs"] == "1"
    assert facts["shm"] == 64 * 1024 * 1024
    assert facts["app"] == ["data", "input_data", "output", "program"]
    assert facts["cwd"] == "/app/program"
    assert facts["uid"] == 0
    assert facts["interfaces"] == ["lo"]
    assert facts["environment"] == {"PYTHONUNBUFFERED": "1", "http_proxy": "", "https_proxy": ""}


def test_the_image_has_no_entrypoint_and_is_root(image: str) -> None:
    done = subprocess.run(
        ["docker", "image", "inspect", "--format", "{{json .Config}}", image],
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ),
    )
    config = json.loads(done.stdout)
    assert not config.get("Entrypoint")
    command = ["docker", "run", "--rm", "--network", "none", image, "find", "/", "-xdev", "-name", "*.whl"]
    # Python's own pip comes as a wheel; ours are installed, and lie in no layer.
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert not [path for path in found if "pip-" not in path and "setuptools-" not in path]
    assert config.get("User") in {None, "", "root", "0"}
