"""Can an altered call be told from a plain one? Clips, calls, features and detectors of ``bench_detect.py``."""
