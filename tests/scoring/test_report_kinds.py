"""Pages of every kind: early, final, private and without scores; and what a page says of where it comes from."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from score import pipeline
from score.pipeline import page_again, write_atomically
from score.read.tables import read_hashes
from score.report import provenance
from tests.scoring.canary import CLIP_IDS, canary_case, secrets
from tests.scoring.conftest import Score, run_scoring
from tests.scoring.factory import Case, make_case, make_input, recorded
from tests.scoring.pages import ALLOWED, CLIPS_ONLY, HIDDEN, Page, scored_of


def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keep every page that is written, in order."""
    pages: list[str] = []
    write = write_atomically

    def keep(path: Path, text: str) -> None:
        if path.suffix == ".html":
            pages.append(text)
        write(path, text)

    monkeypatch.setattr(pipeline, "write_atomically", keep)
    return pages


def test_a_first_page_is_there_before_the_scores(score: Score, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = written(monkeypatch)
    done = score(make_case(clips=4, statuses=["ok", "ok", "failed", "ok"]))
    early, final = pages
    assert final == done.page
    parsed = Page(early)
    assert {tag for tag, _ in parsed.elements} <= ALLOWED
    assert "This run is being scored" in parsed.text
    assert "4 clips: 3 ok, 1 failed." in parsed.text
    assert "being scored" not in final


@pytest.mark.parametrize("report", [HIDDEN, CLIPS_ONLY], ids=["hidden", "clips only"])
def test_the_first_page_gives_nothing_away(
    score: Score, monkeypatch: pytest.MonkeyPatch, report: dict[str, Any]
) -> None:
    pages = written(monkeypatch)
    case = canary_case(report, ["ok", "failed", "ok", "ok", "ok", "ok"])
    said = f"clip {CLIP_IDS[0]}, images/{CLIP_IDS[1]}.jpg"
    case.problems = {CLIP_IDS[1]: [recorded("x", where=said, found=said, expected=said, fix=said)]}
    score(case)
    assert secrets(clips=report == HIDDEN).found_in(pages[:1]) == []
    assert "being scored" in pages[0]


def test_where_the_first_page_cannot_be_made_the_scores_are(score: Score, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "early_page", lambda *_: 1 / 0)
    done = score(make_case(clips=4))
    assert (done.code, "Explanation score" in done.page) == (0, True)


def private(folder: Path, case: Case) -> str:
    return page_again(make_input(folder, case), full=True)


@pytest.mark.parametrize("report", [HIDDEN, CLIPS_ONLY], ids=["hidden", "clips only"])
def test_the_organisers_page_of_a_closed_phase_is_complete_and_says_so(tmp_path: Path, report: dict[str, Any]) -> None:
    page = private(tmp_path, canary_case(report))
    text = Page(page).text
    assert "Private:" in text
    assert all(clip_id in text for clip_id in CLIP_IDS)
    assert [name for name in secrets(clips=False).found_in([page]) if name.startswith("label 0")]


def test_an_open_page_is_not_private_and_is_the_page_of_the_platform(tmp_path: Path) -> None:
    source = make_input(tmp_path / "input", make_case(clips=4))
    page = page_again(source)
    assert "Private:" not in page
    assert page == run_scoring(source, tmp_path / "output").page
    assert "Private:" not in page_again(source, full=True)


def test_a_closed_page_made_again_stays_closed(tmp_path: Path) -> None:
    source = make_input(tmp_path / "input", canary_case(HIDDEN))
    page = page_again(source)
    assert page == run_scoring(source, tmp_path / "output").page
    assert secrets().found_in([page]) == []


def content_of(page: str) -> dict[str, Any]:
    [text] = re.findall(r'<script type="application/json" id="record">(.*?)</script>', page, re.S)
    content: dict[str, Any] = json.loads(text)
    return content


def test_the_record_holds_the_scores_as_they_are_written(score: Score) -> None:
    done = score(make_case(clips=4))
    content = content_of(done.page)
    assert {key: one["value"] for key, one in content["scores"].items()} == done.scores
    low, high = content["scores"]["explanation"]["interval"]
    assert low <= content["scores"]["explanation"]["value"] <= high
    assert content["submission_sha256"] == "ab" * 32
    assert content["reference_data_sha256"]


def test_the_record_of_a_closed_phase_holds_no_more_than_its_page(score: Score) -> None:
    done = score(canary_case(HIDDEN))
    content = content_of(done.page)
    assert content["reference_data_sha256"] is None
    scores = content["scores"]
    assert scores["explanation"]["interval"] == [round(end) for end in scores["explanation"]["interval"]]
    assert scores["skill"]["value"] == round(scores["skill"]["value"], 3)
    # Of what depends on labels only the score that ranks has an interval; the log has that one alone, as coarse.
    spread = {key for key, one in scores.items() if one["interval"]}
    low, high = map(round, scores["explanation"]["interval"])
    assert re.findall(r"interval (.*)\.$", done.log, re.M) == [f"{low} to {high}"]
    closed = {"known_causes", "skill", "interview_accuracy", "interview_ccc", "traits_accuracy", "traits_ccc"}
    assert spread == scores.keys() - closed - {"failed_clips", "duration_s", "jury", "not_comparable"}


def test_the_record_cannot_end_its_element(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attack = "</script><script>alert(1)</script><!--&"
    scored = scored_of(tmp_path, make_case(clips=4))
    text = provenance.record(replace(scored, settings=replace(scored.settings, task=attack)))
    assert not set(text) & set("<>&")
    assert json.loads(text)["task"] == attack
    monkeypatch.setattr(provenance, "__version__", attack)
    assert not set(provenance.record(scored)) & set("<>&")


def test_a_score_can_be_cited(score: Score) -> None:
    done = score(make_case(clips=4))
    [line] = re.findall(r'<p class="citation"><bdi>(.*?)</bdi>', done.page)
    total = f"explanation score {done.scores['explanation']:.2f} (95 % interval "
    assert total in line
    assert "phase practice, data test-1" in line
    assert "submission abababababab." in line


def test_where_the_numbers_come_from(score: Score) -> None:
    case = make_case(clips=4)
    case.run = {"data_sha256": "cd" * 32, "seed": 20170721, "image": "example/image:1"}
    text = Page(score(case).page).text
    for label, value in (
        ("Input data (SHA-256)", "cd" * 32),
        ("Submission (SHA-256)", "ab" * 32),
        ("Seed of ingestion", "20170721"),
        ("Image", "example/image:1"),
    ):
        assert f"{label}{value}\n" in text


@pytest.mark.parametrize(
    "spoiled",
    [{"data_sha256": "CD" * 32}, {"data_sha256": 5}, {"seed": -1}, {"seed": True}, {"seed": "7"}, {"image": ["x"]},
     {"probes": {"planned": 1, "answered": 2}}, {"probes": {"planned": "1", "answered": 1}}, {"probes": [1]}],
)  # fmt: skip
def test_facts_of_another_form_are_left_out(score: Score, spoiled: dict[str, Any]) -> None:
    case = make_case(clips=2, report=HIDDEN)
    case.run = spoiled
    text = Page(score(case).page).text
    for label in ("Input data (SHA-256)", "Seed of ingestion", "Image\n", "Second pass"):
        assert label not in text


def test_hashes_change_with_any_file_of_the_reference_and_with_its_name(tmp_path: Path) -> None:
    folder = make_input(tmp_path, make_case(clips=2)) / "ref"
    seen = {read_hashes(folder)}
    with (folder / "labels.csv").open("a") as stream:
        stream.write("\n")
    seen.add(read_hashes(folder))
    (folder / "causes.json").rename(folder / "sources.json")
    seen.add(read_hashes(folder))
    with (folder / "task.yaml").open("a") as stream:
        stream.write("\n")
    seen.add(read_hashes(folder))
    assert len({one.labels for one in seen}) == 3
    assert len({one.settings for one in seen}) == 2


def test_the_page_of_a_run_without_scores_says_where_and_how_to_fix_it(score: Score) -> None:
    case = make_case(clips=2)
    said = {"where": "model.py", "found": "classes Modell", "expected": "a class called Model"}
    problem = recorded("class_missing", "load", **said, fix="rename Modell to Model")
    case.run = {"status": "invalid", "problems": [problem]}
    done = score(case)
    text = " ".join(Page(done.page).text.split())
    assert "Please correct the submission:" in text
    for words in ("Wheremodel.py", "Foundclasses Modell", "Expecteda class called Model", "To fix itrename Modell"):
        assert words in text


@pytest.mark.parametrize(
    ("broken", "band", "scored"), [("redact", "scored, without a report", True), ("_evaluate", "worst scores", False)]
)
def test_the_headline_says_what_became_of_the_scores(
    score: Score, monkeypatch: pytest.MonkeyPatch, broken: str, band: str, scored: bool
) -> None:
    monkeypatch.setattr(pipeline, broken, lambda *_: 1 / 0)
    done = score(make_case(clips=3))
    assert done.code == 0
    assert f'<p class="band">{band}</p>' in done.page
    assert "no scores" not in done.page.casefold()
    assert (done.scores["interview_accuracy"] > 0) == scored


def test_a_refused_run_names_the_challenge(score: Score) -> None:
    done = score(make_case(clips=3), lambda root: (root / "res" / "manifest.json").unlink())
    assert done.code == 1
    assert '<p class="band">no scores</p>' in done.page
    assert re.search(r'<p class="eyebrow">[^<]*practice', done.page, re.IGNORECASE)
