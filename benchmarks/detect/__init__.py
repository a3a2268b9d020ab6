"""Tell altered calls from plain ones: clips, calls, features and detectors of ``bench_detect.py``."""
