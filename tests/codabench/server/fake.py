"""A small Codabench: the requests that `bundle server` makes, answered as release 1.25 answers them, traps included.

One process, one folder of memory, no worker: a submission goes one status further each time that somebody looks at it,
and a function of the test says what its scores are.
"""

import io
import json
import re
import threading
import uuid
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from email.utils import format_datetime
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import yaml

TEXTS = ("title", "description", "docker_image", "contact_email", "reward", "fact_sheet")
SWITCHES = {
    **dict.fromkeys(("registration_auto_approve", "enable_detailed_results", "make_programs_available"), False),
    "make_input_data_available": False,
    **dict.fromkeys(("auto_run_submissions", "show_detailed_results_in_submission_panel", "forum_enabled"), True),
    **dict.fromkeys(("show_detailed_results_in_leaderboard", "can_participants_make_submissions_public"), True),
}
PHASE_SWITCHES = ("hide_output", "hide_prediction_output", "hide_score_output", "auto_migrate_to_this_phase")
PARTS = ("ingestion_program", "scoring_program", "input_data", "reference_data")
WAY = ("Submitting", "Submitted", "Preparing", "Running", "Scoring", "Preparing", "Running")
"""Since 1.26 the scoring job has the statuses of the first one again."""
Json = dict[str, Any]
Answer = tuple[int, Any]
"""Status, and what the server says."""


@dataclass(frozen=True)
class Request:
    """One request to the interface; `number` or `key` stands in its path."""

    method: str
    query: Mapping[str, str]
    body: Json
    user: str | None
    key: str

    @property
    def number(self) -> int:
        return int(self.key)


class Refused(Exception):
    """An answer other than that all is well."""

    def __init__(self, status: int, content: object) -> None:
        super().__init__(status, content)
        self.status, self.content = status, content


NOT_FOUND = Refused(404, {"detail": "No Competition matches the given query."})
CRASH = Refused(500, "<!doctype html><html><title>Server Error (500)</title></html>")


@dataclass
class Fault:
    """What goes wrong with some requests, and how often; a status of None breaks the connection."""

    method: str
    path: str
    status: int | None = None
    times: int = 1


@dataclass
class Server:
    """The state of one server, and what a test may change of it."""

    users: dict[str, str] = field(default_factory=lambda: {"organiser-token": "ann", "other-token": "bob"})
    data: dict[str, Json] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    statuses: dict[int, Json] = field(default_factory=dict)
    competitions: dict[int, Json] = field(default_factory=dict)
    tasks: dict[int, Json] = field(default_factory=dict)
    submissions: dict[int, Json] = field(default_factory=dict)
    requests: list[tuple[str, str, str | None]] = field(default_factory=list)
    """Method, path and token of each."""
    faults: list[Fault] = field(default_factory=list)
    meanwhile: tuple[str, str, Callable[[], object]] | None = None
    """Method and path of a request, and what somebody else does once before it arrives."""
    ahead: timedelta = timedelta()
    """How far the clock is off."""
    frozen: datetime | None = None
    """A time that does not go on."""
    lists: bool = True
    """Whether whoever sees a competition is told the keys of its data, as up to May 2026."""
    opens: bool = True
    """Whether anybody may download by key, as up to May 2026."""
    loses: bool = False
    """Whether the storage loses what it was sent."""
    damage: Callable[[bytes], bytes] = bytes
    """What the way does to an upload."""
    deaf_to: str = ""
    """A part that a change of a task does not reach."""
    quota: int = 10**9
    busy: bool = False
    """Whether submissions stay where they are."""
    late_scores: int = 1
    """So often somebody looks at a finished submission before its first score is there; the others come one by one."""
    work: Callable[[Json], tuple[str, Mapping[str, float]]] = lambda _: ("Finished", {})
    """How a submission ends, and its scores."""
    outputs: Callable[[Json], Mapping[str, bytes]] = lambda _: {}
    """The files of an ended submission, by the server's names."""
    address: str = ""
    count: int = 0

    def now(self) -> datetime:
        """Give the server's time: a second goes by with each request."""
        return self.frozen or datetime.now(UTC) + self.ahead + timedelta(seconds=self.count)

    def number(self) -> int:
        """Give a number that nothing else has."""
        self.count += 1
        return self.count

    def answer(self, path: str, **request: Any) -> Answer:  # noqa: ANN401 - the fields of a request
        """Answer one request to the interface."""
        for pattern, methods, act in (
            (r"/api/api-token-auth/()", "POST", self._log_in),
            (r"/api/datasets/()", "GET POST", self._datasets),
            (r"/api/datasets/(\d+)/", "DELETE", self._delete_data),
            (r"/api/datasets/completed/([\w-]+)/", "PUT", self._completed),
            (r"/api/competitions/(\d+)/creation_status/", "GET", self._creation_status),
            (r"/api/competitions/(\d+)/register/", "POST", self._register),
            (r"/api/competitions/(\d+)/", "GET", self._competition),
            (r"/api/can_make_submission/(\d+)/", "GET", self._can),
            (r"/api/submissions/()", "GET POST", self._submissions),
            (r"/api/submissions/download_many/()", "POST", self._download_many),
            (r"/api/submissions/(\d+)/", "GET DELETE", self._submission),
            (r"/api/submissions/(\d+)/get_details/", "GET", self._details),
            (r"/api/submissions/(\d+)/get_detail_result/", "GET", self._report),
            (r"/api/submissions/(\d+)/re_run_submission/", "POST", self._again),
            (r"/api/tasks/(\d+)/", "GET PATCH", self._task),
            (r"/api/phases/(\d+)/get_leaderboard/", "GET", self._board),
        ):
            if (match := re.fullmatch(pattern, path)) and request["method"] in methods:
                return act(Request(**request, key=match[1]))
        raise NOT_FOUND

    def _log_in(self, ask: Request) -> Answer:
        token = next((token for token, name in self.users.items() if name == ask.body.get("username")), None)
        if token is None or ask.body.get("password") != "right":
            raise Refused(400, {"non_field_errors": ["Unable to log in with provided credentials."]})
        return 200, {"token": token}

    def _datasets(self, ask: Request) -> Answer:
        own = [one for one in self.data.values() if one["created_by"] == _known(ask.user)]
        if ask.method == "GET":
            if ask.query.get("_type") == "bundle":
                own = [one for one in own if one["type"] == "competition_bundle"]
            own = [one for one in own if one["key"] == ask.query.get("key", one["key"])]
            words = ask.query.get("search", "").split()
            own = [one for one in own if all(word in f"{one['name']} {one['file_name']}" for word in words)]
            page, size = int(ask.query.get("page", 1)), min(int(ask.query.get("page_size", 10)), 1000)
            query = urlencode({**ask.query, "page": page + 1})
            more = f"{self.address}/api/datasets/?{query}" if page * size < len(own) else None
            return 200, {"count": len(own), "next": more, "results": own[(page - 1) * size : page * size]}
        if not ask.body.get("file_size"):
            raise Refused(400, {"file_size": "This field is required."})
        if sum(one["file_size"] for one in self.data.values()) + ask.body["file_size"] > self.quota:
            raise Refused(400, {"data_file": ["Insufficient space. Your available space is 0 B."]})
        if any(one["name"] == ask.body["name"] for one in own):
            raise Refused(400, {"non_field_errors": ["You already have a dataset by this name, please delete it"]})
        key = self.add_data(ask.body["type"], str(ask.user), ask.body["name"], ask.body["file_name"], None)
        sent = f"{self.address}/storage/{key}/{ask.body['request_sassy_file_name']}?Signature=s"
        return 201, {"key": key, "sassy_url": sent}

    def add_data(
        self, kind: str, owner: str, name: str = "", file_name: str = "", content: bytes | None = b"PK"
    ) -> str:
        """Store a data set, as unpacking and the website do."""
        key = str(uuid.uuid4())
        self.data[key] = {
            "id": self.number(), "key": key, "name": name or f"{kind} @ {key}", "type": kind, "file_name": file_name,
            "file_size": float(len(content or b"")), "created_by": owner, "created_when": self.now().isoformat(),
            "competition": None,
        }  # fmt: skip
        if content is not None:
            self.files[key] = content
        return key

    def _delete_data(self, ask: Request) -> Answer:
        del self.data[next(key for key, one in self.data.items() if one["id"] == ask.number)]
        return 204, None

    def _completed(self, ask: Request) -> Answer:
        if ask.key not in self.data:
            raise Refused(404, {"detail": "Not found."})
        self.data[ask.key]["file_size"] = float(len(self.files.get(ask.key, b"")))
        if self.data[ask.key]["type"] != "competition_bundle":
            return 200, {"key": ask.key}
        status = {"status": "Starting", "details": None, "resulting_competition": None, "key": ask.key}
        status_id = self.number()
        self.statuses[status_id] = {**status, "user": ask.user}
        return 200, {"status_id": status_id}

    def _creation_status(self, ask: Request) -> Answer:
        """Answer, and unpack until the next time."""
        status = self.statuses[ask.number]
        shown = {name: status[name] for name in ("status", "details", "resulting_competition")}
        if status["status"] == "Starting":
            key = status["key"]
            try:
                with zipfile.ZipFile(io.BytesIO(self.files.get(key, b""))) as archive:
                    document = yaml.safe_load(archive.read("competition.yaml"))
                    made = self._make(document, archive, str(status["user"]))
                self.data[key]["name"] += f" - {document['title']}"
                self.data[key]["competition"] = {"id": made, "title": document["title"]}
                status |= {"status": "Finished", "resulting_competition": made}
            except (zipfile.BadZipFile, KeyError, ValueError) as error:
                status |= {"status": "Failed", "details": f"{error}"}
                del self.data[key]  # the upload disappears
        return 200, shown

    def _make(self, document: Json, archive: zipfile.ZipFile, owner: str) -> int:
        """Make a competition of what stands in its file."""
        tasks = {}
        for task in document["tasks"]:
            for part in PARTS:
                if not any(name.startswith(task[part]) for name in archive.namelist()):
                    raise ValueError(f'Cannot find dataset: "{task[part]}"')
            tasks[task["index"]] = number = self.number()
            keys = {part: self.add_data(part, owner) for part in PARTS}
            self.tasks[number] = {"id": number, "name": task["name"], "description": task.get("description"), **keys}
        columns = [{"hidden": False, "precision": 2, **column} for column in document["leaderboards"][0]["columns"]]
        phases = [
            {
                "id": self.number(), "index": index, "name": phase["name"], "description": phase.get("description", ""),
                "start": _utc(phase["start"]), "end": _utc(phase.get("end")),
                "max_submissions_per_day": phase.get("max_submissions_per_day", 5),
                "max_submissions_per_person": phase.get("max_submissions", 100),
                "execution_time_limit": phase.get("execution_time_limit", 600),
                **{key: phase.get(key, False) for key in PHASE_SWITCHES},
                "tasks": [tasks[number] for number in phase["tasks"]],
                "solutions": [one["name"] for one in document.get("solutions", ())],
                **{key: phase.get(key) and self.add_data(key, owner) for key in ("starting_kit", "public_data")},
            }
            for index, phase in enumerate(document["phases"])
        ]  # fmt: skip
        competition_id = self.number()
        self.competitions[competition_id] = {
            **{key: document.get(key) for key in TEXTS},
            **{key: document.get(key, default) for key, default in SWITCHES.items()},
            "competition_type": document.get("competition_type", "competition"),
            "id": competition_id, "published": False, "secret_key": str(uuid.uuid4()), "queue": None,
            "created_by": owner, "participants": {owner}, "logo": "logo.png", "phases": phases,
            "leaderboards": [{"primary_index": 0, **document["leaderboards"][0], "columns": columns}],
            "terms": archive.read(document["terms"]).decode(),
            "pages": [
                {"title": page["title"], "content": archive.read(page["file"]).decode()} for page in document["pages"]
            ],
        }  # fmt: skip
        return competition_id

    def _competition(self, ask: Request) -> Answer:
        secret = _uuid(ask.query.get("secret_key"))
        content = self.competitions.get(ask.number)
        if content is None or not (
            content["published"] or content["secret_key"] == secret or content["created_by"] == ask.user
        ):
            raise NOT_FOUND
        hidden = ("participants",) if content["created_by"] == ask.user else ("participants", "secret_key")
        shown = {key: value for key, value in content.items() if key not in hidden}
        shown["phases"] = [
            {**phase, "tasks": [self._task_in_phase(number, phase["solutions"]) for number in phase["tasks"]]}
            for phase in content["phases"]
        ]
        return 200, shown

    def _task_in_phase(self, number: int, solutions: list[str]) -> Json:
        task = self.tasks[number]
        parts = [self.data[task[part]] for part in PARTS if task.get(part)]
        names = [{"name": name} for name in solutions]
        return {
            "id": number, "name": task["name"], "solutions": names, "public_datasets": parts if self.lists else []
        }  # fmt: skip

    def _register(self, ask: Request) -> Answer:
        _uuid(ask.body.get("secret_key"))
        participants = self.competitions[ask.number]["participants"]
        if ask.user in participants:
            raise Refused(400, ["You already applied for participation in this competition!"])
        participants.add(ask.user)
        return 201, {"participant_status": "approved"}

    def _can(self, ask: Request) -> Answer:
        competition, phase = self.phase(ask.number)
        own = [one for one in self.submissions.values() if one["owner"] == ask.user and one["phase"] == phase["id"]]
        if ask.user not in competition["participants"]:
            return 200, {"can": False, "reason": "User not approved to participate in this competition"}
        # Cancelled ones count, too.
        if len([one for one in own if one["status"] != "Failed"]) >= phase["max_submissions_per_day"]:
            return 200, {"can": False, "reason": "Reached maximum allowed submissions for today for this phase"}
        return 200, {"can": True, "reason": None}

    def phase(self, phase_id: int) -> tuple[Json, Json]:
        """Find a phase and its competition."""
        return next(
            (competition, phase)
            for competition in self.competitions.values()
            for phase in competition["phases"]
            if phase["id"] == phase_id
        )

    def _submissions(self, ask: Request) -> Answer:
        if ask.method == "GET":
            owner = self.phase(int(ask.query["phase"]))[0]["created_by"]
            found = [one for one in self.submissions.values() if str(one["phase"]) == ask.query["phase"]]
            return 200, [self._look(one) for one in reversed(found) if _known(ask.user) in (owner, one["owner"])]
        if ask.body["fact_sheet_answers"] is not None or ask.body["tasks"] != []:
            raise Refused(400, {"non_field_errors": ["Missing answers"]})
        return 201, {"id": self.add_submission(str(ask.user), ask.body["phase"], ask.body["data"])}

    def add_submission(self, owner: str, phase_id: int, key: str, **content: object) -> int:
        """Add a submission as the website does; `content` makes one that has ended."""
        number = self.number()
        self.submissions[number] = {
            "id": number, "owner": owner, "phase": phase_id, "data": key, "filename": self.data[key]["file_name"],
            "created_when": self.now().isoformat(), "status": "Submitting", "status_details": None, "scores": [],
            "on_leaderboard": False, "parent": None, "is_specific_task_re_run": False, "looks": 0, **content,
            "scored": "scores" in content,
        }  # fmt: skip
        return number

    def _look(self, one: Json) -> Json:
        """Show a submission; a busy queue apart, it is one status further the next time."""
        shown = {key: value for key, value in one.items() if key not in ("data", "looks", "scored", "step")}
        if self.busy:
            return shown
        if one["status"] in WAY:
            one["step"] = one.get("step", WAY.index(one["status"])) + 1
            one["status"] = WAY[one["step"]] if one["step"] < len(WAY) else self.work(one)[0]
        elif one["status"] == "Finished" and not one["scored"]:
            one["looks"] += 1
            if one["looks"] >= self.late_scores:
                self._score(one, one["looks"] - self.late_scores + 1)
        return shown

    def _score(self, one: Json, count: int) -> None:
        scores = self.work(one)[1]
        one["scores"] = [{"column_key": key, "score": f"{scores[key]:.10f}"} for key in list(scores)[:count]]
        if count < len(scores):
            return  # the board comes last
        one["scored"] = True
        same = {key: one[key] for key in ("owner", "phase", "status")}
        runs = [other for other in self.submissions.values() if same.items() <= other.items()]
        for other in runs:
            other["on_leaderboard"] = False
        # Of release 1.25: what has no score stands above what has one.
        max(runs, key=self._value)["on_leaderboard"] = True

    def _value(self, one: Json) -> float:
        primary = self.phase(one["phase"])[0]["leaderboards"][0]["columns"][0]["key"]
        return next((float(s["score"]) for s in one["scores"] if s["column_key"] == primary), float("inf"))

    def _submission(self, ask: Request) -> Answer:
        if ask.number not in self.submissions:
            raise Refused(404, {"detail": "No Submission matches the given query."})
        if ask.method == "DELETE":
            one = self.submissions.pop(ask.number)
            if not any(other["data"] == one["data"] for other in self.submissions.values()):
                self.data.pop(one["data"], None)
            return 204, None
        return 200, self._look(self.submissions[ask.number])

    def _details(self, ask: Request) -> Answer:
        one = self.submissions[ask.number]
        competition, phase = self.phase(one["phase"])
        if phase["hide_output"] and ask.user != competition["created_by"]:
            raise Refused(403, {"detail": "Cannot access submission details while phase marked to hide output."})
        return 200, self._files(one)

    def _report(self, ask: Request) -> Answer:
        """Answer with the address alone, also in a phase that hides output."""
        return 200, self._files(self.submissions[ask.number])["detailed_result"]

    def _files(self, one: Json) -> Json:
        urls: Json = dict.fromkeys(("prediction_result", "scoring_result", "detailed_result"))
        for name, content in self.outputs(one).items():
            self.files[f"{one['id']}-{name}"] = content
            urls[name] = f"{self.address}/storage/{one['id']}-{name}/{name}.zip?Signature=s"
        logs = [{"name": name, "data_file": urls.pop(name)} for name in list(urls) if name.endswith("stdout")]
        return {"data_file": f"{self.address}/storage/{one['data']}/x.zip?Signature=s", **urls, "logs": logs}

    def _again(self, ask: Request) -> Answer:
        if ask.number not in self.submissions:
            raise Refused(404, {"detail": "No Submission matches the given query."})
        one = self.submissions[ask.number]
        if one["status"] in WAY:
            raise Refused(403, {"detail": "Cannot request a re-run on a submission that has not finished processing."})
        return 200, {"id": self.add_submission(one["owner"], one["phase"], one["data"])}

    def _download_many(self, ask: Request) -> Answer:
        if not self.submissions.keys() >= set(ask.body["pks"]):
            raise Refused(404, {"error": "One or more submission IDs are invalid"})
        runs = [self.submissions[number] for number in ask.body["pks"]]
        url = self.address + "/storage/{data}/{filename}?Signature={id}"
        return 200, [{"name": "{id}_{owner}_{filename}".format(**one), "url": url.format(**one)} for one in runs]

    def _task(self, ask: Request) -> Answer:
        task = self.tasks.get(ask.number)
        if task is None or self.data[task["scoring_program"]]["created_by"] != ask.user:
            raise Refused(404, {"detail": "No Task matches the given query."})
        if ask.method == "PATCH":
            for part in PARTS[:1] + PARTS[2:]:  # what is left out is emptied, but for the scoring program
                task[part] = None
            task |= {key: value for key, value in ask.body.items() if key != self.deaf_to}
            return 200, task
        return 200, {**task, **{part: self.data[task[part]] if task.get(part) else None for part in PARTS}}

    def _board(self, ask: Request) -> Answer:
        rows = [one for one in self.submissions.values() if one["phase"] == ask.number and one["on_leaderboard"]]
        return 200, {"submissions": [{"id": one["id"]} for one in sorted(rows, key=self._value, reverse=True)]}


def _known(user: str | None) -> str:
    if user is None:
        raise Refused(403, {"detail": "Authentication credentials were not provided."})
    return user


def _uuid(text: str | None) -> str | None:
    try:
        return text and str(uuid.UUID(text))
    except ValueError:
        raise CRASH from None


def _utc(text: str | date | None) -> str | None:
    if isinstance(text, date):  # no quotes: the time of day is lost
        text = f"{text:%Y-%m-%d}"
    return datetime.fromisoformat(text).replace(tzinfo=UTC).isoformat().replace("+00:00", "Z") if text else None


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Serve on a free port of this machine."""
    handler = type("Handler", (_Handler,), {"state": server, "lock": threading.Lock()})
    with _Listening(("127.0.0.1", 0), handler) as listening:
        server.address = f"http://127.0.0.1:{listening.server_port}"
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()


class _Listening(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Break the connection off without a word where a test has made an answer impossible."""


class _Handler(BaseHTTPRequestHandler):
    """The interface, a storage with signed addresses, a clock and faults."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    state: Server
    lock: threading.Lock

    def _handle(self) -> None:
        parts = urlsplit(self.path)
        query = {name: value[-1] for name, value in parse_qs(parts.query).items()}
        token = (self.headers.get("Authorization") or "").removeprefix("Token ") or None
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if (other := self.state.meanwhile) and other[0] == self.command and re.search(other[1], parts.path):
            self.state.meanwhile = None
            other[2]()
        with self.lock:
            self.state.number()
            self.state.requests.append((self.command, parts.path, token))
            faults = [one for one in self.state.faults if one.times and one.method == self.command]
            fault = next((one for one in faults if re.search(one.path, parts.path)), None)
            if fault is not None:
                fault.times -= 1
                if fault.status is None:
                    self.close_connection = True
                else:
                    self._send(fault.status, b"<html>busy</html>", {"Retry-After": "86400"})
            elif parts.path.startswith("/storage/"):
                self._storage(parts.path.split("/")[2], query, body)
            elif parts.path.startswith("/datasets/download/"):
                key = parts.path.split("/")[3]
                opens = self.state.opens or self.state.data[key]["created_by"] == self.state.users.get(token or "")
                target = f"{self.state.address}/storage/{key}/data.zip?Signature=s" if opens else "/accounts/login/"
                self._send(302, b"", {"Location": target})
            else:
                self._interface(parts.path, query, token, body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle  # noqa: N815 - the names that the base class asks for

    def _interface(self, path: str, query: Mapping[str, str], token: str | None, body: bytes) -> None:
        user = self.state.users.get(token or "")
        try:
            if self.headers.get("Cookie"):  # of a session, which then wants a token against forged requests
                raise Refused(403, {"detail": "CSRF Failed: CSRF token missing."})
            if token and user is None:
                raise Refused(403, {"detail": "Invalid token."})
            sent = json.loads(body) if body else {}
            status, content = self.state.answer(path, method=self.command, query=query, body=sent, user=user)
        except Refused as refused:
            status, content = refused.status, refused.content
        is_json = not str(content).startswith("<!")
        data = (b"" if content is None else json.dumps(content, default=list).encode()) if is_json else content.encode()
        self._send(status, data, {"Content-Type": "application/json" if is_json else "text/html"})

    def _storage(self, key: str, query: Mapping[str, str], body: bytes) -> None:
        if "Signature" not in query or self.headers.get("Authorization"):
            self._send(400, b"<Error>Only one auth mechanism allowed</Error>")
        elif self.command == "PUT":
            if self.headers.get("Content-Type") != "application/zip":
                self._send(403, b"<Error>SignatureDoesNotMatch</Error>")
                return
            arrived = self.state.damage(body)
            if not self.state.loses:
                self.state.files[key] = arrived
            self._send(200, b"", {"ETag": f'"{md5(arrived, usedforsecurity=False).hexdigest()}"'})
        elif key in self.state.files and self.headers["Accept-Encoding"] == "identity":  # never a bomb
            self._send(200, self.state.files[key])
        else:
            self._send(404, b"<Error>NoSuchKey</Error>")

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response_only(status)
        date = format_datetime(self.state.now(), usegmt=True)
        fixed = {"Date": date, "Content-Type": "text/html", "Set-Cookie": "sessionid=abc; Path=/"}
        for name, value in {**fixed, **(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
