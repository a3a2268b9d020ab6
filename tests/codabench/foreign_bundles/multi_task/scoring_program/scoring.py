# ruff: noqa
# mypy: ignore-errors
import html
import json
import sys
from pathlib import Path

reference, result, output = (Path(argument) for argument in sys.argv[1:4])
truth = json.loads((reference / "rain.json").read_text())
found = json.loads((result / "forecast.json").read_text())
wet = [day for day in truth if truth[day]]
dry = [day for day in truth if not truth[day]]
scores = {
    "hits": sum(bool(found.get(day)) for day in wet) / len(wet),
    "calm": sum(not found.get(day, True) for day in dry) / len(dry),
}
(output / "scores.json").write_text(json.dumps(scores))
rows = "".join("<tr><td>%s<td>%.3f" % (html.escape(key), value) for key, value in scores.items())
(output / "detailed_results.html").write_text("<!doctype html><title>Rain</title><table>%s</table>" % rows)
