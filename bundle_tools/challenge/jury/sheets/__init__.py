"""What jurors get: finalists and clips are chosen, items are laid out, and each juror's page is written."""
