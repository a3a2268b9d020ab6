"""One evaluation on many cores or machines: plan, shards, merge."""

from bundle_tools.challenge.programs import use_own_program

use_own_program("ingestion_program")
