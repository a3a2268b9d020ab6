"""Which of several runs is really better: totals on common resamples, bands, and ranks under other rules."""
