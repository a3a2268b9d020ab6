"""The measured axes of an explanation. docs/metrics.md holds the formulas and their sources.

Each axis is a function of sums over clips (`score.metrics`), so that its interval costs a matrix product.
"""
