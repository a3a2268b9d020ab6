"""Programs, image and openness: what can be told from their text alone, one mistake at a time, and no false alarm."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bundle_tools.challenge.check import check
from bundle_tools.challenge.reading import program_settings
from bundle_tools.codabench.archive import zip_folder
from bundle_tools.codabench.rules.commands import local_name, script_of, started
from bundle_tools.codabench.rules.dataset import DataFiles
from bundle_tools.codabench.rules.images import is_reference
from tests.tiny import COMPETITION, FILES, SCORING, swap, telling, write_files

INGEST, SCORE = "ingestion_program/ingest.py", "scoring_program/score.py"
META = "scoring_program/metadata.yaml"
TASK = "reference_data/practice/task.yaml"
DETAILED = '(output / "detailed_results.html")'
SILENT = SCORING.replace(DETAILED, "(output / 'notes.txt')").replace("<!doctype html>", "")
Files = dict[str, str | bytes]


def codes(path: Path) -> set[str]:
    return {finding.code for finding in check(path)}


def competition(old: str, new: str, text: str = COMPETITION) -> str:
    assert old in text
    return text.replace(old, new, 1)


def both(key: str) -> str:
    """Give the competition with a switch on and a phase that hides its outputs."""
    hidden = competition("    execution_time_limit: 600\n", "    hide_output: true\n")
    return competition("title: Tiny", f"title: Tiny\n{key}: 'true'", hidden)


HIDDEN = competition("    execution_time_limit: 600\n", "    hide_score_output: true\n")
LEGACY = competition("example/tiny:1", "codalab/codalab-legacy:py312")
SLIM = competition("example/tiny:1", "python:3.11-slim")

# The only code that the bundle with these files may have; None: no finding at all.
CASES: list[tuple[str | None, Files]] = [
    ("program-script", {META: "command: python3 main.py"}),
    ("program-script", {META: "command: python3 -u -W ignore sub/main.py"}),
    ("program-script", {META: "command: python3 $program/main.py"}),
    ("program-script", {META: "command: bash run.sh"}),
    (None, {META: "command: python3 score.py /app/input /app/output"}),
    (None, {META: "command: python3 -u -X utf8 ./score.py /app/input /app/output"}),
    (None, {META: "command: python3 -m score"}),
    (None, {META: "command: python3 -c 'import score'"}),
    (None, {META: "command: /usr/bin/python3 /app/program/score.py $input $output"}),
    (None, {META: "command: Rscript score.R $input $output"}),
    ("program-execute", {META: "command: ./run.sh", "scoring_program/run.sh": "python3 score.py"}),
    ("program-execute", {META: "command: /app/program/run.sh", "scoring_program/run.sh": "python3 score.py"}),
    (None, {META: "command: sh run.sh", "scoring_program/run.sh": "python3 score.py"}),
    ("program-metadata-two", {"scoring_program/metadata": "command: python3 /app/program/other.py"}),
    (None, {"scoring_program/metadata": "command: python3 $program/score.py $input $output"}),
    (None, {META: b"\xef\xbb\xbfcommand: python3 score.py"}),
    ("program-command", {META: b"\xff\xfec\0o\0m\0m\0a\0n\0d\0"}),
    ("program-command", {META: "command: größe".encode("latin-1")}),
    ("program-command", {META: "command: x\n" + "#" * 100_001}),
    ("program-command", {META: "command: !!int ''"}),
    ("program-lines", {META: 'command: "python3 score.py\\npython3 score.py"'}),
    ("program-lines", {META: "command: |\n  pip install x\n  python3 score.py\n"}),
    (None, {META: "command: |\n  python3 score.py\n  /app/input\n  /app/output\n"}),
    ("program-mount", {META: "command: python3 /app/scoring.py"}),
    (
        None,
        {
            "ingestion_program/metadata.yaml": "command: python $ingestion_program/ingest.py $input $output $hidden "
            "$shared $submission_program"
        },
    ),
    ("program-mount", {META: "command: python3 score.py --input=/app/inputs /app/output"}),
    ("program-mount", {META: "command: python3 score.py /app/ingested_program"}),
    (None, {META: "command: python3 score.py /app /app/ /app/input/ref /app/shared /app/data /my/app/other"}),
    (None, {META: "command: bash -c 'pip install -q x && python3 score.py /app/input > /app/output/log'"}),
    (None, {META: "command: bash -lc 'python3 score.py | tee $HOME/log'"}),
    (None, {META: "command: python3 -uc 'import score; score.main()'"}),
    ("program-shell", {META: "command: bash score.sh && python3 score.py", "scoring_program/score.sh": "x"}),
    ("program-private", {"scoring_program/.env": "TOKEN=x"}),
    ("program-private", {INGEST.replace("ingest.py", "key.pem"): "-----BEGIN RSA PRIVATE KEY-----\nx\n"}),
    (None, {"scoring_program/public.pem": "-----BEGIN PUBLIC KEY-----\n"}),
    ("columns-keys", {SCORE: SCORING.replace('"accuracy"', '"acc"').replace('"errors"', '"err"')}),
    (None, {SCORE: SCORING.replace('"accuracy"', '"acc"')}),
    (None, {SCORE: SCORING.replace('"accuracy"', 'f"accu{x}"').replace('"errors"', '"err"')}),
    (None, {SCORE: SCORING.replace('{"accuracy":', 'dict(accuracy=1) or {"a":').replace('"errors"', '"err"')}),
    (None, {SCORE: SCORING.replace('{"accuracy":', 'asdict(Row(accuracy=1)) or {"a":').replace('"errors"', '"err"')}),
    (
        None,
        {
            SCORE: SCORING.replace('"accuracy"', '"a"').replace('"errors"', '"b"'),
            "scoring_program/names.yaml": "a: accuracy",
        },
    ),
    ("source-input", {SCORE: SCORING + "data = Path('/app/input_data/')\n"}),
    ("source-input", {META: "command: python3 score.py /app/input /app/output /app/input_data"}),
    (None, {SCORE: SCORING + "'''Scoring has no /app/input_data.'''\n'/app/input_data'\n"}),
    (None, {INGEST: "data = '/app/input_data'\n"}),
    ("source-metadata", {SCORE: SCORING + "(output / 'metadata').write_text('x')\n"}),
    ("source-metadata", {SCORE: SCORING + "open('/app/output/metadata', 'w')\n"}),
    ("source-metadata", {SCORE: SCORING + "open(os.path.join(output_dir, 'metadata'), mode='w')\n"}),
    ("source-metadata", {INGEST: "Path('/app/output', 'metadata').open('w')\n"}),
    ("source-metadata", {INGEST: "(self.output / 'metadata').write_bytes(b'')\n"}),
    (None, {SCORE: SCORING + "open('/app/output/metadata')\n(source / 'res' / 'metadata').read_text()\n"}),
    (None, {SCORE: SCORING + "(folder / 'metadata').write_text('x')\nopen(name, 'w')\nopen()\n"}),
    ("source-workers", {INGEST: "DataLoader(data, num_workers=4)\n"}),
    (None, {INGEST: "DataLoader(data, num_workers=0)\nDataLoader(data, num_workers=count)\n"}),
    ("source-shm", {INGEST: "cache = '/dev/shm/frames'\n"}),
    ("source-syntax", {SCORE: "print 'detailed_results.html'\n"}),
    ("source-syntax", {INGEST: "print 'a program of another Python'\n"}),
    (None, {SCORE: SCORING + "x = '\\d'\n", "scoring_program/old.py": "print 'old'\n"}),
    ("report-none", {SCORE: SILENT}),
    (None, {SCORE: SILENT, "scoring_program/page.html": "x"}),
    ("image-packages", {"competition.yaml": LEGACY, INGEST: "import cv2\n"}),
    (
        None,
        {"competition.yaml": LEGACY, INGEST: "import numpy, pandas\ntry:\n    import cv2\nexcept ImportError: ...\n"},
    ),
    ("image-packages", {"competition.yaml": SLIM, INGEST: "from numpy import linalg\n"}),
    (None, {"competition.yaml": SLIM, INGEST: "import numpy\n", "ingestion_program/requirements.lock": "numpy==2.2.0"}),
    (None, {"competition.yaml": SLIM, INGEST: "import json, helper\n", "ingestion_program/helper/__init__.py": ""}),
    (None, {INGEST: "import cv2\n"}),
    (None, {"competition.yaml": competition("tiny:1", "tiny@sha256:" + "0" * 64)}),
    (None, {"competition.yaml": competition("example/tiny:1", "registry.example.org:5000/tiny:2")}),
    ("report-reveals", {"competition.yaml": HIDDEN, TASK: "report: {truth: true}"}),
    (
        "report-reveals",
        {"competition.yaml": HIDDEN.replace("score_output", "prediction_output"), TASK: "report: {truth: true}"},
    ),
    (None, {"competition.yaml": HIDDEN.replace("hide_score_output", "hide_output"), TASK: "report: {truth: false}"}),
    (None, {TASK: "report: {truth: true}"}),
    (None, {TASK: "report: &a [*a]"}),
    ("phase-open", {TASK: "report: {truth: false}"}),
    ("open-programs", {"competition.yaml": both("make_programs_available")}),
    ("open-input", {"competition.yaml": both("make_input_data_available")}),
    (None, {"competition.yaml": competition("title: Tiny", "title: Tiny\nmake_programs_available: true")}),
    (None, {"competition.yaml": competition("title: Tiny", "title: Tiny\nmake_input_data_available: true")}),
]


STARTS: list[tuple[str, str | None]] = [
    *((f"{start} python3 score.py", "program-start") for start in ("FOO=1", "source env.sh", "cd x")),
    *((f"{name} score.py", "program-start") for name in ("pyhton3", "pythn", "rscript")),
    *((line, "program-start") for line in ("python3", "python3 -u", "bash")),
    *((f"{name} score.py", None) for name in ("python3.11", "pypy3", "ipython", "julia", "node", "./pyhton3/x")),
    *((line, None) for line in ("python3 -V", "python3 -W x -c y")),
]


def test_what_a_command_starts(tiny: Path, subtests: pytest.Subtests) -> None:
    for command, code in STARTS:
        with subtests.test(command):
            write_files(tiny, {META: f"command: {command}"})
            assert codes(tiny) - {"program-execute", "program-script"} == ({code} if code else set())


def test_each_mistake_is_found_and_nothing_else(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for at, (code, files) in enumerate(CASES):
        with subtests.test(code, at=at):
            assert codes(write_files(tmp_path / str(at), FILES | files)) == ({code} if code else set())


@pytest.mark.parametrize(("code", "files"), [case for case in CASES if SCORE in case[1] or INGEST in case[1]][::4])
def test_programs_in_zips_are_read_alike(tiny: Path, code: str | None, files: Files) -> None:
    write_files(tiny, files)
    path = tiny / "competition.yaml"
    for name in ("ingestion", "scoring"):
        zip_folder(tiny / f"{name}_program", tiny / f"{name}.zip")
        swap(path, f" {name}_program/", f" {name}.zip")
    assert codes(tiny) == ({code} if code else set())


@pytest.mark.parametrize(
    ("words", "script"),
    [
        ("python3 /app/program/a.py /app/input", "a.py"),
        ("python -u a/b.py", "a/b.py"),
        ("python3.11 -Wignore -X dev a.py", "a.py"),
        ("python3 -m package", None),
        ("python3 -mpackage", None),
        ("python3", None),
        ("python3 /opt/a.py", None),
        ("python3 ../a.py", None),
        ("python3 /app/program", None),
        ("bash ./a.sh", "a.sh"),
        ("Rscript a.R", None),
        ("", None),
    ],
)
def test_the_script_of_a_command(words: str, script: str | None) -> None:
    assert script_of(words.split()) == script


def test_names_outside_the_program_are_nobodys_business() -> None:
    assert local_name("/usr/bin/python3") is None
    assert local_name("./run.sh") == "run.sh"


def test_giant_metadata_are_never_read(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tiny, {META: "command: x\n" + "#" * 100_001})
    monkeypatch.setattr("bundle_tools.codabench.rules.commands.load_bounded", None)
    program = DataFiles(tiny / "scoring_program")
    assert started(program, "scoring") == []


def test_a_program_of_two_tasks_is_reported_once(tiny: Path) -> None:
    path = tiny / "competition.yaml"
    programs = "    scoring_program: scoring_program/\n    ingestion_program: ingestion_program/\n"
    more = f"  - index: 1\n    name: More\n{programs}"
    swap(path, "solutions:\n", more + "solutions:\n")
    write_files(tiny, {INGEST: "cache = '/dev/shm/frames'\n"})
    assert [finding.code for finding in check(tiny)] == ["source-shm"]


REGISTRY = telling(("accuracy", "Accuracy", "desc", 4), ("errors", "Errors", "asc", 0))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("precision: 0", "precision: 0", set()),
        ("precision: 0", "precision: 0, computation: sum, computation_indexes: [0]", {"columns-computed"}),
        ("submission_rule: Add", "submission_rule: Add\n    primary_index: 1", {"columns-primary"}),
        ("submission_rule: Add", "submission_rule: Add\n    primary_index: 0", set()),
        ("key: errors", "hidden: true, key: [errors]", {"key-value", "columns-missing", "columns-revealed"}),
    ],
)
def test_the_board_is_held_against_the_programs_own_columns(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, expected: set[str]
) -> None:
    monkeypatch.setattr(program_settings, "_ask", REGISTRY)
    write_files(tiny, {"scoring_program/score/columns.py": "", TASK: "task: practice"})
    swap(tiny / "competition.yaml", old, new)
    assert codes(tiny) == expected


RESULTS = competition("    ingestion_program: ingestion_program/\n", "")


@pytest.mark.parametrize(
    ("files", "effect"),
    [
        ({"metadata": "command: python3 x.py"}, "bypass ingestion"),
        ({"metadata": "command: python3 x.py", "metadata.yaml": "name: x"}, None),
        ({"metadata": "name: x"}, None),
        ({"metadata": "command: python3 x.py", "../../competition.yaml": RESULTS}, None),
        ({"metadata": "name: x", "../../competition.yaml": RESULTS}, "the run fails"),
        ({"metadata": "name: x", "../../ingestion_program/ingest/__init__.py": ""}, "ingestion program refuses"),
    ],
)
def test_metadata_of_a_solution(tiny: Path, files: Files, effect: str | None) -> None:
    write_files(tiny / "solutions" / "half", files)
    effects = [finding.effect for finding in check(tiny) if finding.code == "solution-metadata"]
    assert len(effects) == (effect is not None)
    assert all(effect and effect in found for found in effects)


@pytest.mark.parametrize("nasty", ["(" * 10_000, "\0", "x = " + "-" * 100_000 + "1", "\xff" * 10, "1" * 5000])
def test_nasty_programs_are_never_a_traceback(tiny: Path, nasty: str) -> None:
    def touch(name: str) -> Callable[[], object]:
        return lambda: write_files(tiny, {name: nasty})

    for change in (touch(INGEST), touch(SCORE), touch(META), touch(TASK)):
        change()
        check(tiny)


IMAGES = [
    *((name, True) for name in ("python", "python:3.11.9-slim", "library/python:3", "example/a_b-c.d:V1.0_x")),
    *((name, True) for name in ("localhost/x", "localhost:5000/a/b:1", "Registry.example.org/x:1", "hub:5000/x")),
    *((name, True) for name in ("x@sha256:" + "0" * 64, "example/x:1@sha256:" + "a" * 64)),
    *((name, False) for name in ("my image:1", "https://example.org/x:1", "Example/x:1", "Python:3", "x:", "x/", "")),
    *((name, False) for name in ("-x:1", "x:a/b", "x@sha256:1", "a//b", "x:-1", "a___b", "x:1:2")),
]


def test_names_of_images() -> None:
    assert [(name, good) for name, good in IMAGES if is_reference(name) is not good] == []


WHEELS = "scoring_program/wheels/"
CP311 = WHEELS + "numpy-2.2.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"


IMAGES_AND_WHEELS: list[tuple[str, list[str], str | None]] = [
    ("python:3.12.1-slim", [CP311], "image-wheels"),
    ("python:3.11-alpine", [CP311], "image-wheels"),
    ("python:3.11-slim", [CP311], None),
    ("python:3.11-slim", [CP311.replace("x86_64", "aarch64")], "image-wheels"),
    ("python:3.12-slim", [CP311, CP311.replace("311", "312")], None),
    ("python:3.12-slim", [WHEELS + "opencv-4.10-cp37-abi3-manylinux_2_17_x86_64.whl"], None),
    ("python:3.6-slim", [WHEELS + "opencv-4.10-cp37-abi3-manylinux_2_17_x86_64.whl"], "image-wheels"),
    ("python:3.13-alpine", [WHEELS + "six-1.16-py2.py3-none-any.whl", WHEELS + "odd.whl"], None),
    ("codalab/codalab-legacy:py37", [CP311], "image-wheels"),
    ("example/own:3.12", [CP311], None),
    ("python:slim", [CP311], None),
    ("python:3.13-slim", ["scoring_program/score/packages.py"], "image-lock"),
    ("python:3.11-alpine", ["scoring_program/score/packages.py"], "image-lock"),
    ("python:3.11.9-slim-bookworm", ["scoring_program/score/packages.py"], None),
    ("my image:1", [], "image-name"),
]


def test_the_image_is_held_against_the_packages(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for at, (image, wheels, code) in enumerate(IMAGES_AND_WHEELS):
        with subtests.test(image, code=code):
            files: Files = {**dict.fromkeys(wheels, b""), "scoring_program/requirements.lock": "numpy==2.2.0"}
            files["competition.yaml"] = competition("example/tiny:1", image)
            assert codes(write_files(tmp_path / str(at), FILES | files)) == ({code} if code else set())
