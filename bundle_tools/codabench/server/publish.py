"""Upload a bundle, wait until the server has unpacked it, and check the result."""

import time
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bundle_tools.codabench.archive import UNREADABLE
from bundle_tools.codabench.keys import Keys, read
from bundle_tools.codabench.server.arrived import differences
from bundle_tools.codabench.server.interface import calls
from bundle_tools.codabench.server.interface.calls import Place
from bundle_tools.codabench.server.interface.http import Connection
from bundle_tools.codabench.server.interface.records import Competition
from bundle_tools.codabench.server.interface.upload import digest, file_name_for, upload
from bundle_tools.codabench.version1 import is_version1
from bundle_tools.console import Progress
from bundle_tools.errors import BundleError

NAME = "competition.yaml"
FIRST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 2.0
UNPACKING_S = 1800
"""Longest wait for unpacking; a bundle of 36 MB takes ten seconds."""


@dataclass(frozen=True)
class Published:
    """A competition created from a bundle."""

    place: Place
    competition: Competition
    """As the server shows it to its organiser."""
    differences: tuple[str, ...]
    """Differences from the bundle; empty for a version 1 bundle, which the server rewrites."""
    compared: bool
    """Whether they were compared."""
    was_there: bool
    """Whether an earlier call created it."""

    @property
    def link(self) -> str:
        """The address to share: secret until the competition is published."""
        address = f"{self.place.server}/competitions/{self.place.competition_id}/"
        secret = self.competition.secret_key
        return address if self.competition.published or not secret else f"{address}?secret_key={secret}"


def publish(
    connection: Connection, archive: Path, *, progress: Progress | None, say: Callable[[str], None]
) -> Published:
    """Create a competition from a bundle, once: the same zip is recognised the second time.

    Raises BundleError if the zip cannot be read, or if the server rejects it.
    """
    document = _document(archive)
    name = f"bundle {digest(archive).sha256[:16]}"
    competition_id = _earlier(connection, name)
    was_there = competition_id is not None
    if competition_id is None:
        file_name = file_name_for(archive.stem)
        key = upload(connection, archive, "competition_bundle", name=name, file_name=file_name, progress=progress)
        status_id = int(connection.put(f"/api/datasets/completed/{key}/")["status_id"])
        competition_id = _unpacked(connection, status_id, say)
    place = Place(connection.address, competition_id, None)
    found = calls.competition(connection, place)
    compared = not is_version1(document)
    lines: list[str] = []
    if compared:
        with zipfile.ZipFile(archive) as opened:
            lines = differences(read(Keys, document)[0], opened, found.content)
    return Published(place, found, tuple(lines), compared, was_there)


def _document(archive: Path) -> Mapping[str, Any]:
    try:
        with zipfile.ZipFile(archive) as opened:
            if (broken := opened.testzip()) is not None:
                raise BundleError(f"{archive}: {broken} is damaged. Build it again: `bundle build`.")
            content = yaml.safe_load(opened.read(NAME).decode("utf-8-sig"))
    except KeyError:
        raise BundleError(
            f"{archive}: expected {NAME} at its top, found none. `bundle build` makes a bundle."
        ) from None
    except (*UNREADABLE, yaml.YAMLError) as error:
        raise BundleError(
            f"{archive}: expected a bundle, a zip with {NAME}; found {error}. `bundle build` makes it."
        ) from None
    if not isinstance(content, dict):
        raise BundleError(f"{archive}: {NAME} holds no keys. `bundle check {archive}` tells more.")
    return content


def _earlier(connection: Connection, name: str) -> int | None:
    """Find the competition that an earlier call made from this zip; remove unfinished uploads."""
    found = [one for one in calls.datasets(connection, _type="bundle", search=name) if one.name.startswith(name)]
    for one in found:
        if one.competition_id is not None:
            return one.competition_id
        # An interrupted upload has no bytes; the server adds the title to the name of an unpacked bundle.
        if one.size == 0 or one.name != name:
            connection.delete(f"/api/datasets/{one.dataset_id}/")
            continue
        raise BundleError(
            f"this zip was uploaded at {one.created:%Y-%m-%d %H:%M} UTC, but no competition exists yet. If the server "
            f"is still unpacking, repeat the command in a minute. If not, delete {one.name!r} under Resources → "
            "Competition Bundles, and repeat the command."
        )
    return None


def _unpacked(connection: Connection, status_id: int, say: Callable[[str], None]) -> int:
    """Wait until the server has finished; it reports only its first error."""
    began, pause_s, last = time.monotonic(), FIRST_PAUSE_S, ""
    while time.monotonic() - began < UNPACKING_S:
        answer = connection.get(f"/api/competitions/{status_id}/creation_status/")
        if answer["status"] != last:
            last = str(answer["status"])
            say(f"  {last}")
        if last == "Finished":
            return int(answer["resulting_competition"])
        if last == "Failed":
            raise BundleError(
                f"the server could not unpack the bundle: {' '.join(str(answer['details']).split())} It deleted the "
                "upload. `bundle check` lists all problems, not only the first."
            )
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
    raise BundleError(
        "the server is still unpacking after half an hour. Look at it there, or repeat the command later."
    )
