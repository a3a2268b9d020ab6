"""Which private files a server gives to people who should not have them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bundle_tools.codabench.server.interface import calls
from bundle_tools.codabench.server.interface.calls import Place
from bundle_tools.codabench.server.interface.http import Connection, ServerError
from bundle_tools.codabench.server.interface.records import PARTS, Competition, PartName

REDIRECTS = range(300, 400)
LOG_IN = ("/accounts/login", "/login")


@dataclass(frozen=True)
class Private:
    """One file that only the programs should get."""

    phase: str
    part: PartName
    key: str
    """Key of its data set, which may allow others to download the file."""


@dataclass(frozen=True)
class Leak:
    """What one person can do with one file."""

    private: Private
    who: str
    """Who it is, such as "somebody who is not logged in"."""
    listed: bool
    """Whether the server gives this person the key."""
    open: bool
    """Whether the server gives this person the file, given the key."""

    @property
    def had(self) -> bool:
        """Whether this person can get the file without help."""
        return self.listed and self.open


def private_files(connection: Connection, competition: Competition) -> list[Private]:
    """Return the private files of all phases, as their organiser sees them."""
    found = []
    for phase in competition.phases:
        for task_id in phase.tasks:
            keys = calls.task(connection, task_id).keys
            found += [Private(phase.name, part, key) for part in PARTS if (key := keys[part]) is not None]
    return found


def try_all(private: list[Private], place: Place, people: Mapping[str, Connection]) -> list[Leak]:
    """As each person, read the competition and ask for each file by its key.

    `place`: the competition; with its secret key if unpublished, so that all see what they will see after publication.
    `people`: who -> their connection, logged in or not.
    """
    leaks = []
    for who, connection in people.items():
        try:
            told = set(_texts(calls.competition_content(connection, place)))
        except ServerError as error:
            if error.status != 404:  # such as a token that is none: an all-clear would be false
                raise
            told = set()
        opened: dict[str, bool] = {}
        for one in private:  # programs are often the same for all phases
            if one.key not in opened:
                opened[one.key] = _opens(connection, one.key)
            leaks.append(Leak(one, who, one.key in told, opened[one.key]))
    return leaks


def lines(leaks: list[Leak]) -> list[str]:
    """Describe the files that are open, one line per phase and person."""
    found: dict[tuple[str, str, bool], list[str]] = {}
    for leak in leaks:
        if leak.open:
            found.setdefault((leak.private.phase, leak.who, leak.listed), []).append(leak.private.part)
    how = {True: "the server tells the keys", False: "with the keys, which the server does not tell"}
    return [f"  {phase}: {', '.join(parts)} open to {who}: {how[told]}." for (phase, who, told), parts in found.items()]


def _opens(connection: Connection, key: str) -> bool:
    with connection.open(connection.url(f"/datasets/download/{key}/"), with_token=True) as answer:
        target = answer.headers.get("Location", "")
        if answer.status_code in REDIRECTS:
            return not any(mark in target for mark in LOG_IN)
        return answer.ok


def _texts(content: object) -> Iterator[str]:
    """Yield every text of an answer, at any depth."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        for value in content.values():
            yield from _texts(value)
    elif isinstance(content, list):
        for value in content:
            yield from _texts(value)
