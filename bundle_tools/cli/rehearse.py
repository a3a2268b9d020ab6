"""`bundle server rehearse`: the solutions on the server and at home."""

import argparse
import tempfile
import zipfile
from pathlib import Path

from bundle_tools.codabench.archive import zip_folder
from bundle_tools.codabench.competition import Competition as Bundle
from bundle_tools.codabench.competition import find_root, load, unpack_bundle
from bundle_tools.codabench.keys import load as read_keys
from bundle_tools.codabench.server import records
from bundle_tools.codabench.server import rehearse as rehearsing
from bundle_tools.codabench.server.client import ServerConnection
from bundle_tools.codabench.server.records import Address, ServerCompetition, ServerPhase
from bundle_tools.codabench.server.rows import record_on_server
from bundle_tools.codabench.trust import code_of, ensure_trusted
from bundle_tools.codabench.worker.engine import Docker
from bundle_tools.codabench.worker.jobs import limit_of
from bundle_tools.codabench.worker.run import run_submission
from bundle_tools.console import confirm, counted, say
from bundle_tools.errors import BundleError


def rehearse(
    connection: ServerConnection, address: Address, competition: ServerCompetition, arguments: argparse.Namespace
) -> int:
    """Submit, run at home meanwhile, wait, compare."""
    with tempfile.TemporaryDirectory(prefix="bundle-rehearse-") as folder:
        scratch = Path(folder)
        bundle = _unpacked(arguments.bundle, scratch / "bundle", trust=arguments.trust)
        _ensure_alike(bundle, competition, arguments.bundle)
        ensure_trusted(code_of([task for phase in bundle.phases for task in phase.tasks]))
        acts = _acts(bundle, competition, arguments, scratch)
        confirm(
            [f"Submits to {competition.title}, as {counted(len(acts), 'submission')} of your own:"]
            + [f"  {act.title}{_closed(act.phase, connection)}" for act in acts],
            yes=arguments.yes,
        )
        rehearsing.register(connection, address)
        numbers: dict[rehearsing.Act, int] = {}
        left = []
        for act in acts:
            try:
                numbers[act] = rehearsing.submit(connection, competition, act, say)
            except rehearsing.NotTaken as error:
                left.append(str(error))
        say("At home:")
        expected = [_at_home(bundle, act, scratch / f"run-{number}", arguments) for act, number in numbers.items()]
        say("On the server:")
        titles = {number: act.title for act, number in numbers.items()}
        ended = rehearsing.wait(connection, titles, competition.columns, arguments.wait, say)
    wrong = 0
    lacking: dict[str, None] = {}
    for (act, number), here in zip(numbers.items(), expected, strict=True):
        record = record_on_server(connection, number)
        lacking |= dict.fromkeys(rehearsing.missing_limits(_part(record, "container")))
        lines = rehearsing.compare(here, rehearsing.RehearsalResult.of(ended[number]), competition.columns)
        wrong += bool(lines)
        say(f"{act.title} (#{number}): {'differs' if lines else 'every column as at home'}")
        for line in lines:
            say(f"  {line}")
        if lines and _part(record, "processor").get("busy") is True:
            say("  The record says that the machine was busy with other work: run this submission again.")
    if lacking:
        say("Missing on the worker, as seen from inside, where limits of a slice are invisible (docs/operator.md):")
        for line in lacking:
            say(f"  - {line}")
    for line in left:
        say(line)
    if wrong:
        raise BundleError(f"{wrong} of {len(numbers)} submissions had a different result on the server.")
    if left:
        raise BundleError(
            f"{len(left)} of {len(acts)} submissions were not made, as listed. Days begin at 00:00 UTC: repeat the "
            "command tomorrow, and it goes on with them; or raise the phase's limits in the website's editor."
        )
    return 0


def _unpacked(source: Path, scratch: Path, *, trust: bool) -> Bundle:
    if not source.exists():
        raise BundleError(f"--bundle {source}: expected what was uploaded, found nothing. `bundle build` makes it.")
    if source.is_file():
        unpack_bundle(source, scratch)
        source = scratch
    return load(find_root(source), trust=trust)


def _ensure_alike(bundle: Bundle, competition: ServerCompetition, source: Path) -> None:
    """Raise BundleError unless the competition can have been made from this bundle."""
    pairs = {
        "phases": ([phase.name for phase in bundle.phases], [phase.name for phase in competition.phases]),
        "columns": (
            [column.key for column in bundle.columns if column.computation != records.RANK],
            list(competition.columns),
        ),
    }
    for what, (ours, theirs) in pairs.items():
        if ours != theirs:
            found = f"the {what} {', '.join(ours)}, and {competition.title} has {', '.join(theirs)}"
            raise BundleError(f"--bundle {source}: has {found}. Name the zip that the competition was made from.")


def _acts(
    bundle: Bundle, competition: ServerCompetition, arguments: argparse.Namespace, scratch: Path
) -> list[rehearsing.Act]:
    """Return which zip goes to which phase."""
    phases = [competition.phase(name) for name in arguments.phase or []] or list(competition.phases)
    acts = []
    for phase in phases:
        for name, path in _solutions(bundle, phase, arguments.submission):
            archive = path
            if path.is_file() and not zipfile.is_zipfile(path):
                raise BundleError(f"{path}: expected the folder or the zip of a submission, found another file.")
            if path.is_dir():
                archive = scratch / f"{path.name}.zip"
                if not archive.exists():
                    zip_folder(path, archive)
            acts.append(rehearsing.Act(phase, name, archive))
    if not acts:
        raise BundleError("expected solutions in the bundle, found none. Name one with --submission.")
    return acts


def _solutions(bundle: Bundle, phase: ServerPhase, named: list[Path]) -> list[tuple[str, Path]]:
    if named:
        missing = [str(path) for path in named if not path.exists()]
        if missing:
            raise BundleError(f"{', '.join(missing)}: expected a submission, found nothing there.")
        return [(path.stem, path) for path in named]
    keys = read_keys((bundle.root / "competition.yaml").read_text("utf-8-sig"))
    runs: list[object] = next((one.tasks for one in keys.phases if one.name == phase.name), [])
    return [
        (one.name, bundle.root / one.path) for one in keys.solutions or () if one.path and set(one.tasks) & set(runs)
    ]


def _closed(phase: ServerPhase, connection: ServerConnection) -> str:
    """Say that the website takes no submissions now; the programming interface ignores dates."""
    now = connection.server_time
    if now is not None and phase.end is not None and phase.end < now:
        return f" (ended {phase.end:%Y-%m-%d %H:%M} UTC: the website takes nothing any more, this command does)"
    if now is not None and phase.start is not None and phase.start > now:
        return f" (begins {phase.start:%Y-%m-%d %H:%M} UTC: the website takes nothing yet, this command does)"
    return ""


def _part(record: dict[str, object], key: str) -> dict[str, object]:
    part = record.get(key)
    return part if isinstance(part, dict) else {}


def _at_home(
    bundle: Bundle, act: rehearsing.Act, out: Path, arguments: argparse.Namespace
) -> rehearsing.RehearsalResult:
    phase = bundle.phase(act.phase.name)
    docker = Docker(bundle.docker_image) if arguments.engine == "docker" else None
    [(_, verdict), *_] = run_submission(bundle, phase, act.archive, out, docker, limit_of(bundle, phase, kill=False))
    return rehearsing.RehearsalResult(verdict.status, verdict.values, verdict.reason or "")
