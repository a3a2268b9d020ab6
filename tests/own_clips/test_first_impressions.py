"""First Impressions V2 in miniature: from the downloaded archives to phases that both programs accept."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from bundle_tools.challenge.check import check
from bundle_tools.challenge.pages.write import write_pages
from bundle_tools.cli.main import main
from bundle_tools.errors import BundleError
from bundle_tools.own_clips.files import Problems
from bundle_tools.own_clips.first_impressions import FoundSet, read_first_impressions
from tests import ROOT

from .clips import METADATA, make_clip, make_zip
from .miniature import MINOR, PLAN, all_labels, clip, clips_of, expected_minors, labels_of, miniature, old_pickle, video
from .sets import rows

EVERY = [name for split in PLAN for name in clips_of(split)]


def refusal(source: Path) -> str:
    with pytest.raises(BundleError) as error:
        read_first_impressions(source, Problems())
    return str(error.value)


def test_all_labels_transcripts_and_groups_are_read(source: Path) -> None:
    found = read_first_impressions(source, Problems())
    labels = all_labels()
    assert {one.name for one in found.dataset.clips} == set(EVERY) - expected_minors()
    for one in found.dataset.clips:
        expected = [labels[name][one.name] for name in ("extraversion", "agreeableness", "conscientiousness")]
        expected += [labels[name][one.name] for name in ("neuroticism", "openness", "interview")]
        # High "neuroticism" is high stability: the value is not turned round.
        assert list(one.labels) == expected
        assert one.source == one.name[:11]
        assert one.transcript == ("" if one.name.startswith("-") else f"Well, this is number {one.name[1:3]}. Café!")
        number = int(one.name[1:3])
        assert one.groups["gender"] == ("female" if number % 2 else "male")
        assert one.groups["ethnicity"] == ("Asian", "Caucasian", "African-American")[number % 3]
        assert one.groups["age"] == ("19-24", "25-32", "33-45", "46-60")[number % 4]
    assert found.summary == (
        "24 clips with labels, of 10 videos.",
        "Left out as minors: 3 clips in which a rater saw somebody aged 18 or younger, and 1 more of the same videos.",
    )


def test_unpacked_files_are_read_as_well(source: Path, tmp_path: Path) -> None:
    plain = miniature(tmp_path / "plain", skip=("train-1.zip", "train-annotation.zip"))
    (plain / "train-1" / "training80_01").mkdir(parents=True)
    for name in clips_of("training"):
        (plain / "train-1" / "training80_01" / name).write_bytes(clip(name))
    (plain / "annotation_training.pkl").write_bytes(old_pickle(labels_of("training")))

    def content(found: FoundSet) -> list[tuple[object, ...]]:
        return [(one.name, one.labels, one.transcript, one.groups) for one in found.dataset.clips]

    assert content(read_first_impressions(plain, Problems())) == content(read_first_impressions(source, Problems()))


def test_no_person_is_in_two_parts_and_nothing_tells_who_it_is(made: Path) -> None:
    parts = [made / "public_data", made / "reference_data" / "practice", made / "reference_data" / "final"]
    sources = [{row["source_id"] for row in rows(part / "labels.csv")} for part in parts]
    assert sum(map(len, sources)) == len(set().union(*sources)) == 10
    told = [METADATA.encode(), *(video(number)[1:].encode() for number in range(1, 13))]
    for path in made.rglob("*"):
        if path.is_file() and "private" not in path.parts:
            assert not [name for name in told if name in path.read_bytes() + path.name.encode()], path
    private = rows(made / "private" / "clips.csv")
    assert {row["name"] for row in private} == set(EVERY) - expected_minors()
    assert {row["source"] for row in private if row["source_id"] in sources[2]} == {
        row["source"] for row in private if row["part"] == "final"
    }


def test_groups_stay_on_the_side_of_the_reference(made: Path) -> None:
    for phase in ("practice", "final"):
        clips = [row["clip_id"] for row in rows(made / "input_data" / phase / "clips.csv")]
        groups = rows(made / "reference_data" / phase / "groups.csv")
        assert [row["clip_id"] for row in groups] == clips
        assert set(groups[0]) == {"clip_id", "age", "ethnicity", "gender"}
    for folder in ("input_data", "public_data"):
        for path in (made / folder).rglob("*"):
            assert path.is_dir() or b"Caucasian" not in path.read_bytes()


@pytest.mark.slow
def test_the_folder_makes_a_bundle_without_a_finding(made: Path, tmp_path: Path) -> None:
    for name in ("competition.yaml", "logo.png"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("pages", "ingestion_program", "scoring_program", "solutions", "starting_kit"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("input_data", "reference_data", "public_data"):
        shutil.copytree(made / name, tmp_path / name)
    competition = tmp_path / "competition.yaml"
    columns = yaml.safe_load(competition.read_text())["leaderboards"][0]["columns"]
    skill = next(column["index"] for column in columns if column["key"] == "skill")
    by_prediction = competition.read_text().replace("primary_index: 0", f"primary_index: {skill}")
    by_prediction = re.sub(r".*key: known_causes.*\n", "", by_prediction)
    assert f"primary_index: {skill}/" in (ROOT / "docs/first_impressions.md").read_text("utf-8")
    competition.write_text(by_prediction)
    write_pages(tmp_path)
    found = [finding for finding in check(tmp_path) if finding.severity != "note"]
    # Six clips have few labels.
    assert {finding.code for finding in found} <= {"labels-told", "training-few", "yardstick-people"}
    pages = "".join(path.read_text("utf-8") for path in (tmp_path / "pages").glob("*.md"))
    assert "talking head" not in pages
    assert "For every clip your model" in pages
    assert "with numbers for age, ethnicity, gender" in pages


def test_settings_say_stability_and_the_readme_says_why(made: Path) -> None:
    settings = yaml.safe_load((made / "reference_data" / "final" / "task.yaml").read_text("utf-8"))
    assert [target["name"] for target in settings["targets"]][3] == "emotional_stability"
    assert "neuroticism" not in json.dumps(settings)
    readme = (made / "public_data" / "README.md").read_text("utf-8")
    assert "high values mean calm" in readme
    assert "CC BY-NC 4.0" in readme


def test_the_official_split_keeps_its_parts_and_prints_the_look_up(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = ["--source", str(source), "--out", str(out), "--official-split", "--seed", "5", "--results"]
    assert main(["data", "first-impressions", *arguments]) == 0
    private = {row["name"]: row["part"] for row in rows(out / "private" / "clips.csv")}
    for part, split in (("training", "training"), ("practice", "validation"), ("final", "test")):
        assert {name for name, one in private.items() if one == part} == set(clips_of(split)) - expected_minors()
    printed = capsys.readouterr().out
    assert "Left out as minors: 3 clips" in printed
    # Two of the six clips of each phase show somebody whom the training clips show too.
    (practice,) = [line.split() for line in printed.splitlines() if line.startswith("practice ")]
    assert practice[1:3] == ["6", "2"]
    constant, everywhere, known = map(float, practice[3:6])
    labels = labels_of("training")["interview"]
    training = [labels[name] for name in clips_of("training") if name not in expected_minors()]
    mean = sum(training) / len(training)
    truth = labels_of("validation")["interview"]
    assert constant == pytest.approx(1 - sum(abs(truth[name] - mean) for name in truth) / 6, abs=1e-4)
    own = [name for name in truth if name.startswith(video(1))]
    looked_up = sum(labels[name] for name in labels if name.startswith(video(1))) / 2
    assert known == pytest.approx(1 - sum(abs(truth[name] - looked_up) for name in own) / 2, abs=1e-4)
    assert known > constant
    assert everywhere > constant
    assert "do not rank" in printed
    given = out / "input_data" / "final"
    settings = yaml.safe_load((given / "task.yaml").read_text("utf-8"))
    assert settings["results"] is True
    assert settings["target_aliases"] == {"neuroticism": "emotional_stability"}
    clip_ids = {row["name"]: row["clip_id"] for row in rows(out / "private" / "clips.csv")}
    assert {row["name"]: row["clip_id"] for row in rows(given / settings["aliases"])} == {
        name: clip_ids[name] for name in clips_of("test")
    }


def test_missing_parts_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    skipped = ("test-annotation.zip", "transcription_validation.pkl", "eth_gender_annotations_dev.csv", "test-1.zip")
    root = miniature(tmp_path / "download", skip=skipped)
    found = read_first_impressions(root, Problems())
    said = "\n".join(found.summary)
    assert "annotation_test.pkl: the test clips have no labels" in said
    assert "transcription_validation.pkl: the validation clips have no transcripts" in said
    assert "eth_gender_annotations_dev.csv" in said
    arguments = ["--source", str(root), "--out", str(tmp_path / "out"), "--official-split"]
    assert main(["data", "first-impressions", *arguments]) == 1
    assert "no clips with labels in test" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["download"]


def test_without_ages_it_takes_a_word_to_go_on(tmp_path: Path) -> None:
    root = miniature(tmp_path, skip=("fi_age_labels.zip",))
    assert f"may show minors ({len(EVERY)})" in refusal(root)
    found = read_first_impressions(root, Problems(), allow_unknown_ages=True)
    assert any(video(MINOR) in one.name for one in found.dataset.clips)
    assert f"Kept without a known age: {len(EVERY)} clips" in "\n".join(found.summary)


def test_everything_that_is_wrong_is_named_at_once_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = miniature(tmp_path / "download")
    whole = (root / "test-1.zip").read_bytes()
    (root / "test-1.zip").write_bytes(whole[: len(whole) // 2])
    (root / "transcription_test.pkl").write_bytes(b"\x80\x02cos\nsystem\nU\x02idR.")
    broken = labels_of("validation")
    broken["charisma"] = broken.pop("openness")
    (root / "val-annotation.zip").write_bytes(make_zip({"annotation_validation.pkl": old_pickle(broken)}))
    strange = labels_of("training")
    first, second, third, *_ = clips_of("training")
    strange["interview"][first] = 1.5
    del strange["openness"][second]
    for column in strange.values():
        column["somebody.mp4"] = 0.5
    (root / "train-annotation.zip").write_bytes(make_zip({"annotation_training.pkl": old_pickle(strange)}))
    doubled = labels_of("test")
    for column in doubled.values():
        column[third] = 0.5
    (root / "test-annotation.zip").write_bytes(make_zip({"annotation_test.pkl": old_pickle(doubled)}))
    (root / "more").mkdir()
    (root / "more" / third).write_bytes(make_clip(0))
    (root / "more" / "holiday.mp4").write_bytes(make_clip(0))
    (root / "eth_gender_annotations_test.csv").write_bytes(b"VideoName,Gender\na,1\n")
    (root / "more" / "age_anno_more.csv").write_bytes(f"VideoName\tAgeGroup\n{third}\t9\nnobody\t5\n".encode())
    before = sorted(path for path in tmp_path.rglob("*"))
    assert main(["data", "first-impressions", "--source", str(root), "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    for part in (
        "archives that cannot be read (is not a zip archive, or is cut off) (1): test-1.zip",
        "pickles unlike those of the data set (1): transcription_test.pkl",
        "missing columns (1): val-annotation.zip > annotation_validation.pkl: openness",
        "unknown columns (1): val-annotation.zip > annotation_validation.pkl: charisma",
        f"labels that are not numbers from 0 to 1 (1): train-annotation.zip > annotation_training.pkl: {first}",
        f"annotation_training.pkl: {second} (openness)",
        "labels of names that are not clips (1): train-annotation.zip > annotation_training.pkl: somebody.mp4",
        f"clips with labels in two parts (1): {third} (in test and in training)",
        f"duplicate files (1): {third}",
        "videos whose name is not of the data set (1): holiday.mp4",
        "columns Ethnicity missing; found VideoName, Gender",
        "age_anno_more.csv:2 (AgeGroup): '9'",
        "age_anno_more.csv:3 (nobody)",
        "labels without a clip",
        "clips without labels",
    ):
        assert part in said
    assert sorted(path for path in tmp_path.rglob("*")) == before


def test_what_is_incomplete_can_be_left_out(tmp_path: Path) -> None:
    root = miniature(tmp_path, skip=("test-1.zip",))
    unlabelled = root / "xxxxxxxxxxx.000.mp4"
    unlabelled.write_bytes(make_clip(0))
    said = refusal(root)
    assert f"labels without a clip ({len(clips_of('test'))})" in said
    assert "clips without labels (1): xxxxxxxxxxx.000.mp4" in said
    found = read_first_impressions(root, Problems(), allow_incomplete=True)
    assert "Left out as incomplete: 7 clips" in "\n".join(found.summary)
    assert {one.name for one in found.dataset.clips}.isdisjoint(clips_of("test"))


@pytest.mark.parametrize("content", [None, b"", b"\n  \n"])
def test_a_password_file_without_passwords_is_named(
    source: Path, tmp_path: Path, content: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "passwords.txt"
    if content is not None:
        path.write_bytes(content)
    arguments = ["--source", str(source), "--out", str(tmp_path / "out"), "--passwords", str(path)]
    assert main(["data", "first-impressions", *arguments]) == 1
    assert "passwords.txt" in capsys.readouterr().err


def test_a_source_that_is_none_and_an_out_inside_it_are_refused(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", "first-impressions", "--source", str(source), "--out", str(source / "out")]) == 1
    assert "--out inside the folder of --source" in capsys.readouterr().err
    assert "expected the folder" in refusal(tmp_path / "nothing")
    assert "missing parts that are required (1): annotation_*.pkl" in refusal(tmp_path)
