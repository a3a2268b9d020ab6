"""The jury: one page for each juror, and the results of their ratings."""
