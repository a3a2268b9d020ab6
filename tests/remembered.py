"""YAML that is read again and again is parsed once: that takes longer than most of what is then done with it."""

from collections import OrderedDict
from typing import Any, ClassVar

import yaml

MOST = 300
"""How many texts are remembered, the last ones."""


class Remembering(yaml.SafeLoader):
    """The safe loader, but for texts that it has read before. To build merged keys (`<<`) changes what was read."""

    _nodes: ClassVar[OrderedDict[str | bytes, yaml.Node | None]] = OrderedDict()

    def __init__(self, text: Any) -> None:  # noqa: ANN401 - whatever PyYAML reads
        super().__init__(text)
        merges = "<<" in text if isinstance(text, str) else isinstance(text, bytes) and b"<<" in text
        self._key = text if isinstance(text, str | bytes) and not merges else None

    def get_single_node(self) -> yaml.Node | None:
        if self._key is None:
            return super().get_single_node()
        if self._key not in self._nodes:
            self._nodes[self._key] = super().get_single_node()
            if len(self._nodes) > MOST:
                self._nodes.popitem(last=False)
        return self._nodes[self._key]
