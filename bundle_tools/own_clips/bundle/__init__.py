"""A whole bundle around an organiser's own data: programs, pages, example solutions and `competition.yaml`.

Everything that participants read is made from the settings, so that nothing in it speaks of another challenge.
"""
