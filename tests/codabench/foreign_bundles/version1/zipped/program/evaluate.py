#!/usr/bin/env python
# ruff: noqa
# mypy: ignore-errors
import csv
import os
import os.path
import sys

input_dir = sys.argv[1]
output_dir = sys.argv[2]
submit_dir = os.path.join(input_dir, "res")
truth_dir = os.path.join(input_dir, "ref")

if not os.path.isdir(submit_dir):
    print("%s doesn't exist" % submit_dir)

if not os.path.exists(output_dir):
    os.makedirs(output_dir)

with open(os.path.join(truth_dir, "truth.csv")) as opened:
    truth = dict(csv.reader(opened))
with open(os.path.join(submit_dir, "answer.csv")) as opened:
    answer = dict(csv.reader(opened))
correct = sum(answer.get(clip) == tune for clip, tune in truth.items()) / float(len(truth))
with open(os.path.join(output_dir, "scores.txt"), "w") as opened:
    opened.write("error: %f\n" % correct)
