"""A juror's page: one file with clips, explanations and questions, for any browser, without a network."""

import base64
import re
from itertools import pairwise
from typing import Any

from bundle_tools.challenge.jury.criteria import Rules
from bundle_tools.challenge.jury.design import Design, Shown
from bundle_tools.challenge.jury.finalists import Final
from bundle_tools.challenge.pages import as_script, render

_NUMBER = re.compile(r"[−-]?\d+(?:[.,]\d+)*(?:\s?%)?")
HIDDEN = "▢"


def sheet_page(design: Design, juror: int, final: Final, rules: Rules, videos: dict[str, bytes]) -> str:
    """Write one juror's page.

    Parameters
    ----------
    design
        Of the jury.
    juror
        From 0.
    final
        Finalists, for their pictures.
    rules
        Criteria.
    videos
        By clip id, as MP4.

    Returns
    -------
    str
        HTML that asks for nothing from outside. Teams, kinds of items, truth and scores are not in it.
    """
    places = {clip_id: number for number, clip_id in enumerate(design.key.clips)}
    bands = {item.item_id: item.band for item in design.key.items}
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
        "main": final.settings.names.index(final.settings.main_target),
        "bands": [{"name": name, "range": text} for name, text in zip(rules.bands, _ranges(design.cuts), strict=True)],
        "lowest": rules.lowest,
        "highest": rules.highest,
        "criteria": [
            {
                "name": criterion.name,
                "title": criterion.title,
                "question": criterion.question,
                "anchors": [{"value": value, "text": text} for value, text in criterion.anchors],
            }
            for criterion in rules.criteria
        ],
        "items": [_item(design.shown[item_id], bands[item_id], places, final) for item_id in design.orders[juror]],
    }
    clips = [base64.b64encode(videos[clip_id]).decode() for clip_id in design.key.clips]
    return render("bundle_tools.challenge.jury", "sheet", sheet=content, content=as_script(content), clips=clips)


def _ranges(cuts: tuple[float, ...]) -> list[str]:
    inner = [f"{low:.2f} to {high:.2f}" for low, high in pairwise(cuts)]
    return [f"below {cuts[0]:.2f}", *inner, f"{cuts[-1]:.2f} or more"]


def hide_numbers(text: str) -> str:
    """Put a sign in the place of each number: scores answer the first question and betray texts of other clips."""
    return _NUMBER.sub(HIDDEN, text)


def _item(shown: Shown, band: int, places: dict[str, int], final: Final) -> dict[str, Any]:
    from score.report.drawings.picture import data_uri  # noqa: PLC0415 - the program's path is known only now
    from score.visible import visible  # noqa: PLC0415

    image = None
    if shown.image:
        finalist, path = shown.image
        image = data_uri((final.finalists[finalist].folder / path).read_bytes())
    return {
        "id": shown.item_id,
        "clip": places[shown.clip_id],
        "text": hide_numbers(visible(shown.text)),
        "image": image or "",
        "values": [round(value, 3) for value in shown.values],
        "band": band,
        "cue": shown.cue.replace("_", " "),
    }
