"""A whole bundle around an organiser's own data: programs, pages, example solutions and `competition.yaml`.

Everything that participants read is rendered from the settings, so nothing in it refers to another challenge.
"""
