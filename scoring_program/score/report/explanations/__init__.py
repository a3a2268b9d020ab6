"""Clip by clip: whether the prediction depends on what the explanation marks and claims."""
