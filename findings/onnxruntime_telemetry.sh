#!/usr/bin/env bash
# From 1.29, importing ONNX Runtime's wheels for Linux makes a database and a device id below the home folder, and
# opens sockets to send usage data. `disable_telemetry_events()` comes too late: it can be called only after the import.
# `ORT_DISABLE_TELEMETRY=1` in the environment, before the import, prevents all of it.
#
# Seen on Linux x86-64, files at home after a session was made:
#   onnxruntime 1.28.0                                  none
#   onnxruntime 1.32.0                                  deviceid, onnxruntime.db and more
#   onnxruntime 1.32.0, disable_telemetry_events()      deviceid, onnxruntime.db and more
#   onnxruntime 1.32.0, ORT_DISABLE_TELEMETRY=1         none
# Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/import.py" <<'PYTHON'
import os
import sys
import time

import onnxruntime

if "function" in sys.argv:
    onnxruntime.disable_telemetry_events()
onnxruntime.SessionOptions()
time.sleep(2)
files = sorted(name for _, _, names in os.walk(os.environ["HOME"]) for name in names)
print("ONNX Runtime", onnxruntime.__version__, sys.argv[2:], files)
assert bool(files) == (sys.argv[1] == "files"), files
PYTHON
python3 -m venv "$folder/venv"
look() { mkdir "$folder/$1" && HOME="$folder/$1" "$folder/venv/bin/python" "$folder/import.py" "${@:2}"; }
for version in 1.28.0 1.32.0; do
    "$folder/venv/bin/pip" install --quiet --disable-pip-version-check numpy==2.4.6 "onnxruntime==$version"
    if [ "$version" = 1.28.0 ]; then look old none; fi
done
look plain files
look function files function
ORT_DISABLE_TELEMETRY=1 look variable none
echo "As described: only the variable keeps ONNX Runtime from keeping and sending usage data."
