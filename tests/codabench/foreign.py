"""Small bundles that are not ours, in the styles that organisers really upload; their programs run.

Each writer gives the bundle's folder. A sample submission lies in `solutions/sample/` of the first three.
"""

import io
import zipfile
from pathlib import Path

from tests.tiny import PNG, write_files

Files = dict[str, str | bytes]

# flat: everything at the top level, programs and data as ready zips, commands with $variables, unquoted dates.

FLAT_COMPETITION = """\
version: 2
title: Count the pebbles
description: How many pebbles lie in each jar?
image: logo.png
terms: terms.md
registration_auto_approve: True
docker_image: codalab/codalab-legacy:py312
make_programs_available: False
make_input_data_available: True
pages:
  - title: Overview
    file: overview.md
  - title: Evaluation
    file: evaluation.md
tasks:
  - index: 0
    name: Pebbles
    description: Ten jars
    is_public: false
    input_data: input_data.zip
    reference_data: reference_data.zip
    ingestion_program: ingestion_program.zip
    scoring_program: scoring_program.zip
solutions:
  - index: 0
    path: solutions/sample/
    tasks: [0]
phases:
  - index: 0
    name: Development
    description: Try as often as you like
    start: 2030-01-01 12:00:00
    end: 2030-03-01
    max_submissions_per_day: 5
    max_submissions: 100
    execution_time_limit: 500
    starting_kit: starting_kit.zip
    tasks: [0]
  - index: 1
    name: Final
    start: 2030-03-02
    end: 2030-04-01
    max_submissions_per_day: 1
    max_submissions: 3
    execution_time_limit: 500
    tasks: [0]
leaderboards:
  - index: 0
    title: Results
    key: main
    submission_rule: "Force_Last"
    columns:
      - title: Error
        key: error
        index: 0
        sorting: asc
        precision: 3
      - title: Duration
        key: duration
        index: 1
        sorting: asc
"""

FLAT_INGESTION = """\
import os
import sys
import time

input_dir, output_dir, program_dir, submission_dir = sys.argv[1:5]
sys.path.append(submission_dir)


def main():
    from counter import Counter

    start = time.time()
    jars = [line.split() for line in open(os.path.join(input_dir, "jars.txt"))]
    counter = Counter()
    with open(os.path.join(output_dir, "counts.predict"), "w") as target:
        for name, *weights in jars:
            target.write("%s %d\\n" % (name, counter.count([float(weight) for weight in weights])))
    with open(os.path.join(output_dir, "duration.txt"), "w") as target:
        target.write("Duration: %.3f\\n" % (time.time() - start))


if __name__ == "__main__":
    main()
"""

FLAT_SCORING = """\
#!/usr/bin/env python
import json
import os
import sys

input_dir, output_dir = sys.argv[1], sys.argv[2]
submit_dir, truth_dir = os.path.join(input_dir, "res"), os.path.join(input_dir, "ref")


def read(path):
    return dict(line.split() for line in open(path) if line.strip())


truth = read(os.path.join(truth_dir, "counts.solution"))
found = read(os.path.join(submit_dir, "counts.predict"))
error = sum(abs(int(truth[name]) - int(found.get(name, 0))) for name in truth) / float(len(truth))
duration = float(open(os.path.join(submit_dir, "duration.txt")).read().split(":")[1])
with open(os.path.join(output_dir, "scores.json"), "w") as target:
    target.write(json.dumps({"error": error, "duration": duration}))
"""

FLAT_SAMPLE = """\
class Counter:
    def count(self, weights):
        return round(sum(weights) / 10)
"""


def write_flat(folder: Path) -> Path:
    """Write a bundle with all files at its root and every data set zipped; submissions are code."""
    jars = "".join(f"jar{i} {4.0 * i} {6.0 * i}\n" for i in range(1, 11))
    counts = "".join(f"jar{i} {i + (i == 3)}\n" for i in range(1, 11))
    return write_files(
        folder,
        {
            "competition.yaml": FLAT_COMPETITION,
            "logo.png": PNG,
            "overview.md": "# Pebbles\n\nGuess. See the [rules](https://example.org/rules.html) too.\n",
            "evaluation.md": "The mean of $|n - \\hat n|$ over jars.\n",
            "terms.md": "Play fair.\n",
            "ingestion_program.zip": _zip(
                {
                    "metadata": "command: python3 $ingestion_program/ingestion.py $input $output "
                    "$ingestion_program $submission_program\n",
                    "ingestion.py": FLAT_INGESTION,
                }
            ),
            "scoring_program.zip": _zip(
                {
                    "metadata": "command: python3 $program/evaluate.py $input $output\ndescription: Mean error\n",
                    "evaluate.py": FLAT_SCORING,
                }
            ),
            "input_data.zip": _zip({"jars.txt": jars}),
            "reference_data.zip": _zip({"counts.solution": counts}),
            "starting_kit.zip": _zip({"README.md": "Write counter.py.\n", "counter.py": FLAT_SAMPLE}),
            "solutions/sample/counter.py": FLAT_SAMPLE,
        },
    )


# multi-task: two tasks in one phase, a computed column, phases that follow each other, a fact sheet, an own queue.

MULTI_COMPETITION = """\
version: "2"
title: Rain tomorrow
image: images/logo.png
terms: pages/terms.md
contact_email: rain@example.org
reward: A barometer
queue: 8f8f9a3e-3c0e-4a52-9d0d-2f5f6f0f7a11
docker_image: python:3.11-slim
competition_type: benchmark
registration_auto_approve: yes
enable_detailed_results: true
show_detailed_results_in_leaderboard: false
auto_run_submissions: true
fact_sheet: {
  "method": {"key": "method", "type": "text", "title": "Method", "selection": "",
             "is_required": "true", "is_on_leaderboard": "true"},
  "pretrained": {"key": "pretrained", "type": "checkbox", "title": "Pretrained?", "selection": [true, false],
                 "is_required": "false", "is_on_leaderboard": "false"},
  }
pages:
  - title: Overview
    file: pages/overview.md
tasks:
  - &coast
    index: 1
    name: Coast
    input_data: tasks/coast/input_data/
    reference_data: tasks/coast/reference_data/
    ingestion_program: ingestion_program/
    scoring_program: scoring_program/
  - <<: *coast
    index: 2
    name: Hills
    input_data: tasks/hills/input_data/
    reference_data: tasks/hills/reference_data/
solutions:
  - index: 1
    name: Persistence
    tasks:
      - 1
      - 2
    path: solutions/sample/
phases:
  - index: 0
    name: Warm-up
    start: "2030-01-01"
    end: "2030-01-31"
    tasks:
      - 1
    execution_time_limit: 600
    public_data: public_data/
  - index: 1
    name: Season
    start: "2030-02-01 00:00:00"
    end: "2030-08-31 23:59:00"
    tasks:
      - 1
      - 2
    max_submissions: 50
    execution_time_limit: 3600
    hide_output: false
  - index: 2
    name: Final
    start: "2030-09-01 00:00:00"
    tasks:
      - 2
    max_submissions: 2
    max_submissions_per_day: 2
    execution_time_limit: 3600
    auto_migrate_to_this_phase: false
    hide_output: true
leaderboards:
  - title: Forecasts
    key: forecasts
    submission_rule: Force_Best
    hidden: false
    primary_index: 2
    columns:
      - {index: 0, key: hits, title: Hits, sorting: desc, precision: 3}
      - {index: 1, key: calm, title: Dry days, sorting: desc, precision: 3}
      - {index: 2, key: mean, title: Mean, sorting: desc, precision: 3, computation: avg, computation_indexes: [0, 1]}
"""

MULTI_INGESTION = """\
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
"""

MULTI_SCORING = """\
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
"""

MULTI_SAMPLE = """\
def rain_tomorrow(measures):
    return measures["rain_today"]
"""


def write_multi_task(folder: Path) -> Path:
    """Write a bundle with two tasks, of which the second phase, "Season", runs both; submissions are code."""
    return write_files(
        folder,
        {
            "competition.yaml": MULTI_COMPETITION,
            "images/logo.png": PNG,
            "pages/overview.md": "# Rain\n\n```python\ndef rain_tomorrow(measures): ...\n```\n",
            "pages/terms.md": "Share your method.\n",
            "ingestion_program/metadata.yaml": "command: python3 -u ingestion.py --input /app/input_data\n",
            "ingestion_program/ingestion.py": MULTI_INGESTION,
            "scoring_program/metadata.yaml": (
                "command: python3 /app/program/scoring.py /app/input/ref /app/input/res /app/output\n"
            ),
            "scoring_program/scoring.py": MULTI_SCORING,
            "tasks/coast/input_data/days.json": '{"d1": {"rain_today": true}, "d2": {"rain_today": false}}\n',
            "tasks/coast/reference_data/rain.json": '{"d1": true, "d2": false}\n',
            "tasks/hills/input_data/days.json": '{"e1": {"rain_today": true}, "e2": {"rain_today": true}}\n',
            "tasks/hills/reference_data/rain.json": '{"e1": true, "e2": false}\n',
            "public_data/years.json": '{"d0": {"rain_today": true, "rain_tomorrow": false}}\n',
            "solutions/sample/forecast.py": MULTI_SAMPLE,
        },
    )


# results: no ingestion program, a table is submitted, the scoring program is one of CodaLab's first version.

RESULTS_COMPETITION = """\
version: 2
title: Name that tune
image: logo.jpg
terms: terms.md
docker_image: codalab/codalab-legacy:py39
pages:
  - {title: Overview, file: overview.md}
tasks:
  - index: 0
    name: Tunes
    reference_data: reference_data/
    scoring_program: scoring_program/
phases:
  - index: 0
    name: The only phase
    start: 5-31-2030 # Month-Day-Year, never ends
    tasks: [0]
leaderboards:
  - title: RESULTS
    key: RESULTS
    columns:
      - title: Correct
        key: correct
        index: 0
        sorting: desc
        computation: null
        computation_indexes: null
"""

RESULTS_SCORING = """\
#!/usr/bin/env python
import csv
import os
import os.path
import sys

input_dir = sys.argv[1]
output_dir = sys.argv[2]
submit_dir = os.path.join(input_dir, 'res')
truth_dir = os.path.join(input_dir, 'ref')

if not os.path.isdir(submit_dir):
    print("%s doesn't exist" % submit_dir)

if not os.path.exists(output_dir):
    os.makedirs(output_dir)

with open(os.path.join(truth_dir, 'truth.csv')) as opened:
    truth = dict(csv.reader(opened))
with open(os.path.join(submit_dir, 'answer.csv')) as opened:
    answer = dict(csv.reader(opened))
correct = sum(answer.get(clip) == tune for clip, tune in truth.items()) / float(len(truth))
with open(os.path.join(output_dir, 'scores.txt'), 'w') as opened:
    opened.write("correct: %f\\n" % correct)
"""


def write_results(folder: Path) -> Path:
    """Write a bundle to which participants submit results, `answer.csv`."""
    return write_files(
        folder,
        {
            "competition.yaml": RESULTS_COMPETITION,
            "logo.jpg": PNG,
            "overview.md": "Submit a zip with answer.csv.\n",
            "terms.md": "No humming.\n",
            "scoring_program/metadata": "command: python $program/evaluate.py $input $output\n",
            "scoring_program/evaluate.py": RESULTS_SCORING,
            "reference_data/truth.csv": "t1,Daisy Bell\nt2,Greensleeves\nt3,Auld Lang Syne\nt4,Frog Went Courting\n",
            "solutions/sample/answer.csv": "t1,Daisy Bell\nt2,Scarborough Fair\nt3,Auld Lang Syne\n",
        },
    )


# version 1: the competition.yaml of the older platform, which the newer one converts.

VERSION1_COMPETITION = """\
title: Weigh the parcel
description: From its sides to its weight
image: logo.png
has_registration: False
end_date: 2030-12-31
admin_names: someone
competition_docker_image: codalab/codalab-legacy:py37
html:
  overview: overview.html
  evaluation: evaluation.html
  terms: terms_and_conditions.html
phases:
  1:
    phasenumber: 1
    label: "First"
    start_date: 2030-01-01
    max_submissions: 100
    color: green
    is_scoring_only: True
    scoring_program: program.zip
    reference_data: reference_first.zip
  2:
    phasenumber: 2
    label: "Last"
    start_date: 2030-06-01
    max_submissions: 3
    color: purple
    is_scoring_only: True
    scoring_program: program.zip
    reference_data: reference_last.zip
leaderboard:
  leaderboards:
    RESULTS: &RESULTS
      label: Results
      rank: 1
  columns:
    error:
      leaderboard: *RESULTS
      label: Error
      numeric_format: 4
      rank: 1
      sort: asc
"""


def write_version1(folder: Path) -> Path:
    """Write a bundle of CodaLab's first version, as far as the newer platform takes it."""
    return write_files(
        folder,
        {
            "competition.yaml": VERSION1_COMPETITION,
            "logo.png": PNG,
            "overview.html": "<h3>Parcels</h3>\n",
            "evaluation.html": "<p>Mean error, kg.</p>\n",
            "terms_and_conditions.html": "<p>Do not shake.</p>\n",
            "program.zip": _zip(
                {
                    "metadata": "command: python $program/evaluate.py $input $output\n",
                    "evaluate.py": RESULTS_SCORING.replace("correct: ", "error: "),
                }
            ),
            "reference_first.zip": _zip({"truth.csv": "p1,2\np2,3\n"}),
            "reference_last.zip": _zip({"truth.csv": "q1,5\nq2,7\n"}),
        },
    )


def _zip(files: Files) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()
