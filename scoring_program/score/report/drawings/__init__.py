"""Drawings for SVG, and pictures: from numbers to path data and positions; none knows what it shows to whom."""
