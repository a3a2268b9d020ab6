"""`bundle pages`: the pages of a competition, rendered anew from settings, data and programs."""

import argparse

from bundle_tools.challenge.pages.figures import figures
from bundle_tools.challenge.pages.write import open_bundle, pages_of, write_pages
from bundle_tools.cli.options import add_bundle, add_command, add_path
from bundle_tools.codabench.competition import find_root
from bundle_tools.console import say
from bundle_tools.errors import BundleError


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    pages = add_command(commands, "pages", "Bring pages up to date that nobody has edited by hand.", "\n--check")
    add_path(pages, "path", "PATH", "pages (default: all that competition.yaml names)", nargs="*")
    pages.add_argument("--check", action="store_true", help="write nothing; exit with 1 if anything is stale")
    pages.add_argument("--names", action="store_true", help="list the names for templates, with their figures")
    add_bundle(pages)
    pages.set_defaults(action=_pages)


def _pages(arguments: argparse.Namespace) -> int:
    root = find_root(arguments.bundle)
    draft = open_bundle(root)
    if arguments.names:
        for name, value in figures(draft).items():
            if isinstance(value, str):
                say(f"{name:<28} {value}")
        return 0
    only = [path.resolve() for path in arguments.path] or None
    pages = list(pages_of(draft, only))
    for line in [note for page in pages for note in page.notes()] if arguments.check else write_pages(root, only):
        say(line)
    problems = sum(bool(page.problem) for page in pages)
    stale = sum(page.is_stale and not page.problem for page in pages)
    edited = sum(page.is_stale and page.is_edited and not page.problem for page in pages)
    wrong = [f"pages that cannot be rendered: {problems}; correct what they name"] if problems else []
    wrong += [f"stale pages: {stale}; run `bundle pages`"] if stale and arguments.check else []
    if wrong:
        raise BundleError(f"{'. '.join(wrong)}. All are listed above.")
    kept = f" Edited by hand and no longer up to date: {edited}." if edited else ""
    say(f"Pages changed: {stale - edited}.{kept}" if stale else "All pages are current.")
    return 0
