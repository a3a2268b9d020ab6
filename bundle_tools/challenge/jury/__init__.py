"""The jury: one page for each juror, and what their ratings say."""
