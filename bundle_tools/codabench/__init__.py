"""Tools for any Codabench bundle: read, check, build, run as the platform does, publish.

Nothing in this package depends on this challenge.
"""
