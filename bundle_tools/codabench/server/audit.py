"""Which private files a server gives to people who should not have them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bundle_tools.codabench.server import records
from bundle_tools.codabench.server.client import ServerConnection, ServerError
from bundle_tools.codabench.server.records import Address, ServerCompetition


@dataclass(frozen=True)
class Private:
    """One file that only the programs should get; its key may allow others to download it."""

    phase: str
    part: str
    key: str


@dataclass(frozen=True)
class Leak:
    """A private file that somebody gets who has its key."""

    private: Private
    who: str
    """Who it is, such as "somebody who is not logged in"."""
    listed: bool
    """Whether the server gives this person the key."""


def private_files(connection: ServerConnection, competition: ServerCompetition) -> list[Private]:
    """Return the private files of all phases, as their organiser sees them."""
    return [
        Private(phase.name, part, key)
        for phase in competition.phases
        for task_id in phase.tasks
        for part, key in records.part_keys(connection, task_id).items()
        if key is not None
    ]


def try_all(private: list[Private], address: Address, people: Mapping[str, ServerConnection]) -> list[Leak]:
    """As each person, read the competition and ask for each file by its key.

    `address`: with its secret key if unpublished, so that all see what they will see after publication.
    `people`: who -> their connection, logged in or not.
    """
    leaks = []
    for who, connection in people.items():
        try:
            listed = set(_texts(records.competition_content(connection, address)))
        except ServerError as error:
            if error.status != 404:  # such as a token that is none: an all-clear would be false
                raise
            listed = set()
        # Programs are often the same for all phases.
        opened = {key for key in {file.key for file in private} if _opens(connection, key)}
        leaks += [Leak(file, who, file.key in listed) for file in private if file.key in opened]
    return leaks


def lines(leaks: list[Leak]) -> list[str]:
    """Describe the files that are open, one line per phase and person."""
    parts: dict[tuple[str, str, bool], list[str]] = {}
    for leak in leaks:
        parts.setdefault((leak.private.phase, leak.who, leak.listed), []).append(leak.private.part)
    how = {True: "the server tells the keys", False: "with the keys, which the server does not tell"}
    return [
        f"  {phase}: {', '.join(names)} open to {who}: {how[listed]}." for (phase, who, listed), names in parts.items()
    ]


def _opens(connection: ServerConnection, key: str) -> bool:
    with connection.open(f"{connection.address}/datasets/download/{key}/", with_token=True) as answer:
        log_in = answer.is_redirect and "/login" in answer.headers["Location"]
        return answer.ok and not log_in


def _texts(content: object) -> Iterator[str]:
    """Yield every text of an answer, at any depth."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping | list):
        for value in content.values() if isinstance(content, Mapping) else content:
            yield from _texts(value)
