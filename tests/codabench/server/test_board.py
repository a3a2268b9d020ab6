"""The board, with the rows that an organiser should look at."""

from datetime import timedelta

from tests.codabench.server.codabench import Server
from tests.codabench.server.conftest import Bundle, phase_of, submit


def test_rows_stand_in_the_servers_order(server: Server, competition: str, bundle: Bundle) -> None:
    submit(server, "ann", 0.25)
    submit(server, "bob", 0.75)
    submit(server, "cyd", None, status="Failed", on_leaderboard=False)
    printed = bundle("board", competition, "--phase", "Practice")
    lines = printed.splitlines()
    assert lines[0] == "Tiny, Practice"
    assert [line.split()[:3] for line in lines[2:4]] == [["1", "bob", "0.7500"], ["2", "ann", "0.2500"]]
    assert "Submissions: 1 Failed, 2 Finished." in printed


def test_a_row_without_score_ranks_first_and_is_named(server: Server, competition: str, bundle: Bundle) -> None:
    submit(server, "ann", 0.25)
    empty = submit(server, "bob", None)
    server.late_scores = 99
    printed = bundle("board", competition, "--phase", "practice")
    first = printed.splitlines()[2]
    assert first.split()[:3] == ["1", "bob", "n/a"]
    assert f"#{empty}" in first
    assert "Delete it, or run it again" in first


def test_late_and_early_and_old_rows_are_named(server: Server, competition: str, bundle: Bundle) -> None:
    phase = phase_of(server)
    [made] = server.competitions.values()
    end = server.now() + timedelta(hours=1)
    made["phases"][0]["end"] = end.isoformat()
    server.ahead = timedelta(hours=2)
    submit(server, "ann", 0.9)
    printed = bundle("board", competition, "--phase", "practice")
    assert f"made after the end, {end:%Y-%m-%d %H:%M} UTC" in printed
    made["phases"][0]["end"] = (
        "2026-01-02T00:00:00Z"  # the data came later, so this is a run of old submissions on them
    )
    assert "made after" not in bundle("board", competition, "--phase", "practice")
    made["phases"][0] |= {"start": "2098-01-01T00:00:00Z", "end": None}
    printed = bundle("board", competition, "--phase", "practice")
    assert "made before the start, 2098-01-01 00:00 UTC" in printed
    assert "have been replaced" not in printed
    server.tick()
    task = server.tasks[phase["tasks"][0]]
    task["reference_data"] = server.add_data("reference_data", "ann")
    printed = bundle("board", competition, "--phase", "practice")
    assert "ran on programs or data that have been replaced" in printed


def test_an_empty_board(server: Server, competition: str, bundle: Bundle) -> None:
    printed = bundle("board", competition, "--phase", "practice")
    assert ("No rows." in printed, "Submissions: none." in printed) == (True, True)
