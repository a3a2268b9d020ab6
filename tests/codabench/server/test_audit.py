"""Who can have what only the programs should get: seen as somebody who is not logged in, and as another account."""

import pytest

from tests.codabench.server.codabench import Answer, Refused, Request, Server
from tests.codabench.server.conftest import Bundle


def test_a_server_that_leaks_is_named_with_each_file(server: Server, competition: str, bundle: Bundle) -> None:
    printed = bundle("audit", competition, code=1)
    assert "8 of 8 private files are open to others. Do not publish" in printed
    everything = "ingestion_program, scoring_program, input_data, reference_data"
    for phase in ("Practice", "Final"):
        assert f"{phase}: {everything} open to somebody who is not logged in: the server tells the keys." in printed
    assert "Not tried as a second account" in printed
    assert not any(key in printed for key in server.data)


def test_a_server_that_keeps_them_passes(server: Server, competition: str, bundle: Bundle) -> None:
    server.lists = server.opens = False
    assert "None of the 8 private files is open" in bundle("audit", competition)


@pytest.mark.parametrize("published", [True, False])
def test_a_second_account_is_tried_too(
    server: Server, competition: str, bundle: Bundle, monkeypatch: pytest.MonkeyPatch, *, published: bool
) -> None:
    next(iter(server.competitions.values()))["published"] = published
    monkeypatch.setenv("CODABENCH_SECOND_TOKEN", "other-token")
    assert "open to somebody with another account" in bundle("audit", competition, code=1)
    assert {token for _, path, token in server.requests if path.startswith("/datasets/download/")} == {
        None,
        "other-token",
    }


def test_keys_that_open_nothing_are_no_leak(server: Server, competition: str, bundle: Bundle) -> None:
    server.opens = False
    bundle("audit", competition)


def test_a_file_that_opens_by_a_key_that_nobody_is_told(server: Server, competition: str, bundle: Bundle) -> None:
    server.lists = False
    printed = bundle("audit", competition)
    assert "with the keys, which the server does not tell" in printed
    assert "Anybody with a key can get its file" in printed


@pytest.mark.parametrize(("token", "told"), [("nonsense", "Invalid token"), ("organiser-token", "is an organiser too")])
def test_a_second_account_that_would_say_nothing_is_refused(
    server: Server, competition: str, bundle: Bundle, monkeypatch: pytest.MonkeyPatch, token: str, told: str
) -> None:
    monkeypatch.setenv("CODABENCH_SECOND_TOKEN", token)
    printed = bundle("audit", competition, code=1)
    assert told in printed
    assert "open to" not in printed


def test_an_error_of_the_server_is_no_all_clear(
    server: Server, competition: str, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Server._competition

    def answer(of: Server, ask: Request) -> Answer:
        if ask.user is None:
            raise Refused(500, "<!doctype html>")
        return whole(of, ask)

    monkeypatch.setattr(Server, "_competition", answer)
    printed = bundle("audit", competition, code=1)
    assert "status 500" in printed
    assert "open to" not in printed


def test_nothing_is_changed(server: Server, competition: str, bundle: Bundle) -> None:
    bundle("audit", competition, code=1)
    assert {method for method, _, _ in server.requests} == {"GET"}
