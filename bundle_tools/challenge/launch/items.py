"""What must be settled before an event begins, and the state of each item."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import yaml

from bundle_tools.challenge.launch.facts import FILE, Facts, questions
from bundle_tools.challenge.reading.tables import read_clips, read_settings
from bundle_tools.codabench.competition import Competition, Phase
from bundle_tools.codabench.rules.dataset import Dataset
from bundle_tools.codabench.rules.findings import Finding

State = Literal["done", "open", "look"]
FEW_CLIPS, FEW_TRAINING = 20, 100
TO_FILL_IN = "to be filled in by the organisers"
NOTICE_DAYS = 7
DEFAULT_QUEUE_S = 600
"""Time limit of a job on the server's own queue, seconds."""


@dataclass(frozen=True)
class Item:
    """One item to settle."""

    title: str
    state: State
    """``look`` means that a person must judge it."""
    found: str
    """State in words, and what to do."""


def items(competition: Competition, facts: Facts, findings: Sequence[Finding], now: datetime) -> Iterator[Item]:
    """Return all items in the recommended order.

    `findings`: findings of `bundle check`. `now`: the present, UTC.
    """
    root = competition.root
    content = yaml.safe_load((root / "competition.yaml").read_text("utf-8-sig"))
    errors, warnings = (sum(one.severity == kind for one in findings) for kind in ("error", "warning"))
    yield Item(
        "The bundle is valid",
        "open" if errors else "done",
        f"{errors} errors, {warnings} warnings: bundle check" if errors or warnings else "bundle check finds nothing",
    )
    for phase in competition.phases:
        yield _clips(phase)
    yield _training(root, content)
    yield from _baselines(competition)
    yield from _dates(content, now)
    yield _queue(content)
    contact = str(content.get("contact_email") or facts.contact)
    yield _answered("Contact", contact, "contact", "or contact_email in competition.yaml")
    yield _answered("People in the clips", facts.people, "people")
    yield _answered("Labels", facts.labels, "labels")
    yield _answered("Known bias", facts.bias, "bias")
    yield _answered("Removal", facts.removal, "removal")
    page = root / "pages" / "responsible_use.md"
    blank = page.is_file() and TO_FILL_IN in page.read_text("utf-8", errors="replace").lower()
    said = "still has blanks to fill in" if blank else "read it as a person in a clip would"
    yield Item("Page on responsible use", "open" if blank else "look", said)
    named = (root / str(content.get("terms") or "pages/terms.md")).is_file()
    said = "have the responsible person read them" if named else "competition.yaml names none"
    yield Item("Terms", "look" if named else "open", said)
    yield _answered("Licence of the data", facts.licence, "licence")
    yield _answered("How to cite", facts.cite_as or facts.doi, "cite_as", "or doi")
    yield _answered("Beta test", facts.beta_test, "beta_test", "`bundle server rehearse` tests the technical half")
    yield _answered("After the end", facts.afterwards, "afterwards")


def _answered(title: str, text: str, key: str, more: str = "") -> Item:
    asked = f"{questions()[key]} Fill in {key} in {FILE}{', ' + more if more else ''}."
    return Item(title, "done" if text.strip() else "open", text.strip() or asked)


def _clips(phase: Phase) -> Item:
    given = phase.task.input_data
    count = len(read_clips(Dataset(given))) if given is not None and given.exists() else 0
    few = f"; fewer than {FEW_CLIPS} hardly tell models apart" if count < FEW_CLIPS else ""
    return Item(f"Clips of {phase.name}", "open" if few else "done", f"{count} clips{few}")


def _training(root: Path, content: dict[str, Any]) -> Item:
    named = {str(phase.get("public_data")) for phase in content.get("phases") or [] if phase.get("public_data")}
    tables = [root / name / "labels.csv" for name in named]
    counts = [len(path.read_text("utf-8").splitlines()) - 1 for path in tables if path.is_file()]
    count = max(counts, default=0)
    few = f"; fewer than {FEW_TRAINING} are too few to train on" if count < FEW_TRAINING else ""
    return Item("Clips to train on", "open" if few else "done", f"{count} labelled clips{few}")


def _baselines(competition: Competition) -> Iterator[Item]:
    computed, referenced, known = [], [], 0
    for phase in competition.phases:
        wanted = phase.task.reference_data
        if wanted is None or not wanted.is_dir():
            continue
        known += 1
        settings = read_settings(Dataset(wanted)) or {}
        name = settings.get("landmarks")
        if isinstance(name, str) and (wanted / name).is_file() and json.loads((wanted / name).read_text("utf-8")):
            computed.append(phase.name)
        referenced += [phase.name] if settings.get("skill_reference") else []
    yield _in_all("Baselines", computed, known, "bundle data baselines")
    yield _in_all("Skill reference", referenced, known, "bundle data skill-reference RUN")


def _in_all(title: str, phases: Sequence[str], known: int, command: str) -> Item:
    found = f"in {', '.join(phases) or 'no phase'}"
    return Item(title, "done", found) if len(phases) == known else Item(title, "open", f"{found}: {command}")


def _dates(content: dict[str, Any], now: datetime) -> Iterator[Item]:
    for number, phase in enumerate(content.get("phases") or []):
        try:
            start = datetime.fromisoformat(str(phase.get("start"))).replace(tzinfo=None)
        except ValueError:
            yield Item(f"Dates of {phase.get('name')}", "open", f"found start {phase.get('start')!r}")
            continue
        days = (start - now).days
        soon = number == 0 and days < NOTICE_DAYS
        end = phase.get("end") or "no end"
        yield Item(
            f"Dates of {phase.get('name')}", "open" if soon else "done", f"{start} to {end}, UTC; starts in {days} days"
        )


def _queue(content: dict[str, Any]) -> Item:
    limits = [phase.get("execution_time_limit") or DEFAULT_QUEUE_S for phase in content.get("phases") or []]
    longest = max((limit for limit in limits if isinstance(limit, int)), default=DEFAULT_QUEUE_S)
    if content.get("queue"):
        return Item("Queue", "look", f"{content['queue']}: check that a worker serves it")
    state: State = "open" if longest > DEFAULT_QUEUE_S else "look"
    return Item(
        "Queue", state, f"the server's own, which gives {DEFAULT_QUEUE_S} s a job; this bundle asks for {longest} s"
    )
