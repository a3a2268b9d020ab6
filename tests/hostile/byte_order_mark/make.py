from pathlib import Path


def make(folder: Path) -> None:
    (folder / "honest.py").write_bytes((Path(__file__).parent.parent / "honest.py").read_bytes())
    (folder / "model.py").write_bytes(b"\xef\xbb\xbffrom honest import Honest as Model\n")
