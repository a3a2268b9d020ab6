"""Write the JSON Schemas of the files that organisers write, from the models that read them."""

import json
import sys
from pathlib import Path

from pydantic import TypeAdapter

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "ingestion_program"), str(ROOT / "scoring_program")]

from bundle_tools.challenge.jury.criteria import Rules  # noqa: E402
from bundle_tools.codabench.keys import Keys  # noqa: E402
from ingest.settings import Task  # noqa: E402
from score.settings import Settings  # noqa: E402

MODELS = {"competition": Keys, "input_task": Task, "reference_task": Settings, "criteria": Rules}


def schemas() -> dict[Path, str]:
    """Return the text of each file."""
    return {
        Path(__file__).with_name(f"{name}.schema.json"): json.dumps(
            {"$schema": "https://json-schema.org/draft/2020-12/schema"} | TypeAdapter(model).json_schema(), indent=1
        )
        + "\n"
        for name, model in MODELS.items()
    }


if __name__ == "__main__":
    for path, text in schemas().items():
        path.write_text(text, "utf-8")
