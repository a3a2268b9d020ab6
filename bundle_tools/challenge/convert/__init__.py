"""Between the files of the 2017 coopetition and this challenge's records (docs/results_2017.md)."""
