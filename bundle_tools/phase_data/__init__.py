"""The files of a phase as docs/data_format.md describes them: the same for drawn and filmed clips."""
