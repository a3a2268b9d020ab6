"""`bundle pages`: figures on pages and guides, computed anew from settings, data and programs."""

import argparse

from bundle_tools.challenge.figures.pages import Figures, look_through, open_bundle, told
from bundle_tools.cli.options import add_bundle, add_command, add_path
from bundle_tools.codabench.competition import find_root
from bundle_tools.console import say
from bundle_tools.errors import BundleError


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    pages = add_command(commands, "pages", "Bring the figures on pages and guides up to date.", "\n--check")
    add_path(pages, "path", "PATH", "Markdown files (default: pages/, README.md, the kit's, docs/)", nargs="*")
    pages.add_argument("--check", action="store_true", help="write nothing; exit with 1 if anything is stale")
    pages.add_argument("--names", action="store_true", help="list the names that marks can hold, with their figures")
    add_bundle(pages)
    pages.set_defaults(action=_pages)


def _pages(arguments: argparse.Namespace) -> int:
    draft = open_bundle(find_root(arguments.bundle))
    if arguments.names:
        for name, value in Figures(draft).names().items():
            say(f"{name:<28} {value}")
        return 0
    pages = list(look_through(draft, [path.resolve() for path in arguments.path] or None))
    for page in pages:
        for line in told(page):
            say(line)
        if not arguments.check:
            page.write()
    stale = sum(len(page.filled.changes) for page in pages)
    problems = sum(len(page.filled.problems) for page in pages)
    wrong = [f"marks that cannot be filled: {problems}; correct them"] if problems else []
    wrong += [f"stale figures: {stale}; run `bundle pages`"] if stale and arguments.check else []
    if wrong:
        raise BundleError(f"{'. '.join(wrong)}. All are listed above.")
    say(f"Figures changed: {stale}." if stale else "All figures are current.")
    return 0
