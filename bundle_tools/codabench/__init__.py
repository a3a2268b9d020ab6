"""Any Codabench bundle: read, checked, built, run as the platform does, published.

Nothing in here knows this challenge.
"""
