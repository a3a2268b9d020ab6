"""Words that Codabench accepts as true and false; a quoted "true" counts like an unquoted one."""

TRUE_WORDS = frozenset({"t", "true", "y", "yes", "on", "1"})
BOOLEAN_WORDS = TRUE_WORDS | {"f", "false", "n", "no", "off", "0"}


def is_on(value: object) -> bool:
    """Return whether Codabench reads a value as true."""
    return isinstance(value, (bool, int, str)) and str(value).lower() in TRUE_WORDS
