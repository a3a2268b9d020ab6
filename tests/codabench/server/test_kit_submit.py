"""`kit.py submit`: once, whatever breaks off; each error says what was done, what was not, and how to go on."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import kit
import submit
from tests import ROOT
from tests.codabench.server.conftest import Bundle, Site, write_zip
from tests.codabench.server.fake import Answer, Fault, Json, Request, Server


class Participant(Site):
    """A published competition, and somebody who takes part with the starting kit."""

    zip: Path
    out: Path
    capfd: pytest.CaptureFixture[str]

    def submit(self, *words: object, code: int = 0, phase: str | None = "practice") -> str:  # type: ignore[override]
        self.capfd.readouterr()
        chosen = () if phase is None else ("--phase", phase)
        arguments = ["submit", self.zip, self.address, "--out", self.out, *chosen, *words]
        got = kit.main([str(word) for word in arguments])
        printed = "".join(self.capfd.readouterr())
        assert got == code, printed
        assert "Traceback" not in printed
        assert "other-token" not in printed
        return printed

    @property
    def sent(self) -> list[Json]:
        return list(self.server.submissions.values())

    def posts(self, path: str) -> int:
        return [(method, at) for method, at, _ in self.server.requests].count(("POST", path))


@pytest.fixture
def site(
    server: Server, archive: Path, bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Participant:  # fmt: skip
    site = Participant(server, archive, bundle)
    monkeypatch.setenv("CODABENCH_TOKEN", "other-token")
    for name, seconds in (("LOOK_S", 0.04), ("PAUSE_S", 0.005), ("SCORES_LATE_S", 1.0)):
        monkeypatch.setattr(submit, name, seconds)
    site.made["published"] = True
    site.made["participants"].add("bob")
    site.made["leaderboards"][0]["columns"][0]["key"] = "explanation"
    site.zip, site.out, site.capfd = tmp_path / "mine.zip", tmp_path / "results", capfd
    write_zip(site.zip, {"model.py": (ROOT / "starting_kit/template/model.py").read_bytes()})
    output = write_zip(tmp_path / "output.zip", {"log.txt": b"all went well\n", "run.json": b"{}"}).read_bytes()
    server.work = lambda _: ("Finished", {"explanation": 61.5, "duration_s": 3.2})
    server.outputs = lambda _: {
        "prediction_result": output, "detailed_result": b"<html>report</html>", "prediction_ingestion_stdout": b"log\n"
    }  # fmt: skip
    return site


def test_the_zip_is_sent_and_its_results_come_back(site: Participant) -> None:
    site.server.late_scores = 3
    printed = site.submit(phase=None)
    [sent] = site.sent
    assert (sent["owner"], sent["phase"]) == ("bob", site.phase()["id"])
    assert site.server.files[sent["data"]] == site.zip.read_bytes()
    assert "sent 100 % of 0.00 MB" in printed
    for status in ("Submitting", "Running", "Scoring", "Finished"):  # each once, though some repeat
        assert printed.count(f"  {status}\n") == 1
    assert "  explanation: 61.5\n  failed" not in printed
    assert "  duration_s: 3.2\n  explanation: 61.5\n" in printed
    assert (site.out / "report.html").read_text() == "<html>report</html>"
    assert (site.out / "log.txt").read_text() == "all went well\n"
    assert (site.out / "prediction_ingestion_stdout.txt").read_text() == "log\n"
    assert json.loads((site.out / "submission.json").read_text())["submission"] == sent["id"]
    assert not [token for _, path, token in site.server.requests if path.startswith("/storage/") and token]


def test_a_closed_phase_gives_its_report_alone(site: Participant) -> None:
    site.phase()["hide_output"] = True
    assert "keeps logs and outputs closed" in site.submit()
    assert {path.name for path in site.out.iterdir()} == {"report.html", "submission.json"}


@pytest.mark.parametrize("kept", [True, False])
def test_the_same_zip_is_not_sent_twice(site: Participant, *, kept: bool) -> None:
    """It is found by the note in the folder, or by the server's list."""
    site.submit()
    if not kept:
        (site.out / "submission.json").unlink()
    number = site.sent[0]["id"]
    assert f"before, as #{number}: nothing is sent without --again" in site.submit()
    assert len(site.sent) == 1
    site.submit("--again")
    assert len(site.sent) == 2
    site.server.submissions.clear()
    assert "was deleted on the server. Add --again" in site.submit(code=2)


BREAKS: list[tuple[Fault, str, int]] = [
    (Fault("GET", r"/competitions/\d+/$", 500, times=9), "status 500. Nothing was sent.", 0),
    (Fault("GET", "/can_make_submission/", None, times=9), "Nothing was submitted, and no attempt is used up", 0),
    (Fault("POST", "/api/datasets/$", 502), "Nothing was submitted, and no attempt is used up", 0),
    (Fault("PUT", "/storage/", None), "Nothing was submitted, and no attempt is used up", 0),
    (Fault("PUT", "/completed/", 503), "Nothing was submitted, and no attempt is used up", 0),
    (Fault("POST", "/api/submissions/$", None), "Whether it was submitted is not known: repeat the command", 0),
    (Fault("GET", r"/api/submissions/\d+/$", 500, times=9), "is submitted and runs on without you", 1),
    (Fault("GET", "/get_details/", 500, times=9), "is submitted and runs on without you", 1),
]


@pytest.mark.parametrize(("fault", "message", "submitted"), BREAKS)
def test_wherever_the_server_fails_the_next_call_goes_on(
    site: Participant, fault: Fault, message: str, submitted: int
) -> None:
    site.server.faults = [fault]
    printed = site.submit(code=2)
    assert message in printed
    assert len(printed.split("kit.py: ")[1].splitlines()) == 1
    assert len(site.sent) == submitted
    site.server.faults = []
    site.submit()
    assert len(site.sent) == 1


def test_an_answer_that_was_lost_is_looked_for(site: Participant, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server has taken the submission, but nobody was told."""
    whole = Server._submissions

    def lost(server: Server, ask: Request) -> Answer:
        status, content = whole(server, ask)
        if ask.method == "POST":
            raise ConnectionError
        return status, content

    monkeypatch.setattr(Server, "_submissions", lost)
    assert "Whether it was submitted is not known" in site.submit(code=2)
    monkeypatch.setattr(Server, "_submissions", whole)
    assert "submitted to Practice before" in site.submit()
    assert len(site.sent) == 1


def test_short_breaks_are_borne_and_a_long_wait_goes_on_later(site: Participant) -> None:
    site.server.busy = True
    assert "still Submitting after 1 s. " in site.submit("--wait", 1, code=2)
    site.server.busy = False
    site.server.faults = [Fault("GET", "/api/submissions/", 503, times=2)]
    assert "Finished. Report and log" in site.submit()
    assert len(site.sent) == 1


REFUSALS: list[tuple[Callable[[Participant], object], str]] = [
    (lambda site: site.phase().update(start="2098-01-01T00:00:00Z"), "open from 2098-01-01 00:00:00 UTC"),
    (lambda site: site.phase().update(end="2026-02-01T00:00:00Z"), "2026-02-01 00:00:00 UTC; now is 20"),
    (lambda site: site.phase().update(max_submissions_per_day=0), "Reached maximum allowed submissions for today"),
    (lambda site: site.made["participants"].clear(), "User not approved to participate in this competition"),
    (lambda site: setattr(site.server, "quota", 1), "Insufficient space"),
    (lambda site: site.made["leaderboards"][0]["columns"][0].update(key="auc"), "other scores than this kit"),
    (lambda site: site.made.update(published=False), "a secret competition needs its whole link"),
    (lambda site: site.made.update(leaderboards=None), "answered something else than expected"),
    (lambda site: site.zip.unlink(), "expected a zip, found none"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), REFUSALS)
def test_what_cannot_be_submitted_is_told_before_anything_is_sent(
    site: Participant, change: Callable[[Participant], object], message: str
) -> None:
    change(site)
    assert message in site.submit(code=2)
    assert not site.sent
    assert not [path for method, path, _ in site.server.requests if method == "PUT"]


@pytest.mark.parametrize(
    ("token", "message"),
    [("", "expected the token of your account in CODABENCH_TOKEN"), ("wrong", 'Invalid token."}. Check the token')],
)
def test_a_token_that_is_none_is_told(
    site: Participant, monkeypatch: pytest.MonkeyPatch, token: str, message: str
) -> None:
    monkeypatch.setenv("CODABENCH_TOKEN", token)
    assert message in site.submit(code=2)
    assert not site.sent


def test_no_network_and_links_of_something_else(site: Participant) -> None:
    for link, message in (
        ("http://127.0.0.1:1/competitions/3/", "no answer from http://127.0.0.1:1"),
        ("http://example.org/competitions/3/", "expected its address"),
        ("https://example.org/3", "expected its address"),
    ):
        site.address = link
        assert message in site.submit(code=2)


def test_cancelled_submissions_count(site: Participant) -> None:
    site.phase()["max_submissions_per_day"] = 1
    site.submit()
    site.sent[0]["status"] = "Cancelled"
    assert "counts cancelled submissions, too" in site.submit("--again", code=2)


def test_a_submission_with_mistakes_is_not_sent(site: Participant) -> None:
    write_zip(site.zip, {"other.py": b""})
    assert "correct the errors first" in site.submit(code=1)
    assert not site.server.requests


def test_what_ends_without_scores_is_no_success(site: Participant) -> None:
    site.server.work = lambda _: ("Failed", {})
    printed = site.submit(code=1)
    assert "Failed. Report and log" in printed


@pytest.mark.parametrize("value", [None, 5, [None]])
@pytest.mark.parametrize("field", ["status", "scores"])
def test_answers_of_any_form_end_in_one_line(site: Participant, field: str, value: object) -> None:
    site.submit()
    site.sent[0] |= {field: value, "scored": True, "step": 0}
    site.capfd.readouterr()
    arguments = ["submit", site.zip, site.address, "--out", site.out, "--phase", "practice", "--wait", "1"]
    assert kit.main([str(word) for word in arguments]) in (0, 1, 2)
    assert len(site.capfd.readouterr().err.splitlines()) <= 1


def test_the_token_follows_no_redirection(site: Participant) -> None:
    key = next(iter(site.server.data))
    with pytest.raises(submit.NoAnswer, match="status 302"):
        submit.Server(site.address, "other-token").call("GET", f"/datasets/download/{key}/")
    assert len(site.server.requests) == 1
