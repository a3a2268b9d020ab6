"""Safe YAML: the size after replacing aliases and merge keys is counted before anything is built.

A file of one kilobyte can describe a structure of 10^30 values, and a single number can take minutes to read. Counting
on the graph of nodes, which contains every node once, is always fast.
"""

from typing import Any

import yaml

# Our competition.yaml has about 400 values; the largest real ones a few thousand.
MOST_VALUES = 200_000
DEEPEST = 100
# Python reads base-60 numbers (1:59:59) in quadratic time; no real number or date is longer.
LONGEST_NUMBER = 100
NUMBERS = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float", "tag:yaml.org,2002:timestamp"})
# Pure-Python YAML reads about 60 kB of dense text a second; ours has 6 kB.
LARGEST_BYTES = 100_000
# All errors that reading untrusted YAML can raise: `!!int ""` ends in an IndexError, `!!bool maybe` in a KeyError.
NOT_YAML = (yaml.YAMLError, ValueError, RecursionError, TypeError, AttributeError, OverflowError, LookupError)


class YamlBombError(ValueError):
    """A YAML text that must not be built; the message says what was expected and found."""


def check_bounds(node: yaml.Node) -> None:
    """Refuse a graph of nodes that would become too large.

    Raises YamlBombError when it expands to more than `MOST_VALUES` values, contains itself, is nested deeper than
    `DEEPEST`, or contains a number of more than `LONGEST_NUMBER` characters.
    """
    _measure(node, {}, 0)


def load_bounded(text: str) -> Any:  # noqa: ANN401 - whatever the text holds
    """Read an untrusted YAML text as `yaml.safe_load` does, or refuse it.

    Raises YamlBombError: see `check_bounds`; also for a text of more than `LARGEST_BYTES` characters. Raises ValueError
    when it is not plain YAML.
    """
    if len(text) > LARGEST_BYTES:
        raise YamlBombError(f"expected at most {LARGEST_BYTES} characters; found {len(text)}")
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        check_bounds(node)
        return loader.construct_document(node)
    except YamlBombError:
        raise
    except NOT_YAML as error:
        raise ValueError(f"expected plain YAML; found {type(error).__name__}: {error}") from error


def _measure(node: yaml.Node, sizes: dict[int, int], depth: int) -> int:
    known = sizes.get(id(node))
    if known == 0:
        raise YamlBombError("expected a finite structure; found one that contains itself")
    if known is not None:
        return known
    if depth > DEEPEST:
        raise YamlBombError(f"expected at most {DEEPEST} levels; found more")
    if isinstance(node, yaml.ScalarNode):
        if node.tag in NUMBERS and len(node.value) > LONGEST_NUMBER:
            raise YamlBombError(f"expected short numbers; found one of {len(node.value)} characters")
        return 1
    sizes[id(node)] = 0
    children = node.value if isinstance(node, yaml.SequenceNode) else [part for pair in node.value for part in pair]
    size = 1
    for child in children:
        size += _measure(child, sizes, depth + 1)
        if size > MOST_VALUES:
            raise YamlBombError(f"expected at most {MOST_VALUES} values; aliases make more")
    sizes[id(node)] = size
    return size
