"""All submissions of a phase come here, whole, once; rows that need an organiser are named."""

import csv
import json
import tracemalloc
from datetime import timedelta
from pathlib import Path

import pytest

from bundle_tools.challenge.compare import runs
from bundle_tools.challenge.compare.runs import find_runs
from bundle_tools.cli.main import main
from bundle_tools.codabench.server.rows import MARKS
from bundle_tools.errors import BundleError
from tests.codabench.server.conftest import Bundle, Site, write_zip
from tests.codabench.server.fake import Fault, Json, Server


class Fetching(Site):
    """A competition whose submissions have outputs."""

    out: Path

    def fetch(self, *, code: int = 0) -> str:
        return self("fetch", "--out", self.out, code=code)

    def table(self) -> list[dict[str, str]]:
        with (self.out / "submissions.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


@pytest.fixture
def site(server: Server, archive: Path, bundle: Bundle, tmp_path: Path) -> Fetching:
    site = Fetching(server, archive, bundle)
    site.out = tmp_path / "fetched"
    facts = json.dumps({"task": "practice"}).encode()
    prediction = write_zip(tmp_path / "p.zip", {"run.json": facts, "manifest.json": b"{}"}).read_bytes()

    def files(one: Json) -> dict[str, bytes]:
        logs = {"prediction_ingestion_stdout": b"[ingestion] complete\n"}
        if one["status"] == "Failed":
            return {"detailed_result": b"<html>why</html>", **logs}
        return {"prediction_result": prediction, "scoring_result": b"PK", "detailed_result": b"<html></html>", **logs}

    server.outputs = files
    return site


def test_one_folder_per_submission_and_a_table(site: Fetching) -> None:
    good = site.submit("ann", 0.5)
    failed = site.submit("bob/../x", None, status="Failed", on_leaderboard=False)
    site.fetch()
    first, second = site.table()
    shown = {key: first[key] for key in ("submission", "participant", "status", "on_board", "accuracy", *MARKS)}
    assert list(shown.values()) == [str(good), "ann", "Finished", "1", "0.5", *[""] * len(MARKS)]
    assert (second["folder"], second["accuracy"]) == (f"{failed}-bob-..-x", "")
    folder = site.out / first["folder"]
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")}
    assert names == {"submission.json", "submission.zip", "prediction_output.zip", "scoring_output.zip", "report.html",
                     "logs/prediction_ingestion_stdout.txt"}  # fmt: skip
    assert (folder / "submission.zip").read_bytes() == b"ann 0.5"
    assert (site.out / second["folder"] / "report.html").read_text() == "<html>why</html>"
    assert not (site.out / second["folder"] / "prediction_output.zip").exists()
    assert not [token for _, path, token in site.server.requests if path.startswith("/storage/") and token]


def test_no_name_becomes_a_formula_of_the_table(site: Fetching) -> None:
    number = site.submit("+ada", 0.5, filename='=HYPERLINK("http://example.org")')
    site.submit("-bob", -0.5)
    site.fetch()
    first, second = site.table()
    assert (first["participant"], first["file"]) == ("'+ada", '\'=HYPERLINK("http://example.org")')
    assert (second["participant"], second["accuracy"]) == ("'-bob", "-0.5")
    assert first["folder"] == f"{number}-ada"
    assert "from before" in site.fetch()  # the table can be read back


PROBLEMS = [{"code": "machine_busy", "fault": "organiser"}, {"code": "timeout", "fault": "participant"}]
GPU = {"code": "gpu_missing", "fault": "organiser"}


@pytest.mark.parametrize(
    ("record", "marks"),
    [
        ({"problems": PROBLEMS, "processor": {"busy": True}}, {"machine_busy": "1"}),
        ({"problems": [*PROBLEMS, GPU, GPU], "processor": None}, {"machine_busy": "1", "faults": "gpu_missing"}),
        ({"problems": PROBLEMS[1:], "processor": {"memory_kills": 3}}, {"memory_kills": "3"}),
        ({"problems": PROBLEMS[1:], "processor": {"memory_kills": 0}}, {}),
        ({"problems": [{"code": "=HYPERLINK()", "fault": "organiser"}], "processor": {}}, {}),
        ({"problems": 5, "processor": 7}, {}),
        ([], {}),
        ("x" * 200, {}),
    ],
)
def test_runs_that_the_machine_disturbed_are_marked_alike_by_both(
    site: Fetching, tmp_path: Path, record: object, marks: dict[str, str]
) -> None:
    number = site.submit("ann", 0.5)
    zipped = write_zip(tmp_path / "o.zip", {"run.json": json.dumps(record).encode()}).read_bytes()
    site.server.outputs = lambda _: {"prediction_result": zipped}
    command = f'bundle server rerun "{site.address}" --phase practice {number}\n'
    for printed in (site.fetch(), site("watch")):
        assert (command in printed) == bool(marks.keys() & {"machine_busy", "faults"})
        assert ("machine busy, not comparable" in printed) == ("machine_busy" in marks)
    assert ("memory kills: 3" in printed) == ("memory_kills" in marks)
    [line] = site.table()
    assert {key: line[key] for key in MARKS if line[key]} == marks


def test_the_column_of_the_scores_marks_a_run_as_well(site: Fetching) -> None:
    site.submit("ann", 0.5, scores=[{"column_key": key, "score": "1"} for key in ("accuracy", "not_comparable")])
    site.submit(
        "bob", 0.5, scores=[{"column_key": "accuracy", "score": "1"}, {"column_key": "not_comparable", "score": "0"}]
    )
    site.server.outputs = lambda _: {}
    assert site("watch").count("#") == 3  # two rows, and one of them again with what to do
    site.fetch()
    assert [line["machine_busy"] for line in site.table()] == ["1", ""]


def test_a_second_call_brings_what_is_new(site: Fetching) -> None:
    first = site.submit("ann", 0.5)
    running = site.submit("bob", None, status="Running", on_leaderboard=False)
    site.server.busy = True
    assert f"#{running} bob: Running. Repeat this command when it has ended" in site.fetch(code=1)
    assert not (site.out / f"{running}-bob").exists()
    scores = [{"column_key": "accuracy", "score": "0.7"}]
    site.server.submissions[running] |= {"status": "Finished", "scores": scores}
    assert "1 submission fetched, 1 from before" in site.fetch()
    assert [line["accuracy"] for line in site.table()] == ["0.5", "0.7"]
    site.server.submissions[first]["on_leaderboard"] = False  # no news
    assert "0 submissions fetched, 2 from before" in site.fetch()
    site.server.submissions[first]["scores"] = [{"column_key": "accuracy", "score": "0.6"}]
    assert "1 submission fetched, 1 from before" in site.fetch()


@pytest.mark.parametrize(("key", "value"), [("parent", 1), ("is_specific_task_re_run", True)])
def test_parts_of_submissions_are_none(site: Fetching, key: str, value: object) -> None:
    site.server.submissions[site.submit("ann")][key] = value
    assert "0 submissions fetched" in site.fetch()
    with pytest.raises(BundleError, match="expected submissions with an output"):
        find_runs([site.out], site.out)


def test_what_breaks_off_is_fetched_by_the_next_call(site: Fetching) -> None:
    numbers = [site.submit(f"p{number}", number / 10) for number in range(5)]
    site.server.faults = [
        Fault("GET", "/api/submissions/", 503, times=2),  # a busy server and broken connections are borne
        Fault("GET", f"/storage/{numbers[0]}-", None, times=2),
        Fault("GET", f"/storage/{numbers[2]}-prediction", 500, times=10),
    ]
    assert f"#{numbers[2]} p2: prediction_output.zip: status 500" in site.fetch(code=1)
    assert not (site.out / f"{numbers[2]}-p2").exists()
    site.server.faults = []
    assert "1 submission fetched, 4 from before" in site.fetch()


@pytest.mark.parametrize("count", [40, pytest.param(500, marks=pytest.mark.slow)])
def test_many_submissions_are_fetched_in_little_memory_and_once(site: Fetching, tmp_path: Path, count: int) -> None:
    """An interruption in the middle loses nothing."""
    record = json.dumps({"problems": PROBLEMS, "padding": "x" * 50_000}).encode()
    output = write_zip(tmp_path / "o.zip", {"run.json": record}).read_bytes()
    site.server.outputs = lambda _: {"prediction_result": output}
    numbers = [site.submit(f"p{number:03}", number / 1000) for number in range(count)]
    site.server.faults = [Fault("GET", f"/storage/{numbers[count // 2]}-", 500, times=99)]
    tracemalloc.start()
    try:
        site.fetch(code=1)
        site.server.faults = []
        site.server.requests.clear()
        site.fetch()
        assert tracemalloc.get_traced_memory()[1] < 50 * 10**6
    finally:
        tracemalloc.stop()
    assert len(list(site.out.glob("*/submission.json"))) == count
    assert len([path for _, path, _ in site.server.requests if path.startswith("/storage/")]) == 2


def test_files_that_are_lost_or_empty_are_left_out(site: Fetching) -> None:
    number = site.submit("ann")
    site.server.faults = [Fault("GET", "-detailed_result", 404)]
    site.server.outputs = lambda _: {"prediction_result": b"", "detailed_result": b"x"}
    assert "report.html: the server has lost it" in site.fetch(code=1)
    assert {path.name for path in (site.out / f"{number}-ann").glob("*.*")} == {"submission.zip", "submission.json"}


def test_a_folder_of_something_else_stays_as_it_is(site: Fetching, tmp_path: Path) -> None:
    number = site.submit("ann")
    site.fetch()
    assert "submissions to another phase" in site("fetch", "--out", site.out, phase="final", code=1)
    assert [line["submission"] for line in site.table()] == [str(number)]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "note.txt").write_text("mine")
    assert "Choose another folder" in site("fetch", "--out", tmp_path / "mine", code=1)
    assert "Not a directory" in site("fetch", "--out", tmp_path / "mine" / "note.txt" / "f", code=1)


@pytest.mark.parametrize("name", ["metadata", "metadata.yaml"])
def test_a_submission_with_a_command_of_its_own_is_named(site: Fetching, tmp_path: Path, name: str) -> None:
    number = site.submit("ann")
    packed = write_zip(tmp_path / "s.zip", {"model.py": b"", name: b"command: x\n"}).read_bytes()
    site.server.files[site.server.submissions[number]["data"]] = packed
    for _ in range(2):  # what is here already is named, too
        printed = site.fetch(code=1)
        assert f"#{number} ann: its zip contains metadata, which can start a command of its own" in printed


def test_the_table_stands_in_the_servers_order_and_a_row_without_score_is_named(site: Fetching) -> None:
    title, empty = site("watch").splitlines()
    assert title.startswith("Tiny, Practice, 20")
    assert empty == "0 submissions."
    site.submit("ann", 0.25)
    site.submit("bob", 0.75)
    site.submit("cyd", None, status="Failed", on_leaderboard=False)
    first = site.submit("dan", None)
    # Its other scores arrived.
    hidden = site.submit("eve", on_leaderboard=False, scores=[{"column_key": "duration_s", "score": "1"}])
    site.server.late_scores = 99
    printed = site("watch")
    rows = [line.split() for line in printed.splitlines()]
    assert [(row[0], row[2], row[6]) for row in rows[2:5]] == [
        ("1", "dan", "n/a"), ("2", "bob", "0.7500"), ("3", "ann", "0.2500")
    ]  # fmt: skip
    assert "5 submissions: 1 Failed, 4 Finished." in printed
    where = f'"{site.address}" --phase practice'
    for text in (printed, site.fetch()):
        assert "and takes the participant's other row off. Scores come a moment after Finished" in text
        assert f"  #{first} dan: no score\n  #{hidden} eve: no score\n" in text
        assert (
            f"  bundle server rerun {where} {first} {hidden}\n  bundle server delete {where} {first} {hidden}\n" in text
        )
    assert [line["no_score"] for line in site.table()] == ["", "", "", "1", "1"]


def test_late_and_early_and_old_rows_are_named(site: Fetching) -> None:
    end = site.server.now() + timedelta(hours=1)
    site.phase()["end"] = end.isoformat()
    site.server.ahead = timedelta(hours=2)
    number = site.submit("ann")
    printed = site("watch")
    assert f"made after the end, {end:%Y-%m-%d %H:%M} UTC" in printed
    where = f'"{site.address}" --phase practice'
    assert f"  bundle server delete {where} {number}\n  bundle server watch {where} --excuse {number}\n" in printed
    assert "made after the end" in site("watch", "--excuse", 99)
    assert f"--excuse 99 {number}" in site("watch", "--excuse", 99)
    assert "bundle server" not in site("watch", "--excuse", number)
    site.phase()["end"] = "2026-01-02T00:00:00Z"  # the data came later, so this is a run of old submissions on them
    assert "made after" not in site("watch")
    site.phase().update(start="2098-01-01T00:00:00Z", end=None)
    printed = site("watch")
    assert "made before the start, 2098-01-01 00:00 UTC" in printed
    assert "of replaced parts" not in printed
    site.task["reference_data"] = site.server.add_data("reference_data", "ann")
    for printed in (site("watch"), site.fetch()):
        assert "of replaced parts" in printed
        assert f"  bundle server replace {where}\n" in printed


def test_a_row_that_a_deletion_took_along_is_asked_for(site: Fetching) -> None:
    """Of release 1.25: the server chooses an owner's row only when a run ends."""
    worse, best = site.submit("ann", 0.2, on_leaderboard=False), site.submit("ann", 0.6, on_leaderboard=False)
    site.submit("bob", 0.9)
    printed = site("watch")
    assert "their owners have no row" in printed
    assert f'bundle server rerun "{site.address}" --phase practice {best}\n' in printed
    site("rerun", best, "--yes")
    for _ in range(11):
        printed = site("watch")
    assert best not in site.server.submissions
    assert worse in site.server.submissions
    assert "their owners have no row" not in printed


def test_it_is_looked_again_until_somebody_interrupts(site: Fetching, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is busy in between is waited for; each run's record is fetched once, and no look is early."""
    site.submit("ann")
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        site.server.faults = [Fault("GET", "/api/submissions/", 500)] if len(pauses) == 1 else []
        if len(pauses) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr("bundle_tools.cli.submissions.time.sleep", sleep)
    printed = site.bundle("watch", site.address, "--phase", "practice", "--every", 2)
    assert printed.count("Tiny, Practice, ") == 4
    assert printed.count("status 500 (Internal Server Error) The next look is in 2 s.") == 1
    assert pauses == [5] * 4
    assert len([path for _, path, _ in site.server.requests if path.startswith("/storage/")]) == 1


def test_chosen_submissions_run_again_or_are_deleted_once(site: Fetching) -> None:
    """Whoever comes second, such as another organiser, changes nothing more."""
    first, second, other = site.submit("ann", 0.5), site.submit("bob", 0.4), site.submit("cyd", 0.3)
    assert f"#{other + 9}: no such submission to Practice" in site("rerun", first, other + 9, "--yes", code=1)
    assert "nothing was changed" in site("rerun", first, code=1)
    assert len(site.server.submissions) == 3
    assert "2 submissions run again" in site("rerun", first, second, first, "--yes")
    assert len(site.server.submissions) == 3
    assert not {first, second} & site.server.submissions.keys()
    assert f"#{first}: no such submission" in site("rerun", first, "--yes", code=1)
    site.server.faults = [Fault("DELETE", f"/api/submissions/{other}/", 404)]
    assert f"#{other} cyd was gone already" in site("delete", other, "--yes")
    assert "rerun their best" in site("delete", other, "--yes")
    assert other not in site.server.submissions
    running = max(site.server.submissions)
    site.server.busy = True
    assert f"#{running} is Scoring" in site("rerun", running, "--yes", code=1)


def test_a_run_that_another_organiser_has_repeated_is_only_deleted(site: Fetching) -> None:
    number = site.submit("ann", 0.5)
    again = site.server.add_submission("ann", site.phase()["id"], site.server.submissions[number]["data"])
    site.server.busy = True
    site("rerun", number, "--yes")
    assert list(site.server.submissions) == [again]


def test_commands_that_look_at_runs_take_the_folder(
    site: Fetching, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    best = site.submit("ann", 0.5)
    site.submit("ann", 0.4, on_leaderboard=False)
    other = site.submit("bob", 0.3)
    site.fetch()
    found = find_runs([site.out], tmp_path / "scratch")
    assert [(run.name, run.task) for run in found] == [(f"{best}-ann", "practice"), (f"{other}-bob", "practice")]
    [alone] = find_runs([site.out / f"{other}-bob"], tmp_path / "alone")
    assert alone.name == f"{other}-bob"
    assert main(["report", str(site.out), "--out", str(tmp_path / "page.html")]) == 1
    assert "one page for several submissions" in capfd.readouterr().err


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


def test_an_output_that_unpacks_to_any_size_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = write_zip(tmp_path / "out.zip", {"run.json": b'{"task": "practice"}', "large": bytes(10_000)})
    monkeypatch.setattr(runs, "LARGEST_OUTPUT", 5000)
    with pytest.raises(BundleError, match="GB unpacked, more than"):
        find_runs([packed], tmp_path / "scratch")
