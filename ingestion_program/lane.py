"""Asks one model about clips that another program hands over; ingestion starts one for each model beside the first."""

import sys

if __name__ == "__main__":
    from ingest.lanes.serve import main

    sys.exit(main())
