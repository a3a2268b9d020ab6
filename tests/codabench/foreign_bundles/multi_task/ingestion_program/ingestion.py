# ruff: noqa
# mypy: ignore-errors
import argparse
import importlib.util
import json
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--input", type=Path, default=Path("/app/input_data"))
parser.add_argument("--output", type=Path, default=Path("/app/output"))
parser.add_argument("--submission", type=Path, default=Path("/app/ingested_program"))
arguments = parser.parse_args()

spec = importlib.util.spec_from_file_location("forecast", arguments.submission / "forecast.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
days = json.loads((arguments.input / "days.json").read_text())
answers = {day: module.rain_tomorrow(measures) for day, measures in days.items()}
(arguments.output / "forecast.json").write_text(json.dumps(answers))
print("Forecast", len(answers), "days")
