"""Real clips with labels into a sound challenge: checked, split by person, renamed, stripped and written as a whole.

`sources/` reads what somebody has into a `Dataset`; everything after that is the same for all of them.
"""
