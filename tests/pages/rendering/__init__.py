"""Pages as Codabench shows them: a folder in which its libraries lie, and an HTML file with all pages."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

Way = Literal["today", "before"]
"""Formulas before Markdown, as Codabench does, or after it, as older servers did."""
HERE = Path(__file__).parent
COPIED = ("package.json", "package-lock.json", "platform.css", "platform.js")
INSTALL = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
# What was once fetched is not asked for again, and without a network nobody waits long.
FETCH = ("--prefer-offline", "--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=20000")
LONGEST_S = 90


class NoLibrariesError(Exception):
    """They cannot be installed here; the text says why."""


@dataclass(frozen=True)
class Platform:
    """A folder with the libraries."""

    folder: Path
    """Holds ``node_modules`` and the files that pages load."""

    def document(self, pages: Sequence[str], way: Way = "today") -> Path:
        """Write pages of Markdown as HTML that renders itself in a browser: sections with the ids page_0, page_1, …"""
        # A text may hold what would end the element around it.
        source = json.dumps({"pages": pages, "way": way}).replace("<", "\\u003c")
        path = self.folder / f"{way}.html"
        path.write_text((HERE / "page.html").read_text("utf-8").replace("{source}", source), "utf-8")
        return path


def shown_pages(bundle: Path) -> dict[str, str]:
    """Give the texts of a bundle's pages by title, in the order of the tabs."""
    content = yaml.safe_load((bundle / "competition.yaml").read_text("utf-8"))
    files = {page["title"]: page["file"] for page in content["pages"]} | {"Terms": content["terms"]}
    return {title: (bundle / file).read_text("utf-8") for title, file in files.items()}


def install(folder: Path) -> Platform:
    """Install the locked libraries into an empty folder.

    Raises NoLibrariesError when there is no npm, no registry, or no time.
    """
    for name in COPIED:
        shutil.copy(HERE / name, folder)
    try:
        done = subprocess.run(
            (*INSTALL, *FETCH), cwd=folder, capture_output=True, text=True, timeout=LONGEST_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoLibrariesError(f"npm: {error}") from error
    if done.returncode or not (folder / "node_modules/marked/marked.min.js").is_file():
        raise NoLibrariesError(f"npm ci ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}")
    return Platform(folder)
