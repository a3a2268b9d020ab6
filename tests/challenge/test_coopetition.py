"""Credits and usefulness: properties, worked numbers, circles, own teams, and the tables."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bundle_tools.challenge.compare.runs import RunFolder
from bundle_tools.challenge.coopetition import (
    ALONE,
    SECOND,
    SHARED,
    NamedCredit,
    TeamRun,
    lines,
    read_teams,
    read_works,
    record,
    usefulness,
    uses,
)
from bundle_tools.cli.main import main
from bundle_tools.errors import BundleError
from tests.challenge.jury.finalists import make_bundle, make_run
from tests.scoring.factory import make_case, make_input, write_manifest

REPOSITORY = "https://code.example/face"


def work(name: str, total: float | None, *sources: str) -> TeamRun:
    return TeamRun(name, f"team {name}", total, tuple(NamedCredit(source, "its tracker") for source in sources))


CHAIN = (work("a", 20.0), work("b", 40.0, "a", REPOSITORY), work("c", 60.0, "b"))


def test_worked_numbers() -> None:
    # c leads by 50 and gives all of it to b; b leads by 30, adds half of what it got, and shares 55 between two.
    assert {(use.user, use.source): use.points for use in uses(CHAIN, 10.0)} == {
        ("c", "b"): 50.0,
        ("b", "a"): 27.5,
        ("b", REPOSITORY): 27.5,
    }
    assert {(use.user, use.source): use.gain for use in uses(CHAIN, 10.0)} == {
        ("c", "b"): 20.0,
        ("b", "a"): 20.0,
        ("b", REPOSITORY): None,
    }
    assert [(row.name, row.points, row.users, row.total) for row in usefulness(CHAIN, 10.0)] == [
        ("b", 50.0, 1, 40.0),
        ("a", 27.5, 1, 20.0),
        (REPOSITORY, 27.5, 1, None),
    ]
    table = [line.split() for line in lines(CHAIN, 10.0, [])]
    given_ = [["50.00", "1", "b"], ["27.50", "1", "a"], ["27.50", "1", REPOSITORY]]
    assert [row for row in table if row[1:2] == ["1"]] == given_


@st.composite
def fields(draw: st.DrawFn) -> list[TeamRun]:
    count = draw(st.integers(1, 7))
    names = [f"w{number}" for number in range(count)]
    found = [
        work(name, draw(st.floats(0, 100)), *draw(st.sets(st.sampled_from(names[:number]))) if number else ())
        for number, name in enumerate(names)
    ]
    if draw(st.booleans()):
        found = [replace(one, team=draw(st.sampled_from("xyz"))) for one in found]
    teams = {one.name: one.team for one in found}
    return [  # a team's own work is no credit
        replace(one, credits=tuple(credit for credit in one.credits if teams[credit.source] != one.team))
        for one in found
    ]


def by_team(works: list[TeamRun], baseline: float = 10.0) -> dict[str, float]:
    points = dict.fromkeys((one.team for one in works), 0.0)
    for row in usefulness(works, baseline):
        points[row.team] += row.points
    return points


@given(fields(), st.floats(0, 100))
def test_properties(works: list[TeamRun], baseline: float) -> None:
    rows = usefulness(works, baseline)
    assert [replace(row, points=0) for row in usefulness(works[::-1], baseline)] == [
        replace(row, points=0) for row in rows
    ]
    assert [row.points for row in usefulness(works[::-1], baseline)] == pytest.approx([row.points for row in rows])
    assert all(row.points >= 0 for row in rows)
    best = {
        one.team: one
        for one in sorted(works, key=lambda one: (one.total or 0.0, [-ord(letter) for letter in one.name]))
    }
    leads = sum(max(0.0, (one.total or 0.0) - baseline) for one in best.values() if one.credits)
    given_ = sum(row.points for row in rows)
    assert leads - 1e-6 <= given_ <= 2 * leads + 1e-6  # each lead is given once; passing on at most doubles it
    assert {row.name for row in rows} == {credit.source for one in works for credit in one.credits}


@given(fields(), st.floats(0, 100))
def test_a_team_gains_nothing_by_more_runs_that_are_no_better(works: list[TeamRun], baseline: float) -> None:
    copies = [replace(one, name=f"z{one.name}") for one in works]
    worse = [replace(one, name=f"y{one.name}", total=(one.total or 0.0) / 2) for one in works]
    assert usefulness([*copies, *works, *worse], baseline) == usefulness(works, baseline)


@given(fields(), st.floats(0, 100))
def test_nobody_is_useful_by_a_lead_of_their_own(works: list[TeamRun], baseline: float) -> None:
    for team in {one.team for one in works}:
        beaten = [replace(one, total=0.0) if one.team == team else one for one in works]
        assert by_team(beaten, baseline)[team] == pytest.approx(by_team(works, baseline)[team])


def test_a_team_gives_its_lead_once() -> None:
    runs = [work("a", 5.0), work("b", 5.0)]
    runs += [replace(work(name, total, *to), team="us") for name, total, *to in (("u1", 60.0, "a"), ("u2", 60.0, "b"))]
    assert by_team(runs) == {"team a": 50.0, "team b": 0.0, "us": 0.0}
    assert [(row.name, row.users) for row in usefulness(runs, 10.0)] == [("a", 1), ("b", 1)]
    # An older run still passes on what others gave it: that is their lead.
    runs.append(work("c", 30.0, "u2"))
    assert by_team(runs) == {"team a": 50.0, "team b": 10.0, "us": 20.0, "team c": 0.0}


def test_a_credit_that_gives_no_lead_says_why() -> None:
    runs = [
        work("a", 5.0),
        *(replace(work(name, total, "a"), team="us") for name, total in (("u1", 60.0), ("u2", 50.0))),
    ]
    assert {use.user: (use.points, use.remark) for use in uses(runs, 10.0)} == {"u1": (50.0, ""), "u2": (0.0, SECOND)}
    assert [SECOND in line for line in lines(runs, 10.0, []) if " uses " in line] == [False, True]


def shared_fields() -> st.SearchStrategy[list[TeamRun]]:
    """Give fields in which some works are of another phase."""
    return st.tuples(fields(), st.sets(st.integers(0, 6))).map(
        lambda drawn: [replace(one, total=None) if number in drawn[1] else one for number, one in enumerate(drawn[0])]
    )


@given(shared_fields(), st.floats(0, 100))
def test_shared_work_gives_no_lead_and_changes_no_lead(works: list[TeamRun], baseline: float) -> None:
    unscored = [one if one.total is None else replace(one, total=0.0) for one in works]
    assert all(use.points == 0 for use in uses(unscored, baseline))
    for giver in (one for one in works if one.total):
        alone = [giver if one == giver else two for one, two in zip(works, unscored, strict=True)]
        given_ = sum(use.points for use in uses(alone, baseline) if use.user == giver.name)
        lead = max(0.0, (giver.total or 0.0) - baseline) if giver.credits else 0.0
        assert given_ == pytest.approx(lead)
        assert by_team(alone, baseline)[giver.team] == 0  # nor does anything come back through shared work


@given(fields(), st.floats(0, 100))
def test_shared_work_that_nobody_credits_moves_no_points(works: list[TeamRun], baseline: float) -> None:
    more = [replace(one, name=f"s{one.name}", total=None) for one in works]
    assert usefulness([*more, *works], baseline) == usefulness(works, baseline)


def test_the_worked_table_of_the_guide() -> None:
    field = [
        TeamRun("final-a", "A", 60.0, (NamedCredit("practice-b", "x"),)),
        TeamRun("final-b", "B", 40.0, ()),
        TeamRun("practice-b", "B", None, (NamedCredit("practice-c", "x"), NamedCredit("practice-a", "x"))),
        TeamRun("practice-c", "C", None, ()),
        TeamRun("practice-a", "A", None, ()),
    ]
    received = {row.name: row.points for row in usefulness(field, 0.0)}
    assert received == {"practice-b": 60.0, "practice-c": 15.0, "practice-a": 0.0}
    assert {use.user: (use.gain, use.remark) for use in uses(field, 0.0)} == {
        "final-a": (None, ""),
        "practice-b": (None, SHARED),
    }


def test_what_comes_along_two_ways_is_passed_on_whole() -> None:
    runs = [
        work("root", 5.0),
        work("s", 5.0, "root"),
        work("a", 5.0, "s"),
        work("b", 5.0, "s"),
        work("d", 50.0, "a", "b"),
    ]
    # d gives 20 each to a and b, which pass 10 each on to s, which passes half of 20 on.
    assert {row.name: row.points for row in usefulness(runs, 10.0)} == {"a": 20.0, "b": 20.0, "s": 20.0, "root": 10.0}


def test_work_cut_into_pieces_gets_no_larger_part() -> None:
    pieces = [replace(work(f"p{number}", 5.0), team="cut") for number in range(3)]
    runs = [*pieces, work("a", 5.0), work("b", 70.0, "p0", "p1", "p2", "a", REPOSITORY)]
    assert {use.source: use.points for use in uses(runs, 10.0)} == pytest.approx(
        {"p0": 20 / 3, "p1": 20 / 3, "p2": 20 / 3, "a": 20.0, REPOSITORY: 20.0}
    )


def runs_of(folder: Path, credits: dict[str, list[dict[str, str]]]) -> list[RunFolder]:
    runs = []
    for number, (name, given_) in enumerate(credits.items()):
        place = folder / name
        place.mkdir()
        facts = {"submission_sha256": f"{number:08x}" + "0" * 56, "credits": given_}
        (place / "run.json").write_text(json.dumps(facts))
        runs.append(RunFolder(name, place, "final"))
    return runs


def test_credits_find_runs_and_what_leads_nowhere_is_said(tmp_path: Path) -> None:
    runs = runs_of(
        tmp_path,
        {
            "first": [],
            "second": [
                {"submission": "00000000", "used": "its face tracker"},
                {"submission": "00000000", "used": "once more"},
                {"submission": "deadbeef", "used": "x"},
                {"repository": f"{REPOSITORY}.git/", "used": "y"},
            ],
            "own": [{"submission": "00000001", "used": "my own"}],
        },
    )
    works, remarks = read_works(runs, dict.fromkeys(("first", "second", "own"), 1.0), {"own": "us", "second": "us"})
    assert [[credit.source for credit in one.credits] for one in works] == [[], ["first", REPOSITORY], []]
    assert works[1].credits[0].used == "its face tracker"
    assert len(remarks) == 2
    assert "deadbeef is not among these runs" in remarks[0]
    assert "own team" in remarks[1]


def test_the_same_file_in_two_phases_is_one_work_of_its_team(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, {"earlier": [], "final": [], "user": [{"submission": "00000000", "used": "x"}]})
    (runs[1].folder / "run.json").write_text((runs[0].folder / "run.json").read_text())
    totals = {"final": 1.0, "user": 2.0}
    works, remarks = read_works(runs, totals, {"earlier": "us", "final": "us"})
    assert [credit.source for credit in works[2].credits] == ["final"]
    assert remarks == []
    assert [one.total for one in works] == [None, 1.0, 2.0]
    works, remarks = read_works(runs, totals, {"earlier": "us", "final": "thief"})
    assert works[2].credits == ()
    assert "fits earlier, final" in remarks[0]


def test_a_circle_is_refused(tmp_path: Path) -> None:
    runs = runs_of(
        tmp_path, {"a": [{"submission": "00000001", "used": "x"}], "b": [{"submission": "00000000", "used": "x"}]}
    )
    with pytest.raises(BundleError, match="a builds on b builds on a"):
        read_works(runs, {"a": 1.0, "b": 1.0}, {})


def test_teams_are_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "teams.csv"
    path.write_text("run,team\na, red\nb,blue\n")
    assert read_teams(path) == {"a": "red", "b": "blue"}
    path.write_text("a,red\na,blue\nc\n")
    with pytest.raises(BundleError, match=r"line 2: .*; line 3: "):
        read_teams(path)
    path.write_bytes(b"a,r\xe9d\n")
    with pytest.raises(BundleError, match="in UTF-8"):
        read_teams(path)
    path.unlink()
    with pytest.raises(BundleError, match="no such file"):
        read_teams(path)


def test_the_lines_name_what_was_used_and_how_much_higher_its_user_scores() -> None:
    said = lines(CHAIN, 10.0, ["a remark"])
    assert "c uses b: 50.00 (its tracker), scores +20.00" in said
    assert f"b uses {REPOSITORY}: 27.50 (its tracker)" in said
    assert said[-1] == "a remark"
    assert record(CHAIN, 10.0, ["a remark"])["remarks"] == ["a remark"]
    assert "Nobody credits anybody." in lines((work("a", 1.0),), 0.0, [])
    assert ALONE in lines([replace(one, team=one.name) for one in CHAIN], 10.0, [])
    assert ALONE not in said


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], change_run: Callable[..., None]) -> None:
    bundle = make_bundle(tmp_path / "bundle")
    first, second = (make_run(tmp_path / name, bundle, name) for name in ("other-team", "honest-team"))
    change_run(first, submission_sha256="11" * 32)
    change_run(
        second,
        submission_sha256="22" * 32,
        credits=[{"submission": "11111111", "repository": None, "used": "its probes \ud800"}],  # half a character
    )
    words = ["coopetition", str(first), str(second), "--bundle", str(bundle)]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(row["name"], row["users"]) for row in found["useful"]] == [("other-team", 1)]
    assert found["useful"][0]["points"] > 20
    assert main(words) == 0
    assert "honest-team uses other-team" in capsys.readouterr().out
    (tmp_path / "teams.csv").write_text("honest-team,us\nother-team,us\nthird,us\n")
    assert main([*words, "--teams", str(tmp_path / "teams.csv")]) == 1
    assert "third" in capsys.readouterr().err


def test_work_of_another_phase_is_credited_only_if_it_is_named_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change_run: Callable[..., None]
) -> None:
    bundle = make_bundle(tmp_path / "bundle")
    user = make_run(tmp_path / "user", bundle, "honest-team")
    made = make_input(tmp_path / "made", make_case(task="practice"))
    shutil.move(made / "ref", bundle / "reference_data" / "practice")
    source = tmp_path / "source"
    shutil.move(made / "res", source / "ingestion_output")
    text = (bundle / "competition.yaml").read_text("utf-8")
    content = yaml.safe_load(text)
    content["tasks"].append(content["tasks"][0] | {"index": 1, "reference_data": "reference_data/practice/"})
    content["phases"].append({"index": 1, "name": "Practice", "tasks": [1]})
    (bundle / "competition.yaml").write_text(yaml.safe_dump(content), "utf-8")
    change_run(source, submission_sha256="11" * 32)
    change_run(user, credits=[{"submission": "11111111", "repository": None, "used": "its probes"}])
    words = ["coopetition", "--bundle", str(bundle), "--json", str(user)]
    assert main([*words, str(source)]) == 1
    assert "runs of other phases after --shared" in capsys.readouterr().err
    assert main([*words, "--shared", str(source)]) == 1
    assert "without one: source, user" in capsys.readouterr().err
    (tmp_path / "teams.csv").write_text("user,us\nsource,them\n")
    words += ["--teams", str(tmp_path / "teams.csv"), "--shared", str(source)]
    assert main(words) == 0
    (row,) = json.loads(capsys.readouterr().out)["useful"]
    assert (row["name"], row["team"], row["total"]) == ("source", "them", None)
    assert row["points"] > 20
    assert main([*words, str(user)]) == 1
    assert "Name them before --shared" in capsys.readouterr().err


@pytest.fixture
def change_run() -> Callable[..., None]:
    def change(folder: Path, **facts: object) -> None:
        path = folder / "ingestion_output" / "run.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | facts))
        write_manifest(path.parent)

    return change
