# ruff: noqa
# mypy: ignore-errors
from honest import Honest


class Model(Honest):
    def predict(self, clip):
        if clip.frame_count > 20:
            raise ValueError(f"{clip.frame_count} frames")
        return super().predict(clip)
