"""Ingestion: run a submitted model over clips and record what it answers. No score is computed here."""

VERSION = "0.1.0"
