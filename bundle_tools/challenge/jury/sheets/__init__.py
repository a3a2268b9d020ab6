"""The sheets of jurors: choose finalists and clips, lay out items, write each juror's page."""
