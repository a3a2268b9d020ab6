"""Compare runs: totals on common resamples, bands, and ranks under other rules."""
