"""`bundle build`: only what belongs into a bundle, the same bytes each time, and nothing where there are errors."""

import hashlib
import io
import re
import shutil
import stat
import subprocess
import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from bundle_tools.challenge import build as building
from bundle_tools.challenge.build import entries
from bundle_tools.challenge.check import check
from bundle_tools.challenge.pages.write import write_pages
from bundle_tools.cli.main import main
from bundle_tools.codabench.build import PROGRAMS, PYTHON, point_to_zips, set_image, shift_dates
from bundle_tools.codabench.competition import load
from bundle_tools.errors import BundleError
from tests import ROOT
from tests.tiny import swap, write_files


def build(tiny: Path, *options: str) -> tuple[int, Path]:
    out = tiny.parent / "dist" / "bundle.zip"
    return main(["build", "--bundle", str(tiny), "--out", str(out), *options]), out


def names(archive: Path) -> list[str]:
    with zipfile.ZipFile(archive) as opened:
        return opened.namelist()


def inside(archive: Path, name: str) -> dict[str, bytes]:
    """Read a zip that lies in a zip."""
    with zipfile.ZipFile(archive) as opened, zipfile.ZipFile(io.BytesIO(opened.read(name))) as inner:
        return {member: inner.read(member) for member in inner.namelist()}


def document(archive: Path) -> dict[str, Any]:
    with zipfile.ZipFile(archive) as opened:
        content: dict[str, Any] = yaml.safe_load(opened.read("competition.yaml"))
        return content


def test_the_same_input_gives_the_same_bytes(tiny: Path) -> None:
    assert build(tiny)[0] == 0
    first = hashlib.sha256(build(tiny)[1].read_bytes()).hexdigest()
    for path in tiny.rglob("*"):
        path.chmod(0o755)
        path.touch()
    assert hashlib.sha256(build(tiny)[1].read_bytes()).hexdigest() == first


def test_the_built_zip_is_valid_and_sorted(tiny: Path) -> None:
    _, out = build(tiny)
    assert check(out) == []
    assert names(out) == sorted(names(out))


def test_only_what_belongs_into_a_bundle_is_packed(tiny: Path) -> None:
    strangers = {
        "tests/test_secret.py": "x",
        "docs/notes.md": "x",
        ".git/config": "x",
        ".env": "x",
        "solutions/half/.DS_Store": "x",
        "scoring_program/__pycache__/score.cpython-311.pyc": "x",
        "input_data/practice/.cache/x": "x",
    }
    write_files(tiny, dict(strangers))
    (tiny / "solutions" / "half" / "link").symlink_to("/etc/hostname")
    _, out = build(tiny)
    packed = names(out)
    assert not set(strangers) & set(packed)
    assert "solutions/half/link" not in packed
    assert "competition.yaml" in packed
    assert inside(out, "solutions/half.zip") == {"model.py": b"def predict(question):\n    return 0.5\n"}


def test_the_kit_holds_programs_practice_data_and_solutions(tiny: Path) -> None:
    swap(tiny / "competition.yaml", "execution_time_limit: 600", "starting_kit: starting_kit/")
    write_files(
        tiny,
        {
            "starting_kit/README.md": "Read this.\n",
            "pages/overview.md.j2": "# From {{ start }}\n",
            "pages/values.yaml": "meanings: {}\n",
            "reference_data/practice/task.yaml": "report: {truth: true}",
            "reference_data/final/answer.txt": "secret",
        },
    )
    (tiny / "pages/overview.md").unlink()
    write_pages(tiny)
    code, out = build(tiny)
    assert code == 0
    assert document(out)["phases"][0]["starting_kit"] == "starting_kit.zip"
    assert not any(name.startswith("starting_kit/") for name in names(out))
    files = inside(out, "starting_kit.zip")
    assert files["pages/overview.md"] == b"# From 2030-01-01 12:00\n"
    assert not {"pages/overview.md.j2", "pages/values.yaml"} & set(files)
    kit = set(files)
    assert {"README.md", "ingestion_program/ingest.py", "scoring_program/score.py", "solutions/half/model.py"} <= kit
    assert {"input_data/practice/question.txt", "reference_data/practice/answer.txt"} <= kit
    assert not any("final" in name or name.endswith(".key") for name in kit)


def test_labels_that_are_not_public_keep_the_kit_from_being_built(
    tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    swap(tiny / "competition.yaml", "execution_time_limit: 600", "starting_kit: starting_kit/")
    write_files(tiny, {"starting_kit/README.md": "x"})
    code, out = build(tiny)
    assert code == 1
    assert not out.exists()
    assert "[leak]" in capsys.readouterr().out


def test_errors_keep_it_from_being_built(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tiny / "pages" / "terms.md").write_text("")
    code, out = build(tiny)
    assert code == 1
    assert not out.exists()
    captured = capsys.readouterr()
    assert "[page-empty]" in captured.out
    assert "Nothing was built" in captured.err


def test_start_moves_all_dates(tiny: Path) -> None:
    _, out = build(tiny, "--start", "2031-05-06 07:08:09")
    with zipfile.ZipFile(out) as opened:
        assert 'start: "2031-05-06 07:08:09"' in opened.read("competition.yaml").decode()


def test_lengths_and_gaps_stay() -> None:
    text = 'phases:\n- name: a\n  start: "{}"\n  end: "{}"\n- name: b\n  start: "{}"  # later\n'
    before = text.format("2030-01-01 12:00:00", "2030-01-31 12:00:00", "2030-02-01 12:00:00")
    after = text.format("2031-01-02 00:00:00", "2031-02-01 00:00:00", "2031-02-02 00:00:00")
    assert shift_dates(before, datetime.fromisoformat("2031-01-02")) == after


def test_dates_in_another_layout_are_not_half_moved() -> None:
    layouts = (
        "phases: [{start: '2030-01-01'}]",
        'phases:\n- name: a\n  start: "1 May 2030"',
        'phases:\n- name: a\n  start: "2030-01-01 12:00:00Z"',
    )
    for text in layouts:
        with pytest.raises(BundleError, match="found 0 of 1"):
            shift_dates(text, datetime.fromisoformat("2031-01-02"))
    with pytest.raises(BundleError, match="after the year 9999"):
        shift_dates('phases:\n- name: a\n  start: "2030-01-01 12:00"\n  end: "2030-02-01 12:00"', datetime.max)


@pytest.mark.parametrize("line", ["docker_image: old:1", "docker_image: 'old:1'  # why", "title: x"])
def test_the_image_is_replaced_or_added(line: str) -> None:
    assert yaml.safe_load(set_image(f"version: 2\n{line}\n", "you/name:1.0"))["docker_image"] == "you/name:1.0"


@pytest.mark.parametrize(
    "line",
    ["path: kit/", "path: 'kit/'", 'path: "kit/"  # why', "{starting_kit: kit/, x: 1}", "{x: 1, public_data: kit/}"],
)
def test_paths_are_replaced_whatever_their_quotes(line: str) -> None:
    text = f"# kit/ stays\nother: kit/\nphases:\n  - {line}\n"
    edited = point_to_zips(text, {"kit/": "kit.zip"})
    assert "kit.zip" in yaml.safe_load(edited)["phases"][0].values()
    assert edited.startswith("# kit/ stays\nother: kit/\n")


def test_a_layout_that_cannot_be_edited_is_an_error() -> None:
    with pytest.raises(BundleError, match="cannot replace kit/"):
        point_to_zips(
            "phases:\n  - starting_kit:\n      kit/\n    x: &a kit/\n    public_data: *a\n", {"kit/": "k.zip"}
        )
    with pytest.raises(BundleError, match="cannot replace docker_image"):
        set_image("docker_image: >-\n  old:\n  1\n", "you/name:1.0")


def test_both_programs_get_one_secret_key_that_is_kept(tiny: Path) -> None:
    def keys(out: Path) -> set[bytes]:
        with zipfile.ZipFile(out) as opened:
            return {opened.read(name) for name in opened.namelist() if name.endswith("seal.key")}

    _, out = build(tiny)
    first = keys(out)
    assert [name for name in names(out) if name.endswith(".key")] == [
        "ingestion_program/seal.key",
        "scoring_program/seal.key",
    ]
    assert len(first) == 1
    assert re.fullmatch(rb"[0-9a-f]{64}\n", min(first))
    kept = tiny / "private" / "seal.key"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert keys(build(tiny)[1]) == first
    assert keys(build(tiny, "--new-key")[1]) != first
    kept.write_text("no key")
    assert build(tiny)[0] == 1


def test_the_image_and_the_training_set_are_those_asked_for(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    swap(tiny / "competition.yaml", "execution_time_limit: 600", "public_data: public_data/")
    write_files(tiny, {"public_data/small.txt": "x", "public_data/croissant.json": "{}"})
    training = write_files(tiny.parent / "training", {"labels.csv": "clip_id\n", "clips/a.mp4": "x"})
    code, out = build(tiny, "--image", "you/name:1.0", "--training", str(training))
    assert code == 0
    assert document(out)["docker_image"] == "you/name:1.0"
    assert set(inside(out, "public_data.zip")) == {"labels.csv", "clips/a.mp4", "croissant.json"}
    assert inside(out, "public_data.zip")["croissant.json"] == b"{}"
    assert set(inside(build(tiny)[1], "public_data.zip")) == {"small.txt", "croissant.json"}
    capsys.readouterr()
    assert build(tiny, "--training", str(tiny))[0] == 1
    assert "bundle data synth --clips 240" in capsys.readouterr().err


def test_a_sample_of_drawn_clips_gives_way_to_a_set_that_is_drawn_once(
    tiny: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    swap(tiny / "competition.yaml", "execution_time_limit: 600", "public_data: public_data/")
    write_files(tiny, {"public_data/labels.csv": "clip_id\nsample\n"})
    settings = tiny / "input_data" / "practice" / "task.yaml"
    drawn: list[int] = []

    def draw(out: Path, *, clips: int, **_: object) -> None:
        drawn.append(clips)
        write_files(out, {"labels.csv": "clip_id\ndrawn\n", "clips/a.mp4": "x"})

    monkeypatch.setattr(building, "write_training", draw)
    for version, options, labels, times in (
        ("filmed-1", (), b"clip_id\nsample\n", 0),
        ("synthetic-1", ("--no-training",), b"clip_id\nsample\n", 0),
        ("synthetic-1", (), b"clip_id\ndrawn\n", 1),
        ("synthetic-1", (), b"clip_id\ndrawn\n", 1),
    ):
        settings.write_text(f"data_version: {version}\n")
        code, out = build(tiny, *options)
        assert (code, inside(out, "public_data.zip")["labels.csv"], len(drawn)) == (0, labels, times)
        told = capsys.readouterr().out
        assert ("nobody can train on it" in told) == ("--no-training" in options)
        assert "training-few" in told
    assert drawn == [240]


def test_figures_of_packed_pages_are_those_of_the_zip(tiny: Path) -> None:
    names = ("pages/overview.md", "pages/terms.md")
    write_files(tiny, {f"{name}.j2": "# Tiny\n\nIt begins on {{ start }} in {{ docker_image }}.\n" for name in names})
    for name in names:
        (tiny / name).unlink()
    write_pages(tiny)
    edited = (tiny / names[1]).read_text() + "\nOurs.\n"
    (tiny / names[1]).write_text(edited)
    before = (tiny / names[0]).read_text()
    code, out = build(tiny, "--start", "2031-05-06 12:00:00", "--image", "you/name:1.0")
    assert code == 0
    with zipfile.ZipFile(out) as opened:
        assert "It begins on 2031-05-06 12:00 in you/name:1.0.\n" in opened.read(names[0]).decode()
        assert opened.read(names[1]).decode() == edited
    # The folder is left as it is.
    assert (tiny / names[0]).read_text() == before


def pip_that(write: Callable[[Path], object], code: int) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        assert "--require-hashes" in command
        assert "--only-binary=:all:" in command
        write(Path(next(word for word in command if word.startswith("--dest=")).removeprefix("--dest=")))
        return subprocess.CompletedProcess(command, code, "", "no such package")

    return run


def test_wheels_are_fetched_once_and_packed(
    tiny: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "run", pip_that(lambda folder: None, 1))
    assert build(tiny, "--wheels")[0] == 1
    assert "requirements.lock, found none" in capsys.readouterr().err
    write_files(tiny, {f"{program}/requirements.lock": program for program in PROGRAMS})
    assert build(tiny, "--wheels")[0] == 1
    assert "no such package Check the network" in capsys.readouterr().err
    monkeypatch.setattr(subprocess, "run", pip_that(lambda folder: (folder / "a.whl").write_text("x"), 0))
    code, out = build(tiny, "--wheels")
    assert code == 0
    assert {f"{program}/wheels/a.whl" for program in PROGRAMS} <= set(names(out))
    first = out.read_bytes()
    monkeypatch.setattr(subprocess, "run", None)
    assert build(tiny, "--wheels")[1].read_bytes() == first
    assert not any(name.endswith(".whl") for name in names(build(tiny)[1]))


def test_the_wheels_are_for_the_python_of_the_image() -> None:
    image = load(ROOT).docker_image
    assert image.startswith(f"python:{PYTHON}.")
    assert f"ARG BASE={image}\n" in (ROOT / "docker" / "Dockerfile").read_text()


@pytest.mark.parametrize("out", ["", "dist", "competition.yaml", "pages/bundle.zip", "logo.png/bundle.zip"])
def test_the_zip_replaces_nothing_else(tiny: Path, out: str) -> None:
    (tiny / "dist").mkdir()
    before = (tiny / "competition.yaml").read_bytes()
    assert main(["build", "--bundle", str(tiny), "--out", str(tiny / out)]) == 1
    assert (tiny / "competition.yaml").read_bytes() == before
    assert not list(tiny.rglob("*.zip")) and not list(tiny.rglob("*.part"))


@pytest.mark.parametrize("image", ["", "my image", "name", "you/Name:1", "https://x:1", "name:"])
def test_an_image_without_an_exact_version_is_refused(tiny: Path, image: str) -> None:
    with pytest.raises(SystemExit):
        build(tiny, "--image", image)


def test_whatever_competition_yaml_names_is_packed(tiny: Path) -> None:
    swap(tiny / "competition.yaml", "image: logo.png", "image: pictures/mine.png")
    write_files(tiny, {"pictures/mine.png": (tiny / "logo.png").read_bytes(), "unnamed/x": "x"})
    code, out = build(tiny)
    assert code == 0
    assert "pictures/mine.png" in names(out)
    assert "unnamed/x" not in names(out)


def test_an_empty_text_in_competition_yaml_packs_nothing_else(tiny: Path) -> None:
    path = tiny / "competition.yaml"
    path.write_text(path.read_text() + 'fact_sheet: {team: {type: text, selection: "", title: Team}}\n')
    write_files(tiny, {"private.txt": "mine"})
    names = [name for name, _ in entries(tiny, path.read_text(), None)]
    assert not any(name.endswith("private.txt") for name in names)
    assert len(names) == len(set(names))


def test_an_unpacked_bundle_can_be_built_again(tiny: Path, tmp_path: Path) -> None:
    _, out = build(tiny)
    shutil.unpack_archive(out, tmp_path / "again")
    assert main(["build", "--bundle", str(tmp_path / "again"), "--out", str(tmp_path / "again.zip")]) == 0
    again = names(tmp_path / "again.zip")
    assert [name for name in again if not name.startswith("starting_kit/")] == [
        name for name in names(out) if not name.startswith("starting_kit/")
    ]
    assert sum(name.endswith("seal.key") for name in again) == 2


@pytest.fixture
def two_phases(tiny: Path) -> Path:
    """A second phase that hides its output, with data of its own."""
    path = tiny / "competition.yaml"
    text = path.read_text()
    task = text[text.index("  - index: 0\n    name: Practice\n    input_data") : text.index("solutions:")]
    final = task.replace("index: 0", "index: 1").replace("Practice", "Final").replace("practice", "final")
    closed = (
        '    end: "2030-02-01 12:00:00"\n  - index: 1\n    name: Final\n'
        '    start: "2030-02-02 12:00:00"\n    tasks: [1]\n'
        "    hide_output: true\nleaderboards:"
    )
    text = text.replace("solutions:", final + "solutions:").replace("leaderboards:", closed)
    path.write_text(text)
    write_files(tiny, {"input_data/final/question.txt": "?\n", "reference_data/final/answer.txt": "0.25\n"})
    return tiny


def test_a_stand_in_keeps_a_phases_data_at_home(two_phases: Path) -> None:
    code, out = build(two_phases, "--stand-in", "final")
    assert code == 0
    assert not [name for name in names(out) if "final" in name]
    practice, final = document(out)["tasks"]
    assert final["name"] == "Final"
    assert all(final[part] == practice[part] for part in ("input_data", "reference_data"))
    with zipfile.ZipFile(out) as opened:
        stand_in = opened.read("ingestion_program/seal.key")
        assert stand_in == opened.read("scoring_program/seal.key")
    assert build(two_phases)[0] == 0
    assert "reference_data/final/answer.txt" in names(out)
    with zipfile.ZipFile(out) as opened:
        real = opened.read("ingestion_program/seal.key")
    assert (stand_in[:16] == b"0" * 16) > (real[:16] == b"0" * 16)
    assert build(two_phases, "--stand-in", "final")[0] == 0
    with zipfile.ZipFile(out) as opened:
        assert opened.read("ingestion_program/seal.key") == stand_in


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("finale", ("", ""), "expected one of Practice, Final; found 'finale'"),
        (
            "final",
            ("    tasks: [0]\n    execution", "    tasks: [0]\n    hide_output: true\n    execution"),
            "another phase",
        ),
    ],
)
def test_a_stand_in_needs_an_open_phase(
    two_phases: Path, capsys: pytest.CaptureFixture[str], name: str, change: tuple[str, str], told: str
) -> None:
    path = two_phases / "competition.yaml"
    path.write_text(path.read_text().replace(*change))
    assert build(two_phases, "--stand-in", name)[0] == 1
    assert told in capsys.readouterr().err
