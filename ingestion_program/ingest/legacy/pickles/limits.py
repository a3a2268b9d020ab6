"""What a pickle may cost: a few bytes can ask for terabytes, or for work without an end."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Everything beyond is refused."""

    file_bytes: int = 1 << 30
    """The whole file. Explanations of 2,000 clips with pictures of 200 x 355 take 426 MB."""
    opcodes: int = 4_000_000
    """Steps of the machine. Predictions of 6 targets for 6,000 clips take up to 400,000."""
    kept_bytes: int = 512 << 20
    """Texts and bytes that are held in memory, together."""
    array_bytes: int = 16 << 20
    """One array, or one text."""
    items: int = 2_000_000
    """Values in the result, counted as often as they stand in it: ten lists inside each other can hold billions."""
    depth: int = 64
    """Containers inside each other; something that contains itself has no end."""
