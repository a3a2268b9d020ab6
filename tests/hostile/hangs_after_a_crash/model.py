# ruff: noqa
# mypy: ignore-errors
import os
import time

from honest import Honest


class Model(Honest):
    def in_load(self):
        marker = f"/dev/shm/hostile-{os.path.basename(str(self.app.parent))}"
        if os.path.exists(marker):
            time.sleep(60)
        self.marker = marker

    def in_predict(self, clip, answer):
        open(self.marker, "w").close()
        os._exit(1)
