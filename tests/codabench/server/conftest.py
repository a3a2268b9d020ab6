"""A small Codabench, a bundle to put on it, and the `bundle` command as an organiser calls it."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bundle_tools.cli.main import main
from bundle_tools.codabench.server import client
from tests.codabench.server.fake import Json, Server, serving

COMPETITION = """\
version: 2
title: Tiny
description: A bundle to try things with.
image: logo.png
terms: pages/terms.md
docker_image: example/tiny:1
enable_detailed_results: true
pages:
  - {title: Overview, file: pages/overview.md}
tasks:
  - {index: 0, name: "Tiny: Practice", scoring_program: scoring_program/, ingestion_program: ingestion_program/,
     input_data: input_data/, reference_data: reference_data/}
  - {index: 1, name: "Tiny: Final", scoring_program: scoring_program/, ingestion_program: ingestion_program/,
     input_data: input_data/, reference_data: reference_data/}
solutions:
  - {index: 0, name: half, path: solutions/half.zip, tasks: [0, 1]}
phases:
  - {index: 0, name: Practice, start: "2026-01-01 12:00:00", end: "2098-12-31 12:00:00", tasks: [0], starting_kit: kit/}
  - {index: 1, name: Final, start: "2099-01-01 12:00:00", end: "2099-02-01 12:00:00", tasks: [1], hide_output: true}
leaderboards:
  - title: Results
    key: results
    submission_rule: Force_Best
    columns:
      - {index: 0, key: accuracy, title: Accuracy, sorting: desc, precision: 4}
      - {index: 1, key: duration_s, title: Run time, sorting: asc, precision: 1}
"""
FILES = {
    "competition.yaml": COMPETITION.encode(),
    "logo.png": b"png",
    "pages/terms.md": b"# Terms\n",
    "pages/overview.md": b"# Overview\n",
    "scoring_program/metadata.yaml": b"command: python3 scoring.py\n",
    "ingestion_program/metadata.yaml": b"command: python3 ingestion.py\n",
    "input_data/clips.csv": b"clip_id\n",
    "reference_data/labels.csv": b"clip_id\n",
    "kit/README.md": b"# Kit\n",
    "solutions/half.zip": bytes.fromhex("504b0506") + bytes(18),  # an empty zip
}
SCORES = {"accuracy": 0.5, "duration_s": 3.2}


def write_zip(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that nobody has used; whoever waits for it does not wait long."""
    monkeypatch.setenv("CODABENCH_TOKEN", "organiser-token")
    monkeypatch.delenv("CODABENCH_SECOND_TOKEN", raising=False)
    for name in ("BACKOFF_S", "PAUSE_S", "LOOK_S"):
        monkeypatch.setattr(client, name, 0.001)
    with serving(Server(work=lambda _: ("Finished", SCORES))) as found:
        yield found


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return write_zip(tmp_path / "bundle.zip", FILES)


class Bundle:
    """Calls `bundle server ...`, which must end with this code, or with any where it is None; gives what it printed."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd = capfd
        self.code = 0

    def __call__(self, *words: object, code: int | None = 0) -> str:
        self._capfd.readouterr()
        self.code = main(["server", *map(str, words)])
        printed = "".join(self._capfd.readouterr())
        assert code in (None, self.code), printed
        assert "Traceback" not in printed
        assert "organiser-token" not in printed
        return printed


@pytest.fixture
def bundle(capfd: pytest.CaptureFixture[str]) -> Bundle:
    return Bundle(capfd)


class Site:
    """A server with the competition of a bundle, and `bundle server` for it."""

    def __init__(self, server: Server, archive: Path, bundle: Bundle) -> None:
        self.server, self.archive, self.bundle = server, archive, bundle
        bundle("publish", server.address, "--bundle", archive, "--yes")
        server.requests.clear()
        [self.made] = server.competitions.values()
        self.address = f"{server.address}/competitions/{self.made['id']}/"

    def __call__(self, action: str, *words: object, phase: str = "practice", code: int | None = 0) -> str:
        """Call an action on the competition; all but `audit` get a phase."""
        chosen = () if action == "audit" or not phase else ("--phase", phase)
        once = ("--once",) if action == "watch" else ()
        return self.bundle(action, self.address, *chosen, *words, *once, code=code)

    def phase(self, name: str = "Practice") -> Json:
        found: Json = next(phase for phase in self.made["phases"] if phase["name"] == name)
        return found

    @property
    def task(self) -> Json:
        """The task of the first phase."""
        return self.server.tasks[self.phase()["tasks"][0]]

    def submit(self, owner: str, accuracy: float | None = 0.5, **content: object) -> int:
        """Put a submission on the server that has ended."""
        sent = f"{owner} {accuracy}".encode()
        key = self.server.add_data("submission", owner, file_name="submission.zip", content=sent)
        values = {} if accuracy is None else {**SCORES, "accuracy": accuracy}
        scores = [{"column_key": key, "score": str(value)} for key, value in values.items()]
        made = {"status": "Finished", "scores": scores, "on_leaderboard": True, **content}
        return self.server.add_submission(owner, self.phase()["id"], key, **made)


@pytest.fixture
def site(server: Server, archive: Path, bundle: Bundle) -> Site:
    return Site(server, archive, bundle)
