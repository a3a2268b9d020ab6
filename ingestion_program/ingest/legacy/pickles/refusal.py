"""Why a pickle is not read."""


class PickleRefused(Exception):
    """The file is not read; the text says what was found and where."""
