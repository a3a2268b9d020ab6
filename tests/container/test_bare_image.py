"""The built bundle in an image with Python alone, no network: the programs install the wheels that came along."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from bundle_tools.challenge.build import TOP_LEVEL
from bundle_tools.cli.main import main
from bundle_tools.codabench.competition import load
from tests import ROOT
from tests.fewer import ask_once, comparable, copy_with
from tests.guides import fork_programs
from tests.scoring.pages import assert_complete

pytestmark = [pytest.mark.container, pytest.mark.slow]


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of one clip a phase, which is asked for once; the wheels that are kept are ours."""
    bundle = copy_with(ROOT, tmp_path_factory.mktemp("few") / "bundle", 1, *TOP_LEVEL)
    (ROOT / "build").mkdir(exist_ok=True)
    (bundle / "build").symlink_to(ROOT / "build")
    assert main(["pages", "--bundle", str(ask_once(bundle))]) == 0
    return bundle


@pytest.fixture(scope="module")
def built(few: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack a zip built with wheels, as the platform unpacks it."""
    folder = tmp_path_factory.mktemp("built")
    archive = folder / "bundle.zip"
    assert (
        main(
            [
                "build",
                "--bundle",
                str(few),
                "--out",
                str(archive),
                "--wheels",
                "--image",
                "python:test",
                "--no-training",
            ]
        )
        == 0
    )
    shutil.unpack_archive(archive, folder / "bundle")
    archive.unlink()
    return folder / "bundle"


@pytest.fixture
def impatient(bare: str) -> Iterator[str]:
    """An image like the bare one, whose pip does not try again for fifteen seconds where there is no network."""
    name = f"{bare.partition(':')[0]}-impatient:test"
    recipe = f"FROM {bare}\nENV PIP_RETRIES=0\n"
    subprocess.run(
        ["docker", "build", "--quiet", "--network", "none", "--tag", name, "-"], input=recipe.encode(), check=True
    )
    yield name
    subprocess.run(["docker", "image", "rm", name], stdout=subprocess.DEVNULL, check=True)


def scores(bundle: Path, out: Path, phase: str, *options: str) -> dict[str, float]:
    arguments = ["run", str(bundle / "solutions" / "cue_reader.zip"), "--bundle", str(bundle), "--phase", phase]
    assert main([*arguments, "--out", str(out), *options]) == 0
    path = out / "scoring_output" / "scores.json"
    assert list(json.loads(path.read_text())) == [column.key for column in load(bundle).columns]
    return comparable(path)


def test_the_zip_gives_a_full_row_in_a_bare_image(
    built: Path, bare: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fork_programs(monkeypatch)
    assert yaml.safe_load((built / "competition.yaml").read_text())["docker_image"] == "python:test"
    inside = scores(built, tmp_path / "bare", "practice", "--engine", "docker", "--image", bare)
    outside = scores(built, tmp_path / "process", "practice")
    assert inside == pytest.approx(outside, abs=1e-3)
    run = json.loads((tmp_path / "bare" / "ingestion_output" / "run.json").read_text())
    assert (
        run["packages"] == json.loads((tmp_path / "process" / "ingestion_output" / "run.json").read_text())["packages"]
    )
    log = "".join(path.read_text() for path in (tmp_path / "bare" / "logs").iterdir())
    assert log.count("installing the locked packages from the wheels in the bundle") == 2
    manifest = json.loads((tmp_path / "bare" / "ingestion_output" / "manifest.json").read_text())
    assert manifest["seal"]
    page = (tmp_path / "bare" / "scoring_output" / "detailed_results.html").read_text()
    assert "unsealed" not in page
    assert_complete(page)


def test_without_wheels_and_network_the_organiser_is_told(few: Path, impatient: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["run", str(few / "solutions/constant"), "--bundle", str(few), "--out", str(out)]
    assert main([*arguments, "--engine", "docker", "--image", impatient]) == 1
    assert "bundle build --wheels" in (out / "ingestion_output" / "log.txt").read_text()
    page = (out / "scoring_output" / "detailed_results.html").read_text()
    assert "The fault is not yours" in page
