#!/usr/bin/env bash
# FFmpeg's zscale filter (the usual recipe for HLG) applies the system gamma of HLG to each channel: E_s = E_d^(1/1.2).
# ITU-R BT.2100 takes the luminance's power for all three: E_s = E_d * Y_d^(1/1.2 - 1). Greys agree to one code, so a test
# with greys sees nothing; a saturated red is 27 codes of 10 bits off. The filter undoes its own error, so a round trip
# sees nothing either: clips made by it are no truth for readers of HLG. The cause is its default `agamma=1`, documented
# as "approximate gamma", which one would take for less precision; with `agamma=0` it follows BT.2100 exactly.
#
# Seen with FFmpeg 7.0.2 (imageio-ffmpeg 0.6.0), Y Cb Cr:
#   grey 90     zscale 340 512 512   agamma=0 340 512 512   BT.2100 340 512 512   per channel 340 512 512
#   red 200,30  zscale 347 432 661   agamma=0 343 422 688   BT.2100 343 422 688   per channel 347 432 661
# Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check imageio-ffmpeg==0.6.0 numpy==2.2.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import subprocess

import imageio_ffmpeg
import numpy as np

TO_2020 = np.array([[0.6274, 0.3293, 0.0433], [0.0691, 0.9195, 0.0114], [0.0164, 0.0880, 0.8956]])
LUMINANCE = np.array([0.2627, 0.6780, 0.0593])
A, B, C = 0.17883277, 0.28466892, 0.55991073  # BT.2100, table 5


def codes(scene):
    """Return Y, Cb, Cr of scene light, 10 bits, limited range."""
    signal = np.where(scene <= 1 / 12, np.sqrt(3 * scene), A * np.log(np.maximum(12 * scene - B, 1e-9)) + C)
    y = signal @ LUMINANCE
    return np.rint([64 + 876 * y, 512 + 896 * (signal[2] - y) / 1.8814, 512 + 896 * (signal[0] - y) / 1.4746]).astype(int)


def zscale(rgb, more=""):
    """Return the same of a picture of one colour, made by the filter."""
    chain = (
        "format=gbrp,zscale=matrixin=gbr:primariesin=bt709:transferin=bt709:rangein=full:primaries=bt2020"
        f":transfer=arib-std-b67:matrix=bt2020nc:range=limited:npl=203{more},format=yuv444p10le"
    )
    made = subprocess.run(
        [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "64x64", "-i", "-"]
        + ["-vf", chain, "-f", "rawvideo", "-"],
        input=bytes(rgb) * 64 * 64, capture_output=True, check=True,
    ).stdout
    return np.frombuffer(made, np.uint16).reshape(3, 64, 64)[:, 32, 32].astype(int)


print(subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-version"], capture_output=True, text=True).stdout.split("\n")[0])
far = {}
for name, rgb in (("grey 90", (90, 90, 90)), ("red 200,30", (200, 30, 30))):
    light = (np.array(rgb) / 255) ** 2.4 @ TO_2020.T * 0.203  # BT.1886; SDR white at 203 of 1,000 cd/m2 (BT.2408)
    standard, apart = codes(light * (light @ LUMINANCE) ** (1 / 1.2 - 1)), codes(light ** (1 / 1.2))
    made, exact = zscale(rgb), zscale(rgb, ":agamma=0")
    print(f"{name:11s} zscale {made}  agamma=0 {exact}  BT.2100 {standard}  per channel {apart}")
    assert abs(exact - standard).max() <= 1
    far[name] = abs(made - standard).max(), abs(made - apart).max()
assert far["grey 90"][0] <= 1, far
assert far["red 200,30"][0] >= 20 and far["red 200,30"][1] <= 2, far
print("As described: with its default, the filter treats each channel alone.")
PYTHON
