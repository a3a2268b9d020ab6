"""Independent streams of random numbers, all derived from one stated seed."""

import hashlib
import hmac
import zlib

import numpy as np


def stream(seed: int, *purpose: str | int) -> np.random.Generator:
    """Return the generator of one purpose.

    Every part of a clip has its own stream, so that a change of one part never shifts the draws of another. This makes
    a clip rendered without a cue equal to the original everywhere else.

    `seed`: any integer >= 0. For a set whose labels must stay secret take a large one, for instance
    ``secrets.randbits(128)``: who guesses the seed can regenerate the labels.
    """
    keys = [part if isinstance(part, int) else zlib.crc32(part.encode()) for part in purpose]
    return np.random.default_rng([seed, *keys])


def opaque_id(prefix: str, seed: int, *purpose: str | int) -> str:
    """Return ``prefix`` and nine hexadecimal digits that say nothing without the seed."""
    message = "/".join(str(part) for part in purpose).encode()
    return prefix + hmac.new(str(seed).encode(), message, hashlib.sha256).hexdigest()[:9]
