"""The bundle of this repository itself: valid as folders, zipped by hand and built; and it runs."""

import ast
import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import av
import pytest
import yaml

from bundle_tools.build import TOP_LEVEL
from bundle_tools.check import check
from bundle_tools.check.document import read
from bundle_tools.check.settings import registry
from bundle_tools.check.settings.leaderboard import check_leaderboards
from bundle_tools.cli import main
from bundle_tools.competition import load
from bundle_tools.figures.pages import fill_pages

from .conftest import telling

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Zip the top-level entries as `zip -r bundle.zip competition.yaml logo.png pages/ ...` does in a fresh clone."""
    archive = tmp_path_factory.mktemp("zip") / "bundle.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        for name in TOP_LEVEL:
            for path in [ROOT / name, *sorted((ROOT / name).rglob("*"))]:
                if path.is_file() and "__pycache__" not in path.parts:
                    opened.write(path, path.relative_to(ROOT).as_posix())
    return archive


def test_the_folders_are_valid() -> None:
    findings = [finding for finding in check(ROOT) if finding.code != "junk"]
    assert findings == []


def test_the_zip_made_by_hand_is_valid_and_small(by_hand: Path) -> None:
    assert check(by_hand) == []
    # Clips and their copies may take 25 MB.
    assert by_hand.stat().st_size < 28e6


def test_the_zip_made_by_hand_runs(by_hand: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.unpack_archive(by_hand, bundle)
    for phase in load(bundle).phases:
        out = tmp_path / phase.slug
        arguments = ["run", str(bundle / "solutions" / "constant"), "--bundle", str(bundle)]
        assert main([*arguments, "--phase", phase.slug, "--out", str(out)]) == 0
        scores = json.loads((out / "scoring_output" / "scores.json").read_text())
        assert list(scores) == [column.key for column in load(bundle).columns]
        assert scores["skill"] == pytest.approx(0, abs=0.15)
        assert scores["explanation"] == 0
        assert scores["failed_clips"] == 0
        assert (out / "scoring_output" / "detailed_results.html").stat().st_size > 1000


@pytest.mark.slow
def test_the_built_zip_is_valid_and_its_kit_runs(tmp_path: Path) -> None:
    out = tmp_path / "bundle.zip"
    assert main(["build", "--bundle", str(ROOT), "--out", str(out)]) == 0
    assert check(out) == []
    built = tmp_path / "built"
    shutil.unpack_archive(out, built)
    for archive in (*built.glob("*.zip"), *built.glob("solutions/*.zip")):
        shutil.unpack_archive(archive, archive.with_suffix(""))
    kit = built / "starting_kit"
    assert (kit / "reference_data" / "practice" / "labels.csv").is_file()
    assert not (kit / "reference_data" / "final").exists()
    ran = subprocess.run([sys.executable, "run.py", "solutions/constant"], cwd=kit, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    shutil.rmtree(kit / "my_run")
    clips = (built / "reference_data" / "final" / "labels.csv").read_text().splitlines()[1:]
    hidden = {line.split(",")[0] for line in clips}
    assert len(hidden) >= 24
    for folder in (kit, built / "public_data", built / "solutions"):
        texts = [path for path in folder.rglob("*") if path.suffix in {".csv", ".json", ".yaml", ".md", ".py"}]
        assert texts
        for path in texts:
            assert not any(clip in path.read_text(encoding="utf-8") for clip in hidden), path


def edit(name: str, pattern: str, replacement: str) -> Callable[[Path], object]:
    def mutate(bundle: Path) -> None:
        path = bundle / name
        text, count = re.subn(pattern, replacement, path.read_text(), count=1, flags=re.MULTILINE)
        assert count == 1
        path.write_text(text)

    return mutate


def first_clip(bundle: Path) -> Path:
    return min((bundle / "input_data" / "practice" / "clips").iterdir())


def cut(clip: Path) -> None:
    """Move the clip's index to the front and lose its last frames, as an upload that broke off does."""
    whole = clip.with_name("whole.mp4")
    with av.open(clip, "r") as source, av.open(whole, "w", options={"movflags": "faststart"}) as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                target.mux(packet)
    content = whole.read_bytes()
    whole.unlink()
    clip.write_bytes(content[: len(content) * 3 // 4])


INPUT, REFERENCE = "input_data/practice/", "reference_data/practice/"
MUTATIONS: list[tuple[str, Callable[[Path], object]]] = [
    ("columns-sorting", edit("competition.yaml", r"(key: failed_clips.*sorting: )asc", r"\1desc")),
    ("columns-sorting", edit("competition.yaml", r"(key: explanation,.*sorting: )desc", r"\1asc")),
    ("columns-title", edit("competition.yaml", r"title: Explanation score", "title: Explanations")),
    ("columns-missing", edit("competition.yaml", r"^.*key: coverage.*$\n", "")),
    ("columns-extra", edit("competition.yaml", r"key: coverage", "key: completeness")),
    ("columns-order", edit("competition.yaml", r"^(.*key: skill.*\n)(.*key: faithfulness_space.*\n)", r"\2\1")),
    ("columns-precision", edit("competition.yaml", r"(key: coverage.*precision: )\d+", r"\g<1>1")),
    ("columns-unknown", edit(REFERENCE + "task.yaml", r"^main_target: .*$", "main_target: charisma")),
    ("data-version", edit(REFERENCE + "task.yaml", r"^data_version: .*$", "data_version: other-7")),
    ("data-challenge", edit("competition.yaml", r"^title: .*$", "title: Second Impressions")),
    ("data-targets", edit(INPUT + "task.yaml", r"name: interview", "name: invitation")),
    ("data-time-limit", edit(INPUT + "task.yaml", r"time_limit_s: \d+", "time_limit_s: 900")),
    ("data-time-limit", edit("competition.yaml", r"execution_time_limit: 600", "execution_time_limit: 300")),
    ("data-settings", edit(INPUT + "task.yaml", r"\A", "- x\n")),
    ("clips-missing", lambda bundle: (bundle / INPUT / "clips.csv").unlink()),
    ("clips-header", edit(INPUT + "clips.csv", r"^clip_id", "id")),
    ("clips-row", edit(INPUT + "clips.csv", r"^c[0-9a-f]{9},", "../clip,")),
    ("clips-twice", edit(INPUT + "clips.csv", r"^(c[0-9a-f]{9},.*)$", r"\1\n\1")),
    ("clip-missing", lambda bundle: first_clip(bundle).unlink()),
    ("clip-hash", lambda bundle: first_clip(bundle).write_bytes(first_clip(bundle).read_bytes() + b"x")),
    ("clip-frames", lambda bundle: cut(first_clip(bundle))),
    ("clip-unreadable", lambda bundle: first_clip(bundle).write_bytes(b"no video")),
    ("clips-extra", lambda bundle: shutil.copy(first_clip(bundle), first_clip(bundle).with_name("zz.mp4"))),
    ("clips-none", edit(INPUT + "clips.csv", r"(?s)^c[0-9a-f]{9},.*", "")),
    ("labels-missing", lambda bundle: (bundle / REFERENCE / "labels.csv").unlink()),
    ("labels-header", edit(REFERENCE + "labels.csv", "openness", "curiosity")),
    ("labels-clips", edit(REFERENCE + "labels.csv", r"^c[0-9a-f]{9},.*$\n", "")),
    ("labels-clips", edit(INPUT + "clips.csv", r"^c[0-9a-f]{9},.*$\n", "")),
    ("labels-value", edit(REFERENCE + "labels.csv", r",0\.\d+$", ",1.01")),
    ("labels-value", edit(REFERENCE + "labels.csv", r",0\.\d+$", ",nan")),
    ("labels-value", edit(REFERENCE + "labels.csv", r",0\.\d+$", ",")),
    ("labels-value", edit(REFERENCE + "labels.csv", r",0\.\d+$", "")),
    ("labels-value", edit(REFERENCE + "labels.csv", r"^(c[0-9a-f]{9},.*)$", r"\1\n\1")),
    ("labels-value", edit(REFERENCE + "labels.csv", r",s[0-9a-f]{9},", ",,")),
    ("labels-value", edit(REFERENCE + "labels.csv", r"^c([0-9a-f]{9}),", r"_\1,")),
    ("copies-missing", lambda bundle: (bundle / INPUT / "copies.csv").unlink()),
    ("copies-clip", edit(INPUT + "copies.csv", r"^(c[0-9a-f]{9}),c[0-9a-f]{9},", r"\1,c000000000,")),
    ("copies-cue", edit(INPUT + "copies.csv", r"^(c[0-9a-f]{9},c[0-9a-f]{9}),[a-z_]+,", r"\1,charisma,")),
    ("probes-key", edit(INPUT + "task.yaml", r"^  shares:", "  share:")),
    ("probes-value", edit(INPUT + "task.yaml", r"^  edits: 3", "  edits: 9")),
    ("causes-missing", lambda bundle: (bundle / REFERENCE / "causes.json").unlink()),
    ("causes-clips", edit(REFERENCE + "labels.csv", r"^c[0-9a-f]{9},.*$\n", "")),
    ("causes-misplaced", lambda bundle: shutil.copy(bundle / REFERENCE / "causes.json", bundle / INPUT)),
    ("leak", lambda bundle: shutil.copy(bundle / "reference_data/final/causes.json", bundle / "public_data/x.txt")),
    ("folder-link", lambda bundle: (bundle / "starting_kit/x").symlink_to(bundle / "pages")),
    ("solution-model", lambda bundle: (bundle / "solutions/constant/model.py").unlink()),
    ("solution-syntax", edit("solutions/constant/model.py", r"^class", "clas")),
    ("solution-contract", edit("solutions/constant/model.py", r"def explain", "def describe")),
    ("leak", lambda bundle: shutil.copy(bundle / "reference_data/final/labels.csv", bundle / "public_data/x.csv")),
]


@pytest.fixture(scope="module")
def short(by_hand: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keep two clips of each phase: decoding all of them again for every mutation would take minutes."""
    bundle = tmp_path_factory.mktemp("short") / "bundle"
    shutil.unpack_archive(by_hand, bundle)
    for phase in ("practice", "final"):
        given, wanted = bundle / "input_data" / phase, bundle / "reference_data" / phase
        for path in (given / "clips.csv", wanted / "labels.csv"):
            path.write_text("".join(path.read_text().splitlines(keepends=True)[:3]))
        kept = {line.split(",")[0] for line in (given / "clips.csv").read_text().splitlines()[1:]}
        header, *rows = (given / "copies.csv").read_text().splitlines(keepends=True)
        # One copy of each clip.
        copies = list({row.split(",")[1]: row for row in rows if row.split(",")[1] in kept}.values())
        (given / "copies.csv").write_text(header + "".join(copies))
        if (frames := wanted / "key_frames.csv").exists():
            rows = frames.read_text().splitlines(keepends=True)
            frames.write_text("".join(row for row in rows if row.split(",")[0] in {"clip_id", *kept}))
        causes = json.loads((wanted / "causes.json").read_text())
        causes["clips"] = {clip: known for clip, known in causes["clips"].items() if clip in kept}
        (wanted / "causes.json").write_text(json.dumps(causes))
        # Baselines of all clips, and groups of all people, are not those of two.
        text = (wanted / "task.yaml").read_text()
        (wanted / "task.yaml").write_text(re.sub(r"^(groups|landmarks): .*\n", "", text, flags=re.MULTILINE))
        kept |= {row.split(",")[0] for row in copies}
        for file in [*(given / "clips").iterdir(), *(given / "copies").iterdir()]:
            if file.stem not in kept:
                file.unlink()
    fill_pages(bundle)
    assert [finding for finding in check(bundle) if finding.severity != "note"] == []
    return bundle


@pytest.fixture
def copy(short: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(short, tmp_path / "copy"))


@pytest.mark.parametrize(("code", "mutate"), MUTATIONS)
def test_every_broken_agreement_is_found(copy: Path, code: str, mutate: Callable[[Path], object]) -> None:
    mutate(copy)
    assert code in {finding.code for finding in check(copy)}


@pytest.mark.parametrize("value", [None, 1, True, "text", [], {}, [[]], -0.5])
def test_rubbish_in_the_leaderboard_is_a_finding_never_a_traceback(
    monkeypatch: pytest.MonkeyPatch, value: object
) -> None:
    ask = telling(("explanation", "Explanation score", "desc", 2), ("failed_clips", "Failed clips", "asc", 0))
    monkeypatch.setattr(registry, "_ask", ask)
    draft, _ = read(ROOT, folder=True)
    assert draft is not None
    board = draft.content["leaderboards"][0]
    for entry in (board, board["columns"][0], board["columns"][-2]):
        for key in list(entry):
            kept, entry[key] = entry[key], value
            assert list(check_leaderboards(draft)) or isinstance(value, (str, float, int))
            list(registry.check_registry(draft))
            entry[key] = kept


def test_every_rule_of_the_checker_has_a_bundle_that_breaks_it() -> None:
    calls = [
        (node.func.id, node.args)
        for path in sorted((ROOT / "bundle_tools" / "check").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    # The code of a finding comes first; the form of a list names two codes after its title and header.
    said = [words[0] for name, words in calls if name in {"Finding", "_fatal", "Absence", "check_extra"}]
    said += [word for name, words in calls if name == "ListForm" for word in words[2:4]]
    rules = {word.value for word in said if isinstance(word, ast.Constant)}
    tested = {
        node.value
        for path in Path(__file__).parent.glob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant)
    }
    assert len(rules) > 100
    assert rules <= tested


def test_the_phases_time_limits_reach_the_programs() -> None:
    for phase in load(ROOT).phases:
        assert phase.task.input_data is not None
        settings = yaml.safe_load((phase.task.input_data / "task.yaml").read_text())
        assert settings["limits"]["time_limit_s"] == phase.time_limit_s
