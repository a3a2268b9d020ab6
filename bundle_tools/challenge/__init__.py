"""Rules, pages, baselines, comparison and jury of this challenge."""
