"""Programs that are not this installation's run only if the user trusts them."""

import marshal
import shutil
from collections.abc import Callable
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path

import pytest

from bundle_tools.cli.main import main
from bundle_tools.codabench import trust
from bundle_tools.codabench.archive import zip_folder
from bundle_tools.codabench.competition import load
from bundle_tools.programs import use_scoring_program
from tests import ROOT
from tests.tiny import write_files

UNKNOWN = trust._unknown
"""As it is, before other tests trust all bundles."""
ASKABLE = {
    "scoring_program/score/columns.py": "open('ran', 'w')",
    "scoring_program/score/settings.py": "",
    "reference_data/practice/task.yaml": "task: practice",
}
"""Files with which `bundle check` would ask the program of the tiny bundle."""


@pytest.fixture(autouse=True)
def stranger(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Trust nobody."""
    monkeypatch.setattr(trust, "_unknown", UNKNOWN)
    monkeypatch.setattr(trust, "REMEMBERED", tmp_path / "private" / "trusted")
    monkeypatch.chdir(tmp_path)
    trust._agreed.cache_clear()


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Sit at a terminal and give one answer to all questions, which are counted."""

    def answer(word: str) -> list[str]:
        given: list[str] = []

        def give() -> str:
            given.append(word)
            return word

        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("builtins.input", give)
        return given

    return answer


@pytest.fixture
def commands(tiny: Path) -> dict[str, list[str]]:
    """One of each way to run code of the tiny bundle, or of its zip."""
    write_files(tiny, {**ASKABLE, "starting_kit/kit.py": "open('ran', 'w')"})
    write_files(tiny.parent, {"finished/run.json": '{"task": "practice"}'})
    archive, half = tiny.parent / "tiny.zip", str(tiny / "solutions" / "half")
    zip_folder(tiny, archive)
    bundle, out = ["--bundle", str(tiny)], ["--out", str(tiny.parent / "out")]
    return {
        "run": ["run", half, *bundle, *out],
        "run of a zip": ["run", half, "--bundle", str(archive), *out],
        "evaluate": ["evaluate", half, *bundle, *out],
        "build": ["build", *bundle, "--out", str(tiny.parent / "built.zip"), "--no-key"],
        "pages": ["pages", *bundle],
        "submission": ["submission", "check", half, *bundle],
        "report": ["report", str(tiny.parent / "finished"), *bundle],
    }


@pytest.mark.parametrize("command", ["run", "run of a zip", "evaluate", "build", "pages", "submission", "report"])
def test_without_a_terminal_nothing_is_run_and_the_way_out_is_told(
    command: str, commands: dict[str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(commands[command]) == 1
    error = capsys.readouterr().err
    assert "nothing was run. The " in error
    assert "is not the one of this installation (" in error
    assert "Add --trust" in error
    assert not [path for name in ("out/half", "out/.bundle-run", "ran", "private") if (path := Path(name)).exists()]


@pytest.mark.parametrize("command", ["run", "run of a zip", "evaluate"])
def test_with_the_option_it_is(command: str, commands: dict[str, list[str]]) -> None:
    assert main([*commands[command], "--trust"]) == 0
    assert not Path("private").exists()  # it was for this call


@pytest.mark.parametrize("packed", [False, True])
def test_checking_runs_nothing_either_and_says_so(
    packed: bool, commands: dict[str, list[str]], tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["check", str(tiny.parent / "tiny.zip" if packed else tiny)]
    main(words)
    printed = capsys.readouterr().out
    assert "The scoring program is not the one of this installation" in printed
    assert "Add --trust" in printed
    assert not Path("ran").exists()
    main([*words, "--trust"])
    assert "not the one of this installation" not in capsys.readouterr().out


def test_on_a_terminal_one_is_asked_once_and_a_yes_is_remembered_until_the_code_changes(
    commands: dict[str, list[str]],
    tiny: Path,
    answering: Callable[[str], list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = answering("n")
    main(["check", str(tiny), "--json"])
    assert len(asked) == 1
    told = capsys.readouterr()
    assert "Trust it? [y/N]" in told.err
    assert "Trust it?" not in told.out
    assert not Path("ran").exists()
    trust._agreed.cache_clear()
    asked = answering("y")
    assert main(commands["run"]) == 0
    assert len(asked) == 1
    trust._agreed.cache_clear()
    assert main(commands["run of a zip"]) == 0  # the same programs
    assert len(asked) == 1
    write_files(tiny, {"ingestion_program/more.py": ""})
    trust._agreed.cache_clear()
    assert main(commands["run"]) == 0
    assert len(asked) == 2


@pytest.mark.parametrize("kind", ["ingestion_program", "scoring_program", "starting_kit"])
def test_a_copy_of_our_own_is_known_by_every_file(kind: str, tmp_path: Path) -> None:
    copy, archive = tmp_path / kind, tmp_path / "copy.zip"
    shutil.copytree(ROOT / kind, copy, ignore=shutil.ignore_patterns("__pycache__"))
    write_files(copy, {"seal.key": "0", "wheels/some.whl": "0"})
    zip_folder(copy, archive)
    assert trust.is_own(kind, copy)
    assert trust.is_own(kind, archive)
    first = min(path for path in copy.rglob("*.py") if path.name != "model.py")
    text = first.read_text()
    first.write_text(f"{text}\n")
    assert not trust.is_own(kind, copy)
    trust.remember([(kind, archive)])
    with pytest.raises(Exception, match=first.name):
        trust.ensure_trusted([(kind, copy)])
    first.write_text(text)
    write_files(copy, {"yaml.py": ""})
    assert not trust.is_own(kind, copy)
    assert trust.is_own(kind, ROOT / kind)


@pytest.mark.parametrize("kind", ["ingestion_program", "scoring_program", "starting_kit"])
def test_no_link_and_no_crowd_hides_code(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that is a link can be imported, too."""
    copy = tmp_path / kind
    shutil.copytree(ROOT / kind, copy, ignore=shutil.ignore_patterns("__pycache__"))
    assert trust.is_own(kind, copy)
    write_files(tmp_path, {"elsewhere/__init__.py": ""})
    (copy / "yaml").symlink_to(tmp_path / "elsewhere")
    assert not trust.is_own(kind, copy)
    (copy / "yaml").unlink()
    monkeypatch.setattr(trust, "MOST", len([*copy.rglob("*")]) + 100)
    assert trust.is_own(kind, copy)
    for number in range(200):
        (copy / f"empty{number}").mkdir()
    assert not trust.is_own(kind, copy)


@pytest.mark.usefixtures("imports_undone")
def test_compiled_files_are_not_believed(commands: dict[str, list[str]], tiny: Path, tmp_path: Path) -> None:
    """They do not count as a difference, since nothing reads them, even of programs that the user trusts."""
    text = (tiny / "ingestion_program/ingest.py").read_text()
    write_files(tiny, {"ingestion_program/ingest.py": f"import helper\n{text}", "ingestion_program/helper.py": ""})
    write_files(tiny / "scoring_program/score", {"__init__.py": "", "settings.py": "open('ran', 'w')"})
    code = marshal.dumps(compile(f"open({str(Path.cwd() / 'believed')!r}, 'w')", "helper.py", "exec"))
    forged = []
    for name in ("ingestion_program/helper.py", "scoring_program/score/settings.py"):
        forged.append(Path(cache_from_source(str(tiny / name))))
        forged[-1].parent.mkdir()
        forged[-1].write_bytes(MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + code)
    assert main([*commands["run"], "--trust"]) == 0
    main(["check", str(tiny), "--trust"])
    assert Path("ran").exists()
    assert not Path("believed").exists()
    assert all(path.exists() for path in forged)  # both commands have used copies
    use_scoring_program(load(tiny, trust=True).phases[0], tmp_path)
    assert not forged[1].exists()
