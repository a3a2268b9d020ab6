"""Figures on pages and guides: computed from the bundle's settings, data and programs, and written between marks.

`marks` finds the marks in a text and fills them, `values` and `blocks` define what can stand between
marks, `phase` opens the data they are computed from, and `pages` applies all of this to the files of a bundle.
"""
