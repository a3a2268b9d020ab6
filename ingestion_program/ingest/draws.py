"""All random draws of the second pass, from a keyed hash of the seal's key and the task's seed.

Without the key nobody can predict them. Each draw has a name, so none depends on earlier draws or on the order of
clips.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")


class KeyedRandom:
    """Named draws that depend only on key, seed and name."""

    def __init__(self, sign: Callable[[bytes], bytes] | None, seed: int) -> None:
        """`sign`: signs with the seal's key; None without a key."""
        message = str(seed).encode()
        self._secret = sign(message) if sign else hmac.digest(b"", message, "sha256")

    def seed(self, *names: str) -> int:
        """Return a whole number from 0 to 2**64 - 1."""
        message = "\0".join(names).encode("utf-8", "backslashreplace")
        return int.from_bytes(hmac.new(self._secret, message, hashlib.sha256).digest()[:8], "big")

    def generator(self, *names: str) -> np.random.Generator:
        """Return a random generator of its own for these names."""
        return np.random.default_rng(self.seed(*names))

    def choice(self, items: Sequence[Item], *names: str) -> Item:
        """Return one of `items`, all equally likely."""
        return items[self.seed(*names) % len(items)]

    def order(self, items: Iterable[str], *names: str) -> list[str]:
        """Return `items` in a random order that does not depend on their given order."""
        return sorted(items, key=lambda item: (self.seed(*names, item), item))
