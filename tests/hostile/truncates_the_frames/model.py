# ruff: noqa
# mypy: ignore-errors
import os

from honest import Escaped, Honest


class Model(Honest):
    def in_load(self):
        self.kept = []
        self.close = os.close
        os.close = self.kept.append

    def in_predict(self, clip, answer):
        list(clip.frames(size=(300, 200)))
        done = False
        for descriptor in self.kept:
            try:
                os.ftruncate(descriptor, 0)
                done = True
            except OSError:
                pass
        if done:
            list(clip.frames(size=(640, 480)))
            raise Escaped("the shared memory was cut")
        return answer
