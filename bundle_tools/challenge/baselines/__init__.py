"""Landmarks: the scores of simple methods and known submissions on a phase's clips, for comparison.

`bundle data baselines` computes them, writes them beside the labels, and into the pages.
"""
