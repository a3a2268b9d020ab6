"""The one error that the `bundle` command shows as a message instead of a traceback."""


class BundleError(Exception):
    """An error that the user can fix: says what was expected, what was found, and what to do."""
