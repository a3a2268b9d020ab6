"""The output of ingestion: believed only as far as its manifest goes."""
