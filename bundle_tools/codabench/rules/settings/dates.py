"""Rules about single dates: how Codabench reads them, and whether they leave enough time."""

import decimal
import re
import warnings
from collections.abc import Iterator
from datetime import date, datetime, timedelta

from dateutil import parser as dates

from bundle_tools.codabench.keys import Place
from bundle_tools.codabench.rules.document import Draft
from bundle_tools.codabench.rules.findings import CRASHES, Finding, shown

SAFE_FORM = 'Write it in quotes, in UTC: "2026-03-01 12:00:00".'
LONGEST = 100
DAY = timedelta(days=1)
# Nobody writes year, day, month.
YEAR_FIRST = re.compile(r"\s*\d{4}\D")
# Missing parts of a date are taken from the current day; reading it on two days shows whether any are missing.
OTHER_DAYS = (datetime(2001, 1, 1), datetime(2002, 2, 2))
DATE_ERRORS = (ValueError, OverflowError, TypeError, AttributeError, decimal.DecimalException)


def check_time(
    draft: Draft, path: Place, start: datetime | None, end: datetime | None, *, first: bool
) -> Iterator[Finding]:
    """Find dates that leave no time. They are never errors, because an old bundle is still valid."""
    now = draft.now
    if end is not None and end <= now:
        what = f"The phase ended at {end} UTC."
        yield Finding("date-past", "warning", draft.at(*path, "end"), what, "It is over at once.", "Move it.")
    elif first and start is not None and start <= now:
        what = f"The first phase started at {start} UTC."
        effect = "It opens as soon as the competition is published."
        yield Finding(
            "date-past", "warning", draft.at(*path, "start"), what, effect, "Move it, unless this is intended."
        )
    elif first and start is not None and start - now < DAY:
        what = f"The first phase starts at {start} UTC, in less than a day."
        effect = "Any mistake found after the upload must be fixed in public."
        yield Finding(
            "date-soon", "warning", draft.at(*path, "start"), what, effect, "Leave at least a day to try it out."
        )
    if start is not None and end is not None and timedelta(0) < end - start < DAY:
        what = f"The phase lasts from {start} to {end} UTC: less than a day."
        effect = "In some time zones it is over in one night."
        yield Finding("date-short", "warning", draft.at(*path, "end"), what, effect, "Give it at least a day.")


def kept(value: date | str) -> datetime:
    """Return the moment that Codabench stores for a date, UTC without a zone; an unquoted one loses its time of day."""
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    return dates.parse(value).replace(tzinfo=None)


def moment(draft: Draft, path: Place, value: object) -> tuple[datetime | None, list[Finding]]:
    """Read a date as Codabench does: the moment it stores, or None, and what it silently changes."""
    where, key = draft.at(*path), path[-1]
    if value is None or value == "":
        return None, []
    if isinstance(value, date) and not isinstance(value, datetime):
        return kept(value), []
    if isinstance(value, datetime):
        what = f"{key}: found an unquoted date with a time."
        fix = SAFE_FORM if value.tzinfo else f'Write it in quotes, in UTC: "{value}".'
        finding = Finding("date-unquoted", "warning", where, what, "Codabench drops its time of day.", fix)
        return kept(value), [finding]
    if not isinstance(value, str):
        what = f"{key}: expected a quoted date; found {shown(value)}."
        return None, [Finding("date-type", "error", where, what, CRASHES, SAFE_FORM)]
    if len(value) > LONGEST:
        what = f"{key}: expected a date; found {len(value)} characters."
        return None, [Finding("date-unreadable", "error", where, what, CRASHES, SAFE_FORM)]
    try:
        # The parser warns of unknown zones, and ignores them.
        with warnings.catch_warnings(record=True) as unknown_zones:
            warnings.simplefilter("always")
            parsed = dates.parse(value)
            orders = (False,) if YEAR_FIRST.match(value) else (False, True)
            readings = {dates.parse(value, default=day, dayfirst=order) for day in OTHER_DAYS for order in orders}
            offset = parsed.utcoffset()
    except DATE_ERRORS:
        what = f"{key}: expected a date; found {shown(value)}."
        return None, [Finding("date-unreadable", "error", where, what, CRASHES, SAFE_FORM)]
    moment = parsed.replace(tzinfo=None)
    if offset or unknown_zones:
        what = f"{key}: {shown(value)} names a time zone."
        effect = "Codabench drops the zone and reads the time as UTC."
        return moment, [Finding("date-zone", "warning", where, what, effect, SAFE_FORM)]
    if len(readings) > 1:
        what = f"{key}: {shown(value)} is ambiguous."
        effect = f"Codabench reads {moment}."
        return moment, [Finding("date-form", "warning", where, what, effect, SAFE_FORM)]
    return moment, []
