"""Who can have what only the programs should get: seen as somebody who is not logged in, and as another account."""

import pytest

from tests.codabench.server.conftest import Site
from tests.codabench.server.fake import CRASH, Answer, Request, Server


def test_a_server_that_leaks_is_named_with_each_file(site: Site) -> None:
    printed = site("audit", code=1)
    assert "8 of 8 private files are open to others. Do not publish" in printed
    everything = "ingestion_program, scoring_program, input_data, reference_data"
    for phase in ("Practice", "Final"):
        assert f"{phase}: {everything} open to somebody who is not logged in: the server tells the keys." in printed
    assert "Open reference_data gives away labels: predictions can be copied from them." in printed
    assert "Open ingestion_program gives away the key that signs results" in printed
    assert "Not tried as a second account" in printed
    assert not any(key in printed for key in site.server.data)
    assert {method for method, _, _ in site.server.requests} == {"GET"}  # nothing is changed


@pytest.mark.parametrize(
    ("lists", "opens", "message"),
    [
        (False, False, "None of the 8 private files is open"),
        (True, False, "None of the 8 private files is open"),
        (False, True, "with the keys, which the server does not tell"),
    ],
)
def test_only_a_key_that_is_told_and_opens_is_a_leak(site: Site, lists: bool, opens: bool, message: str) -> None:
    site.server.lists, site.server.opens = lists, opens
    assert message in site("audit")


@pytest.mark.parametrize("published", [True, False])
def test_a_second_account_is_tried_too(site: Site, monkeypatch: pytest.MonkeyPatch, published: bool) -> None:
    site.made["published"] = published
    monkeypatch.setenv("CODABENCH_SECOND_TOKEN", "other-token")
    assert "open to somebody with another account" in site("audit", code=1)
    asked = {token for _, path, token in site.server.requests if path.startswith("/datasets/download/")}
    assert asked == {None, "other-token"}


@pytest.mark.parametrize(
    ("token", "message"),
    [("nonsense", "Invalid token"), ("organiser-token", "is an organiser too"), (None, "status 500")],
)
def test_an_answer_that_would_say_nothing_is_no_all_clear(
    site: Site, monkeypatch: pytest.MonkeyPatch, token: str | None, message: str
) -> None:
    whole = Server._competition

    def answer(server: Server, ask: Request) -> Answer:
        if ask.user is None:
            raise CRASH
        return whole(server, ask)

    if token is None:
        monkeypatch.setattr(Server, "_competition", answer)
    else:
        monkeypatch.setenv("CODABENCH_SECOND_TOKEN", token)
    printed = site("audit", code=1)
    assert message in printed
    assert "open to" not in printed
