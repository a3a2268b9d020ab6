"""A server that answers nonsense, or too much, or to mislead: one line each, and nothing is written elsewhere."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bundle_tools.challenge.compare import runs
from bundle_tools.codabench.server import client, records
from bundle_tools.codabench.server.client import Connection, ServerError
from bundle_tools.errors import BundleError
from tests.codabench.server.codabench import Answer, Fault, Json, Request, Server
from tests.codabench.server.conftest import Bundle, submit, write_zip

BOARD = ("--phase", "practice")


@pytest.mark.parametrize("text", ["\x1b[2J\x1b]0;owned\x07", "\u202egpj.exe", "a\rb"])
def test_nothing_that_a_server_says_moves_the_cursor(
    server: Server, competition: str, bundle: Bundle, text: str
) -> None:
    next(iter(server.competitions.values()))["title"] = f"Tiny {text}"
    submit(server, text, 0.5)
    printed = bundle("board", competition, *BOARD)
    assert "Tiny" in printed
    assert all(letter.isprintable() or letter == "\n" for letter in printed)


NONSENSE: tuple[object, ...] = (None, [], {}, "x", -1, 10**400, [[[]]], [None], "../../x", "\ud800")


def test_answers_of_any_form_end_in_one_line(server: Server, competition: str, bundle: Bundle) -> None:
    [made] = server.competitions.values()
    for field in ("id", "title", "published", "phases", "leaderboards", "secret_key"):
        for value in NONSENSE:
            kept, made[field] = made[field], value
            printed = bundle("board", competition, *BOARD, code=None)
            made[field] = kept
            assert "Traceback" not in printed, (field, value)
            assert bundle.code == 0 or len(printed.strip().splitlines()) == 1, (field, value)


def test_submissions_of_any_form_write_nothing_elsewhere(
    server: Server, competition: str, bundle: Bundle, tmp_path: Path
) -> None:
    one = server.submissions[submit(server, "ann", 0.5)]
    server.busy = True
    before = set(tmp_path.iterdir())
    for field in ("id", "owner", "filename", "created_when", "status", "scores", "status_details"):
        for value in NONSENSE:
            kept, one[field] = one[field], value
            printed = bundle("fetch", competition, *BOARD, "--out", tmp_path / "f", code=None)
            one[field] = kept
            assert "Traceback" not in printed, (field, value)
    assert set(tmp_path.iterdir()) - before <= {tmp_path / "f"}


def test_a_server_that_asks_for_a_day_of_patience_gets_a_moment(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("urllib3.util.retry.time.sleep", slept.append)
    server.faults = [Fault("GET", "/api/datasets/", 503, times=2)]
    records.datasets(Connection(server.address, "organiser-token"))
    assert sum(slept) < 60


def test_a_list_without_end_is_left(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(_: Server, ask: Request) -> Answer:
        return 200, {"results": [], "next": f"{server.address}/api/datasets/?page=2"}

    monkeypatch.setattr(Server, "_datasets", endless)
    monkeypatch.setattr(records, "MOST_PAGES", 5)
    with pytest.raises(ServerError, match="the list has no end"):
        records.datasets(Connection(server.address, "organiser-token"))
    assert len(server.requests) == 6


def test_an_answer_of_any_size_is_cut_off(
    server: Server, competition: str, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "MOST_BYTES", 100)
    assert "an answer of more than" in bundle("board", competition, *BOARD, code=1)


def test_a_file_of_any_size_is_cut_off(
    server: Server, competition: str, bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = submit(server, "ann", 0.5)
    server.outputs = lambda _: {"prediction_result": bytes(10_000)}
    monkeypatch.setattr(records, "LARGEST_FILE", 1000)
    assert "prediction_output.zip: more than" in bundle("fetch", competition, *BOARD, "--out", tmp_path / "f", code=1)
    assert not (tmp_path / "f" / f"{number}-ann").exists()


def test_a_redirection_is_no_file(server: Server, competition: str, bundle: Bundle, tmp_path: Path) -> None:
    submit(server, "ann", 0.5)

    def elsewhere(_: Json) -> dict[str, bytes]:
        return {"prediction_result": b"PK"}

    server.outputs = elsewhere
    server.faults = []
    original = server.answer

    def answer(path: str, ask: Request) -> Answer:
        status, content = original(path, ask)
        if path.endswith("/get_details/"):
            content["prediction_result"] = f"{server.address}/datasets/download/{next(iter(server.data))}/"
        return status, content

    server.answer = answer  # type: ignore[method-assign]
    assert "status 302" in bundle("fetch", competition, *BOARD, "--out", tmp_path / "f", code=1)


@pytest.mark.parametrize(
    "call",
    [lambda one: one.open("http://elsewhere.org/x"), lambda one: one.send_file("http://elsewhere.org/x", b"", {})],
)
def test_files_of_a_safe_server_do_not_go_over_an_unsafe_line(call: Callable[[Connection], object]) -> None:
    with pytest.raises(ServerError, match="expected an https address"):
        call(Connection("https://codabench.example", "token"))


def test_an_output_that_unpacks_to_any_size_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = write_zip(tmp_path / "out.zip", {"run.json": b'{"task": "practice"}', "large": bytes(10_000)})
    monkeypatch.setattr(runs, "LARGEST_OUTPUT", 5000)
    with pytest.raises(BundleError, match="GB unpacked, more than"):
        runs.find_runs([packed], tmp_path / "scratch")


@pytest.mark.parametrize("name", ["metadata", "metadata.yaml"])
def test_a_submission_with_a_command_of_its_own_is_named(
    server: Server, competition: str, bundle: Bundle, tmp_path: Path, name: str
) -> None:
    number = submit(server, "ann", 0.5)
    packed = write_zip(tmp_path / "s.zip", {"model.py": b"", name: b"command: x\n"}).read_bytes()
    server.files[server.submissions[number]["data"]] = packed
    for _ in range(2):  # what is here already is named, too
        printed = bundle("fetch", competition, *BOARD, "--out", tmp_path / "f", code=1)
        assert f"#{number} ann: its zip contains metadata, which can start a command of its own" in printed
