"""Clips, calls, features and detectors of ``bench_detect.py``: can altered calls be told from plain ones?"""
