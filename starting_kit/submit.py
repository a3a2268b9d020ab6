"""Submit a zip to a Codabench server, wait for its scores, and fetch report and log; nothing is sent twice.

The same command goes on after any interruption: what it has submitted, it finds again by a note in the folder of the
results, or by the name of the file on the server.
"""

import hashlib
import http.client
import json
import os
import re
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import programs
from ingest.errors import visible
from score.columns import columns
from score.settings import read_settings
from submission import UNPACKING, Refused

TOKEN = "CODABENCH_TOKEN"  # noqa: S105 - the name of a variable
TIMEOUT_S, LOOK_S, SCORES_LATE_S = 60.0, 5.0, 60.0
"""Longest silence of the server, time between two looks, and how long scores may come after Finished."""
TRIES, PAUSE_S = 4, 2.0
"""How often a request without effect is made, and the pause between."""
LARGEST_ANSWER, LARGEST_FILE, PIECE = 16 << 20, 1 << 30, 1 << 16
NOTE = "submission.json"
FILES = {
    "prediction_result": "prediction_output.zip",
    "scoring_result": "scoring_output.zip",
    "detailed_result": "report.html",
}
"""The server's name of a file -> its name here."""
ENDED = ("Finished", "Failed", "Cancelled")
NOTHING = "Nothing was sent"
LIMITED = "the website counts cancelled submissions, too, and days begin at 00:00 UTC"
Say = Callable[[str], None]


class NoAnswer(Refused):
    """A request failed."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        """HTTP status; None if there was no answer."""


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: it could carry the token elsewhere."""

    def redirect_request(self, *_: object) -> None:
        """Return no other request."""


class Server:
    """Requests of one account to one server."""

    def __init__(self, address: str, token: str) -> None:
        """Connect to the server of an address; the token is sent to it only."""
        parts = urlsplit(address)
        self.address = f"{parts.scheme}://{parts.netloc}"
        self.now = datetime.now(UTC)
        """The server's time at its last answer."""
        self._token = token
        self._opener = urllib.request.build_opener(_Stay)

    def call(self, method: str, path: str, content: object = None) -> Any:  # noqa: ANN401 - JSON
        """Return the answer's JSON, or None. Only a GET is repeated, because others may have taken effect."""
        headers = {"Authorization": f"Token {self._token}", "Content-Type": "application/json"}
        body = None if content is None else json.dumps(content).encode()
        for left in reversed(range(TRIES if method == "GET" else 1)):
            try:
                with self._open(method, self.address + path, body, headers) as answer:
                    text = answer.read(LARGEST_ANSWER)
                return json.loads(text) if text else None
            except (ValueError, http.client.HTTPException) as error:
                raise NoAnswer(f"{self.address}: is this a Codabench server? ({type(error).__name__})") from None
            except NoAnswer as error:
                if not left or (error.status is not None and error.status < 500):
                    raise
                time.sleep(PAUSE_S)
        raise AssertionError

    def send(self, url: str, archive: Path, say: Say) -> None:
        """Put a file at a signed address, without the token, and say how much has been sent."""
        size = archive.stat().st_size
        headers = {"Content-Type": "application/zip", "Content-Length": str(size)}
        if ".blob.core.windows.net" in url:
            headers["x-ms-blob-type"] = "BlockBlob"
        with archive.open("rb") as file:
            self._open("PUT", url, _Counted(file, size, say), headers).close()

    def fetch(self, url: str, target: Path) -> None:
        """Download a signed address, whole or not at all."""
        part = target.with_name(target.name + ".part")
        with self._open("GET", url, None, {}) as answer, part.open("wb") as file:
            while piece := answer.read(PIECE):
                file.write(piece)
                if file.tell() > LARGEST_FILE:
                    raise NoAnswer(f"{target.name}: more than {LARGEST_FILE >> 30} GB")
        part.replace(target)

    def _open(self, method: str, url: str, body: Any, headers: Mapping[str, str]) -> Any:  # noqa: ANN401
        if self.address.startswith("https://") and not url.startswith("https://"):
            raise NoAnswer("the server names an unsafe address for a file")
        request = urllib.request.Request(url, body, dict(headers), method=method)  # noqa: S310 - checked above
        try:
            answer = self._opener.open(request, timeout=TIMEOUT_S)
        except urllib.error.HTTPError as error:
            raise NoAnswer(_words(error), error.code) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise NoAnswer(f"no answer from {self.address} ({visible(str(reason))[:100]})") from None
        if "Date" in answer.headers:
            self.now = parsedate_to_datetime(answer.headers["Date"]).astimezone(UTC)
        return answer


class _Counted:
    """A file that says how much of it was read."""

    def __init__(self, file: Any, size: int, say: Say) -> None:  # noqa: ANN401 - an open file
        self._file, self._size, self._say, self._tenths = file, size, say, 0

    def read(self, count: int = -1) -> bytes:
        """Read a piece."""
        piece: bytes = self._file.read(count)
        tenths = 10 * self._file.tell() // max(1, self._size)
        if tenths > self._tenths:
            self._tenths = tenths
            self._say(f"  sent {10 * tenths} % of {self._size / 1e6:.2f} MB")
        return piece


def _words(error: urllib.error.HTTPError) -> str:
    """Return the status and the server's message in one line."""
    text = error.read(LARGEST_ANSWER).decode("utf-8", "replace")
    try:
        text = json.dumps(json.loads(text), ensure_ascii=False)
    except ValueError:
        text = ""  # a page for browsers does not help
    hint = {401: " Check the token.", 404: " Not found, or not for you: a secret competition needs its whole link."}
    wrong_token = error.code == 403 and "token" in text.lower()
    said = f": {visible(text)[:200]}" if text else ""
    return f"status {error.code}{said}.{hint.get(401 if wrong_token else error.code, '')}"


def submit(
    archive: Path, link: str, phase_name: str | None, out: Path | None, wait_s: float, say: Say, *, again: bool
) -> int:
    """Submit, unless this zip has been submitted to the phase; wait; fetch.

    `link`: the competition's address as the browser shows it. `again`: submit although the same zip has been. Returns 0
    for a finished run, else 1. Raises Refused with what was done, what was not, and how to go on.
    """
    server, number, secret = _server(link)
    competition = _asked(NOTHING, lambda: server.call("GET", f"/api/competitions/{number}/{secret}"))
    phase = _asked(NOTHING, lambda: _phase(competition, phase_name, server.now))
    _asked(NOTHING, lambda: _require_own(competition))
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    folder = out or Path("submitted") / f"{archive.stem}-{digest[:8]}-{_plain(phase['name'])}"
    file_name = f"{_plain(archive.stem)[:22]}-{digest[:8]}.zip"
    submission_id = None if again else _earlier(server, phase, folder, file_name)
    if submission_id is None:
        if not _is_open(phase, server.now):
            now = f"now is {server.now:%Y-%m-%d %H:%M} UTC"
            raise Refused(f"{visible(phase['name'])} is open from {_dates(phase)}; {now}. {NOTHING}.")
        submission_id = _send(server, int(number), phase, archive, file_name, say)
        say(f"Submitted to {phase['name']} as #{submission_id}.")
    else:
        say(f"This zip was submitted to {phase['name']} before, as #{submission_id}: nothing is sent without --again.")
    folder.mkdir(parents=True, exist_ok=True)
    note = {"competition": link.partition("?")[0], "phase": phase["id"], "submission": submission_id, "sha256": digest}
    (folder / NOTE).write_text(json.dumps(note, indent=1) + "\n", "utf-8")
    before = f"#{submission_id} is submitted and runs on without you. Repeat the command: it goes on"
    ended = _asked(before, lambda: _wait(server, submission_id, wait_s, say))
    scores = _asked(before, lambda: {str(score["column_key"]): float(score["score"]) for score in ended["scores"]})
    for line in (
        *(f"  {visible(key)}: {value:g}" for key, value in sorted(scores.items())),
        *_asked(before, lambda: _results(server, submission_id, folder)),
    ):
        say(line)
    say(f"#{submission_id}: {ended['status']}. Report and log: {folder}")
    return 0 if ended["status"] == "Finished" and ended["scores"] else 1


def _asked(before: str, ask: Callable[[], Any]) -> Any:  # noqa: ANN401 - the answer
    """Ask the server; an error says how things stand."""
    try:
        return ask()
    except NoAnswer as error:
        raise Refused(f"{str(error).rstrip('.')}. {before}.") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Refused(f"the server answered something else than expected ({type(error).__name__}). {before}.") from None


def _server(link: str) -> tuple[Server, str, str]:
    """Return the server, the competition's number, and the query with its secret key."""
    parts = urlsplit(link)
    number = re.search(r"/competitions/(\d+)", parts.path)
    safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in {"localhost", "127.0.0.1"})
    if number is None or not parts.hostname or not safe:
        raise Refused(f"{link}: expected its address, such as https://www.codabench.org/competitions/1234/")
    token = os.environ.get(TOKEN, "").strip()
    if not (token.isascii() and token.isprintable() and token):
        command = f"curl -d username=NAME -d password=PASSWORD {parts.scheme}://{parts.netloc}/api/api-token-auth/"
        raise Refused(f"expected the token of your account in {TOKEN}, found none. Nothing was sent. Get it: {command}")
    [secret] = parse_qs(parts.query).get("secret_key", [""])[:1]
    return Server(link, token), number[1], f"?secret_key={secret}" if secret else ""


def _phase(competition: Mapping[str, Any], name: str | None, now: datetime) -> Mapping[str, Any]:
    """Return the phase of a name, or the only one that is open."""
    phases = competition["phases"]
    chosen = [
        phase for phase in phases if (_is_open(phase, now) if name is None else phase["name"].lower() == name.lower())
    ]
    if len(chosen) != 1:
        known = ", ".join(visible(f"{phase['name']} ({_dates(phase)})") for phase in phases)
        raise Refused(f"--phase: expected one of {known}. Nothing was sent.")
    return chosen[0]  # type: ignore[no-any-return]


def _moment(text: str | None) -> datetime | None:
    moment = datetime.fromisoformat(text) if text else None
    return moment if moment is None or moment.tzinfo else moment.replace(tzinfo=UTC)


def _is_open(phase: Mapping[str, Any], now: datetime) -> bool:
    start, end = _moment(phase.get("start")), _moment(phase.get("end"))
    return (start is None or start <= now) and (end is None or now < end)


def _dates(phase: Mapping[str, Any]) -> str:
    start, end = (_moment(phase.get(key)) for key in ("start", "end"))
    return f"{start or ''} to {end or 'no end'}".replace("+00:00", " UTC")


def _require_own(competition: Mapping[str, Any]) -> None:
    """Refuse a competition with scores that this kit's programs do not write: it is another one's."""
    own = {column.key for column in columns(read_settings(programs.REFERENCE_DATA / "task.yaml"))}
    theirs = {column["key"] for board in competition["leaderboards"] for column in board["columns"]}
    if not theirs or theirs - own:
        others = visible(", ".join(sorted(theirs - own)[:3]))
        raise Refused(
            f"{visible(str(competition['title']))} has other scores than this kit ({others}): it is another one. "
            "Nothing was sent. Download its kit, or check the link."
        )


def _earlier(server: Server, phase: Mapping[str, Any], folder: Path, file_name: str) -> int | None:
    """Return the newest submission of the same zip to the phase; None without one."""
    try:
        note = json.loads((folder / NOTE).read_text("utf-8"))
        if note["phase"] == phase["id"]:
            return int(note["submission"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    answer = _asked(NOTHING, lambda: server.call("GET", f"/api/submissions/?phase={phase['id']}"))
    entries = answer["results"] if isinstance(answer, dict) else answer
    return max((int(entry["id"]) for entry in entries if entry.get("filename") == file_name), default=None)


def _send(server: Server, competition: int, phase: Mapping[str, Any], archive: Path, file_name: str, say: Say) -> int:
    nothing = "Nothing was submitted, and no attempt is used up: repeat the command"
    can = _asked(nothing, lambda: server.call("GET", f"/api/can_make_submission/{phase['id']}/"))
    if not can["can"]:
        raise Refused(f"{visible(str(can['reason']))}. Nothing was submitted ({LIMITED}).")
    announced = {
        "type": "submission", "name": f"{file_name} {time.time_ns()}", "file_name": file_name,
        "request_sassy_file_name": file_name, "file_size": archive.stat().st_size, "competition": competition,
    }  # fmt: skip
    uploaded = _asked(nothing, lambda: server.call("POST", "/api/datasets/", announced))
    _asked(nothing, lambda: server.send(uploaded["sassy_url"], archive, say))
    _asked(nothing, lambda: server.call("PUT", f"/api/datasets/completed/{uploaded['key']}/"))
    content = {
        "data": uploaded["key"], "phase": phase["id"], "tasks": [], "fact_sheet_answers": None, "organization": None,
        "queue": None,
    }  # fmt: skip
    unknown = "Whether it was submitted is not known: repeat the command, which looks first"
    return int(_asked(unknown, lambda: server.call("POST", "/api/submissions/", content))["id"])


def _wait(server: Server, submission_id: int, wait_s: float, say: Say) -> Mapping[str, Any]:
    """Wait for the end and for all scores, and say each new status once."""
    began, seen, complete_s = time.monotonic(), set[str](), 0.0
    scores = -1
    while True:
        try:
            current: Mapping[str, Any] = server.call("GET", f"/api/submissions/{submission_id}/")
        except NoAnswer as error:
            if error.status != 404:
                raise
            raise Refused(f"#{submission_id} was deleted on the server. Add --again to submit the zip anew.") from None
        if current["status"] not in seen:
            seen.add(current["status"])
            say(f"  {visible(str(current['status']))}")
        now = time.monotonic()
        # Scores come after Finished, one by one.
        if current["status"] != "Finished" or len(current["scores"]) != scores:
            scores, complete_s = len(current["scores"]), now
        quiet_s = 2 * LOOK_S if scores else SCORES_LATE_S
        if current["status"] in ENDED and (current["status"] != "Finished" or now - complete_s >= quiet_s):
            return current
        if now - began > wait_s:
            raise NoAnswer(f"still {current['status']} after {wait_s:.0f} s")
        time.sleep(LOOK_S)


def _results(server: Server, submission_id: int, folder: Path) -> list[str]:
    """Fetch report, logs and output into the folder; return what is closed or not there."""
    lines = []
    path, files = f"/api/submissions/{submission_id}/", dict[str, str]()
    try:
        details = server.call("GET", f"{path}get_details/")
        files = {here: details.get(there) for there, here in FILES.items()}
        files |= {f"{_plain(log['name'])}.txt": log.get("data_file") for log in details.get("logs") or ()}
    except NoAnswer as error:
        if error.status != 403:
            raise
        lines.append("This phase keeps logs and outputs closed.")
    try:
        files["report.html"] = files.get("report.html") or server.call("GET", f"{path}get_detail_result/")
    except NoAnswer as error:
        if error.status not in (403, 404):
            raise
    for name, url in files.items():
        try:
            if url:
                server.fetch(url, folder / name)
        except NoAnswer as error:
            lines.append(f"{name}: {error}")
    try:
        with zipfile.ZipFile(folder / "prediction_output.zip") as opened:
            (folder / "log.txt").write_bytes(opened.read("log.txt"))
    except (*UNPACKING, KeyError):
        pass
    return lines if (folder / "report.html").is_file() else [*lines, "There is no report."]


def _plain(text: str) -> str:
    """Return a safe file name."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.")[:60] or "unnamed"
