"""What a participant is told first of a submission that is at fault: the sentence that is needed, and once."""

import re
import zipfile
from pathlib import Path

import pytest

from kit import main
from tests import mostly_slow, warm
from tests.fewer import ask_once, keep_clips
from tests.kit.conftest import FORKING, unpack

METHODS = """
    def __init__(self, assets):
        {init}
    def predict(self, clip):
        {predict}
        return dict.fromkeys(TARGETS, 0.5 + len(clip.transcript) / 10_000)
    def explain(self, clip, prediction):
        {explain}
        return {{"text": "The interview score is medium, since nothing was looked at."}}
"""
TARGETS = 'TARGETS = "extraversion agreeableness conscientiousness emotional_stability openness interview".split()\n'


def model(init: str = "pass", predict: str = "pass", explain: str = "pass", top: str = "", name: str = "Model") -> str:
    return f"{top}\n{TARGETS}class {name}:{METHODS.format(init=init, predict=predict, explain=explain)}"


GOOD = model()
SAID = 'return {"text": "The interview score is medium.", '
Faults = dict[str, tuple[dict[str, str], str]]
SEEN: Faults = {
    "another name for the file": ({"Model.py": GOOD}, "Fix: rename Model.py to model.py"),
    "a folder too deep": ({"mine/model.py": GOOD}, "Fix: give the folder that contains it: "),
    "no Python": ({"model.py": "class Model\n"}, "error: model.py, line 1: not valid Python 3.11"),
    "another name for the class": (
        {"model.py": model(name="Net")},
        "no class Model, but Net. Fix: rename Net to Model",
    ),
    "no class, beside other things": ({"model.py": "X = 1\nif X:\n    import json\n"}, "Fix: write `class Model` with"),
    "a method that is missing": (
        {"model.py": GOOD.partition("    def explain")[0]},
        "Fix: add def explain(self, clip, prediction)",
    ),
    "too many arguments": (
        {"model.py": GOOD.replace("self, clip)", "self, clip, fps)")},
        "Fix: write def predict(self, clip)",
    ),
    "PyTorch": (
        {"model.py": model(top="import torch")},
        "Fix: export the network to ONNX and run it with onnxruntime.InferenceSession",
    ),
    "a file opened by its name": (
        {"model.py": model("open('weights.txt')"), "weights.txt": "1"},
        'Fix: open it below the folder passed to the constructor: assets / "weights.txt"',
    ),
    "a token": ({"model.py": GOOD, "a.txt": "hf_" + 34 * "a"}, "Fix: remove it, and replace the secret"),
    "metadata": ({"model.py": GOOD, "metadata": "x"}, "Fix: remove the file metadata"),
}
RUN: Faults = {
    "an error at import": ({"model.py": model(top="1 / 0")}, "model.py line 1, in <module> · found ZeroDivisionError"),
    "a call that takes too long": (
        {"model.py": model(explain="import time; time.sleep(60)")},
        "timeout · explain · found no answer after 1 s; expected an answer in time · do less per call",
    ),
    "an answer without return": (
        {"model.py": GOOD.replace("return dict", "dict")},
        "found None; expected a dict with every target, "
        'e.g. {"extraversion": 0.5, "agreeableness": 0.5, …} · return that dict from predict',
    ),
    "a target too few": (
        {"model.py": model(predict="TARGETS[4:] = ['interview']")},
        "target \"openness\" · found no such key; expected every target · add 'openness'",
    ),
    "a text for every target": (
        {"model.py": model(predict="return dict.fromkeys(TARGETS, '0.5')")},
        "target_type · every target · found the text '0.5' for extraversion, the text '0.5' for agreeableness, …",
    ),
    "a frame that is written to": (
        {"model.py": model(predict="next(clip.frames())[:] = 0")},
        "frames are read-only: call .copy() before you change one",
    ),
    "a process that ends": ({"model.py": model(predict="import os; os._exit(3)")}, "crashed · predict · found"),
    "a picture of another size": (
        {"model.py": model(explain=SAID + '"image": clip.frame_at(0, (64, 36))}')},
        "the picture is dropped; expected uint8 RGB of shape (200, 355, 3), or None · resize to width 355, height 200",
    ),
    "a cue that nobody knows": (
        {"model.py": model(explain=SAID + '"evidence": {"cues": [{"cue": "nose"}]}}')},
        "evidence_invalid · cues[0] · found",
    ),
}


@pytest.fixture(scope="module")
def kit(kit_zip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kit of one clip that is asked once, each call for a second at most."""
    folder = ask_once(keep_clips(unpack(kit_zip, tmp_path_factory.mktemp("faults") / "kit"), 1))
    settings = folder / "input_data/practice/task.yaml"
    settings.write_text(settings.read_text("utf-8").replace("call_s: 30", "call_s: 1"), "utf-8")
    return folder


def write(files: dict[str, str], folder: Path) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, "utf-8")
    return folder


def assert_told(printed: str, sentence: str) -> None:
    """See that a sentence stands in the first problem that is told, and nowhere else."""
    told = [line for line in printed.splitlines() if re.search(r"Fix: |· found ", line)]
    assert sentence in told[0], printed
    assert printed.count(sentence) == 1, printed
    assert len(set(told)) == len(told)


@pytest.mark.parametrize("fault", SEEN)
def test_a_look_tells_first_what_is_needed(fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files, sentence = SEEN[fault]
    code = main(["check", str(write(files, tmp_path))])
    printed = capsys.readouterr().out
    assert_told(printed, sentence)
    assert code == printed.count("error: ")


@pytest.mark.parametrize(
    "fault", mostly_slow(RUN, {"an error at import", "a call that takes too long", "a target too few"})
)
def test_a_run_tells_first_what_is_needed(fault: str, kit: Path, tmp_path: Path) -> None:
    files, sentence = RUN[fault]
    ended = warm.run(FORKING, ["kit.py", "check", write(files, tmp_path), "--run", "1"], cwd=kit)
    assert_told(ended.printed, sentence)
    assert ended.code == 1
    assert ended.printed.endswith("It does not work yet: see the problems above.\n")


def test_what_a_model_prints_is_shown(kit: Path, tmp_path: Path) -> None:
    write({"model.py": model(predict="print('seen', clip.duration_s, '\\033[2J')")}, tmp_path)
    ended = warm.run(FORKING, ["kit.py", "check", tmp_path, "--run", "1"], cwd=kit)
    assert "\n[model] seen 5.0 \\x1b[2J\n" in ended.printed
    assert re.search(r"the model printed text: its last \d+ bytes are in model_output\.txt", ended.printed)


def test_what_a_look_only_suspects_a_run_tells(kit: Path, tmp_path: Path) -> None:
    write({"model.py": "globals()['Net'] = int\n", "setup.py": ""}, tmp_path)
    ended = warm.run(FORKING, ["kit.py", "check", tmp_path, "--run", "1"], cwd=kit)
    assert ended.code == 1
    assert "warning: model.py: no class Model visible without running the code" in ended.printed
    assert "class_missing · model.py · found no class; expected a class called Model" in ended.printed
    assert ended.printed.count("install_ignored") == 1


def test_of_a_good_submission_it_says_what_was_looked_at_and_that_it_works(kit: Path, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(GOOD, "utf-8")
    looked = warm.run(FORKING, ["kit.py", "check", tmp_path], cwd=kit)
    assert looked.code == 0
    assert looked.printed.splitlines()[0].endswith(": nothing wrong in its files.")
    assert "Checked 1 file, 1 of them Python, without running them" in looked.printed
    assert looked.printed.splitlines()[-1].endswith(f"python3 kit.py check {tmp_path} --run 3")
    ran = warm.run(FORKING, ["kit.py", "check", tmp_path, "--run", "1"], cwd=kit)
    assert ran.code == 0, ran.printed
    assert "It works" in ran.printed
    assert "first pass: 1 of 1 clips" in ran.printed
    assert not (kit / "runs").exists()
    with zipfile.ZipFile(tmp_path / "mine.zip", "w") as archive:
        archive.write(tmp_path / "model.py", "mine/model.py")
    zipped = warm.run(FORKING, ["kit.py", "check", tmp_path / "mine.zip", "--run", "1"], cwd=kit)
    assert (zipped.code, "zip the files of mine, not the folder itself" in zipped.printed) == (1, True)
