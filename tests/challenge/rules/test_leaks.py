"""Plant answers of the hidden phase all over the real bundle: each hiding place must be found, and nothing else."""

import bz2
import csv
import gzip
import hashlib
import io
import json
import lzma
import math
import pickle
import re
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bundle_tools.challenge.check import check
from bundle_tools.challenge.reading.answers import (
    HiddenAnswers,
    Text,
    hidden_answers,
    holds_labels_in_order,
    labelled_clips,
    named_ids,
)
from bundle_tools.challenge.reading.inside import Unopened, look_inside
from bundle_tools.challenge.reading.tables import read_contributions
from bundle_tools.challenge.rules.leaks import check_identities, check_leaks
from bundle_tools.challenge.rules.reference import check_misplaced
from bundle_tools.challenge.rules.shortcuts import check_shortcuts
from bundle_tools.codabench.archive import zip_folder
from bundle_tools.codabench.rules.archive import check_zip
from bundle_tools.codabench.rules.dataset import DataFiles
from bundle_tools.codabench.rules.findings import Finding
from tests import ROOT
from tests.fewer import keep_clips
from tests.tiny import PNG, draft_of, swap, write_files

KEPT = (
    *("competition.yaml", "pages/faq.md", "pages/overview.md", "starting_kit/README.md", "public_data/labels.csv"),
    *("ingestion_program/metadata.yaml", "ingestion_program/ingestion.py", "scoring_program/metadata.yaml"),
    *("scoring_program/scoring.py", "solutions/constant/model.py", "solutions/cue_reader/model.py"),
)
FINAL = "reference_data/final/labels.csv"
KEY = "5f2b9c7e1d804a6fb3c8e97a2d451b60" * 2 + "\n"
OTHER_KEY = KEY[::-1].strip()

Table = dict[str, dict[str, str]]
Mutation = Callable[[Path], object]


def labels_file(bundle: Path) -> bytes:
    return (bundle / FINAL).read_bytes()


@pytest.fixture(scope="module")
def skeleton(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the real bundle with a file or two of each program, solution and page, and of ten clips a phase.

    Each file of a bundle is searched for each answer, and the whole of it holds nothing (test_real_bundle.py).
    """
    root = tmp_path_factory.mktemp("skeleton")
    files = [ROOT / name for name in KEPT]
    for data in ("input_data", "reference_data"):
        files += [path for path in (ROOT / data).glob("*/*") if path.is_file() and path.name != "key_frames.csv"]
    for path in files:
        put(root / path.relative_to(ROOT), path.read_bytes())
    keep_clips(root, 10)
    for phase in ("practice", "final"):
        (root / f"input_data/{phase}/clips").mkdir()
        clip = f"input_data/{phase}/clips/{next(iter(table(root, phase)))}.mp4"
        shutil.copy(ROOT / clip, root / clip)
    return root


@pytest.fixture
def bundle(skeleton: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(skeleton, tmp_path / "b"))


def findings(bundle: Path) -> list[Finding]:
    given = draft_of(bundle)
    return [*check_leaks(given), *check_identities(given), *check_misplaced(given)]


def codes(bundle: Path) -> set[str]:
    return {finding.code for finding in findings(bundle)}


def table(bundle: Path, phase: str = "final") -> Table:
    with (bundle / "reference_data" / phase / "labels.csv").open() as opened:
        return {row["clip_id"]: row for row in csv.DictReader(opened)}


def backwards(bundle: Path) -> list[tuple[str, dict[str, str]]]:
    return list(table(bundle).items())[::-1]


def column(bundle: Path, target: str = "interview") -> list[float]:
    return [float(row[target]) for row in table(bundle).values()]


def matrix(bundle: Path) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    return np.array([[float(value) for value in list(row.values())[2:]] for row in table(bundle).values()])


def put(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def saved(array: object, compressed: bool = False) -> bytes:
    buffer = io.BytesIO()
    (np.savez_compressed if compressed else np.save)(buffer, np.asarray(array))
    return buffer.getvalue()


def zipped(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


def claiming(archive: bytes, size: int, claimed: int) -> bytes:
    """Make a zip claim that each of its files of this size has another: what is judged before it is unpacked."""
    assert size.to_bytes(4, "little") in archive
    return archive.replace(size.to_bytes(4, "little"), claimed.to_bytes(4, "little"))


def zip_bomb() -> bytes:
    return claiming(zipped("x", bytes(1_234_567)), 1_234_567, 300_000_000)


def labels_as_json(bundle: Path) -> str:
    """Give one label of each clip, in another order than the table's."""
    return json.dumps({clip: {"interview": float(row["interview"])} for clip, row in backwards(bundle)}, indent=1)


def chalearn_pickle(bundle: Path, protocol: int) -> bytes:
    rows = table(bundle)
    return pickle.dumps({"interview": {clip: float(row["interview"]) for clip, row in rows.items()}}, protocol)


def rounded_beside_ids(bundle: Path) -> str:
    return "".join(f"{clip} {float(row['interview']):.3f}\n" for clip, row in backwards(bundle))


def one_clip_with_three_labels(bundle: Path) -> str:
    names = ("interview", "openness", "extraversion")
    rows = ((clip, [round(float(row[name]), 3) for name in names]) for clip, row in backwards(bundle))
    # A label such as 0.400 would be written as 0.4, which is no clue.
    clip, values = next((clip, values) for clip, values in rows if all(round(1000 * value) % 10 for value in values))
    return json.dumps({"values": values, "id": clip})


def transcripts_with_a_column(bundle: Path) -> None:
    path = bundle / "input_data/final/transcripts.json"
    rows = table(bundle)
    said = json.loads(path.read_text())
    texts = {clip: [said[clip], round(float(row["openness"]), 4)] for clip, row in rows.items()}
    path.write_text(json.dumps(texts))


def transcripts_that_name_a_clip(bundle: Path) -> None:
    path = bundle / "input_data/final/transcripts.json"
    texts = json.loads(path.read_text())
    first, second = list(table(bundle))[:2]
    path.write_text(json.dumps(texts | {first: f"Recorded after {second}."}))


def files_named_by_label(bundle: Path) -> None:
    path = bundle / "input_data/final/clips.csv"
    text = path.read_text()
    for clip, row in table(bundle).items():
        name = f"clips/{clip}_{row['interview']}.mp4"
        clips = bundle / "input_data/final"
        if (clips / f"clips/{clip}.mp4").exists():
            (clips / f"clips/{clip}.mp4").rename(clips / name)
        text = text.replace(f"clips/{clip}.mp4", name)
    path.write_text(text)


def pictures_named_by_label(bundle: Path) -> None:
    for clip, row in backwards(bundle):
        put(bundle / f"input_data/final/faces/{clip}_{float(row['interview']):.3f}.jpg", b"\xff\xd8\xff")


def files_named_by_source(bundle: Path) -> None:
    path = bundle / "input_data/final/clips.csv"
    text = path.read_text()
    for clip, row in table(bundle).items():
        text = text.replace(f"clips/{clip}.mp4", f"clips/{row['source_id']}-{clip[1:]}.mp4")
    path.write_text(text)


def a_source_in_two_phases(bundle: Path) -> None:
    path = bundle / "reference_data/practice/labels.csv"
    sources = [row["source_id"] for row in table(bundle, "practice").values()]
    swap(path, sources[0], next(iter(table(bundle).values()))["source_id"])


def a_source_in_public_data(bundle: Path) -> None:
    path = bundle / "public_data/labels.csv"
    source = next(iter(table(bundle).values()))["source_id"]
    path.write_text(re.sub(r",s[0-9a-f]{9},", f",{source},", path.read_text(), count=1))


def a_hidden_clip(bundle: Path) -> bytes:
    return clips_of(bundle, "final")[0].read_bytes()


def a_hidden_copy(bundle: Path) -> bytes:
    with (bundle / "input_data/final/copies.csv").open() as opened:
        return (ROOT / "input_data/final" / next(csv.DictReader(opened))["file"]).read_bytes()


def contributions(bundle: Path) -> dict[str, tuple[float, ...]]:
    return read_contributions(DataFiles(bundle / "reference_data/final"))


def a_column_of_contributions(bundle: Path) -> str:
    return "\n".join(f"{row[1]:.4f}" for row in contributions(bundle).values())


def contributions_beside_ids(bundle: Path) -> str:
    return "\n".join(f"{clip}: {row[0]:.6f}" for clip, row in contributions(bundle).items())


def words_apart(bundle: Path) -> str:
    return "\ufeff" + (bundle / FINAL).read_text().replace("\n", "  \r\n")


def programs_open(bundle: Path) -> None:
    swap(bundle / "competition.yaml", "make_programs_available: false", "make_programs_available: true")


@dataclass(frozen=True)
class Plant:
    """A file that is added to a folder which the bundle hands out."""

    name: str
    content: Callable[[Path], str | bytes]

    def __call__(self, bundle: Path) -> None:
        put(bundle / self.name, self.content(bundle))

    def below(self, folder: str) -> str:
        """Give its path, should it lie in a new folder at the top of the place that is handed out."""
        parts = self.name.split("/")
        depth = 2 if parts[0] in {"input_data", "reference_data", "solutions"} else 1
        return "/".join([*parts[:depth], folder, *parts[depth:]])


def both(*mutations: Mutation) -> Mutation:
    return lambda bundle: [mutate(bundle) for mutate in mutations]


def sealed(bundle: Path) -> None:
    for program in ("ingestion_program", "scoring_program"):
        put(bundle / program / "seal.key", KEY)


def keys_of(ingestion: str | None, scoring: str | None) -> Mutation:
    def mutate(bundle: Path) -> None:
        for program, key in (("ingestion_program", ingestion), ("scoring_program", scoring)):
            if key is not None:
                put(bundle / program / "seal.key", key)

    return mutate


def clips_of(bundle: Path, phase: str) -> list[Path]:
    return sorted((bundle / f"input_data/{phase}/clips").iterdir())


def whole_bundle_clips(bundle: Path) -> None:
    for clip in table(bundle):
        shutil.copy(ROOT / f"input_data/final/clips/{clip}.mp4", bundle / "input_data/final/clips")


def add_to_clip(bundle: Path, path: Path, content: bytes) -> None:
    """Change a clip and its hash in the list of clips."""
    before = path.read_bytes()
    put(path, content)
    listing = path.parents[1] / "clips.csv"
    old, new = (hashlib.sha256(piece).hexdigest() for piece in (before, content))
    swap(listing, old, new)


def free_box(content: bytes) -> bytes:
    return (8 + len(content)).to_bytes(4, "big") + b"free" + content


def labels_in_boxes(text: Callable[[dict[str, str]], bytes]) -> Mutation:
    def mutate(bundle: Path) -> None:
        whole_bundle_clips(bundle)
        rows = table(bundle)
        for path in clips_of(bundle, "final"):
            add_to_clip(bundle, path, path.read_bytes() + free_box(text(rows[path.stem])))

    return mutate


def table_in_a_practice_clip(bundle: Path) -> None:
    path = clips_of(bundle, "practice")[0]
    add_to_clip(bundle, path, path.read_bytes() + free_box((bundle / FINAL).read_bytes()))


def table_after(start: bytes) -> Callable[[Path], bytes]:
    return lambda bundle: start + (bundle / FINAL).read_bytes()


def a_link(name: str, target: str) -> Mutation:
    return lambda bundle: (bundle / name).symlink_to(bundle / target)


def inside_a_page(bundle: Path) -> None:
    path = bundle / "pages/faq.md"
    path.write_text(path.read_text() + f"\n<!--\n{rounded_beside_ids(bundle)}-->\n")


def one_id(bundle: Path) -> str:
    return f"Look at clip {next(iter(table(bundle)))}, please.\n"


PLANTED_FILES: list[tuple[str, Plant]] = [
    # The file itself, in any dress.
    ("leak", Plant("public_data/x.csv", lambda b: (b / FINAL).read_bytes())),
    ("leak", Plant("starting_kit/x.bin", lambda b: (b / FINAL).read_bytes())),
    ("leak", Plant("solutions/constant/data.zip", lambda b: zipped("a/b.csv", (b / FINAL).read_bytes()))),
    ("leak", Plant("public_data/x.csv.gz", lambda b: gzip.compress((b / FINAL).read_bytes()))),
    ("leak", Plant("public_data/x.csv", words_apart)),
    ("leak", Plant("public_data/x.txt", lambda b: (b / FINAL).with_name("causes.json").read_bytes())),
    ("leak", Plant("public_data/x.csv", lambda b: (b / FINAL).read_text().encode("utf-16"))),
    ("leak", Plant("input_data/practice/x.csv", lambda b: (b / FINAL).read_bytes())),
    ("leak", Plant("public_data/x.zip", lambda b: zipped("y.zip", zipped("z.zip", zipped("x", labels_file(b)))))),
    # Where no program looks, and participants do.
    ("leak", Plant("starting_kit/__pycache__/x.csv", labels_file)),
    ("leak", Plant("starting_kit/.git/x.csv", labels_file)),
    (
        "leak",
        Plant("solutions/constant/__pycache__/task.yaml", lambda b: (b / FINAL).with_name("task.yaml").read_bytes()),
    ),
    # Labels in media and in odd encodings.
    ("leak-labels", Plant("public_data/x.png", table_after(PNG))),
    # Labels beside ids.
    ("leak-labels", Plant("public_data/x.json", labels_as_json)),
    ("leak-labels", Plant("starting_kit/x.zip", lambda b: zipped("x.json", labels_as_json(b).encode()))),
    ("leak-labels", Plant("solutions/cue_reader/x.txt", rounded_beside_ids)),
    ("leak-labels", Plant("ingestion_program/x.py", lambda b: "ANSWERS = " + labels_as_json(b))),
    ("leak-labels", Plant("scoring_program/x.json", labels_as_json)),
    ("leak-labels", Plant("input_data/final/x.txt", rounded_beside_ids)),
    ("leak-labels", Plant("public_data/x.pkl", lambda b: chalearn_pickle(b, 0))),
    ("leak-labels", Plant("public_data/x.json", one_clip_with_three_labels)),
    # Labels alone, in order.
    ("leak-labels", Plant("public_data/x.txt", lambda b: "\n".join(f"{value:.3f}" for value in column(b)))),
    ("leak-labels", Plant("public_data/x.txt", lambda b: "\n".join(f"{value:.6e}" for value in column(b)))),
    (
        "leak-labels",
        Plant("public_data/x.csv", lambda b: "\n".join(",".join(map(str, row)) for row in matrix(b)[::-1])),
    ),
    ("leak-labels", Plant("solutions/constant/x.npy", lambda b: saved(column(b)))),
    ("leak-labels", Plant("solutions/constant/x.npy", lambda b: saved(matrix(b).astype("<f4")))),
    ("leak-labels", Plant("solutions/constant/x.npy", lambda b: saved(np.array(column(b), dtype=">f4")))),
    ("leak-labels", Plant("starting_kit/x.npz", lambda b: saved(matrix(b), compressed=True))),
    # What causes contribute tells as much as labels.
    ("leak-labels", Plant("public_data/x.txt", a_column_of_contributions)),
    ("leak-labels", Plant("input_data/final/x.md", contributions_beside_ids)),
    # Ids.
    ("leak-id", Plant("public_data/x.md", one_id)),
    ("leak-id", Plant("starting_kit/x.zip", lambda b: zipped("x.md", one_id(b).encode()))),
    ("leak-id", Plant("solutions/constant/x.py", lambda b: f"# {one_id(b)}")),
    # Clips and people.
    ("leak-clip", Plant("public_data/clips/x.mp4", a_hidden_clip)),
    ("leak-clip", Plant("input_data/practice/clips/x.mp4", a_hidden_clip)),
    ("leak-clip", Plant("solutions/constant/x.bin", a_hidden_clip)),
    ("leak-clip", Plant("public_data/x.mp4", a_hidden_copy)),
    ("leak-clip", Plant("public_data/clips/x.mp4", lambda b: a_hidden_clip(b) + bytes(8))),
    ("leak-clip", Plant("public_data/clips/x.mp4", lambda b: free_box(b"x" * 1000) + a_hidden_clip(b))),
    # The seal.
    ("leak-seal", Plant("public_data/x.txt", lambda _: f"key: {KEY}")),
    ("leak-seal", Plant("starting_kit/ingestion_program/seal.key", lambda _: KEY)),
    ("leak-seal", Plant("reference_data/final/notes.txt", lambda _: KEY)),
    ("leak-seal", Plant("input_data/final/seal.key", lambda _: "another one")),
    ("leak-seal", Plant("scoring_program/score/copy.txt", lambda _: KEY)),
    ("leak-seal", Plant("starting_kit/x.zip", lambda _: zipped("seal.key", KEY.encode()))),
    ("leak-seal", Plant("starting_kit/__pycache__/seal.key", lambda _: KEY)),
    # What cannot be searched.
    ("archive-bomb", Plant("reference_data/final/x.zip", lambda _: zip_bomb())),
    ("archive-bomb", Plant("public_data/x.zip", lambda _: zipped("y.zip", zip_bomb()))),
    ("archive-bomb", Plant("public_data/x.zip", lambda _: zip_bomb())),
    ("archive-unopened", Plant("public_data/x.csv.xz", lambda b: lzma.compress(labels_file(b)))),
    ("archive-unopened", Plant("public_data/x.csv.bz2", lambda b: bz2.compress(labels_file(b)))),
    ("archive-bomb", Plant("public_data/x.gz", lambda _: gzip.compress(bytes(60_000_000), 1))),
    ("archive-unopened", Plant("public_data/x.zip", lambda _: b"PK\x03\x04 broken")),
    ("archive-unopened", Plant("public_data/x.gz", lambda _: b"\x1f\x8b\x08 broken")),
]
OTHERWISE: list[tuple[str, Mutation]] = [
    ("causes-misplaced", Plant("input_data/final/causes.json", lambda _: '{"clips": {}}')),
    ("causes-misplaced", Plant("public_data/observations.json", lambda _: "{}")),
    ("causes-misplaced", Plant("solutions/constant/data/causes.json", lambda _: "{}")),
    ("leak", a_link("starting_kit/linked", "reference_data/final")),
    ("leak-labels", table_in_a_practice_clip),
    ("leak-labels", labels_in_boxes(lambda row: ",".join(list(row.values())[2:]).encode())),
    ("leak-labels", labels_in_boxes(lambda row: f"v={float(row['interview']):.4f}".encode())),
    ("leak-labels", inside_a_page),
    ("leak-labels", transcripts_with_a_column),
    ("leak-labels", files_named_by_label),
    ("leak-labels", pictures_named_by_label),
    ("leak-id", Plant("pages/faq.md", one_id)),
    ("leak-id", lambda b: (b / "competition.yaml").open("a").write(f"# {one_id(b)}")),
    ("data-siblings", a_source_in_two_phases),
    ("data-siblings", a_source_in_public_data),
    ("leak-source", files_named_by_source),
    ("leak-transcript", transcripts_that_name_a_clip),
    ("leak-seal", both(sealed, programs_open)),
    ("leak-seal", Plant("solutions/constant/seal.key", lambda _: KEY)),
    ("seal-differs", keys_of(KEY, OTHER_KEY)),
    ("seal-alone", keys_of(KEY, None)),
    ("seal-alone", keys_of(None, KEY)),
    ("seal-damaged", keys_of("", "")),
    ("seal-damaged", keys_of(KEY[:20], KEY[:20])),
    ("seal-damaged", keys_of(KEY.upper(), KEY.upper())),
]


def test_every_planted_file_is_found(bundle: Path) -> None:
    """All in one bundle, each in a folder of its own: what is found names the file."""
    sealed(bundle)
    named = [(code, replace(file, name=file.below(f"n{at}"))) for at, (code, file) in enumerate(PLANTED_FILES)]
    for _, file in named:
        file(bundle)
    found = findings(bundle)
    missed = [
        (code, file.name)
        for code, file in named
        if not any(one.code == code and file.name in one.what for one in found)
    ]
    assert missed == []


@pytest.mark.parametrize(("code", "mutate"), OTHERWISE)
def test_every_other_hiding_place_is_searched(bundle: Path, code: str, mutate: Mutation) -> None:
    mutate(bundle)
    assert code in codes(bundle)


def zip_the_kit(bundle: Path) -> None:
    """Hand the kit over as a ready zip, as a built bundle does."""
    put(bundle / "starting_kit/data/x.zip", zipped("x.json", labels_as_json(bundle).encode()))
    zip_folder(bundle / "starting_kit", bundle / "kit.zip")
    shutil.rmtree(bundle / "starting_kit")
    swap(bundle / "competition.yaml", "starting_kit: starting_kit/", "starting_kit: kit.zip")


def test_a_zip_inside_a_zip_is_searched(bundle: Path) -> None:
    zip_the_kit(bundle)
    found = [finding for finding in findings(bundle) if finding.code == "leak-labels"]
    assert len(found) == 1
    assert "kit.zip/data/x.zip/x.json" in found[0].what


def guesses_of_hidden_clips(bundle: Path) -> str:
    """Predictions as good as the best, to three decimals: near the labels, never equal for long."""
    draw = np.random.default_rng(7)
    rows = matrix(bundle) + draw.normal(0, 0.05, matrix(bundle).shape)
    return "".join(
        f"{clip}," + ",".join(f"{x:.3f}" for x in row) + "\n" for clip, row in zip(table(bundle), rows, strict=True)
    )


HARMLESS: list[Mutation] = [
    sealed,
    Plant("starting_kit/practice.csv", lambda b: (b / "reference_data/practice/labels.csv").read_bytes()),
    Plant("public_data/practice.mp4", lambda b: clips_of(b, "practice")[0].read_bytes()),
    Plant("public_data/zeros.zip", lambda _: zipped("x", bytes(1_000_000))),
    Plant("public_data/README.md", lambda _: "Read this before you start.\n"),
    Plant("reference_data/final/README.md", lambda _: "Read this before you start.\n"),
    Plant("input_data/final/good_predictions.csv", guesses_of_hidden_clips),
    Plant("public_data/random.npy", lambda _: saved(np.random.default_rng(8).random(100_000))),
    Plant("public_data/written.txt", lambda _: "\n".join(f"{x:.3f}" for x in np.random.default_rng(9).random(100_000))),
]


def test_what_gives_nothing_away_is_no_finding(bundle: Path) -> None:
    """All in one bundle: a finding would name the file."""
    assert findings(bundle) == []
    for mutate in HARMLESS:
        mutate(bundle)
    assert findings(bundle) == []


def test_a_task_that_shows_its_true_values_hides_nothing(bundle: Path) -> None:
    path = bundle / "reference_data/final/task.yaml"
    path.write_text(path.read_text().replace("truth: false", "truth: true").replace("clips: false", "clips: true"))
    for name in ("labels.csv", "causes.json"):
        put(bundle / "starting_kit" / name, (bundle / FINAL).with_name(name).read_bytes())
    assert findings(bundle) == []


def test_labels_in_a_closed_scoring_program_are_a_warning_only(bundle: Path) -> None:
    put(bundle / "scoring_program/x.json", labels_as_json(bundle))
    assert {finding.severity for finding in findings(bundle)} == {"warning"}
    programs_open(bundle)
    assert {finding.severity for finding in findings(bundle)} == {"error"}


# Another format: a table of ids and values, no settings.
ROWS = {f"img_{number:03}.png": round(0.1 + 0.013 * number + 0.0007 * (number * 37 % 11), 4) for number in range(20)}
FOREIGN = "name,value\n" + "".join(f"{name},{value}\n" for name, value in ROWS.items())


@pytest.fixture
def foreign(tiny: Path) -> Path:
    (tiny / "reference_data/practice/answer.txt").unlink()
    return write_files(tiny, {"reference_data/practice/truth.csv": FOREIGN})


def test_a_bundle_of_another_format_may_name_its_ids(foreign: Path) -> None:
    """A sample submission lists every id with a number of its own."""
    sample = "".join(f"{name},{0.5 + number / 1000:.4f}\n" for number, name in enumerate(ROWS))
    write_files(foreign, {"solutions/half/sample.csv": sample, "input_data/practice/list.txt": "\n".join(ROWS)})
    assert findings(foreign) == []


@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"data": [{"truth": value, "file": name.removesuffix(".png")} for name, value in ROWS.items()]}),
        "".join(f"{name}: {{value: {value:.3f}}}\n" for name, value in ROWS.items()),
        "; ".join(f"{value:.4f}" for value in ROWS.values()),
    ],
)
def test_a_bundle_of_another_format_must_not_show_its_values(foreign: Path, content: str) -> None:
    write_files(foreign, {"solutions/half/notes.txt": content})
    assert "leak-labels" in codes(foreign)


def some_answers(values: list[list[float]]) -> HiddenAnswers:
    rows = {f"c{number:04x}a7": tuple(row) for number, row in enumerate(values)}
    return HiddenAnswers("reference_data/x/", "input_data/x/", True, rows)


LABEL = st.integers(1001, 99_998).filter(lambda n: n % 1000 != 0).map(lambda n: n / 100_000)
TABLES = st.integers(2, 6).flatmap(
    lambda width: st.lists(st.lists(LABEL, min_size=width, max_size=width), min_size=4, max_size=10)
)


@settings(deadline=None, max_examples=60)
@given(values=TABLES, style=st.sampled_from(["csv", "json", "reversed"]))
def test_labels_beside_ids_are_found_in_any_style(values: list[list[float]], style: str) -> None:
    answers = some_answers(values)
    if style == "json":
        text = json.dumps(
            {clip: {f"t{at}": value for at, value in enumerate(row)} for clip, row in answers.rows.items()}, indent=2
        )
    else:
        lines = [[clip, *map(str, row)][:: -1 if style == "reversed" else 1] for clip, row in answers.rows.items()]
        text = "\n".join(",".join(line) for line in lines)
    assert labelled_clips(text, answers)
    assert not labelled_clips(text.replace("a7", "b7"), answers)


def test_ids_count_as_whole_words_only() -> None:
    assert named_ids("see c0a1b2c3d.mp4 and c0a1b2c3d_2", {"c0a1b2c3d"}) == {"c0a1b2c3d"}
    assert named_ids("xc0a1b2c3d c0a1b2c3d4", {"c0a1b2c3d"}) == set()
    assert named_ids("clip-1-2 clip-1", {"clip-1"}) == {"clip-1"}


def test_classes_and_round_numbers_prove_nothing() -> None:
    answers = some_answers([[0.5, 1.0], [0.25, 0.0], [0.5, 1.0], [0.75, 0.0], [0.5, 1.0]])
    text = "\n".join(f"{clip} 0.500 1.000 0.250 0.000 0.750" for clip in answers.rows)
    assert not labelled_clips(text, answers)
    assert answers.windows == frozenset()
    assert some_answers([[0.3333], [0.6667], [0.3333], [0.3333], [0.6667], [0.3333]]).windows == frozenset()


def test_labels_that_are_no_numbers_are_no_traceback(bundle: Path) -> None:
    path = bundle / FINAL
    for pattern, odd in ((r"0\.3\d+", "nan"), (r"0\.4\d+", "1e306"), (r"0\.5\d+", "-1e999"), (r"0\.6\d+", "x")):
        path.write_text(re.sub(pattern, odd, path.read_text()))
    assert findings(bundle) == []
    assert list(check_shortcuts(draft_of(bundle))) == []
    assert any(
        not all(map(math.isfinite, row))
        for answers in hidden_answers(draft_of(bundle))
        for row in answers.rows.values()
    )


def test_a_lying_zip_ends_the_search_and_nothing_else(tmp_path: Path) -> None:
    put(tmp_path / "x.zip", claiming(zipped("x", b"a" * 1000), 1000, 10))
    put(tmp_path / "y.txt", "y")
    unopened: list[Unopened] = []
    names = [file.name for file in look_inside(DataFiles(tmp_path), unopened)]
    assert names == ["x.zip", "y.txt"]
    assert [problem.name for problem in unopened] == ["x.zip"]


def test_sets_that_count_alike_do_not_accuse_each_other(bundle: Path) -> None:
    """Every set starts at clip_0001: then an id alone tells nothing, an id beside its label still does."""
    for phase in ("practice", "final"):
        for path in (f"input_data/{phase}/clips.csv", f"reference_data/{phase}/labels.csv"):
            header, *rows = (bundle / path).read_text().splitlines()
            renamed = [f"clip_{at:04},{row.split(',', 1)[1]}" for at, row in enumerate(rows)]
            put(bundle / path, "\n".join([header, *renamed]) + "\n")
    put(bundle / "public_data/x.md", one_id(bundle))
    assert findings(bundle) == []
    put(bundle / "public_data/x.txt", rounded_beside_ids(bundle))
    assert codes(bundle) == {"leak-labels"}


def test_a_table_with_odd_headers_is_read_or_left_out(bundle: Path) -> None:
    path = bundle / FINAL
    text = path.read_text()
    for header in ('"clip_id","source_id","a,b"', "", "clip_id", "\0"):
        path.write_text("\n".join([header, *text.splitlines()[1:]]))
        assert codes(bundle) <= {"leak"}


@pytest.mark.parametrize(("clips", "others", "found"), [(2, 0, False), (3, 0, True), (3, 10, False), (4, 10, True)])
def test_a_few_equal_numbers_are_chance(clips: int, others: int, found: bool) -> None:
    """Three clips and a quarter of those with numbers: less proves nothing at three decimals."""
    answers = some_answers(np.random.default_rng(3).random((20, 1)).round(6).tolist())
    names = list(answers.rows)
    text = "\n".join(f"{name} {answers.rows[name][0]:.3f}" for name in names[:clips])
    text += "\n" + "\n".join(f"{name} 7.123" for name in names[clips : clips + others])
    assert bool(labelled_clips(text, answers)) == found


def test_copies_are_named_with_a_whole_path(bundle: Path) -> None:
    swap(bundle / "competition.yaml", "reference_data/final/", "reference_data/final")
    put(bundle / "public_data/x.csv", (bundle / FINAL).read_bytes())
    (found,) = (finding for finding in findings(bundle) if finding.code == "leak")
    assert found.what.endswith(f"the same content as {FINAL}.")


@pytest.mark.parametrize("path", ["x" * 5000, "a/" + "b" * 300, "a\\0b", "\\ud800/"])
@pytest.mark.parametrize("key", ["reference_data", "input_data", "scoring_program"])
def test_impossible_paths_stop_no_rule(tiny: Path, key: str, path: str) -> None:
    competition = tiny / "competition.yaml"
    competition.write_text(re.sub(rf"{key}: .*", lambda _: f'{key}: "{path}"', competition.read_text()))
    found = check(tiny)
    assert "file-unreadable" not in {finding.code for finding in found}
    assert "path-missing" in {finding.code for finding in found if ":" in finding.where}


def test_links_in_circles_end(tmp_path: Path) -> None:
    write_files(tmp_path, {"a/x.txt": "x", "b/y.txt": "y"})
    for name, target in (("a/up", ""), ("a/other", "b"), ("b/back", "a")):
        (tmp_path / name).symlink_to(tmp_path / target)
    names = DataFiles(tmp_path / "a", tmp_path).names()
    assert {"x.txt", "other/y.txt"} <= set(names)
    assert len(names) < 10
    assert DataFiles(tmp_path / "a").names() == ["x.txt"]


def test_a_bomb_of_many_members_is_found(tiny: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(6):
            archive.writestr(str(number), bytes(123_456))
    put(tiny / "x.zip", claiming(buffer.getvalue(), 123_456, 49_000_000))
    assert {finding.code for finding in check_zip(tiny / "x.zip")} == {"zip-bomb"}


def test_the_start_of_a_long_table_is_learnt() -> None:
    answers = some_answers(np.random.default_rng(4).random((60_000, 1)).round(5).tolist())
    assert 49_000 < len(answers.windows) <= 50_000
    text = "\n".join(f"{row[0]:.3f}" for row in list(answers.rows.values())[40_000:40_100])
    assert holds_labels_in_order(Text("x", text), answers)
