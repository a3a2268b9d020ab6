"""Paths of the kit. Importing this module makes the platform's two programs importable."""

import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
# In the starting kit the programs lie beside this file; in the repository one level up.
ROOT = _HERE if (_HERE / "ingestion_program").is_dir() else _HERE.parent
INGESTION, SCORING = ROOT / "ingestion_program", ROOT / "scoring_program"
INPUT_DATA, REFERENCE_DATA = ROOT / "input_data/practice", ROOT / "reference_data/practice"

ASIDE = tuple(folder.resolve() for folder in (_HERE, INGESTION, SCORING))
"""Folders on the module path that the platform lacks."""

sys.path += [str(program) for program in (INGESTION, SCORING) if str(program) not in sys.path]
