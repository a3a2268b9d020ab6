"""The same competition as a version 1 bundle (CodaLab), which Codabench also accepts.

It needs pages in HTML, phases as a mapping with a start but no end, one leaderboard whose columns are a mapping, and
every program and data set as a zip. Only keys that CodaLab knows are written, and three of Codabench (`HIDING`).
"""

import re
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from markdown_it import MarkdownIt

from bundle_tools.codabench.archive import Entry, zip_folders
from bundle_tools.codabench.competition import DEFAULT_TIME_LIMIT_S
from bundle_tools.codabench.keys import FILES_OF_TASK, Board, Keys, PhaseKeys, TaskKeys, load
from bundle_tools.codabench.version1 import HIDING, TERMS
from bundle_tools.console import say
from bundle_tools.errors import BundleError

HEADER = """\
# Version 1, for CodaLab and for Codabench's converter; written by `bundle build --format codalab-v1`.
# CodaLab itself knows no hide_output, hide_prediction_output and hide_score_output. Should a server refuse them, delete
# these lines only where participants may see what a phase prints and writes.
"""
# CodaLab asks for these by name; other pages keep their titles.
NEEDED_PAGES = ("overview", "evaluation", "data")
DOWNLOADS = ("starting_kit", "public_data")
# 0 means "without limit" to Codabench and "none at all" to CodaLab.
PRACTICALLY_UNLIMITED = 1_000_000
GAP = timedelta(days=1)
PREFORMATTED = re.compile(r"(?<=<pre>).*?(?=</pre>)", re.DOTALL)

Content = dict[str, Any]


def version1_entries(text: str, loose: list[Entry], scratch: Path) -> list[Entry]:
    """Return all files of the bundle in version 1.

    `text`: `competition.yaml` of version 2, checked. `loose`: all files of the bundle of version 2 but
    `competition.yaml`. Raises BundleError when version 1 cannot express the competition.
    """
    content = load(text)
    _refuse(content)
    files = dict(loose)
    pages = {_page_name(page.title): page.file for page in content.pages} | {TERMS: content.terms}
    rendered = {name: str(PurePosixPath(file).with_suffix(".html")) for name, file in pages.items()}
    phases = sorted(content.phases, key=lambda phase: phase.index)
    tasks = {task.index: task for task in content.tasks}
    used = [value for phase in phases for value in _paths(phase, tasks).values()]
    zipped, packed = zip_folders(list(dict.fromkeys(used)), loose, scratch)
    document = {
        **_top(content),
        "html": rendered,
        "phases": {
            number: _phase(number, phase, {key: zipped.get(path, path) for key, path in _paths(phase, tasks).items()})
            for number, phase in enumerate(phases, 1)
        },
        "leaderboard": _leaderboard(content.leaderboards[0]),
    }
    _end_as_version1_does(phases, document)
    written = HEADER + yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    kept = {content.image, *zipped.values(), *used}
    return [
        ("competition.yaml", written.encode()),
        *((name, rendered_page(_text(files[pages[page]])).encode()) for page, name in rendered.items()),
        *((name, file) for name, file in packed if name in kept),
    ]


def rendered_page(markdown: str) -> str:
    """Render a page as HTML that Codabench leaves unchanged when it reads it as Markdown again.

    A blank line would end a block of HTML in Markdown, so none is left, not even in code.
    """
    page = MarkdownIt("commonmark").enable("table").render(markdown)
    page = PREFORMATTED.sub(lambda code: code[0].rstrip("\n").replace("\n", "&#10;"), page)
    return "".join(f"{line}\n" for line in page.splitlines() if line.strip())


def _refuse(content: Keys) -> None:
    """List everything that version 1 cannot express."""
    titles = {_page_name(page.title) for page in content.pages}
    wrong = [f"no page titled {name.capitalize()}" for name in NEEDED_PAGES if name not in titles]
    wrong += [
        f"phase {phase.name} with {len(phase.tasks)} tasks, expected one"
        for phase in content.phases
        if len(phase.tasks) != 1
    ]
    wrong += [f"task {task.key} stored on the server" for task in content.tasks if task.key is not None]
    wrong += [f"{len(content.leaderboards)} leaderboards, expected one"] if len(content.leaderboards) > 1 else []
    wrong += [f"the computed column {column.key}" for column in content.columns if column.computation]
    if wrong:
        raise BundleError(f"--format codalab-v1: version 1 cannot hold this competition: {'; '.join(wrong)}.")


def _page_name(title: str) -> str:
    return title.lower() if title.lower() in NEEDED_PAGES else title


def _text(page: Path | bytes) -> str:
    return (page if isinstance(page, bytes) else page.read_bytes()).decode("utf-8")


def _paths(phase: PhaseKeys, tasks: dict[Any, TaskKeys]) -> dict[str, str]:
    """Return the programs and data sets of a phase: role -> path."""
    sides = ((tasks[phase.tasks[0]], FILES_OF_TASK), (phase, DOWNLOADS))
    return {key: path for side, keys in sides for key in keys if (path := getattr(side, key))}


def _top(content: Keys) -> Content:
    top = {
        "title": content.title,
        "description": content.description or "",
        "image": content.image,
        "competition_docker_image": content.content.get("docker_image"),
        "queue": content.queue,
        "has_registration": not content.registration_auto_approve,
        "enable_detailed_results": content.enable_detailed_results,
        "allow_public_submissions": content.can_participants_make_submissions_public,
        "enable_forum": content.forum_enabled,
        "force_submission_to_leaderboard": content.leaderboards[0].submission_rule.startswith("Force"),
        **{key: True for key in ("make_programs_available", "make_input_data_available") if getattr(content, key)},
    }
    return {key: value for key, value in top.items() if value is not None}


def _phase(number: int, phase: PhaseKeys, paths: dict[str, str]) -> Content:
    return {
        "phasenumber": number,
        "label": phase.name,
        "description": phase.description or "",
        "start_date": str(phase.start),
        "max_submissions": phase.max_submissions or PRACTICALLY_UNLIMITED,
        "max_submissions_per_day": phase.max_submissions_per_day or PRACTICALLY_UNLIMITED,
        "execution_time_limit": phase.execution_time_limit or DEFAULT_TIME_LIMIT_S,
        "is_scoring_only": "ingestion_program" not in paths,
        "auto_migration": phase.auto_migrate_to_this_phase,
        **{key: True for key in HIDING if getattr(phase, key)},
        **paths,
    }


def _leaderboard(board: Board) -> Content:
    """Return the leaderboard; Codabench ranks by its first column, CodaLab by the selected one."""
    primary = board.primary_index
    ordered = sorted(board.columns, key=lambda column: (column.index != primary, column.index))
    results = {"label": board.title, "rank": 1}
    columns = {
        column.key: {
            # The same object each time, so that YAML writes an alias, like the bundles of that time.
            "leaderboard": results,
            "label": column.title,
            "rank": rank,
            "numeric_format": column.precision,
            "sort": column.sorting,
            **({"hidden": True} if column.hidden else {}),
            **({"selection_default": 1} if column.index == primary else {}),
        }
        for rank, column in enumerate(ordered, 1)
    }
    return {"leaderboards": {board.key: results}, "columns": columns}


def _end_as_version1_does(phases: list[PhaseKeys], document: Content) -> None:
    """Set the end of the last phase, and name phases whose end differs from version 2."""
    if phases[-1].end:
        document["end_date"] = str(phases[-1].end)
    for phase, following in pairwise(phases):
        end = datetime.fromisoformat(str(following.start)) - GAP
        if phase.end and datetime.fromisoformat(str(phase.end)) != end:
            declared = f"competition.yaml says {phase.end}."
            say(f"{phase.name}: Codabench will end it at {end} UTC, a day before the next phase; {declared}")
