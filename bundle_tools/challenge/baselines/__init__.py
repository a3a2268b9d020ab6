"""Landmarks: what simple methods and known submissions reach on a phase's clips, so that a score has a place.

`bundle data baselines` computes them, writes them beside the labels, and into the pages.
"""
