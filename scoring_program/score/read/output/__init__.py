"""The output of ingestion; only files in its manifest are trusted."""
