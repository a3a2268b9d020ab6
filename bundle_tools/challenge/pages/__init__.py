"""The pages of a competition, one set of templates for every bundle of this kind.

`templates` holds the words, `figures` what is computed from settings, data and programs, and `write` renders both into
the files of a bundle, or compares them.
"""
