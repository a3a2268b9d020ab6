"""A look at the zip before anything of it runs: what keeps it from being run, and what is only said."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from ingest.errors import Problem
from ingest.record import MANIFEST, OWN_FILES, empty_folder
from ingest.settings import Limits
from ingest.submission import check_submission, fingerprint
from tests.deep import nested_folders
from tests.ingestion.conftest import SETTINGS, Outcome, model_source, run_program, write_phase

Ingest = Callable[..., Outcome]
LIMITS = Limits(120, 20, 20, 2, submission_mb=2, submission_files=50)


def look(folder: Path, files: dict[str, bytes]) -> list[Problem]:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return check_submission(folder, LIMITS)


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22e\nsize 123456\n"

# files beside model.py, code, severity, what is said
FINDINGS = {
    "metadata": ({"metadata": b"command: ls"}, "metadata_present", "error", "remove the file metadata"),
    "metadata_yaml": ({"metadata.yaml": b"x: 1"}, "metadata_present", "error", "remove the file metadata.yaml"),
    "too_large": ({"w/big": b"x" * (3 << 20), "small": b"x"}, "submission_too_large", "error", "w/big (3.0 MB), small"),
    "too_many": ({f"f{number}": b"x" for number in range(50)}, "submission_too_many_files", "error", "51 files"),
    "predictions": ({"predictions.csv": b"x"}, "results_ignored", "warning", "predictions.csv"),
    "scores": ({"scores.json": b"{}", "Scores.txt": b"x"}, "results_ignored", "warning", "Scores.txt, scores.json"),
    "legacy": ({"prediction.pkl": b"x"}, "results_ignored", "warning", "prediction.pkl"),
    "page": ({"detailed_results.html": b"x"}, "results_ignored", "warning", "detailed_results.html"),
    "requirements": ({"requirements.txt": b"torch"}, "install_ignored", "warning", "nothing is installed"),
    "setup": ({"setup.py": b"", "Dockerfile": b"FROM x"}, "install_ignored", "warning", "Dockerfile, setup.py"),
    "random": ({"random.py": b""}, "name_taken", "warning", "random.py"),
    "numpy": ({"numpy/__init__.py": b""}, "name_taken", "warning", "numpy"),
    "yaml": ({"yaml.py": b"", "json.py": b""}, "name_taken", "warning", "json.py, yaml.py"),
    "link": ({"weights.pt": b"../elsewhere/weights.pt"}, "link_in_zip", "warning", "weights.pt"),
    "absolute_link": ({"w/weights.pt": b"/home/me/weights.pt"}, "link_in_zip", "warning", "w/weights.pt"),
    "link_inside": ({"real/w.bin": b"1", "w.bin": b"real/w.bin"}, "link_in_zip", "warning", "w.bin"),
    "pointer": ({"w/a.pt": POINTER, "w/b.pt": POINTER}, "file_placeholder", "warning", "pointer: w/a.pt, w/b.pt"),
    "text_pointer": ({"words.txt": POINTER}, "file_placeholder", "warning", "run `git lfs pull`, and zip again"),
    "web_page": ({"w.onnx": b"\n<!DOCTYPE html>\n<title>Sign in"}, "file_placeholder", "warning", "a web page: w.onnx"),
    "empty": ({"w.npz": b""}, "file_placeholder", "warning", "a file without content: w.npz"),
    "zeros": ({"w.npz": bytes(9999)}, "file_placeholder", "warning", "once a cloud folder has downloaded it"),
    "icloud": ({".w.npz.icloud": b"bplist00"}, "file_placeholder", "warning", "a placeholder of iCloud: .w.npz.icloud"),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_what_lies_beside_the_model(name: str, tmp_path: Path) -> None:
    files, code, severity, said = FINDINGS[name]
    problems = look(tmp_path / "submission", {"model.py": b"", **files})
    assert [(problem.code, problem.severity, problem.fault) for problem in problems] == [
        (code, severity, "participant")
    ]
    assert said in problems[0].line()


def test_every_name_of_the_record_is_warned_of(tmp_path: Path) -> None:
    """On servers that put submissions beside the results, such a file can replace one of the record."""
    own = sorted({*OWN_FILES, MANIFEST})
    (problem,) = look(tmp_path / "submission", {"model.py": b"", **dict.fromkeys(own, b"x")})
    assert problem.code == "results_ignored"
    assert ", ".join(own) in problem.found
    assert "results_damaged" in problem.fix


# What looks alike and is all right.
HARMLESS = {
    "data_folder": {"numpy/weights.npy": b"x", "random/readme": b"x"},
    "own_names": {"ingest.py": b"", "model_process/__init__.py": b"", "helper.py": b"", "layers/__init__.py": b""},
    "deeper": {"src/random.py": b"", "notes/requirements.txt": b"", "old/predictions.csv": b"x"},
    "short_notes": {"VERSION": b"1.0/2", "labels.txt": b"train/test", "one": b"word", "note": b"see data/x\n"},
    "unlikely_name": {"2nd.py": b"", "my-module.py": b""},
    "empty_on_purpose": {"w/.gitkeep": b"", "notes.md": b"", "parts/py.typed": b""},
    "pages": {"report.html": b"<!doctype html>", "w.bin": b"\0" * 99 + b"1", "note": b"about git-lfs"},
}


@pytest.mark.parametrize("name", sorted(HARMLESS))
def test_nothing_is_said_of_what_is_all_right(name: str, tmp_path: Path) -> None:
    assert look(tmp_path / "submission", {"model.py": b"", **HARMLESS[name]}) == []


MISSING = {
    "empty": ({}, "an empty archive"),
    "folder": ({"sub/model.py": b""}, "zip the files of sub, not the folder itself"),
    "case": ({"Model.PY": b""}, "rename Model.PY to model.py"),
    "many": ({f"f{number:02d}": b"x" for number in range(30)}, "and 10 more"),
}


@pytest.mark.parametrize("name", sorted(MISSING))
def test_without_a_model(name: str, tmp_path: Path) -> None:
    files, said = MISSING[name]
    (problem,) = look(tmp_path / "submission", files)
    assert problem.code == "model_missing"
    assert said in problem.line()


def test_explanations_without_predictions_name_the_file_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "description.pkl").write_bytes(b"x")
    (problem,) = check_submission(tmp_path, LIMITS, results=True)
    assert problem.code == "model_missing"
    assert "add prediction.pkl or predictions.pkl, or submit model.py" in problem.line()


def test_a_folder_called_model_py_is_no_model(tmp_path: Path) -> None:
    assert [problem.code for problem in look(tmp_path / "s", {"model.py/x": b"x"})] == ["model_missing"]


def test_everything_is_found_at_once(tmp_path: Path) -> None:
    files = {"metadata": b"x", "random.py": b"", "setup.py": b"", "scores.json": b"x", "big": b"x" * (3 << 20)}
    codes = {problem.code for problem in look(tmp_path / "submission", files)}
    assert codes == {
        "metadata_present",
        "model_missing",
        "submission_too_large",
        "results_ignored",
        "install_ignored",
        "name_taken",
    }


def test_a_real_link_is_named_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("1")
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission" / "link.bin").symlink_to(tmp_path / "secret")
    problems = look(tmp_path / "submission", {"model.py": b""})
    assert [problem.code for problem in problems] == ["link_in_zip"]
    first = fingerprint(tmp_path / "submission")
    (tmp_path / "secret").write_text("2")
    assert fingerprint(tmp_path / "submission") == first


def test_a_path_to_where_nobody_may_look_is_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exists(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "submission").mkdir()
    monkeypatch.setattr(Path, "exists", exists)
    problems = look(tmp_path / "submission", {"model.py": b"", "note": b"a/../../../closed/x"})
    assert [(problem.code, problem.found) for problem in problems] == [("link_in_zip", "note")]


def test_the_warnings_land_in_the_record_and_change_nothing(ingest: Ingest) -> None:
    outcome = ingest(model_source(), files={"requirements.txt": "torch", "predictions.csv": "clip_id\n"})
    run = outcome.json("run.json")
    assert (outcome.exit_code, run["status"]) == (0, "complete")
    warnings = {problem["code"]: problem for problem in run["problems"]}
    assert warnings["install_ignored"]["severity"] == warnings["results_ignored"]["severity"] == "warning"
    assert "predictions.csv" in outcome.printed
    assert len(outcome.predictions()) == 3


def test_the_limits_come_from_the_settings(numbered_clip: Path, tmp_path: Path, ingest: Ingest) -> None:
    settings = {**SETTINGS, "limits": {**SETTINGS["limits"], "submission_mb": 1, "submission_files": 2}}
    folder = write_phase(tmp_path / "input", [numbered_clip], settings)
    files = {"a.txt": "x" * (2 << 20), "b.txt": "y", "c.txt": "z"}
    outcome = ingest(model_source(), files=files, input_data=folder)
    assert outcome.exit_code == 1
    assert outcome.run_codes() == ["submission_too_large", "submission_too_many_files"]
    assert "at most 1 MB" in outcome.printed
    settings["limits"]["submission_files"] = 0
    (folder / "task.yaml").write_text(yaml.safe_dump(settings))
    outcome = ingest(model_source(), input_data=folder)
    assert (outcome.exit_code, outcome.run_codes()) == (2, ["settings_value"])


def test_any_file_name_can_be_recorded(tmp_path: Path, phase: Path) -> None:
    submission = tmp_path / "submission"
    submission.mkdir()
    (submission / b"caf\xe9.txt".decode(errors="surrogateescape")).write_text("x")
    (submission / "a\u202eb\x1b[2J").write_text("x")
    outcome = run_program(phase, submission, tmp_path / "output")
    assert outcome.exit_code == 1
    assert outcome.run_codes() == ["model_missing"]
    assert "caf\\udce9.txt" in outcome.printed
    assert "\x1b" not in outcome.printed + (outcome.folder / "log.txt").read_text()


@pytest.mark.slow
def test_folders_inside_folders_without_end_are_the_submissions_fault(tmp_path: Path) -> None:
    submission = tmp_path / "submission"
    submission.mkdir()
    (submission / "model.py").write_text(model_source())
    with nested_folders(submission, 3000):
        problems = check_submission(submission, Limits(**SETTINGS["limits"]))
        assert [problem.code for problem in problems] == ["submission_too_many_files"]
        assert "50 deep" in problems[0].found
        assert fingerprint(submission).files[0].endswith(" model.py")
        empty_folder(submission)
        assert not list(submission.iterdir())
