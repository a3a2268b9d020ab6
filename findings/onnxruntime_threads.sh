#!/usr/bin/env bash
# ONNX Runtime pins the threads of a session to cores by number, whatever cores the process may use: with its default
# options, several processes that were given a core each all work on the same cores. Threads stay on the process's cores
# if `SessionOptions.intra_op_num_threads` is set.
#
# Seen on Linux x86-64 with two cores, in a process that may use core 0 alone, cores of the session's own threads:
#   onnxruntime 1.28.0 and 1.32.0, default options             1
#   onnxruntime 1.28.0 and 1.32.0, intra_op_num_threads = 2    0
# Fails if that changes. Needs two cores or more.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/cores.py" <<'PYTHON'
import os
import sys
import time

import onnx
import onnxruntime
from onnx import TensorProto, helper

value = helper.make_tensor_value_info
node = helper.make_node("Relu", ["x"], ["y"])
graph = helper.make_graph([node], "g", [value("x", TensorProto.FLOAT, [4])], [value("y", TensorProto.FLOAT, [4])])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
os.sched_setaffinity(0, {0})
before = set(os.listdir("/proc/self/task"))
options = onnxruntime.SessionOptions()
if sys.argv[1] == "set":
    options.intra_op_num_threads = 2
session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
time.sleep(1)  # each thread pins itself
cores = {core for task in set(os.listdir("/proc/self/task")) - before for core in os.sched_getaffinity(int(task))}
print("ONNX Runtime", onnxruntime.__version__, sys.argv[1], sorted(cores))
assert (cores == {0}) == (sys.argv[1] == "set"), cores
PYTHON
python3 -m venv "$folder/venv"
export ORT_DISABLE_TELEMETRY=1
for version in 1.28.0 1.32.0; do
    "$folder/venv/bin/pip" install --quiet --disable-pip-version-check numpy==2.4.6 onnx==1.23.2 "onnxruntime==$version"
    for options in default set; do "$folder/venv/bin/python" "$folder/cores.py" "$options"; done
done
echo "As described: by default, threads of ONNX Runtime leave the cores of their process."
