#!/usr/bin/env python
# ruff: noqa
# mypy: ignore-errors
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
