"""A challenge of somebody's own clips: another target, another scale, other words, and nothing of ours in it."""

import ast
import io
import json
import re
import shutil
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from bundle_tools.challenge.check import check
from bundle_tools.cli import own_clips
from bundle_tools.cli.main import main
from bundle_tools.errors import BundleError
from bundle_tools.own_clips.bundle import make as make_bundle
from bundle_tools.own_clips.bundle.make import EXAMPLE, SOLUTION
from bundle_tools.own_clips.dataset import LabelledSet
from bundle_tools.own_clips.description import Description, read_description
from bundle_tools.own_clips.files import Problems
from bundle_tools.own_clips.folder import Sources, read_folder
from tests import ROOT, warm

from .clips import make_clip
from .sets import rows

PEOPLE = ("Ann", "Bob", "Cem", "Dot", "Eve")
WARMTH = {f"{person}-{take}": 1.5 + number + take / 2 for number, person in enumerate(PEOPLE) for take in (0, 1)}
CHALLENGE = """\
title: "How warm?"
description: Say how warm a speaker seems, and why.
targets:
  - {name: warmth, title: Warmth, minimum: 1, maximum: 7, column: Rating (1-7), high: friendly}
vocabulary: [lighting, hat]
aliases: {hat: [cap, headgear]}
columns: {source: Who}
ignore: [Remark]
rules: {eligibility: Students of any university., prizes: "A book: for the winner."}
dates: {Registration ends: 2026-11-20, Winners: in May}
"""
OURS = re.compile(
    r"extraversion|agreeableness|conscientiousness|emotional|stability|neuroticism|openness|interview|trait|personalit"
    r"|big five|first impression|synthetic|talking head|cue_reader",
    re.IGNORECASE,
)


def table(separator: str = ";", comma: bool = True) -> str:
    lines = [separator.join(("Video name", "Who", "Rating (1-7)", "Remark"))]
    for name, value in WARMTH.items():
        number = str(value).replace(".", ",") if comma else str(value)
        lines.append(separator.join((f"{name}.mp4", name[:3], number, '"nice; warm, indeed"')))
    return "\n".join(lines) + "\n"


def write_sources(folder: Path, labels: str = "", challenge: str = CHALLENGE, groups: str = "") -> Sources:
    clips = folder / "clips"
    clips.mkdir(parents=True)
    for seed, name in enumerate(WARMTH):
        (clips / f"{name}.mp4").write_bytes(make_clip(seed, seconds=1))
    (folder / "labels.csv").write_text(labels or table(), "utf-8")
    (folder / "challenge.yaml").write_text(challenge, "utf-8")
    if groups:
        (folder / "groups.csv").write_text(groups, "utf-8")
    return Sources(clips, folder / "labels.csv", folder / "groups.csv" if groups else None)


def read(sources: Sources) -> LabelledSet:
    problems = Problems()
    return read_folder(sources, read_description(sources.labels.with_name("challenge.yaml"), problems), problems)


def make(sources: Sources, out: Path, *options: str) -> int:
    given = ["--clips", str(sources.clips), "--labels", str(sources.labels), "--out", str(out), "--seed", "3"]
    given += ["--challenge", str(sources.labels.with_name("challenge.yaml")), "--practice", "2", "--final", "2"]
    return main(["data", "from-folder", *given, *options])


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    groups = "speaker,age\n" + "".join(f"{person},{'old' if person > 'C' else 'young'}\n" for person in PEOPLE)
    sources = write_sources(folder / "sources", groups=groups)
    assert make(sources, folder / "out", "--groups", str(sources.groups), "--start", "2030-01-10 12:00:00") == 0
    return folder / "out"


def test_phases_are_dated_and_limited(bundle: Path) -> None:
    practice, final = yaml.safe_load((bundle / "competition.yaml").read_text())["phases"]
    times = [phase[key] for phase in (practice, final) for key in ("start", "end")]
    assert times == [f"{day} 12:00:00" for day in ("2030-01-10", "2030-04-09", "2030-04-10", "2030-04-24")]
    assert (practice["max_submissions_per_day"], final["max_submissions"]) == (10, 6)
    assert (practice.get("hide_output"), final["hide_output"]) == (None, True)


def test_the_bundle_is_sound_and_ranked_by_prediction(bundle: Path) -> None:
    # Groups of so few people are not compared, and so few labels are soon told, which is said and is no fault.
    assert {finding.code for finding in check(bundle, now=datetime(2029, 12, 1))} <= {
        *("clips-short", "groups-small", "labels-told", "training-few", "yardstick-people")
    }
    board = yaml.safe_load((bundle / "competition.yaml").read_text())["leaderboards"][0]
    columns = {column["key"]: column for column in board["columns"]}
    assert columns["skill"]["index"] == board["primary_index"]
    assert not columns["explanation"].get("hidden")
    evaluation = (bundle / "pages/evaluation.md").read_text()
    assert "ordered by *Skill over the constant*" in evaluation
    assert "is a diagnostic and does not rank" in evaluation
    assert "an edit changes one cue" in (bundle / "pages/measurement.md").read_text()


@pytest.mark.slow
def test_an_organiser_can_rank_by_explanations_and_is_warned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(make_bundle, "_train_example", lambda folder, _: shutil.copytree(EXAMPLE, folder / SOLUTION))
    monkeypatch.setattr(make_bundle, "_add_sample", lambda _: None)
    assert make(write_sources(tmp_path / "s"), tmp_path / "out", "--rank-by", "explanation") == 0
    codes = {finding.code for finding in check(tmp_path / "out") if finding.severity != "note"}
    assert codes == {"ranks-filmed", "ranks-few", "labels-told", "training-few"}
    assert "ordered by *Explanation score*" in (tmp_path / "out/pages/evaluation.md").read_text()
    told = capsys.readouterr().out
    assert "WARNING: practice and final: with fewer than 10 people, luck decides" in told
    assert "WARNING: practice and final: scores of fewer than 20 clips" in told
    assert "hat: cannot be edited in footage" in told


def test_the_example_is_trained_and_the_kit_shows_what_it_records(bundle: Path) -> None:
    learned = json.loads((bundle / SOLUTION / "weights.json").read_text())
    assert (learned["main_target"], learned["vocabulary"]) == ("warmth", ["lighting", "hat"])
    assert learned["targets"]["warmth"]["title"] == "Warmth"
    sample = bundle / "starting_kit" / "sample_output"
    for line in (sample / "explanations.jsonl").read_text().splitlines():
        explained = json.loads(line)
        assert explained["text"].startswith("The warmth score is ")
        assert {claim["cue"] for claim in explained["evidence"]["cues"]} == {"lighting"}
    assert len((sample / "predictions.csv").read_text().splitlines()) == 1 + 2
    tour = json.loads((bundle / "starting_kit" / "tour.ipynb").read_text())
    assert tour["cells"][0]["source"].startswith("# A tour of How warm?")
    pages = yaml.safe_load((bundle / "competition.yaml").read_text())["pages"]
    assert [page["title"] for page in pages] == [
        *("Overview", "Evaluation", "Measurement", "Explanations", "Submission", "Environment", "Data"),
        *("Responsible use", "FAQ", "Glossary"),
    ]
    explanations = (bundle / "pages" / "explanations.md").read_text()
    assert "`hat` cannot be edited out of footage" in explanations
    assert "Bright lighting raised the warmth score" in explanations
    assert "the rules hold for yours" in (bundle / "docs" / "language.md").read_text()
    guide = (bundle / "docs" / "participant.md").read_text()
    assert re.findall("^#.*", guide, re.MULTILINE) == ["# Participant's guide", "## Read the report", "## Before Final"]


def test_without_a_vocabulary_every_cue_can_be_tried(tmp_path: Path) -> None:
    written = CHALLENGE.replace("vocabulary: [lighting, hat]\naliases: {hat: [cap, headgear]}\n", "")
    dataset = read(write_sources(tmp_path, challenge=written))
    assert dataset.challenge.vocabulary == ("motion", "lighting", "framing", "words", "voice")


def test_a_file_that_changes_while_it_is_read_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sources = write_sources(tmp_path / "s")
    grown = sources.clips / "Ann-0.mp4"

    def read_too_early(*arguments: Any, **options: Any) -> LabelledSet:  # noqa: ANN401
        dataset = read_folder(*arguments, **options)
        with grown.open("ab") as file:
            file.write(b"more")
        return dataset

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own_clips, "read_folder", read_too_early)
        assert make(sources, tmp_path / "out", "--data-only") == 1
    assert "clips that changed during the run (1): Ann-0.mp4" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_cells_that_were_merged_are_told_as_such(tmp_path: Path) -> None:
    first, *others = table().splitlines()
    blank = "\n".join([first, others[0], *(";".join((line.split(";")[0], "", "", "x")) for line in others[1:])])
    with pytest.raises(BundleError) as told:
        read(write_sources(tmp_path, blank))
    assert str(told.value).count("Cells that were merged in a spreadsheet are empty") == 2


@pytest.mark.slow
def test_its_kit_runs_its_template_and_the_columns_follow_the_settings(bundle: Path, tmp_path: Path) -> None:
    kit, out = bundle / "starting_kit", tmp_path / "runs/template"
    done = warm.run(kit / "kit.py", ["run", kit / "template", "--clips", "2"], cwd=tmp_path)
    assert done.code == 0, done.printed
    scores = json.loads((out / "output/scores.json").read_text())
    columns = yaml.safe_load((bundle / "competition.yaml").read_text())["leaderboards"][0]["columns"]
    assert list(scores) == [column["key"] for column in columns]
    assert {"warmth_accuracy", "warmth_ccc"} < set(scores)
    assert (scores["failed_clips"], scores["coverage"]) == (0, 1)
    page = (out / "output/detailed_results.html").read_text()
    assert "Warmth" in page
    assert "How warm? · practice" in page
    assert "First Impressions" not in page
    predictions = (out / "input/res/predictions.csv").read_text().splitlines()
    assert predictions[0] == "clip_id,warmth"
    assert len(predictions) == 3
    assert all(1 <= float(line.split(",")[1]) <= 7 for line in predictions[1:])


def test_nothing_in_it_speaks_of_another_challenge(bundle: Path) -> None:
    texts = [*bundle.glob("pages/*"), *bundle.glob("starting_kit/**/*.py"), *bundle.glob("starting_kit/*.md")]
    texts += [*bundle.glob("*_data/**/task.yaml"), *bundle.glob("solutions/**/*.*"), bundle / "competition.yaml"]
    texts += [bundle / "public_data/README.md"]
    assert len(texts) > 12
    for path in texts:
        assert OURS.findall(path.read_text("utf-8")) == [], path
    competition = yaml.safe_load((bundle / "competition.yaml").read_text())
    assert competition["title"] == "How warm?"
    pages = "\n".join(path.read_text() for path in bundle.glob("pages/*.md"))
    assert re.findall(r"[a-z]\.[A-Z][a-z]+ .{20}", pages) == []  # sentences without a space between
    data, overview, environment = ((bundle / f"pages/{n}.md").read_text() for n in ("data", "overview", "environment"))
    assert "friendly" in data
    assert "- **Registration ends**: 2026-11-20\n- **Winners**: in May\n" in overview
    assert "- **Who may take part**: Students of any university.\n- **Prizes**: A book: for the winner.\n" in overview
    assert "**Teams**" not in overview
    assert (
        "**Who may take part.** Students of any university. Organisers may" in (bundle / "pages/terms.md").read_text()
    )
    assert "6 labelled clips of 3 people" in data
    assert "1 to 7" in overview
    assert "share no person" in data
    assert "[id^=page_] table" in overview
    assert "60 s for import" in environment
    assert re.search(r" numpy \d+\.\d+", environment)


def test_figures_on_its_pages_follow_its_settings(bundle: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(bundle, tmp_path / "copy"))
    assert main(["pages", "--bundle", str(copy), "--check"]) == 0
    page = (copy / "pages/environment.md").read_text()
    assert ": 30 s for `predict`" in page
    assert "| clips | 2 | 2, of other people |" in (copy / "pages/overview.md").read_text()
    evaluation = (copy / "pages/evaluation.md").read_text().lower()
    assert "moves as claimed when a cue is made neutral" in evaluation
    assert "known causes" not in evaluation  # nobody knows them here
    for path in copy.glob("input_data/*/task.yaml"):
        path.write_text(path.read_text().replace("call_s: 30", "call_s: 45"))
    assert main(["pages", "--bundle", str(copy)]) == 0
    after = (copy / "pages/environment.md").read_text()
    assert after.splitlines()[:-1] == page.replace(": 30 s for `predict`", ": 45 s for `predict`").splitlines()[:-1]


def test_exchanges_do_not_make_filmed_people_drawn(bundle: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(bundle, tmp_path / "copy"))
    for path in copy.glob("input_data/*/task.yaml"):
        path.write_text(path.read_text() + "exchanges: exchanges.json\n")
        path.with_name("exchanges.json").write_text('{"format_version": 2, "clips": {}}')
    assert main(["pages", "--bundle", str(copy)]) == 0
    texts = {path.stem: path.read_text() for path in copy.glob("pages/*.md")}
    assert "come from other moments of the same clip" in texts["measurement"]
    assert "synthetic" not in "".join(texts.values())


def test_no_program_names_a_target() -> None:
    names = re.compile(
        r"extraversion|agreeableness|conscientiousness|emotional_stability|neuroticism|openness|\binterview\b"
    )
    for program in ("ingestion_program", "scoring_program"):
        for path in (ROOT / program).rglob("*.py"):
            tree = ast.parse(path.read_text("utf-8"))
            # An expression that stands alone is a docstring, where an example may name one.
            spoken = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            texts = [
                str(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in spoken
            ]
            assert [text for text in texts if names.search(text)] == [], path


def test_no_person_is_in_two_parts_and_groups_reach_the_reference_data_alone(bundle: Path) -> None:
    private = rows(bundle / "private/clips.csv")
    assert sorted(row["name"] for row in private) == sorted(f"{name}.mp4" for name in WARMTH)
    parts = {(row["source"], row["part"]) for row in private}
    assert sorted(source for source, _ in parts) == list(PEOPLE)
    tables = [*bundle.glob("*_data/**/*.csv"), *bundle.glob("*_data/**/*.json")]
    assert not any(person in path.read_text("utf-8") for person in PEOPLE for path in tables)
    age = {row["clip_id"]: "old" if row["source"] > "C" else "young" for row in private}
    for phase in ("practice", "final"):
        groups = rows(bundle / "reference_data" / phase / "groups.csv")
        assert groups == [{"clip_id": row["clip_id"], "age": age[row["clip_id"]]} for row in groups]
    assert not [*bundle.glob("input_data/**/groups.csv"), *bundle.glob("public_data/groups.csv")]


def test_what_is_private_is_in_nothing_that_is_packed(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bundle_tools.challenge.build.check", lambda *_, **__: [])  # that it is sound is seen above
    assert (bundle / "private/clips.html").is_file()
    assert main(["build", "--bundle", str(bundle), "--out", str(tmp_path / "built.zip")]) == 0
    with zipfile.ZipFile(tmp_path / "built.zip") as built:
        names = built.namelist()
        for name in (name for name in names if name.endswith(".zip")):
            names += zipfile.ZipFile(io.BytesIO(built.read(name))).namelist()
    assert len(names) > 20
    assert [name for name in names if "private" in name or name.endswith("clips.html")] == []


def test_the_data_alone_and_which_clips_were_encoded_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sources = write_sources(tmp_path / "sources")
    (sources.clips / "Bob-1.mp4").write_bytes(make_clip(seconds=1, container="webm", codec="libvpx"))
    (sources.clips / "Bob-0.mp4").write_bytes(make_clip(seconds=1, sound=False))
    (sources.clips / "Cem-0.mp4").write_bytes(make_clip(seconds=0.2))
    assert make(sources, tmp_path / "out", "--data-only") == 0
    told = capsys.readouterr().out
    assert "1 clip had to be re-encoded for the canonical form: picture codec (1), sound codec (1). Bob-1.mp4." in told
    assert "WARNING: 1 clip is shorter than a quarter of the usual 1.0 s, such as Cem-0.mp4 (0.2 s)." in told
    assert "WARNING: 10 clips are shorter than 1.5 s, such as Cem-0.mp4" in told
    assert "WARNING: 1 clip of 10 without sound, such as Bob-0.mp4." in told
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        *("SHA256SUMS", "input_data", "private", "public_data", "reference_data")
    ]


def test_without_a_file_every_column_of_numbers_is_a_target(tmp_path: Path) -> None:
    lines = ["file,Quick & Bright,calm"] + [f"{name},0.5,0.25" for name in WARMTH]
    dataset = read_folder(write_sources(tmp_path / "s", "\n".join(lines)), Description(), Problems())
    assert [(one.name, one.title, one.maximum) for one in dataset.challenge.targets] == [
        ("quick_bright", "Quick & bright", 1.0),
        ("calm", "Calm", 1.0),
    ]
    assert dataset.challenge.main_target == "quick_bright"
    assert not dataset.has_sources
    assert len({clip.source for clip in dataset.clips}) == len(WARMTH)


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    lines = table(",", comma=False).splitlines()
    lines[1] = "Ann-0.mp4,Ann,warm,x"
    lines[2] = "Ann-1.mp4,Ann,8.5,x"
    lines[3] = "Zoe-0.mp4,Zoe,3,x"
    lines.append("Eve-1.mp4,Eve,3,x")
    lines.append("Dot-0.mp4,,3,x")
    sources = write_sources(tmp_path / "s", "\n".join(lines), groups="who,age\nMallory,old\n")
    with pytest.raises(BundleError) as caught:
        read(sources)
    for said in (
        "labels that are not numbers (1): line 2, Rating (1-7): 'warm'",
        "labels outside their range (1): line 3, Rating (1-7): 8.5",
        "labels without a clip (1): line 4: Zoe-0.mp4",
        "clips with several rows of labels (2): lines 11 and 12: Eve-1.mp4; lines 8 and 13: Dot-0.mp4",
        "clips without labels (1): Bob-0.mp4",
        "groups without a clip or source column",
    ):
        assert said in str(caught.value)


def test_capitals_of_file_names_do_not_matter(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "s", table().replace("Ann-0.mp4", "ANN-0.MP4").replace("Bob-0.mp4", "bob-0"))
    assert {clip.name for clip in read(sources).clips} == {f"{name}.mp4" for name in WARMTH}
    # Exact names go first; where two files differ in capitals alone, nobody can tell which one another spelling means.
    (sources.clips / "ann-0.mp4").write_bytes(make_clip(99, seconds=1))
    with pytest.raises(BundleError, match=r"labels that fit several clips \(1\): line 2: ANN-0\.MP4"):
        read(sources)
    sources.labels.write_text(table() + "ann-0.mp4;Ann;2,5;x\n", "utf-8")
    assert len(read(sources).clips) == len(WARMTH) + 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('title: "How warm?"', f"title: {'x' * 101}", "title: found 'x"),
        ("minimum: 1,", "minimum: 7,", "targets[0]: found minimum 7 and maximum 7; expected two numbers, rising"),
        ("maximum: 7,", "maximum: .inf,", "targets[0].maximum: found inf"),
        ("maximum: 7,", "", "maximum: found nothing"),
        ("name: warmth", "name: Warmth!", "lower-case letters, digits and underscores"),
        ("title: Warmth,", "title: A title that is far too long,", "expected a text of 1 to 24 characters"),
        ("column: Rating (1-7)", "column: Score", "targets without a column (1): Score"),
        ("columns: {source: Who}", "columns: {source: Person}", "named columns that do not exist (1): Person"),
        ("columns: {source: Who}", "columns: {speaker: Who}", "columns.speaker: found an unknown key"),
        ("ignore: [Remark]", "main_target: cold", "main_target: found 'cold'; expected one of warmth"),
        ("ignore: [Remark]", "group: {name: all, title: All, targets: [cold]}", "group.targets: found 'cold'"),
        ("vocabulary: [lighting, hat]", "vocabulary: lighting", "vocabulary: found 'lighting'; expected a list"),
        ("vocabulary: [lighting, hat]", "vocabulary: [Lighting!, hat]", "lower-case letters, digits and underscores"),
        ("vocabulary:", "vocabularies: [a]\nvocabulary:", "vocabularies: found an unknown key"),
        ("aliases: {hat:", "aliases: {cap:", "aliases.cap: found not a cue of the vocabulary"),
        ("[lighting, hat]", "[lighting, hat, hat]", "vocabulary: found a duplicate entry"),
        (CHALLENGE, "- a list", "challenge.yaml: found ['a list']; expected a mapping"),
        (CHALLENGE, "a: [", "expected a YAML file in UTF-8"),
    ],
)
def test_mistakes_in_the_file_are_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in CHALLENGE
    with pytest.raises(BundleError, match="Please correct:") as caught:
        read(write_sources(tmp_path / "s", challenge=CHALLENGE.replace(old, new)))
    assert said in str(caught.value)


def test_what_scoring_would_refuse_is_told_before_anything_stands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = write_sources(tmp_path / "s", challenge=f"{CHALLENGE}group: {{name: warmth, targets: [warmth]}}\n")
    assert make(sources, tmp_path / "out") == 1
    assert "the scoring program does not accept these settings" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ("source,warmth\nAnn,x\n", "attributes that are also targets (1): warmth"),
        ("source,age\nAnn,x\nAnn,y\n", "people with several rows of groups (1): groups.csv:3: Ann"),
        ("source\nAnn\n", "none or too many attributes"),
        ("source,age\n" + "".join(f"Ann,{n}\n" for n in range(21)), "attributes with too many groups (1): age"),
        ("source,age\nAnn,x\nMallory,y\n", "groups of people without clips (1): groups.csv:3: Mallory"),
        ("source,性别,地区,Light,light!,age\nAnn,x,y,a,b,c\n", "empty or equal (4): 性别; 地区; Light; light!."),
    ],
)
def test_mistakes_in_groups_are_named(tmp_path: Path, groups: str, said: str) -> None:
    with pytest.raises(BundleError) as caught:
        read(write_sources(tmp_path / "s", groups=groups))
    assert said in str(caught.value)


def test_groups_by_clip_count_too(tmp_path: Path) -> None:
    dataset = read(write_sources(tmp_path / "s", groups="clip,light\nAnn-0,dim\nBob-1.mp4,bright\n"))
    groups = {clip.name: dict(clip.groups) for clip in dataset.clips if clip.groups}
    assert groups == {"Ann-0.mp4": {"light": "dim"}, "Bob-1.mp4": {"light": "bright"}}


def test_what_people_are_is_no_target_by_oversight(tmp_path: Path) -> None:
    lines = ["file,calm,Gender,ignored age,RACE"] + [f"{name},0.5,1,0,0" for name in WARMTH]
    sources = write_sources(tmp_path / "s", "\n".join(lines))
    with pytest.raises(BundleError, match=r"would become targets \(2\): Gender; RACE\..*--groups"):
        read_folder(sources, Description(ignore=("ignored age",)), Problems())
    dataset = read_folder(sources, Description(ignore=("Gender", "RACE")), Problems())
    assert [one.column for one in dataset.challenge.targets] == ["calm", "ignored age"]


@pytest.mark.parametrize("ends", [("0", "inf"), ("1", "1"), ("0", "nan")])
def test_options_that_cannot_be_are_told_with_the_rest(
    tmp_path: Path, ends: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    sources = write_sources(tmp_path / "s", challenge="main_target: cold\nignore: [Remark]\n")
    assert make(sources, sources.clips / "out", "--practice", "9", "--final", "9", "--range", *ends) == 1
    told = capsys.readouterr().err
    for said in (
        "--out inside the folder of --clips",
        "ask for 18 clips; found 10",
        "main_target: cold",
        f"--range {ends[0]} {ends[1]}",
    ):
        assert said in told
    assert "outside their range" not in told
