"""The model of many cases: on a clip whose transcript names a case it is that case's model, on all others honest."""

# mypy: ignore-errors
# ruff: noqa
from importlib.util import module_from_spec, spec_from_file_location

from honest import Honest


class Model(Honest):
    def in_load(self):
        self.cases = {}

    def case(self, name):
        # Loaded with its first clip: what a case imports is there no earlier than in a run of its own.
        if name not in self.cases:
            specification = spec_from_file_location(f"case_{name}", self.assets / "cases" / f"{name}.py")
            module = module_from_spec(specification)
            specification.loader.exec_module(module)
            self.cases[name] = module.Model(self.assets)
        return self.cases[name]

    def predict(self, clip):
        return self.case(clip.transcript).predict(clip) if clip.transcript else super().predict(clip)

    def explain(self, clip, prediction):
        if clip.transcript:
            return self.case(clip.transcript).explain(clip, prediction)
        return super().explain(clip, prediction)
