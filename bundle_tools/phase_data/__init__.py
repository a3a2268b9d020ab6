"""The files of a phase as docs/data_format.md describes them: drawn clips and filmed ones are written alike."""
