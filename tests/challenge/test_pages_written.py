"""Pages of a bundle: rendered from templates, current with settings and data, and never written over a hand's work."""

import base64
import re
import shutil
from pathlib import Path

import pytest
import yaml

from bundle_tools.challenge.check import check
from bundle_tools.challenge.pages import write
from bundle_tools.challenge.pages.write import open_bundle, pages_of, write_pages
from bundle_tools.challenge.reading import program_settings
from bundle_tools.cli.main import main
from bundle_tools.codabench.archive import zip_folder
from tests import ROOT
from tests.challenge.test_page_figures import REFERENCE, TASK, edit
from tests.tiny import write_files

pytestmark = pytest.mark.usefixtures("asked_in_a_fork")
OVERVIEW = "pages/overview.md"
TEMPLATE = "# Tiny\n\nThe phase begins on {{ start }}.\n"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This repository's bundle, with the first clips of its phases alone."""
    root = tmp_path_factory.mktemp("whole") / "bundle"
    for name in ("pages", "input_data", "reference_data"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("*.mp4", "*.npz", "*.webp"))
    for phase in ("practice", "final"):
        first = (ROOT / "input_data" / phase / "clips.csv").read_text().splitlines()[1].split(",")[1]
        shutil.copy(ROOT / "input_data" / phase / first, root / "input_data" / phase / first)
    shutil.copy(ROOT / "competition.yaml", root)
    (root / "ingestion_program").mkdir()
    shutil.copy(ROOT / "ingestion_program/requirements.lock", root / "ingestion_program")
    (root / "scoring_program").symlink_to(ROOT / "scoring_program")
    return root


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "copy", symlinks=True))


@pytest.fixture
def templated(tiny: Path) -> Path:
    """A bundle of other programs, with a template of its own for one page."""
    write_files(tiny, {f"{OVERVIEW}.j2": TEMPLATE})
    (tiny / OVERVIEW).unlink()
    assert write_pages(tiny) == [f"{OVERVIEW}: written."]
    return tiny


def text_of(root: Path, name: str) -> str:
    return (root / "pages" / f"{name}.md").read_text("utf-8")


def told(bundle: Path) -> list[tuple[str, str, str]]:
    return [(found.code, found.where, found.what) for found in check(bundle)]


def test_pages_change_with_what_they_tell_of(copy: Path) -> None:
    assert write_pages(copy) == []
    edit(copy, TASK, "call_s: 30", "call_s: 45")
    edit(copy, REFERENCE, "cue_claims: 0.37, faithfulness_space: 0.21", "cue_claims: 0.40, faithfulness_space: 0.18")
    edit(copy, "ingestion_program/requirements.lock", "numpy==2.4.6", "numpy==9.8.7")
    edit(copy, "competition.yaml", "title: First Impressions, Explained", "title: Second Thoughts")
    changes = {re.sub(r":\d+:", ":", line) for line in write_pages(copy)}
    assert changes >= {
        "pages/overview.md: # First Impressions, Explained -> # Second Thoughts",
        "pages/environment.md: - **Time for a call**: 30 s for `predict` or `explain` -> "
        "- **Time for a call**: 45 s for `predict` or `explain`",
    }
    assert " numpy 9.8.7, " in text_of(copy, "environment")
    assert " cue claims 0.40 (64), " in text_of(copy, "evaluation")
    assert write_pages(copy) == []


def test_the_formula_follows_the_power(copy: Path) -> None:
    edit(copy, REFERENCE, "power: 0.5", "power: 0.7")
    write_pages(copy)
    assert "(Σ weight × axis^p)^(1/p)** with p = 0.7\n" in text_of(copy, "evaluation")


def test_limits_that_differ_between_phases_are_told_for_each(copy: Path) -> None:
    edit(copy, TASK, "call_s: 30", "call_s: 45", ["final"])
    write_pages(copy)
    assert "- **Time for a call**: 30 (Practice) or 45 (Final) s for" in text_of(copy, "environment")


def test_a_page_edited_by_hand_stays_and_is_told_of_once_its_figures_are_old(
    templated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = templated / OVERVIEW
    edited = page.read_text().replace("# Tiny", "# Tiny and dear")
    page.write_text(edited)
    assert main(["pages", "--bundle", str(templated)]) == 0
    assert "edited by hand, so it stays as it is." in capsys.readouterr().out
    assert told(templated) == []  # nothing in it is old
    edit(templated, "competition.yaml", "2030-01-01 12:00", "2031-02-03 12:00")
    assert main(["pages", "--bundle", str(templated)]) == 0
    assert page.read_text() == edited
    out = capsys.readouterr().out
    assert (
        "Its template now has '# Tiny'; 'The phase begins on 2031-02-03 12:00.'. Correct the page and end it with"
        in out
    )
    assert "Pages changed: 0. Edited by hand and no longer up to date: 1." in out
    assert [(code, where) for code, where, _ in told(templated)] == [("page-edited", OVERVIEW)]
    assert main(["pages", "--bundle", str(templated), "--check"]) == 1
    # Corrected and ended as advised, it is silent again; deleted, it is written anew.
    last_line = re.findall(r"<!-- bundle pages: \S+ \w+ -->", out)[0]
    page.write_text(f"# Tiny and dear\n\nThe phase begins on 2031-02-03 12:00.\n\n{last_line}\n")
    assert told(templated) == []
    page.unlink()
    assert main(["pages", "--bundle", str(templated)]) == 0
    assert page.read_text().startswith("# Tiny\n\nThe phase begins on 2031-02-03 12:00.\n")


def test_a_stale_page_is_a_warning_with_both_texts_in_folder_and_zip(templated: Path, copy: Path) -> None:
    edit(templated, "competition.yaml", "2030-01-01 12:00", "2031-02-03 12:00")
    what = "Found 'The phase begins on 2030-01-01 12:00.'; expected 'The phase begins on 2031-02-03 12:00.'."
    assert told(templated) == [("page-figure", f"{OVERVIEW}:3", what)]
    # A template in a zip is somebody else's, and not rendered.
    archive = templated.parent / "stale.zip"
    zip_folder(templated, archive)
    assert told(archive) == []
    edit(copy, TASK, "call_s: 30", "call_s: 45")
    assert [page.name for page in pages_of(open_bundle(copy)) if page.is_stale] == ["pages/environment.md"]


def test_a_page_that_says_what_its_template_gives_is_nobodys_edit(templated: Path) -> None:
    """As after a correction of page and template alike: only the last line is old, and it is written anew."""
    edit(templated, "competition.yaml", "2030-01-01 12:00", "2031-02-03 12:00")
    edit(templated, OVERVIEW, "2030-01-01 12:00", "2031-02-03 12:00")
    old = (templated / OVERVIEW).read_text()
    write_pages(templated)
    new = (templated / OVERVIEW).read_text()
    assert new != old
    assert new.splitlines()[:-1] == old.splitlines()[:-1]
    assert told(templated) == []


def test_a_page_without_our_last_line_is_somebodys_own(tiny: Path) -> None:
    before = (tiny / OVERVIEW).read_text()
    assert write_pages(tiny) == []
    assert told(tiny) == []
    assert (tiny / OVERVIEW).read_text() == before
    assert main(["pages", "--bundle", str(tiny), str(tiny / OVERVIEW)]) == 1
    # Nothing fills the marks of earlier versions, so a page with them is told of, and stays.
    write_files(tiny, {OVERVIEW: "On <!--=start-->2029-01-01<!--/-->.\n", f"{OVERVIEW}.j2": TEMPLATE})
    assert [code for code, *_ in told(tiny)] == ["page-edited"]
    write_pages(tiny)
    assert "2029-01-01" in (tiny / OVERVIEW).read_text()


@pytest.mark.parametrize(
    "name", ["../out.md", "{root}/out.md", "a\0.md", "x" * 5000 + ".md", "pages/a/../../../out.md"]
)
def test_no_page_is_written_outside_the_bundle(tiny: Path, name: str) -> None:
    competition = yaml.safe_load((tiny / "competition.yaml").read_text())
    competition["pages"] = [{"title": "Out", "file": name.format(root=tiny.parent)}]
    (tiny / "competition.yaml").write_text(yaml.safe_dump(competition))
    write_files(tiny, {"out.md.j2": TEMPLATE})
    write_files(tiny.parent, {"out.md.j2": TEMPLATE})
    assert write_pages(tiny) == []
    assert not (tiny.parent / "out.md").exists()


def test_what_keeps_pages_from_being_rendered_is_told_once_and_they_stay(
    templated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (templated / OVERVIEW).read_text()
    for template, why in (
        ("{{ clips }}", "practice has no list of clips."),
        ("{{ no_such_figure }}", "'no_such_figure' is undefined"),
        ("{% if %}", "Expected an expression"),
        ("{{ [].__class__.__base__ }}", "access to attribute '__class__' of 'list' object is unsafe."),
        ("{{ start / 0 }}", "unsupported operand"),
    ):
        write_files(templated, {f"{OVERVIEW}.j2": template})
        ((code, where, what),) = [one for one in told(templated) if one[0].startswith("page")]
        assert (code, where) == ("page-template", OVERVIEW)
        assert why in what
        assert main(["pages", "--bundle", str(templated)]) == 1
        assert "pages that cannot be rendered: 1" in capsys.readouterr().err
        assert (templated / OVERVIEW).read_text() == before


def test_the_command_checks_writes_and_is_then_silent(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(copy, TASK, "call_s: 30", "call_s: 45")
    edit(copy, TASK, "load_s: 60", "load_s: 90")
    page, bundle = copy / "pages" / "environment.md", ["pages", "--bundle", str(copy)]
    before = page.read_text()
    assert main([*bundle, "--check", str(page)]) == 1
    assert page.read_text() == before
    assert "stale pages: 1; run `bundle pages`" in capsys.readouterr().err
    assert main(bundle) == 0
    assert page.read_text() != before
    assert "Pages changed: 1." in capsys.readouterr().out
    assert main([*bundle, "--check"]) == 0
    assert capsys.readouterr().out == "All pages are current.\n"
    assert main([*bundle, "--names"]) == 0
    assert "call_s                       45\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("overview", ("clip.webp", "explanation.webp", "report.webp", "how_it_works.svg")),
        ("explanations", ("good.webp", "bad.webp", "cue_and_label.svg")),
    ],
)
def test_pictures_hold_their_own_data_and_are_small(
    page: str, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = text_of(ROOT, page)
    pictures = re.findall(r'<img style="[^"]+" alt="[^"]{40,}" src="data:image/([\w+]+);base64,([\w+/=]+)"', text)
    files = [write.PICTURES / name for name in names]
    assert [base64.b64decode(data) for _, data in pictures] == [file.read_bytes() for file in files]
    assert {kind for kind, _ in pictures} == {"webp", "svg+xml"}
    assert max(len(data) for _, data in pictures) < 50_000
    monkeypatch.setattr(write, "PICTURES", tmp_path)
    problems = [each.problem for each in pages_of(open_bundle(ROOT)) if each.problem]
    assert len(problems) == 2
    assert any(names[0] in problem for problem in problems)


def test_rules_and_dates_are_typed_once_and_their_mistakes_are_named_at_once(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = ["pages", "--bundle", str(copy)]
    values = {"rules": {"teams": "At most four people."}, "dates": {"Winners": "2030-05-01"}}
    write_files(copy, {write.VALUES: yaml.safe_dump(values)})
    assert main(bundle) == 0
    assert "Pages changed: 2." in capsys.readouterr().out
    overview, terms = (text_of(copy, name) for name in ("overview", "terms"))
    assert "- **Winners**: 2030-05-01\n" in overview
    assert "## Rules\n\n- **Teams**: At most four people.\n\n## " in overview
    assert "with one account each. At most four people. Organisers" in terms
    write_files(copy, {write.VALUES: "rules: {price: a book, teams: 3}\nhas_sources: maybe\n"})
    assert main(bundle) == 1
    told = capsys.readouterr().out
    for mistake in ("did you mean rules.prizes?", "rules.teams: expected a text, found 3", "has_sources: expected"):
        assert mistake in told


def test_pictures_stand_side_by_side_where_there_is_room() -> None:
    both = write.picture(390, ("good.webp", "One."), ("bad.webp", "Another."))
    assert both.count("<p>") == 1
    assert both.count("width:100%;max-width:390px") == both.count("<img") == 2


def test_the_plot_of_a_cue_is_that_of_the_training_clips() -> None:
    from docs.images.explanation_pictures import plot  # noqa: PLC0415 - pillow

    drawn = plot()
    assert (write.PICTURES / "cue_and_label.svg").read_text("utf-8") == drawn
    rises = [
        float(line.split()[1]) - float(line.split()[-1]) for line in re.findall(r'<polyline points="([^"]+)"', drawn)
    ]
    # Pixels: up with the smile, and nowhere with the background.
    assert rises[0] > 50
    assert abs(rises[1]) < 5


def test_nothing_is_asked_where_no_page_is_ours(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_settings, "_ask", None)
    assert write_pages(tiny) == []
