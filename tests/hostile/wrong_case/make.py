from pathlib import Path


def make(folder: Path) -> None:
    (folder / "Model.PY").write_text("class Model: pass")
