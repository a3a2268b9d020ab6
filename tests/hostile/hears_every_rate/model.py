# ruff: noqa
# mypy: ignore-errors
from honest import Escaped, Honest


class Model(Honest):
    def in_predict(self, clip, answer):
        heard = 0
        for rate in range(8000, 8040):
            try:
                clip.audio(rate)
            except ValueError:
                continue
            heard += 1
        if heard > 8:
            raise Escaped(f"the sound at {heard} rates, all of which ingestion keeps")
        return answer
