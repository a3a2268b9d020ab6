"""A Codabench worker at home: the same zips, mounts, commands and rules, with no server.

Source of the rules: Codabench v1.25 (compute worker and server), read and observed.
"""
