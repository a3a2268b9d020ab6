"""Real clips with labels into a sound challenge: checked, split by person, renamed, stripped and written as a whole.

An adapter (`first_impressions`, a folder of clips) reads what it knows into a `Dataset`; everything after that is the
same for all of them.
"""
