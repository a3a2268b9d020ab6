"""Clip by clip: whether what an explanation marks and claims is what moved the prediction."""
