"""One evaluation on many cores or machines: plan, shards, merge."""

from bundle_tools.challenge.programs import use_own_ingestion_program

use_own_ingestion_program()
