"""The bundle of this repository itself: valid as folders, zipped by hand and built; and it runs."""

import ast
import json
import os
import re
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

import av
import pytest

from bundle_tools.challenge.build import TOP_LEVEL, BuildOptions, build, entries
from bundle_tools.challenge.check import check
from bundle_tools.challenge.pages.write import write_pages
from bundle_tools.challenge.reading import program_settings
from bundle_tools.challenge.reading.video import describe
from bundle_tools.challenge.rules import CODES, clips
from bundle_tools.challenge.rules.clips import check_data
from bundle_tools.challenge.rules.programs import check_models, check_registry, check_settings
from bundle_tools.challenge.rules.reference import check_misplaced
from bundle_tools.cli.main import main
from bundle_tools.codabench.competition import load
from bundle_tools.codabench.rules import Rule
from bundle_tools.codabench.rules.archive import check_folder, check_zip
from bundle_tools.codabench.rules.board import check_keys, check_leaderboards
from bundle_tools.codabench.rules.document import ParsedBundle, read
from bundle_tools.codabench.rules.findings import Finding
from tests import ROOT
from tests.fewer import keep_clips
from tests.scoring.pages import assert_complete
from tests.tiny import draft_of, telling

CHANGED = ("input_data", "reference_data", "solutions")


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


@pytest.fixture(scope="module")
def short(by_hand: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the zip and keep two clips of each phase."""
    bundle = tmp_path_factory.mktemp("short") / "bundle"
    shutil.unpack_archive(by_hand, bundle)
    keep_clips(bundle, 2)
    write_pages(bundle)
    return bundle


@pytest.mark.slow
def test_the_folders_are_valid_and_zip_to_little(by_hand: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clips and exchanges are the listed ones by their SHA-256; nothing is decoded."""
    monkeypatch.setattr(clips, "count_frames", lambda content: (describe(content).packets, None))
    monkeypatch.setattr(clips, "_outside", lambda *_: 0.0)
    # The committed final set is a demonstration, which guide and checker say: it is too small to rank.
    assert {finding.code for finding in check(ROOT)} <= {"junk", "ranks-few", "labels-told"}
    assert check_zip(by_hand) == []
    # Clips, their copies and exchanges may take 32 MB.
    assert by_hand.stat().st_size < 34e6


@pytest.mark.slow
def test_every_clip_can_be_decoded_to_its_end_and_exchanges_fit() -> None:
    """The long way to see that they are whole, and that an exchange differs from its clip in the parts alone."""
    assert [finding.code for finding in check_data(draft_of(ROOT))] == ["ranks-few"]


@pytest.mark.slow
@pytest.mark.usefixtures("asked_in_a_fork")
def test_the_built_zip_is_valid_and_breaks_no_rule(
    short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is called check_... in the checker runs when a bundle is checked.

    That the checker finds nothing in a sound bundle is also seen in tests/own_clips, and each rule below.
    """
    asked: set[str] = set()

    def watch(frame: FrameType, _event: str, _: object) -> None:
        if frame.f_code.co_name.startswith("check_"):
            asked.add(frame.f_code.co_name)

    def check_watched(path: Path, **told: Any) -> list[Finding]:  # noqa: ANN401 - whatever the build tells
        # That nothing is wrong with the folder is seen above.
        if path == short:
            return []
        sys.settrace(watch)  # which hears of calls alone, as nothing is returned
        try:
            return check(path, **told)
        finally:
            sys.settrace(None)

    out = tmp_path / "bundle.zip"
    monkeypatch.setattr("bundle_tools.challenge.build.check", check_watched)
    # Of the zip, all that is no error comes back.
    told = {finding.code for finding in build(short, BuildOptions(out)) if finding.severity != "note"}
    # Four clips a phase, of too few people, and the sample as public data.
    assert told == {"ranks-few", "labels-told", "training-few", "yardstick-people"}
    assert rules() - asked == {"check_folder", "check_version1", "check_board_keys"}


def rules() -> set[str]:
    """Name all functions of the checker that are called check_..., at the top of their modules."""
    files = (ROOT / "bundle_tools").glob("c*/rules/**/*.py")
    nodes = [node for path in files for node in ast.parse(path.read_text()).body]
    found = {node.name for node in nodes if isinstance(node, ast.FunctionDef) and node.name.startswith("check_")}
    assert len(found) > 40
    return found


def test_nothing_that_participants_get_names_a_hidden_clip() -> None:
    clips = (ROOT / "reference_data" / "final" / "labels.csv").read_text().splitlines()[1:]
    hidden = {line.split(",")[0] for line in clips}
    assert len(hidden) >= 24
    given = ("starting_kit/", "public_data/", "solutions/")
    texts = {
        name: content.decode() if isinstance(content, bytes) else content.read_text("utf-8")
        for name, content in entries(ROOT, (ROOT / "competition.yaml").read_text(), None)
        if name.startswith(given) and Path(name).suffix in {".csv", ".json", ".yaml", ".md", ".py"}
    }
    assert {name.partition("/")[0] + "/" for name in texts} == {*given}
    for name, text in texts.items():
        assert not any(clip in text for clip in hidden), name


def edit(name: str, pattern: str, replacement: str) -> Callable[[Path], object]:
    def mutate(bundle: Path) -> None:
        path = bundle / name
        text, count = re.subn(pattern, replacement, path.read_text(), count=1, flags=re.MULTILINE)
        assert count == 1
        path.write_text(text)

    return mutate


def folder_rule(draft: ParsedBundle) -> Iterable[Finding]:
    """Look at the solutions as `check` looks at every folder that would be packed."""
    return check_folder(draft.root, [draft.root / "solutions"])


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


def shorten(clip: Path) -> None:
    """Leave out the last frames, as somebody does who encodes anew."""
    short = clip.with_name("short.mp4")
    with av.open(clip, "r") as source, av.open(short, "w") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        packets = [packet for packet in source.demux(video=0) if packet.dts is not None]
        for packet in packets[:-30]:
            packet.stream = stream
            target.mux(packet)
    short.replace(clip)


INPUT, REFERENCE = "input_data/practice/", "reference_data/practice/"
MUTATIONS: dict[Rule, list[tuple[str, Callable[[Path], object]]]] = {
    check_settings: [
        ("settings-refused", edit(REFERENCE + "task.yaml", r"^main_target: .*$", "main_target: charisma")),
        ("settings-refused", edit(INPUT + "task.yaml", r"^  load_s: .*$\n", "")),
        ("settings-unread", lambda bundle: (bundle / INPUT / "task.yaml").unlink()),
        ("settings-unread", lambda bundle: (bundle / REFERENCE / "task.yaml").unlink()),
        # One of each reader: what they refuse is tested with the programs.
        ("data-refused", edit(INPUT + "clips.csv", r"^clip_id", "id")),
        ("data-refused", lambda bundle: first_clip(bundle).write_bytes(first_clip(bundle).read_bytes() + b"x")),
        ("data-refused", edit(INPUT + "copies.csv", r"^(c[0-9a-f]{9},c[0-9a-f]{9}),[a-z_]+,", r"\1,charisma,")),
        ("data-refused", edit(INPUT + "exchanges.json", r'"outline"', '"shape"')),
        ("data-refused", edit(INPUT + "task.yaml", r"\A", "results: true\naliases: clips.csv\n")),
        ("data-refused", edit(REFERENCE + "labels.csv", r",0\.\d+$", ",1.01")),
        ("data-refused", edit(REFERENCE + "causes.json", '"contributions"', '"shares"')),
        ("data-refused", edit(REFERENCE + "landmarks.json", '"kind"', '"sort"')),
        ("data-refused", edit(REFERENCE + "task.yaml", r"\A", "jury: causes.json\n")),
        ("data-doubted", lambda bundle: (bundle / REFERENCE / "key_frames.csv").unlink()),
    ],
    check_registry: [
        ("columns-sorting", edit("competition.yaml", r"(key: failed_clips.*sorting: )asc", r"\1desc")),
        ("columns-sorting", edit("competition.yaml", r"(key: explanation,.*sorting: )desc", r"\1asc")),
        ("columns-title", edit("competition.yaml", r"title: Explanation score", "title: Explanations")),
        ("columns-missing", edit("competition.yaml", r"^.*key: coverage.*$\n", "")),
        ("columns-extra", edit("competition.yaml", r"key: coverage", "key: completeness")),
        ("columns-order", edit("competition.yaml", r"^(.*key: text.*\n)(.*key: skill.*\n)", r"\2\1")),
        ("columns-precision", edit("competition.yaml", r"(key: coverage.*precision: )\d+", r"\g<1>1")),
    ],
    check_data: [
        ("data-version", edit(REFERENCE + "task.yaml", r"^data_version: .*$", "data_version: other-7")),
        ("data-gpu", edit(INPUT + "task.yaml", r"\A", "environment: gpu\n")),
        ("data-challenge", edit("competition.yaml", r"^title: .*$", "title: Second Impressions")),
        ("data-targets", edit(INPUT + "task.yaml", r"name: interview", "name: invitation")),
        ("data-time-limit", edit(INPUT + "task.yaml", r"time_limit_s: \d+", "time_limit_s: 900")),
        ("data-time-limit", edit("competition.yaml", r"execution_time_limit: 600", "execution_time_limit: 300")),
        ("clip-frames", lambda bundle: cut(first_clip(bundle))),
        ("clip-unreadable", lambda bundle: first_clip(bundle).write_bytes(b"no video")),
        ("clips-extra", lambda bundle: shutil.copy(first_clip(bundle), first_clip(bundle).with_name("zz.mp4"))),
        ("labels-clips", edit(REFERENCE + "labels.csv", r"^c[0-9a-f]{9},.*$\n", "")),
        ("labels-clips", edit(INPUT + "clips.csv", r"^c[0-9a-f]{9},.*$\n", "")),
        ("exchanges-some", edit(INPUT + "exchanges.json", r'"c[0-9a-f]{9}": \{', '"c000000000": {')),
        ("exchanges-extra", lambda bundle: shutil.copy(first_clip(bundle), bundle / INPUT / "exchanges/zz.mp4")),
        (
            "exchange-meets",
            edit(
                INPUT + "exchanges.json", r'("name": "eyes", "outline": )', r'\1[[0, 0], [640, 0], [640, 360]], "x": '
            ),
        ),
        ("exchange-outside", edit(INPUT + "exchanges.json", r'(, \{"name": "thing-[^}]*\})+', "")),
        ("exchange-differs", lambda bundle: shorten(min((bundle / INPUT / "exchanges").iterdir()))),
    ],
    check_misplaced: [
        ("causes-misplaced", lambda bundle: shutil.copy(bundle / REFERENCE / "causes.json", bundle / INPUT))
    ],
    check_models: [
        ("solution-model", lambda bundle: (bundle / "solutions/constant/model.py").unlink()),
        ("solution-syntax", edit("solutions/constant/model.py", r"^class", "clas")),
        ("solution-contract", edit("solutions/constant/model.py", r"def explain", "def describe")),
    ],
    folder_rule: [("folder-link", lambda bundle: (bundle / "solutions/x").symlink_to(bundle / "pages"))],
}


@pytest.fixture
def copy(short: Path, tmp_path: Path) -> Path:
    """Copy what mutations change, without the other phase, and link to the rest."""
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in short.iterdir():
        if path.name in CHANGED:
            shutil.copytree(path, copy / path.name, ignore=shutil.ignore_patterns("final"))
        elif path.name == "competition.yaml":
            shutil.copy(path, copy)
        elif path.is_dir():
            shutil.copytree(path, copy / path.name, copy_function=os.link)
        else:
            os.link(path, copy / path.name)
    return copy


@pytest.mark.parametrize(
    ("rule", "code", "mutate"), [(rule, *mutation) for rule, mutations in MUTATIONS.items() for mutation in mutations]
)
def test_every_broken_agreement_is_found(
    copy: Path, rule: Rule, code: str, mutate: Callable[[Path], object], decoded_once: None, asked_in_a_fork: None
) -> None:
    """Each by the rule that is meant; that all rules are asked, and find nothing before, is a test of its own."""
    mutate(copy)
    assert code in {finding.code for finding in rule(draft_of(copy))}


@pytest.mark.usefixtures("asked_in_a_fork")
def test_the_built_zip_runs(short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its kit runs in tests/pages."""
    out = tmp_path / "bundle.zip"
    monkeypatch.setattr("bundle_tools.challenge.build.check", lambda *_, **__: [])
    assert build(short, BuildOptions(out)) == []
    solution = short / "solutions" / "constant"
    arguments = ["run", str(solution), "--bundle", str(out), "--phase", "practice", "--out", str(tmp_path / "out")]
    assert main(arguments) == 0
    scores = json.loads((tmp_path / "out/scoring_output/scores.json").read_text())
    assert list(scores) == [column.key for column in load(short).columns]
    assert (scores["explanation"], scores["failed_clips"], scores["coverage"]) == (0, 0, 1)
    assert_complete((tmp_path / "out/scoring_output/detailed_results.html").read_text())


@pytest.mark.parametrize("value", [None, 1, True, "text", [], {}, [[]], -0.5])
def test_rubbish_in_the_leaderboard_is_a_finding_never_a_traceback(
    monkeypatch: pytest.MonkeyPatch, value: object
) -> None:
    ask = telling(("explanation", "Explanation score", "desc", 2), ("failed_clips", "Failed clips", "asc", 0))
    monkeypatch.setattr(program_settings, "_ask", ask)
    draft, _ = read(ROOT, folder=True)
    assert draft is not None
    board = draft.content["leaderboards"][0]
    for entry in (board, board["columns"][0], board["columns"][-2]):
        for key in list(entry):
            kept, entry[key] = entry[key], value
            assert [*check_keys(draft), *check_leaderboards(draft)] or isinstance(value, (str, float, int))
            list(check_registry(draft))
            entry[key] = kept


def test_every_rule_of_the_checker_has_a_bundle_that_breaks_it() -> None:
    calls = [
        (node.func.id, node.args)
        for path in sorted((ROOT / "bundle_tools").glob("c*/rules/**/*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    # The code of a finding comes first.
    words = [arguments[0] for name, arguments in calls if name in {"Finding", "_fatal"}]
    rules = {word.value for word in words if isinstance(word, ast.Constant)}
    rules |= {code.partition(" ")[0] for code in CODES}
    tested = {
        node.value
        for path in (
            path for room in ("challenge", "cli", "codabench") for path in (ROOT / "tests" / room).rglob("test_*.py")
        )
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant)
    }
    assert len(rules) > 100
    assert rules <= tested


def test_every_row_of_the_table_is_used_and_every_code_has_one() -> None:
    folder = ROOT / "bundle_tools" / "challenge" / "rules"
    sources = {path.name: path.read_text() for path in folder.glob("*.py")}
    used = {
        node.value
        for name, source in sources.items()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    extra = {f"{files}-extra" for files in ("clips", "copies", "exchanges")}
    assert CODES.keys() <= used | extra
    called = re.findall(r'\bfinding\(\s*"([^"]+)"', "".join(sources.values()))
    assert set(called) <= CODES.keys()
    # No row is hidden by another one of the same name, and each can be filled.
    assert len(CODES) == len(re.findall(r"^[a-z].*?: \[", (folder / "codes.yaml").read_text(), re.MULTILINE))
    assert all(severity in ("error", "warning", "note") for severity, *_ in CODES.values())
