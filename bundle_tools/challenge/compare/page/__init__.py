"""The page of a comparison; it uses the look of the scoring program's report, so it is imported after that is found."""
