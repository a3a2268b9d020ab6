"""The kit's types are those of the platform, and both readers of clips give the same."""

from __future__ import annotations

import inspect
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import numpy as np
import pytest

import contract
from file_clip import FileClip
from model_process.clip import Clip
from submission import check
from tests import ROOT, warm

if TYPE_CHECKING:
    import model as cue_reader

    from solutions.constant import model as constant
    from template import model as template

    # Type checkers look at these; nothing runs.
    MODELS: tuple[Callable[[Path], contract.Model], ...] = (constant.Model, cue_reader.Model, template.Model)

    def on_the_platform(clip: Clip) -> contract.Clip:
        return clip

    def at_home(clip: FileClip) -> contract.Clip:
        return clip


MEMBERS = [name for name in vars(contract.Clip) if not name.startswith("_")]
METHODS = [name for name in MEMBERS if not isinstance(vars(contract.Clip)[name], property)]
CLIP = min((ROOT / "input_data/practice/clips").glob("*.mp4"))


def signature(owner: type, method: str) -> tuple[list[tuple[str, object]], dict[str, object]]:
    function = getattr(owner, method)
    parameters = inspect.signature(function).parameters.values()
    return [(one.name, one.default) for one in parameters], get_type_hints(function)


def test_the_clip_of_the_platform_has_what_the_contract_names_and_nothing_else() -> None:
    assert set(MEMBERS) == {name for name in (*Clip.__dataclass_fields__, *vars(Clip)) if not name.startswith("_")}
    hints = get_type_hints(Clip)
    for name in set(MEMBERS) - set(METHODS):
        assert get_type_hints(vars(contract.Clip)[name].fget) == {"return": hints[name]}, name


@pytest.mark.parametrize("owner", [Clip, FileClip])
@pytest.mark.parametrize("method", METHODS)
def test_calls_of_a_clip_take_and_return_what_the_contract_says(owner: type, method: str) -> None:
    assert signature(owner, method) == signature(contract.Clip, method)


LOOKS = """
import numpy as np


class Model:
    def __init__(self, assets): pass

    def predict(self, clip):
        parts = [clip.frames(count=5), clip.frames(fps=1.5, size=(160, 90)), clip.frames(start_s=1, end_s=1.3)]
        frames = [np.stack(list(part)) for part in parts]
        facts = [getattr(clip, name) for name in ("duration_s", "fps", "width", "height", "frame_count", "transcript")]
        return {"frames": frames, "one": clip.frame_at(99.0, (64, 36)), "sound": clip.audio(8000), "facts": facts}

    def explain(self, clip, prediction): pass
"""


# In a process of its own: a confined process takes measures against the one that starts it.
PLATFORM = """
import pickle, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from ingest.media.alteration import ClipSource
from ingest.model import ModelProcess
from ingest.settings import Isolation, Limits

model = ModelProcess(Path(sys.argv[2]), None, Limits(60, 20, 20, 2), Isolation())
clip = ClipSource("c1", Path(sys.argv[3]), "So I said.")
model.start(20)
answer = model.predict(clip, model.frames.begin(clip), 20)
model.stop()
model.frames.close()
Path(sys.argv[4]).write_bytes(pickle.dumps(answer))
"""


def test_a_file_gives_at_home_what_the_clip_gives_on_the_platform(tmp_path: Path) -> None:
    submission = tmp_path / "submission"
    submission.mkdir()
    (submission / "model.py").write_text(LOOKS, "utf-8")
    (tmp_path / "platform.py").write_text(PLATFORM, "utf-8")
    names: dict[str, Any] = {}
    exec(LOOKS, names)  # noqa: S102 - from above
    at_home = names["Model"](tmp_path).predict(FileClip(CLIP, "So I said."))
    arguments = (ROOT / "ingestion_program", submission, CLIP, tmp_path / "answer")
    ended = warm.run(tmp_path / "platform.py", arguments)
    assert ended.code == 0, ended.printed
    there = pickle.loads((tmp_path / "answer").read_bytes())  # noqa: S301 - our own
    assert there["facts"] == at_home["facts"]
    for one, other in zip([*there["frames"], there["one"]], [*at_home["frames"], at_home["one"]], strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(there["sound"], at_home["sound"])


def test_the_file_reader_keeps_the_rule_for_frames() -> None:
    clip = FileClip(CLIP)
    assert (clip.frame_count, clip.fps, clip.duration_s, clip.width, clip.height) == (125, 25.0, 5.0, 640, 360)
    every = list(clip.frames())
    # Middles of five equal parts: 0.5, 1.5 ... seconds; the frames shown then are 12, 37, 62, 87, 112.
    for picked, index in zip(clip.frames(count=5), (12, 37, 62, 87, 112), strict=True):
        assert np.array_equal(picked, every[index])
    assert np.array_equal(clip.frame_at(99.0), every[-1])
    assert not every[0].flags.writeable


@pytest.mark.parametrize(
    ("asked", "said"),
    [({"count": 2, "fps": 1.0}, "not both"), ({"count": 0}, "count is 0"), ({"size": (0, 9)}, "1 to 4096 pixels")],
)
def test_what_the_platform_refuses_is_refused_at_home(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        next(FileClip(CLIP).frames(**asked))
    with pytest.raises(ValueError, match="rate is 1"):
        FileClip(CLIP).audio(1)


@pytest.mark.parametrize(("usual", "verb", "sign"), [(0.0, "raised", 1), (1.0, "lowered", -1)])
def test_the_text_of_the_template_says_what_its_evidence_says(
    usual: float, verb: str, sign: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, clip = import_module("template.model"), FileClip(CLIP)
    monkeypatch.setattr(module, "USUAL_BRIGHTNESS", usual)
    model = module.Model(CLIP.parent)
    told = model.explain(clip, model.predict(clip))
    assert f"The lighting {verb} the interview score" in told["text"]
    assert {np.sign(claim["contribution"]) for claim in told["evidence"]["cues"]} == {sign}


def test_a_copy_of_the_contract_in_a_submission_does_no_harm(tmp_path: Path) -> None:
    for name in ("contract.py", "template/model.py"):
        (tmp_path / Path(name).name).write_bytes((ROOT / "starting_kit" / name).read_bytes())
    assert check(tmp_path).findings == ()
    done = subprocess.run(
        [sys.executable, "-c", "import contract, model; print(model.Model)"], cwd=tmp_path, check=True
    )
    assert done.returncode == 0


def test_the_example_of_the_readme_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "starting_kit/README.md").read_text("utf-8"), re.DOTALL)
    exec(example, {})  # noqa: S102 - our own README
    assert capsys.readouterr().out.splitlines()[0] == "5.0 25.0 640 360"
