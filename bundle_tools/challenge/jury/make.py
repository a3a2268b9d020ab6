"""Make a jury: finalists' results in, one page a juror and a key out."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bundle_tools.challenge.compare.runs import Run
from bundle_tools.challenge.jury.choice import Balance, balance_of, choose_clips
from bundle_tools.challenge.jury.criteria import Rules
from bundle_tools.challenge.jury.design import MOST_TEAMS, Design, plan
from bundle_tools.challenge.jury.finalists import gather
from bundle_tools.challenge.jury.key import write_key
from bundle_tools.challenge.jury.sheet import sheet_page
from bundle_tools.challenge.jury.video import for_browser
from bundle_tools.challenge.pages.writing import write_whole
from bundle_tools.codabench.competition import Phase
from bundle_tools.console import Progress
from bundle_tools.errors import BundleError

KEY = "key.json"


@dataclass(frozen=True)
class Made:
    """What was written."""

    design: Design
    """The jury."""
    balance: Balance
    """How evenly its clips are spread over labels and groups."""
    sheets: tuple[Path, ...]
    """One page a juror."""
    key: Path
    """For the organiser alone."""


def make_jury(
    phase: Phase,
    runs: Sequence[Run],
    out: Path,
    *,
    jurors: int,
    clips: int,
    rules: Rules,
    seed: str,
    scratch: Path,
    progress: Progress | None = None,
) -> Made:
    """Write the sheets and the key of a jury; all of them or nothing.

    Parameters
    ----------
    phase
        Whose clips and programs are used.
    runs
        Finalists, 2 to 26.
    out
        A folder that does not exist yet.
    jurors, clips
        How many; both >= 1. Fewer clips are taken where the phase has fewer persons.
    rules
        What is asked, and how answers count.
    seed
        Any text; the same text gives the same jury.
    scratch
        A folder for temporary files.
    progress
        Called after each clip.

    Raises
    ------
    BundleError
        If `out` exists, or something about the runs or clips is wrong.
    """
    if out.exists():
        raise BundleError(f"{out}: exists already. Name another folder, so that no key is lost.")
    if len(runs) > MOST_TEAMS:
        raise BundleError(f"expected at most {MOST_TEAMS} runs, found {len(runs)}. A jury is for finalists.")
    final = gather(phase, runs, scratch)
    chosen = choose_clips(final, clips, seed)
    videos = {}
    for number, clip_id in enumerate(chosen, 1):
        videos[clip_id] = for_browser(final.clips[clip_id])
        if progress:
            progress(number, len(chosen))
    design = plan(phase.slug, final, chosen, jurors, rules, seed)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as folder:
        place = Path(folder) / "jury"
        place.mkdir()
        for juror in range(jurors):
            page = sheet_page(design, juror, final, rules, videos)
            write_whole(place / _sheet(juror), page)
        write_key(place / KEY, design.key)
        place.replace(out)
    return Made(design, balance_of(final, chosen), tuple(out / _sheet(juror) for juror in range(jurors)), out / KEY)


def _sheet(juror: int) -> str:
    return f"sheet-{juror + 1}.html"
