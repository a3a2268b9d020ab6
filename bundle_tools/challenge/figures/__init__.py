"""Figures on pages and guides: computed from the bundle's settings, data and programs, and written between marks.

`marks` finds the marks in a text and fills them, `values` and `blocks` are the two tables of what can stand between
marks, `phase` opens what they are computed from, and `pages` does all of it for the files of a bundle.
"""
