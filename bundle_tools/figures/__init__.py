"""Figures on pages and guides: computed from the bundle's settings, data and programs, and written between marks.

`marks` finds the marks in a text and fills them, `facts` opens a phase, `inline` and `blocks` know what can stand
between marks, `lookup` gives it for a bundle, and `pages` does all of it for the files.
"""
