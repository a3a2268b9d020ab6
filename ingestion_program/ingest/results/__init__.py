"""Submissions of results instead of code: the files of the 2017 coopetition, and this challenge's own."""
