"""The ingestion program of this checkout, for tools that use its readers."""

import sys
from pathlib import Path


def use_own_ingestion_program() -> None:
    """Make `ingest` of this checkout importable, unless another one is already."""
    program = str(Path(__file__).resolve().parents[2] / "ingestion_program")
    if "ingest" not in sys.modules and program not in sys.path:
        sys.path.append(program)
