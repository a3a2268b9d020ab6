#!/usr/bin/env bash
# OpenCV 4.14 reads interlaced H.264 as one constant picture: `VideoCapture.read()` returns True for every frame, with the
# right size and no error, and all arrays are alike. Only standard error tells: its libswscale refuses each conversion,
# "Cannot convert interlaced to progressive frames or vice versa". OpenCV 4.11 and PyAV 18.1 read the same file well.
# The file is what x264 makes with `tff=1`.
#
# Seen on Linux x86-64, mean level of frames 0, 4, 8, 12 of a clip that gets brighter by 10 levels a frame:
#   PyAV 18.1.0                        [ 40.  80. 120. 160.]
#   opencv-python-headless 4.11.0.86   [ 39.  80. 119. 159.]
#   opencv-python-headless 4.14.0.94   [0. 0. 0. 0.]
# Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/make.py" <<'PYTHON'
import av
import numpy as np

with av.open("clip.mp4", "w") as file:
    track = file.add_stream("libx264", rate=25, options={"x264-params": "tff=1"})
    track.width, track.height, track.pix_fmt = 160, 120, "yuv420p"
    for number in range(16):
        picture = np.full((120, 160, 3), 40 + 10 * number, np.uint8)
        file.mux(track.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
    file.mux(track.encode(None))
with av.open("clip.mp4") as file:
    seen = [frame.to_ndarray(format="gray").mean() for frame in file.decode(video=0)][::4]
print("PyAV", av.__version__, np.round(seen))
assert np.allclose(seen, [40, 80, 120, 160], atol=6), seen
PYTHON
cat >"$folder/read.py" <<'PYTHON'
import sys

import cv2
import numpy as np

capture, seen = cv2.VideoCapture("clip.mp4", cv2.CAP_FFMPEG), []
for _ in range(16):
    read, picture = capture.read()
    assert read and picture.shape == (120, 160, 3)
    seen.append(float(picture.mean()))
print("OpenCV", cv2.__version__, np.round(seen[::4]))
alike = np.ptp(seen) < 1
assert alike == (sys.argv[1] == "alike"), seen
PYTHON
python3 -m venv "$folder/venv"
cd "$folder"
for version in 4.11.0.86 4.14.0.94; do
    venv/bin/pip install --quiet --disable-pip-version-check numpy==2.2.6 av==18.1.0 "opencv-python-headless==$version"
    [ -e clip.mp4 ] || venv/bin/python make.py
    venv/bin/python read.py "$([ "$version" = 4.14.0.94 ] && echo alike || echo apart)"
done
echo "As described: OpenCV 4.14 reads every frame as the same one, without an error."
