"""Submissions whose honesty is known; its commands run outside pytest, too, so the programs are made importable."""

import sys

from tests import ROOT

sys.path += [str(ROOT / name) for name in ("ingestion_program", "scoring_program", "starting_kit")]
