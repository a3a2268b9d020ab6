"""The cue reader with one thing changed: becomes a package of each submission, beside ``cuereader``."""
