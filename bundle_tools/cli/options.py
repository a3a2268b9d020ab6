"""Shared by all commands: the parser, types of options, a phase's folders, and the number of processes."""

import argparse
import difflib
import os
import re
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from bundle_tools.codabench.competition import Phase
from bundle_tools.errors import BundleError


class Parser(argparse.ArgumentParser):
    """Reads a command line; its help begins with what the command does, and a misspelled command gets a suggestion."""

    def error(self, message: str) -> NoReturn:
        """Print the error and a suggestion; exit with 2."""
        if match := re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message):
            known = re.findall(r"[\w-]+", match[2])
            near = difflib.get_close_matches(match[1], known, 1)
            meant = f"Did you mean `{near[0]}`?" if near else f"There are: {', '.join(known)}."
            message = f"no command {match[1]!r}. {meant}"
        ending = "" if message.endswith((".", "?")) else "."
        self.exit(2, f"{self.prog}: {message}{ending} `{self.prog} --help` tells more.\n")

    def format_help(self) -> str:
        """Return the help: first what the command does, then its usage."""
        usage, _, rest = super().format_help().partition("\n\n")
        does, _, rest = rest.partition("\n\n")
        return f"{does}\n\n{usage}\n\n{rest}" if usage.startswith("usage:") else super().format_help()


def add_command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, does: str, example: str, more: str = ""
) -> argparse.ArgumentParser:
    """Add a command.

    `commands`: subparsers of `bundle` or of one of its commands.
    `name`: its full name, such as "jury make".
    `example`: its arguments as typed; several lines are several examples.
    """
    lines = "\n".join(f"  bundle {name} {line}".rstrip() for line in example.split("\n"))
    ending = f"Example:\n{lines}\n" + (f"\n{more.strip()}\n" if more else "")
    return commands.add_parser(
        name.rsplit(maxsplit=1)[-1], prog=f"bundle {name}", help=does, description=does, epilog=ending,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip


def add_path(parser: argparse._ActionsContainer, name: str, metavar: str, what: str, **more: Any) -> None:  # noqa: ANN401
    """Add an option that takes files or folders; `more` are options of argparse."""
    parser.add_argument(name, metavar=metavar, type=Path, help=what, **more)


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what runs a submission's programs."""
    parser.add_argument("--engine", choices=("process", "docker"), default="process", help="default: process")
    parser.add_argument("--image", metavar="NAME", help="docker: default: the docker_image of competition.yaml")
    parser.add_argument("--network", action="store_true", help="docker: give the containers network access")


def add_workers(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the options that say where many things are worked on; `what`: their plural."""
    parser.add_argument("--workers", metavar="N", type=positive, default=workers(),
                        help=f"{what} at the same time; jobs of Slurm (default: this machine's cores)")  # fmt: skip
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--scheduler", metavar="ADDRESS", help="work on the workers of a Dask scheduler")
    add_path(where, "--slurm", "FILE", "work in Slurm jobs")


def add_bundle(parser: argparse.ArgumentParser) -> None:
    """Add `--bundle`, for commands that work on a bundle's folder."""
    add_path(parser, "--bundle", "DIR", "folder of the bundle (default: this one, else the checkout)")
    add_trust(parser)


def add_trust(parser: argparse.ArgumentParser) -> None:
    """Add `--trust`, for commands that run code of a bundle."""
    parser.add_argument("--trust", action="store_true", help="run programs that are not this installation's")


RUN = "a folder of `bundle run`, a submission's prediction output (folder or zip), or what `bundle server fetch` made"
"""What commands take that look at runs."""


def count(text: str) -> int:
    """Read a whole number, 0 or more."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number such as 240; found {text!r}")
    return int(text)


def positive(text: str) -> int:
    """Read a whole number, 1 or more."""
    if count(text) == 0:
        raise argparse.ArgumentTypeError("expected at least 1; found 0")
    return int(text)


def moment(text: str) -> datetime:
    """Read a moment in UTC, written without a zone."""
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        parsed = None
    if parsed is None or parsed.tzinfo is not None:
        raise argparse.ArgumentTypeError(f'expected UTC without a zone, such as "2026-12-01 12:00:00"; found {text!r}')
    return parsed


def workers() -> int:
    """Return the number of processes for work that fills a core."""
    return os.cpu_count() or 1


def folders_of(phase: Phase) -> tuple[Path, Path]:
    """Return the folders of input and reference data."""
    given, wanted = phase.task.input_data, phase.task.reference_data
    if given is None or wanted is None or given.is_file() or wanted.is_file():
        raise BundleError(f"phase {phase.slug}: expected folders as input and reference data. Add them to its task.")
    return given, wanted
