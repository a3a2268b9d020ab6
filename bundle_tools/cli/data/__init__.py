"""`bundle data`: make clips, labels and related files."""
