"""All submissions of a phase come here, whole, once, and the other commands take the folder."""

import csv
import json
from pathlib import Path

import pytest

from bundle_tools.challenge.compare.runs import find_runs
from bundle_tools.cli.main import main
from bundle_tools.errors import BundleError
from tests.codabench.server.codabench import Fault, Json, Server
from tests.codabench.server.conftest import Bundle, submit, write_zip


@pytest.fixture
def outputs(server: Server, tmp_path: Path) -> None:
    """What a run leaves on the server."""
    facts = json.dumps({"task": "practice"}).encode()
    prediction = write_zip(tmp_path / "p.zip", {"run.json": facts, "manifest.json": b"{}"}).read_bytes()

    def files(one: Json) -> dict[str, bytes]:
        logs = {"prediction_ingestion_stdout": b"[ingestion] complete\n"}
        if one["status"] == "Failed":
            return {"detailed_result": b"<html>why</html>", **logs}
        return {"prediction_result": prediction, "scoring_result": b"PK", "detailed_result": b"<html></html>", **logs}

    server.outputs = files


def table(folder: Path) -> list[dict[str, str]]:
    with (folder / "submissions.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.usefixtures("outputs")
def test_one_folder_a_submission_and_a_table(server: Server, competition: str, bundle: Bundle, tmp_path: Path) -> None:
    good, failed = submit(server, "ann", 0.5), submit(server, "bob/../x", None, status="Failed", on_leaderboard=False)
    out = tmp_path / "fetched"
    bundle("fetch", competition, "--phase", "practice", "--out", out)
    first, second = table(out)
    assert (first["submission"], first["participant"], first["status"], first["accuracy"]) == (
        str(good),
        "ann",
        "Finished",
        "0.5",
    )
    assert (second["folder"], second["accuracy"]) == (f"{failed}-bob-..-x", "")
    names = {path.relative_to(out / first["folder"]).as_posix() for path in (out / first["folder"]).rglob("*.*")}
    assert names == {"submission.json", "submission.zip", "prediction_output.zip", "scoring_output.zip", "report.html",
                     "logs/prediction_ingestion_stdout.txt"}  # fmt: skip
    assert (out / first["folder"] / "submission.zip").read_bytes() == b"ann 0.5"
    assert (out / second["folder"] / "report.html").read_text() == "<html>why</html>"
    assert not (out / second["folder"] / "prediction_output.zip").exists()
    assert not [token for _, path, token in server.requests if path.startswith("/storage/") and token]


@pytest.mark.usefixtures("outputs")
def test_a_second_call_brings_what_is_new(server: Server, competition: str, bundle: Bundle, tmp_path: Path) -> None:
    out = tmp_path / "fetched"
    submit(server, "ann", 0.5)
    running = submit(server, "bob", None, status="Running", on_leaderboard=False)
    server.busy = True
    printed = bundle("fetch", competition, "--phase", "practice", "--out", out, code=1)
    assert f"#{running} bob: Running. Repeat this command when it has ended" in printed
    assert not (out / f"{running}-bob").exists()
    server.submissions[running] |= {
        "status": "Finished",
        "scores": [{"column_key": "accuracy", "index": 0, "score": "0.7"}],
    }
    assert "1 submission fetched, 1 from before" in bundle("fetch", competition, "--phase", "practice", "--out", out)
    assert [line["accuracy"] for line in table(out)] == ["0.5", "0.7"]


@pytest.mark.usefixtures("outputs")
def test_scores_that_came_later_are_fetched_and_a_place_on_the_board_is_no_news(
    server: Server, competition: str, bundle: Bundle, tmp_path: Path
) -> None:
    words = ("fetch", competition, "--phase", "practice", "--out", tmp_path / "f")
    number = submit(server, "ann", 0.5)
    bundle(*words)
    server.submissions[number]["on_leaderboard"] = False
    server.late_scores = 99
    assert "0 submissions fetched, 1 from before" in bundle(*words)
    server.submissions[number]["scores"] = [{"column_key": "accuracy", "index": 0, "score": "0.6"}]
    assert "1 submission fetched, 0 from before" in bundle(*words)


@pytest.mark.usefixtures("outputs")
@pytest.mark.parametrize(("key", "value"), [("parent", 1), ("is_specific_task_re_run", True)])
def test_parts_of_submissions_are_none(
    server: Server, competition: str, bundle: Bundle, tmp_path: Path, key: str, value: object
) -> None:
    server.submissions[submit(server, "ann", 0.5)][key] = value
    printed = bundle("fetch", competition, "--phase", "practice", "--out", tmp_path / "f")
    assert "0 submissions fetched" in printed


@pytest.mark.usefixtures("outputs")
def test_what_breaks_off_is_fetched_by_the_next_call(
    server: Server, competition: str, bundle: Bundle, tmp_path: Path
) -> None:
    out = tmp_path / "fetched"
    numbers = [submit(server, f"p{number}", number / 10) for number in range(5)]
    server.faults = [Fault("GET", f"/storage/{numbers[2]}-prediction", 500, times=10)]
    printed = bundle("fetch", competition, "--phase", "practice", "--out", out, code=1)
    assert f"#{numbers[2]} p2: prediction_output.zip: status 500" in printed
    assert not (out / f"{numbers[2]}-p2").exists()
    server.faults = []
    assert "1 submission fetched, 4 from before" in bundle("fetch", competition, "--phase", "practice", "--out", out)


@pytest.mark.usefixtures("outputs")
def test_a_busy_server_and_broken_connections_are_borne(
    server: Server, competition: str, bundle: Bundle, tmp_path: Path
) -> None:
    submit(server, "ann", 0.5)
    server.faults = [Fault("GET", "/api/submissions/", 503, times=2), Fault("GET", "/storage/", None, times=2)]
    bundle("fetch", competition, "--phase", "practice", "--out", tmp_path / "fetched")


@pytest.mark.usefixtures("outputs")
def test_a_file_that_the_server_has_lost_is_told_and_the_rest_kept(
    server: Server, competition: str, bundle: Bundle, tmp_path: Path
) -> None:
    number = submit(server, "ann", 0.5)
    server.faults = [Fault("GET", "-detailed_result", 404)]
    printed = bundle("fetch", competition, "--phase", "practice", "--out", tmp_path / "f", code=1)
    assert "report.html: the server has lost it" in printed
    assert (tmp_path / "f" / f"{number}-ann" / "submission.zip").is_file()


@pytest.mark.usefixtures("outputs")
def test_another_phase_needs_another_folder(server: Server, competition: str, bundle: Bundle, tmp_path: Path) -> None:
    number = submit(server, "ann", 0.5)
    bundle("fetch", competition, "--phase", "practice", "--out", tmp_path / "f")
    printed = bundle("fetch", competition, "--phase", "final", "--out", tmp_path / "f", code=1)
    assert "submissions to another phase" in printed
    assert [line["submission"] for line in table(tmp_path / "f")] == [str(number)]


def test_empty_files_of_a_run_that_was_cut_off_are_left_out(
    server: Server, competition: str, bundle: Bundle, tmp_path: Path
) -> None:
    number = submit(server, "ann", None, status="Cancelled", on_leaderboard=False)
    server.outputs = lambda _: {"prediction_result": b""}
    bundle("fetch", competition, "--phase", "practice", "--out", tmp_path / "f")
    assert not (tmp_path / "f" / f"{number}-ann" / "prediction_output.zip").exists()


def test_a_place_that_cannot_be_written_is_told(
    server: Server, competition: str, bundle: Bundle, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    printed = bundle("fetch", competition, "--phase", "practice", "--out", tmp_path / "file" / "f", code=1)
    assert "Traceback" not in printed
    assert "Not a directory" in printed


def test_a_folder_of_something_else_stays_as_it_is(
    server: Server, competition: str, bundle: Bundle, tmp_path: Path
) -> None:
    (tmp_path / "note.txt").write_text("mine")
    assert "Choose another folder" in bundle("fetch", competition, "--phase", "practice", "--out", tmp_path, code=1)


def test_an_account_that_is_no_organiser_is_told(
    server: Server, competition: str, bundle: Bundle, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    next(iter(server.competitions.values()))["published"] = True
    monkeypatch.setenv("CODABENCH_TOKEN", "other-token")
    printed = bundle("fetch", competition, "--phase", "practice", "--out", tmp_path / "f", code=1)
    assert "is no organiser of it" in printed


@pytest.mark.usefixtures("outputs")
def test_commands_that_look_at_runs_take_the_folder(
    server: Server, competition: str, bundle: Bundle, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "fetched"
    best = submit(server, "ann", 0.5)
    submit(server, "ann", 0.4, on_leaderboard=False)
    other = submit(server, "bob", 0.3)
    bundle("fetch", competition, "--phase", "practice", "--out", out)
    runs = find_runs([out], tmp_path / "scratch")
    assert [(run.name, run.task) for run in runs] == [(f"{best}-ann", "practice"), (f"{other}-bob", "practice")]
    [alone] = find_runs([out / f"{other}-bob"], tmp_path / "alone")
    assert alone.name == f"{other}-bob"
    assert main(["report", str(out), "--out", str(tmp_path / "page.html")]) == 1
    assert "one page for several submissions" in capfd.readouterr().err


def test_a_fetched_folder_without_outputs_is_told(
    server: Server, competition: str, bundle: Bundle, tmp_path: Path
) -> None:
    bundle("fetch", competition, "--phase", "practice", "--out", tmp_path / "f")
    with pytest.raises(BundleError, match="expected submissions with an output"):
        find_runs([tmp_path / "f"], tmp_path / "scratch")


HEAD = b"submission,folder,on_board,phase\n"


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (HEAD + b"1,../elsewhere,1,3\n", "line 2.*'../elsewhere' in the column folder"),
        (HEAD + b"1,link,1,3\n", "line 2.*a link"),
        (HEAD + b"1,good,1,3\n2\n", "line 3.*None in the column phase"),
        (b"a,b\n1,2\n", "line 2.*None in the column phase"),
        (HEAD + b"1,\xff,1,3\n", r"line 2.*xff. in the column folder"),
        (HEAD + b"1," + b"x" * 200_000 + b",1,3\n", "line 2.*field larger than"),
        (HEAD + b'1,"go', "line 2.*unexpected end"),
    ],
)
def test_a_table_of_a_stranger_is_refused_with_its_line(table: bytes, words: str, tmp_path: Path) -> None:
    folder = tmp_path / "fetched"
    for path in (tmp_path / "elsewhere", folder / "good"):
        path.mkdir(parents=True)
        write_zip(path / "prediction_output.zip", {"run.json": b'{"task": "practice"}'})
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    (folder / "submissions.csv").write_bytes(table)
    with pytest.raises(BundleError, match=rf"submissions\.csv, {words}"):
        find_runs([folder], tmp_path / "scratch")
