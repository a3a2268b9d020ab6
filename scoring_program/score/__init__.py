"""The scoring program: compares what ingestion recorded with the reference data, and judges nothing else."""

__version__ = "0.1.0"
