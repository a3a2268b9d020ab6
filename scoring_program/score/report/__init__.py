"""The report: one self-contained page, ``detailed_results.html``."""
