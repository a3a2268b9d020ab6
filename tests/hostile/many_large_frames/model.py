# ruff: noqa
# mypy: ignore-errors
from honest import Escaped, Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        kept = list(clip.frames(count=2000, size=(2000, 2000)))
        raise Escaped(f"{len(kept)} frames")
