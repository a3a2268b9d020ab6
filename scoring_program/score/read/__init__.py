"""Reading what ingestion wrote and what the organiser knows, and joining the two."""
