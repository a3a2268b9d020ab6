"""A look at submissions: every problem at once, with the fix; secrets never pass; what is packed is right."""

import io
import re
import stat
import zipfile
from collections.abc import Callable
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from bundle_tools.cli.main import main
from kit import main as kit
from sources import INSTALLED
from submission import check
from tests import ROOT

MODEL = """\
class Model:
    def __init__(self, assets): ...
    def predict(self, clip): ...
    def explain(self, clip, prediction): ...
"""
KEY = "-----BEGIN RSA PRIVATE " + "KEY-----"  # in two parts, so that nobody takes this file for a leak
Files = dict[str, str | bytes]

GOOD: dict[str, Files] = {
    "plain": {"model.py": MODEL},
    "keyword arguments": {"model.py": MODEL.replace("assets)", "assets, depth=3)")},
    "any arguments": {"model.py": MODEL.replace("(self, clip, prediction)", "(*args)")},
    "a base class": {"model.py": "class Base:\n    pass\nclass Model(Base):\n    pass\n"},
    "imported": {"model.py": "from inner import Model\n", "inner.py": MODEL},
    "assigned": {"model.py": "import inner\nModel = inner.Model\n", "inner.py": MODEL},
    "installed modules": {"model.py": f"import numpy, cv2, sklearn.linear_model\nimport json\n{MODEL}"},
    "own package": {"model.py": f"import parts.face\nfrom .x import y\n{MODEL}", "parts/__init__.py": "", "x.py": ""},
    "credits": {"model.py": MODEL, "credits.yaml": "format_version: 1\ncredits: []\n"},
    "opened below the folder": {
        "model.py": f"import numpy as np\ndef f(a):\n    np.load(a / 'w.npz'), open(a.joinpath('w.npz'))\n{MODEL}",
        "w.npz": b"1",
    },
    "types alone": {
        "model.py": f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch, contract\n{MODEL}"
    },
    "after something else": {"model.py": f"X = 1\ntry:\n    import json\nexcept ImportError:\n    pass\n{MODEL}"},
    "in a branch": {"model.py": "if True:\n" + "".join(f"    {line}\n" for line in MODEL.splitlines())},
    "a name that is no file": {"model.py": f"import json\nX = json.loads('3')\nY = open('w.txt')\n{MODEL}"},
}
BAD: dict[str, tuple[Files, str, str]] = {
    "no model": ({"readme.txt": "x"}, "error model_missing", "model.py at the top"),
    "newer Python": ({"model.py": f"type X = int\n{MODEL}"}, "error syntax_error", "line 1"),
    "UTF-16": ({"model.py": MODEL.encode("utf-16")}, "error syntax_error", "save the file as UTF-8: it is UTF-16"),
    "a name as macOS writes it": ({"model.py": MODEL, "he\u0301.npz": b"1"}, "warning name_form", "he\\u0301.npz"),
    "a Git LFS pointer": (
        {"model.py": MODEL, "w.npz": b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n"},
        "warning file_placeholder",
        "git lfs pull",
    ),
    "bytes": ({"model.py": b"\x00\x01"}, "error syntax_error", "model.py"),
    "a class that never runs": (
        {"model.py": "if __name__ == '__main__':\n    class Model: ...\n"},
        "error class_missing",
        "write `class Model`",
    ),
    "a class inside a function": ({"model.py": "def f():\n    class Model: ...\n"}, "error class_missing", "no class"),
    "a class that is made unseen": (
        {"model.py": "globals()['Model'] = type('Model', (), {})\n"},
        "warning class_missing",
        "--run 3",
    ),
    "names of another module": (
        {"model.py": "from a import *\n", "a.py": MODEL},
        "warning class_missing",
        "without running",
    ),
    "the kit's types": ({"model.py": f"from contract import Clip\n{MODEL}"}, "error module_missing", "TYPE_CHECKING"),
    "two classes": ({"model.py": MODEL + MODEL}, "warning class_double", "several"),
    "keyword only": ({"model.py": MODEL.replace("clip)", "clip, *, x)", 1)}, "error signature_wrong", "predict"),
    "async": ({"model.py": MODEL.replace("def predict", "async def predict")}, "error signature_wrong", "predict"),
    "from torch": (
        {"model.py": MODEL, "a.py": "def f():\n    from torch.nn import X\n"},
        "warning module_missing",
        "a.py, line 2",
    ),
    "network": ({"model.py": f"from urllib.request import urlopen\n{MODEL}"}, "warning network", "urllib"),
    "processes": ({"model.py": f"import subprocess\n{MODEL}"}, "warning processes", "threads"),
    "torch in a module": (
        {"model.py": f"import a\n{MODEL}", "a.py": "from b import X\n", "b/__init__.py": "import os, torch.nn\n"},
        "error module_missing",
        "b/__init__.py, line 1",
    ),
    "torch, perhaps": (
        {"model.py": f"try:\n    import torch\nexcept ImportError:\n    torch = None\n{MODEL}"},
        "warning module_missing",
        "line 2",
    ),
    "torch in training": ({"model.py": MODEL, "train.py": "import torch\n"}, "warning module_missing", "train.py"),
    "module elsewhere": (
        {"model.py": f"import sys\nsys.path.append('x')\nimport mine\n{MODEL}", "vendor/mine.py": ""},
        "warning module_missing",
        "line 3",
    ),
    "the same import again": ({"model.py": f"import torch\nimport torch.nn\n{MODEL}"}, "error module_missing", ""),
    "bare name": (
        {"model.py": f"import numpy as np\nX = np.load('w.npz')\n{MODEL}", "w.npz": b"1"},
        "warning bare_name",
        'assets / "w.npz"',
    ),
    "signs without end": ({"model.py": MODEL, "a.py": "x = " + "-" * 200_000 + "1"}, "error syntax_error", "a.py"),
    "own path": ({"model.py": f"{MODEL}X = open('/home/me/w.npz')\n"}, "warning own_path", "line 5"),
    "Windows path": ({"model.py": f"{MODEL}X = r'C:\\Users\\w'\n"}, "warning own_path", "line 5"),
    "results": ({"model.py": MODEL, "predictions.csv": "x"}, "warning results_ignored", "predictions.csv"),
    "log": ({"model.py": MODEL, "Log.txt": "x"}, "warning results_ignored", "rename or remove them"),
    "requirements": ({"model.py": MODEL, "requirements.txt": "torch"}, "warning install_ignored", "requirements"),
    "credits": ({"model.py": MODEL, "credits.yaml": "credits: x"}, "warning credits_broken", "format_version"),
    "junk": ({"model.py": MODEL, "__pycache__/model.pyc": b"x"}, "note left_out", "1 file not needed"),
    "hidden": ({"model.py": MODEL, ".git/config": "x"}, "note left_out", ".git/config"),
    "secret file": ({"model.py": MODEL, ".env": "X=1"}, "error secret_file", ".env"),
    "ssh key": ({"model.py": MODEL, "keys/id_ed25519": "x"}, "error secret_file", "keys/id_ed25519"),
    "certificate": ({"model.py": MODEL, "a.PEM": "x"}, "error secret_file", "a.PEM"),
    "private key": ({"model.py": MODEL, "notes.txt": f"a\n{KEY}\n"}, "error secret_text", "notes.txt, line 2"),
    "Amazon": ({"model.py": f"{MODEL}K = 'AKIA{'A' * 16}'\n"}, "error secret_text", "Amazon"),
    "GitHub": ({"model.py": f"{MODEL}K = 'ghp_{'a' * 36}'\n"}, "error secret_text", "GitHub"),
    "OpenAI": ({"model.py": f"{MODEL}K = 'sk-proj-{'a' * 40}'\n"}, "error secret_text", "OpenAI"),
    "Slack": ({"model.py": f"{MODEL}K = 'xoxb-{'1' * 24}'\n"}, "error secret_text", "Slack"),
    "Google": ({"model.py": f"{MODEL}K = 'AIza{'a' * 35}'\n"}, "error secret_text", "Google"),
}


def write(folder: Path, files: Files) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


@pytest.mark.parametrize("name", GOOD)
def test_nothing_is_said_of_good_submissions(name: str, tmp_path: Path) -> None:
    assert check(write(tmp_path, GOOD[name])).findings == ()


@pytest.mark.parametrize("name", ["constant", "cue_reader"])
def test_the_solutions_are_good(name: str) -> None:
    checked = check(ROOT / "solutions" / name)
    assert [finding for finding in checked.findings if finding.level != "note"] == []
    assert "model.py" in checked.packed


@pytest.mark.parametrize("name", BAD)
def test_each_problem_is_named_with_its_place(name: str, tmp_path: Path) -> None:
    files, told, words = BAD[name]
    checked = check(write(tmp_path, files))
    found = [finding for finding in checked.findings if finding.code == told.split()[1]]
    assert [f"{finding.level} {finding.code}" for finding in found] == [told]
    assert words in found[0].line()
    assert checked.good == all(finding.level != "error" for finding in checked.findings)


def test_everything_is_said_at_once(tmp_path: Path) -> None:
    folder = write(tmp_path, {"model.py": "import torch\nclass Model: ...\n", ".env": "x", "metadata": "x"})
    codes = [finding.code for finding in check(folder).findings]
    assert codes[:5] == ["metadata_present", "secret_file", "module_missing", "method_missing", "method_missing"]


def test_what_has_to_go_is_not_called_harmless(tmp_path: Path) -> None:
    checked = check(write(tmp_path, {"model.py": MODEL, ".env": "X=1", ".notes/a.txt": f"{KEY}\n"}))
    assert [finding.code for finding in checked.findings] == ["secret_file", "secret_text"]


def test_of_another_folder_only_the_right_one_is_named(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "metadata": "x",
            "mine/model.py": "import torch\n" + MODEL,
            "mine/.env": "x",
            "env/pyvenv.cfg": "x",
            "a.py": "x =",
        },
    )
    checked = check(tmp_path)
    assert [finding.code for finding in checked.findings] == ["model_missing"]
    assert str(tmp_path / "mine") in checked.findings[0].fix
    assert not checked.good


@pytest.mark.parametrize("around", ["mine", "all/mine"])
def test_folders_around_a_submission_are_named(around: str, tmp_path: Path) -> None:
    packed = archive(tmp_path / "a.zip", [(f"{around}/model.py", MODEL.encode()), ("metadata", b"x")])
    (finding,) = check(packed).findings
    assert finding.code == "model_missing"
    assert finding.fix == f"zip the files of {around}, not the folder itself"


def test_an_environment_is_neither_searched_nor_packed(tmp_path: Path) -> None:
    files: Files = {"model.py": MODEL, "env/pyvenv.cfg": "x", "env/lib/key.pem": "x", "env/lib/x.py": "import torch"}
    checked = check(write(tmp_path, files))
    assert [(finding.level, finding.code) for finding in checked.findings] == [("warning", "environment")]
    assert "env/" in checked.findings[0].line()
    assert checked.packed == ("model.py",)


def archive(path: Path, entries: list[tuple[str, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w") as opened:
        for name, content in entries:
            opened.writestr(name, content)
    return path


def overlapping(path: Path) -> Path:
    """Two names for the bytes of one file."""
    archive(path, [("model.py", b"x"), ("model.pz", b"x")])
    data = path.read_bytes()
    directory = data.index(b"PK\x01\x02")
    second = data.index(b"PK\x01\x02", directory + 1)
    path.write_bytes(data[: second + 42] + data[directory + 42 : directory + 46] + data[second + 46 :])
    return path


def bomb(path: Path) -> Path:
    """A file that says that it has two gigabytes."""
    archive(path, [("model.py", b"x")])
    data = path.read_bytes()
    size = data.index(b"PK\x01\x02") + 24
    path.write_bytes(data[:size] + (2**31).to_bytes(4, "little") + data[size + 4 :])
    return path


def damaged(path: Path) -> Path:
    """Content that is no valid deflate stream; it starts after its name, 38 bytes in."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("model.py", "x = 1\n" * 100)
    data = path.read_bytes()
    path.write_bytes(data[:38] + b"\xff" * 8 + data[46:])
    return path


ZIPS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "no zip": (lambda path: (path.write_bytes(b"hello"), path)[1], "zip_broken"),
    "out of the folder": (lambda path: archive(path, [("../model.py", b"x")]), "zip_path"),
    "absolute": (lambda path: archive(path, [("/model.py", b"x")]), "zip_path"),
    "backslashes": (lambda path: archive(path, [("..\\model.py", b"x")]), "zip_path"),
    "empty": (lambda path: archive(path, []), "model_missing"),
    "bomb": (bomb, "submission_too_large"),
    "crowded": (
        lambda path: archive(path, [(f"{number}", b"") for number in range(12_001)]),
        "submission_too_many_files",
    ),
    "overlapping": (overlapping, "zip_broken"),
    "damaged": (damaged, "zip_broken"),
}


@pytest.mark.parametrize("name", ZIPS)
def test_bad_zips_are_refused(name: str, tmp_path: Path) -> None:
    make, code = ZIPS[name]
    checked = check(make(tmp_path / "mine.zip"))
    assert [finding.code for finding in checked.findings] == [code]
    assert not checked.good


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_twice_in_a_zip_is_said(tmp_path: Path) -> None:
    checked = check(archive(tmp_path / "a.zip", [("model.py", MODEL.encode()), ("model.py", MODEL.encode())]))
    assert [finding.code for finding in checked.findings] == ["zip_double"]


def test_folders_of_windows_are_no_folders_on_the_platform(tmp_path: Path) -> None:
    files = [("model.py", MODEL.replace("\n", "\r\n").encode()), ("parts\\face.py", b"x = 1\r\n")]
    checked = check(archive(tmp_path / "a.zip", files))
    assert [finding.code for finding in checked.findings] == ["zip_backslash"]
    assert checked.good


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "nothing wrong in its files."),
        ({".git/config": "x"}, "no errors, 1 other remark."),
        ({"metadata": "x"}, "1 error to correct."),
        ({"metadata": "x", ".env": "x", ".git/config": "x"}, "2 errors to correct, 1 other remark."),
    ],
)
def test_a_line_says_what_there_is_to_do(
    files: Files, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kit(["check", str(write(tmp_path / "mine", {"model.py": MODEL, **files}))])
    assert f"mine: {said}\n" in capsys.readouterr().out


def test_what_is_packed_is_a_submission_and_always_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write(tmp_path / "mine", {"model.py": MODEL, "w/a.npz": b"1", ".DS_Store": "x", "__pycache__/m.pyc": b"x"})
    assert kit(["pack", str(folder)]) == 0
    assert re.search(r"Packed 2 files, 0\.[1-9] kB: ", capsys.readouterr().out)
    data = (tmp_path / "mine.zip").read_bytes()
    assert kit(["pack", str(folder), "--out", str(tmp_path / "deep/other.zip")]) == 0
    assert (tmp_path / "deep/other.zip").read_bytes() == data
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        assert opened.namelist() == ["model.py", "w/a.npz"]
        assert {stat.S_IMODE(info.external_attr >> 16) for info in opened.infolist()} == {0o644}
    assert kit(["check", str(tmp_path / "mine.zip")]) == 0
    write(folder, {"id_rsa": "x"})
    assert kit(["pack", str(folder), "--out", str(tmp_path / "secret.zip")]) == 1
    assert not (tmp_path / "secret.zip").exists()


def test_a_text_is_read_as_it_is_scored(capsys: pytest.CaptureFixture[str]) -> None:
    assert kit(["read", "The interview score is high. A smile raised it; dim light lowered openness."]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "claim: smile raised interview",
        "claim: lighting lowered openness",
        "level: interview is high",
    ]
    assert kit(["read", "Great vibes."]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["no claim", "no level"]


def test_versions_keep_their_names(tmp_path: Path) -> None:
    for name in ("sub_v1.1", "sub_v1.2"):
        assert kit(["pack", str(write(tmp_path / name, {"model.py": MODEL}))]) == 0
    assert {path.name for path in tmp_path.glob("*.zip")} == {"sub_v1.1.zip", "sub_v1.2.zip"}


def test_a_zip_in_its_own_folder_is_not_packed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write(tmp_path / "mine", {"model.py": MODEL}))
    for _ in range(2):
        assert kit(["pack", ".", "--out", "s.zip"]) == 0
    with zipfile.ZipFile("s.zip") as opened:
        assert opened.namelist() == ["model.py"]


def test_the_bundle_command_is_the_kits_own(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = write(tmp_path / "mine", {"model.py": MODEL})
    assert main(["submission", "check", str(folder), "--bundle", str(ROOT)]) == 0
    assert main(["submission", "pack", str(folder), "--out", str(tmp_path / "a.zip"), "--bundle", str(ROOT)]) == 0
    assert (tmp_path / "a.zip").is_file()
    assert main(["submission", "check", str(tmp_path / "nothing"), "--run", "3", "--bundle", str(ROOT)]) == 2
    assert "does not exist" in capfd.readouterr().err


def test_installed_modules_are_those_of_the_lock() -> None:
    lock = (ROOT / "ingestion_program" / "requirements.lock").read_text("utf-8")
    locked = {name.lower() for name in re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)}
    modules = {
        name
        for name, owners in packages_distributions().items()
        if locked & {one.lower().replace("_", "-") for one in owners}
    }
    assert {name for name in modules if name.isidentifier() and not name.startswith("_")} == INSTALLED
