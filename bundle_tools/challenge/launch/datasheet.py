"""A datasheet of the data: counted facts, and the organisers' answers."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from bundle_tools.challenge.launch.facts import Facts
from bundle_tools.challenge.reading.tables import read_settings
from bundle_tools.challenge.reading.video import describe
from bundle_tools.codabench.competition import Competition
from bundle_tools.codabench.rules.dataset import Dataset
from bundle_tools.phase_data.texts import templates_in


def datasheet(competition: Competition, facts: Facts) -> str:
    """Return the datasheet as Markdown.

    `facts`: the organisers' answers; missing ones are marked as open.
    """
    content = yaml.safe_load((competition.root / "competition.yaml").read_text("utf-8-sig"))
    references = [phase.task.reference_data for phase in competition.phases]
    settings = [read_settings(Dataset(folder)) or {} for folder in references if folder is not None]
    groups = next((_attributes(folder / str(one["groups"])) for folder, one in zip(references, settings, strict=True)
                   if folder is not None and one.get("groups")), [])  # fmt: skip
    return (
        templates_in(Path(__file__).with_name("templates"))
        .get_template("datasheet.md.j2")
        .render(
            title=content.get("title"),
            description=str(content.get("description") or "").strip(),
            parts=list(_parts(competition, content)),
            targets=next((one["targets"] for one in settings if "targets" in one), []),
            groups=groups,
            facts=facts,
        )
    )


def _parts(competition: Competition, content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    named = sorted({str(phase["public_data"]) for phase in content["phases"] if phase.get("public_data")})
    for name in named:
        if (competition.root / name / "labels.csv").is_file():
            clips = sorted((competition.root / name / "clips").glob("*"))
            yield _part("training", competition.root / name / "labels.csv", clips)
    for phase in competition.phases:
        given, wanted = phase.task.input_data, phase.task.reference_data
        if given is not None and wanted is not None and (wanted / "labels.csv").is_file():
            yield _part(phase.name, wanted / "labels.csv", sorted((given / "clips").glob("*")))


def _part(name: str, labels: Path, clips: Sequence[Path]) -> dict[str, Any]:
    with labels.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lengths = [length for path in clips if (length := describe(path.read_bytes()).duration_s)]
    lasting = f"{min(lengths):.1f} to {max(lengths):.1f}" if lengths else "unknown"
    return {"name": name, "clips": len(rows), "people": len({row["source_id"] for row in rows}), "lasting": lasting}


def _attributes(table: Path) -> list[str]:
    with table.open(encoding="utf-8", newline="") as file:
        return [column for column in next(csv.reader(file), []) if column not in ("clip_id", "source_id")]
