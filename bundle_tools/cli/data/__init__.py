"""`bundle data`: everything that makes clips, labels and what goes with them."""
