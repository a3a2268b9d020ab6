"""Turn labelled clips into a challenge: checked, split by person, renamed, stripped of metadata, all or nothing.

`sources/` reads an organiser's files into a `Dataset`; everything else is independent of the source.
"""

from bundle_tools.programs import use_own_program

# The modules of this package import from both programs.
use_own_program("ingestion_program")
use_own_program("scoring_program")
