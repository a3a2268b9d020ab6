"""Edits to the text of `competition.yaml` that keep its comments: dates, image, paths.

Each edit is checked against the parsed file: an unknown layout causes an error, never
a bundle that silently differs from the request.
"""

import re
from datetime import datetime
from typing import Any

import yaml

from bundle_tools.errors import BundleError

DATE = re.compile(r'^(\s+(?:start|end): )"(\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?)"', re.MULTILINE)
IMAGE = re.compile(r"^docker_image:.*$", re.MULTILINE)


def shift_dates(text: str, start: datetime) -> str:
    """Move every quoted start and end so that the earliest start becomes `start`; lengths and gaps stay."""
    written = DATE.findall(text)
    dates = sum(key in phase for phase in yaml.safe_load(text)["phases"] for key in ("start", "end"))
    if len(written) != dates:
        raise BundleError(
            'competition.yaml: expected every date on a line of its own, as start: "2026-03-01 12:00:00"; '
            f"found {len(written)} of {dates} so. Write them like this, or leave --start out."
        )
    try:
        shift = start - min(datetime.fromisoformat(date) for key, date in written if "start" in key)
        return DATE.sub(lambda found: f'{found[1]}"{datetime.fromisoformat(found[2]) + shift}"', text)
    except OverflowError as error:
        raise BundleError(
            f"--start {start}: a later phase would end after the year 9999. Choose an earlier start."
        ) from error


def set_image(text: str, image: str) -> str:
    """Set `docker_image`."""
    line = f'docker_image: "{image}"'
    edited = IMAGE.sub(lambda _: line, text, count=1) if IMAGE.search(text) else f"{text.rstrip()}\n{line}\n"
    hold(edited, {**yaml.safe_load(text), "docker_image": image}, "docker_image")
    return edited


def point_to_zips(text: str, zipped: dict[str, str]) -> str:
    """Make solutions and phases name the zips (values) that replace their folders (keys)."""
    expected = yaml.safe_load(text)
    for entry in [*(expected.get("solutions") or []), *expected["phases"]]:
        for key in ("path", "starting_kit", "public_data"):
            entry.update({key: zipped[entry[key]]} if entry.get(key) in zipped else {})
    for folder, archive in zipped.items():
        value = rf"(\b(?:path|starting_kit|public_data):\s*)(['\"]?){re.escape(folder)}\2(?=[\s,}}]|$)"
        text = re.sub(value, lambda found, archive=archive: f"{found[1]}{archive}", text)  # type: ignore[misc]
    hold(text, expected, ", ".join(zipped))
    return text


def hold(edited: str, expected: dict[str, Any], what: str) -> None:
    """Check that an edited text reads as expected.

    Raises BundleError if it reads as something else.
    """
    try:
        found = yaml.safe_load(edited)
    except yaml.YAMLError:
        found = None
    if found != expected:
        raise BundleError(f"competition.yaml: cannot replace {what} in it. Write each on one line, as `key: value`.")
