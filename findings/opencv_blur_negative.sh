#!/usr/bin/env bash
# OpenCV's box filter returns numbers below 0 for arrays of float64 that have none: its sums run down the columns, adding
# a row and taking one away, and what rounding leaves never goes. So a saliency map that is smoothed with `cv2.blur`
# has weights such as -1e-17 where nothing is marked, which checks for "all weights >= 0", logarithms and square roots
# do not take. float32 does not show it: its sums run in double precision. The same filter of SciPy adds up as well,
# and leaves as much.
#
# Seen with OpenCV 4.14.0, SciPy 1.15.3, NumPy 2.2.6; 500 maps of 9 x 16 with 1 to 7 marked cells:
#   maps with a negative value: cv2.blur float64 > 0, cv2.blur float32 0, uniform_filter float64 > 0
# Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    opencv-python-headless==4.14.0.94 numpy==2.2.6 scipy==1.15.3
cd "$folder"
venv/bin/python - <<'PYTHON'
import cv2
import numpy as np
from scipy.ndimage import uniform_filter

maps = []
for seed in range(500):
    random, weights = np.random.default_rng(seed), np.zeros((9, 16))
    marked = random.integers(1, 8)
    weights[random.integers(9, size=marked), random.integers(16, size=marked)] = random.random(marked)
    maps.append(weights)
counts = {
    "cv2.blur float64": sum(bool((cv2.blur(weights, (3, 3)) < 0).any()) for weights in maps),
    "cv2.blur float32": sum(bool((cv2.blur(weights.astype(np.float32), (3, 3)) < 0).any()) for weights in maps),
    "uniform_filter float64": sum(bool((uniform_filter(weights, 3) < 0).any()) for weights in maps),
}
print(cv2.__version__, counts)
assert counts["cv2.blur float64"] > 0
assert counts["cv2.blur float32"] == 0
assert counts["uniform_filter float64"] > 0
PYTHON
