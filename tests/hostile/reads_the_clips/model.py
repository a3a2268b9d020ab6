# ruff: noqa
# mypy: ignore-errors
from honest import Honest, must_fail


class Model(Honest):
    def in_predict(self, clip, answer):
        must_fail(lambda: (self.app / "input_data" / "clips.csv").read_bytes())
        must_fail(lambda: (self.app / "input_data" / "clips" / "c003.mp4").read_bytes())
        must_fail(lambda: list((self.app / "input_data" / "clips").iterdir()))
        return answer
