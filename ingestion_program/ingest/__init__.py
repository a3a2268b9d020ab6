"""Ingestion: run a submitted model over clips and record its answers. No score is computed here."""

VERSION = "0.1.0"
DEFAULTS = ("/app/input_data/", "/app/output/", "/app/program", "/app/ingested_program")
"""Where the platform mounts input data, output, this program and the submission."""
