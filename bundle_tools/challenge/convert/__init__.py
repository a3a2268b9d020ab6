"""Convert between the files of the 2017 coopetition and this challenge's records (docs/results_2017.md)."""

from bundle_tools.challenge.ingestion_program import use_own_ingestion_program
from bundle_tools.challenge.scoring_program import use_own_scoring_program

# The modules of this package import from both programs.
use_own_ingestion_program()
use_own_scoring_program()
