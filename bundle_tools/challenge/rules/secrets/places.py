"""Where the files of a bundle end up, and who can open them there."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from bundle_tools.challenge.rules.secrets.inside import File, Unopened, look_inside
from bundle_tools.codabench.rules.dataset import Dataset, opened
from bundle_tools.codabench.rules.document import FILE, Draft

Audience = Literal["participants", "models", "scoring"]


@dataclass(frozen=True)
class Place:
    """One folder, zip or page of the bundle."""

    name: str
    """Name in competition.yaml."""
    audience: Audience
    """participants: anybody can download it; models: a running submission can read it; scoring: neither."""
    data: Dataset
    page: str = ""
    """The only file that counts, if the place is a page; else empty."""

    def files(self, unopened: list[Unopened]) -> Iterator[File]:
        """Yield its files, also those in archives; what cannot be opened goes to `unopened`."""
        if self.page:
            yield File(self.page, self.data.read(self.page))
        else:
            yield from look_inside(self.data, unopened)

    def at(self, name: str) -> str:
        """Return the path of one of its files inside the bundle."""
        return name if self.page else str(PurePosixPath(self.name) / name)


def places(draft: Draft) -> list[Place]:
    """Return all places except the reference data; a place with several keys appears once, with its widest audience."""
    keys = {"public_data", "starting_kit", "path"}
    keys |= {"ingestion_program", "scoring_program"} if draft.keys.make_programs_available else set()
    keys |= {"input_data"} if draft.keys.make_input_data_available else set()
    audiences: dict[Audience, set[str]] = {
        "participants": keys,
        "models": {"input_data", "ingestion_program"},
        "scoring": {"scoring_program"},
    }
    found: dict[str, Place] = {}
    for audience, keys in audiences.items():
        for path, data in opened(draft, *keys).items():
            found.setdefault(path, Place(path, audience, data))
    return [*found.values(), *_pages(draft)]


def _pages(draft: Draft) -> Iterator[Place]:
    root = Dataset(draft.root)
    names = [FILE, draft.keys.terms, *(page.file for page in draft.keys.pages)]
    for name in dict.fromkeys(name for name in names if isinstance(name, str) and name):
        inside = not name.startswith("/") and ".." not in PurePosixPath(name).parts
        if inside and (draft.root / name).is_file():
            yield Place(name, "participants", root, name)
