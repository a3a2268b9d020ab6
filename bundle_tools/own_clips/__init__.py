"""From real clips with labels to a challenge: checked, split by person, renamed, stripped of metadata, all or nothing.

`sources/` reads what somebody has into a `Dataset`; everything after that is the same for all of them.
"""

from bundle_tools.challenge.ingestion_program import use_own_ingestion_program
from bundle_tools.challenge.scoring_program import use_own_scoring_program

# The modules of this package import from both programs.
use_own_ingestion_program()
use_own_scoring_program()
