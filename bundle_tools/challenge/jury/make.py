"""Make a jury from the finalists' results: a key, and a self-contained page for each juror."""

import base64
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bundle_tools.atomic import write_text
from bundle_tools.canonical import for_browser
from bundle_tools.challenge.compare.runs import RunFolder
from bundle_tools.challenge.jury.criteria import Rules, write_key
from bundle_tools.challenge.jury.design import (
    MOST_TEAMS,
    Balance,
    Design,
    Final,
    ShownItem,
    balance_of,
    choose_clips,
    gather,
    plan,
)
from bundle_tools.codabench.competition import Phase
from bundle_tools.console import Progress
from bundle_tools.errors import BundleError
from bundle_tools.page import as_script, render
from score.report.drawings import data_uri
from score.visible import visible

KEY = "key.json"


@dataclass(frozen=True)
class JuryFiles:
    """The written files."""

    design: Design
    balance: Balance
    """How evenly its clips are spread over labels and groups."""
    sheets: tuple[Path, ...]
    key: Path


def make_jury(
    phase: Phase,
    runs: Sequence[RunFolder],
    out: Path,
    *,
    jurors: int,
    clips: int,
    rules: Rules,
    seed: str,
    scratch: Path,
    progress: Progress | None = None,
) -> JuryFiles:
    """Write the sheets and the key of a jury; all of them or nothing.

    `runs`: finalists, 2 to 26.
    `out`: a folder that does not exist yet.
    `jurors` and `clips`: numbers, >= 1. Fewer clips are taken if the phase has fewer people.
    `seed`: any text; the same text gives the same jury.
    Raises BundleError if `out` exists, or something about the runs or clips is wrong.
    """
    if out.exists():
        raise BundleError(f"{out}: exists already. Name another folder, so that its key is not lost.")
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
        folder_made = Path(folder) / "jury"
        folder_made.mkdir()
        for juror in range(jurors):
            page = sheet_page(design, juror, final, rules, videos)
            write_text(folder_made / _sheet(juror), page)
        write_key(folder_made / KEY, design.key)
        folder_made.replace(out)
    return JuryFiles(
        design, balance_of(final, chosen), tuple(out / _sheet(juror) for juror in range(jurors)), out / KEY
    )


def _sheet(juror: int) -> str:
    return f"sheet-{juror + 1}.html"


def sheet_page(design: Design, juror: int, final: Final, rules: Rules, videos: dict[str, bytes]) -> str:
    """Write one juror's page.

    `juror`: from 0. `videos`: by clip id, as MP4. Returns self-contained HTML, without teams, kinds of items, true
    values and scores.
    """
    places = {clip_id: number for number, clip_id in enumerate(design.key.clips)}
    content = {
        "sheet": design.key.sheets[juror],
        "design": design.key.design,
        "juror": juror + 1,
        "jurors": len(design.key.sheets),
        "target": final.settings.main.title,
        "drawn": final.settings.data_version.startswith("synthetic"),
        "targets": [
            {"title": target.title, "low": target.minimum, "high": target.maximum} for target in final.settings.targets
        ],
        "main": final.main,
        "lowest": rules.lowest,
        "highest": rules.highest,
        "criteria": [
            {
                "name": criterion.name,
                "title": criterion.title,
                "question": criterion.question,
                "anchors": [{"value": value, "text": text} for value, text in sorted(criterion.anchors.items())],
            }
            for criterion in rules.criteria
        ],
        "items": [_item(design.shown[item_id], places, final) for item_id in design.orders[juror]],
    }
    clips = [base64.b64encode(videos[clip_id]).decode() for clip_id in design.key.clips]
    return render(Path(__file__).parent / "templates", "sheet", sheet=content, content=as_script(content), clips=clips)


def _item(shown: ShownItem, places: dict[str, int], final: Final) -> dict[str, Any]:
    image = None
    if shown.image:
        finalist, path = shown.image
        image = data_uri((final.finalists[finalist].folder / path).read_bytes())
    return {
        "id": shown.item.item_id,
        "clip": places[shown.item.clip_id],
        "text": visible(shown.text),
        "image": image or "",
        "values": [round(value, 3) for value in shown.values],
    }
