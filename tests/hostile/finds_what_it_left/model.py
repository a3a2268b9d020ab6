# ruff: noqa
# mypy: ignore-errors
import os
from pathlib import Path

from honest import Escaped, Honest


class Model(Honest):
    def in_load(self):
        for folder in (Path("/dev/shm"), Path(os.environ["TMPDIR"]).parent):
            try:
                found = [path.name for path in folder.iterdir() if path.name.startswith("hostile-left")]
            except OSError:
                continue
            if found:
                raise Escaped(f"{found} of an earlier process")

    def in_predict(self, clip, answer):
        for folder in (Path("/dev/shm"), Path(os.environ["TMPDIR"]).parent):
            try:
                (folder / "hostile-left-for-later").write_text("what was seen so far")
                (folder / "hostile-left-folder").mkdir()
                (folder / "hostile-left-folder" / "note").write_text("what was seen so far")
            except OSError:
                continue
        os._exit(1)
