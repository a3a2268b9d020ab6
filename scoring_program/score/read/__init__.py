"""Read the output of ingestion and the reference data, and join them."""
