from pathlib import Path


def make(folder: Path) -> None:
    import os
    (Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.txt"))).touch()
