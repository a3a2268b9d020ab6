"""A small Codabench: the requests that `bundle server` makes, answered as release 1.25 answers them, traps included.

One process, one folder of memory, no worker: a submission goes one status further each time that somebody looks at it,
and a function of the test says what its scores are.
"""

import io
import re
import uuid
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import yaml

TEXTS = ("title", "description", "docker_image", "contact_email", "reward", "fact_sheet")
PHASE_SWITCHES = ("hide_output", "hide_prediction_output", "hide_score_output", "auto_migrate_to_this_phase")
PARTS = ("ingestion_program", "scoring_program", "input_data", "reference_data")
WAY = ("Submitted", "Preparing", "Running", "Scoring")
LARGEST_INTEGER = 2**31
Json = dict[str, Any]


Answer = tuple[int, Any]
"""Status, and what the server says."""


@dataclass(frozen=True)
class Request:
    """One request to the interface."""

    method: str
    query: Mapping[str, str]
    body: Json
    user: str | None
    found: tuple[str, ...] = ()
    """What stands in the path's groups."""


class Refused(Exception):
    """An answer other than that all is well."""

    def __init__(self, status: int, content: object) -> None:
        super().__init__(status, content)
        self.status, self.content = status, content


@dataclass
class Fault:
    """What goes wrong with some requests, and how often."""

    method: str
    path: str
    status: int | None = None
    """None breaks the connection."""
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
    ahead: timedelta = timedelta()
    """How far the clock is off."""
    lists: bool = True
    """Whether whoever sees a competition is told the keys of its data, as up to May 2026."""
    opens: bool = True
    """Whether anybody may download by key, as up to May 2026."""
    loses: bool = False
    """Whether the storage loses what it was sent."""
    frozen: datetime | None = None
    """A time that does not go on."""
    deaf_to: str = ""
    """A part that a change of a task does not reach."""
    quota: int = 10**9
    looks_to_unpack: int = 1
    busy: bool = False
    """Whether submissions stay where they are."""
    late_scores: int = 1
    """So often somebody looks at a finished submission before its first score is there; the others come one by one."""
    damage: Callable[[bytes], bytes] = bytes
    """What the way does to an upload."""
    work: Callable[[Json], tuple[str, Mapping[str, float]]] = lambda _: ("Finished", {})
    """How a submission ends, and its scores."""
    outputs: Callable[[Json], Mapping[str, bytes]] = lambda _: {}
    """The files of an ended submission, by the server's names."""
    address: str = ""
    _count: int = 0
    _ticks: int = 0

    def now(self) -> datetime:
        """Give the server's time: a second goes by with each request."""
        return self.frozen or datetime.now(UTC) + self.ahead + timedelta(seconds=self._ticks)

    def tick(self) -> None:
        """Let a second go by."""
        self._ticks += 1

    def number(self) -> int:
        """Give a number that nothing else has."""
        self._count += 1
        return self._count

    # -- requests, by method and path

    def answer(self, path: str, ask: Request) -> Answer:
        """Answer one request to the interface."""
        for pattern, allowed, act in self._routes():
            if (found := re.fullmatch(pattern, path)) and ask.method in allowed:
                return act(replace(ask, found=found.groups()))
        raise Refused(404, {"detail": "Not found."})

    def _routes(self) -> list[tuple[str, str, Callable[[Request], Answer]]]:
        return [
            (r"/api/api-token-auth/", "POST", self._log_in),
            (r"/api/datasets/", "GET POST", self._datasets),
            (r"/api/datasets/(\d+)/", "DELETE", self._delete_data),
            (r"/api/datasets/completed/([\w-]+)/", "PUT", self._completed),
            (r"/api/competitions/(\d+)/creation_status/", "GET", self._creation_status),
            (r"/api/competitions/(\d+)/register/", "POST", self._register),
            (r"/api/competitions/(\d+)/", "GET", self._competition),
            (r"/api/can_make_submission/(\d+)/", "GET", self._can),
            (r"/api/submissions/", "GET POST", self._submissions),
            (r"/api/submissions/download_many/", "POST", self._download_many),
            (r"/api/submissions/(\d+)/", "GET DELETE", self._submission),
            (r"/api/submissions/(\d+)/get_details/", "GET", self._details),
            (r"/api/submissions/(\d+)/re_run_submission/", "POST", self._again),
            (r"/api/tasks/(\d+)/", "GET PATCH", self._task),
            (r"/api/phases/(\d+)/get_leaderboard/", "GET", self._board),
        ]

    def _log_in(self, ask: Request) -> Answer:
        token = next((token for token, name in self.users.items() if name == ask.body.get("username")), None)
        if token is None or ask.body.get("password") != "right":
            raise Refused(400, {"non_field_errors": ["Unable to log in with provided credentials."]})
        return 200, {"token": token}

    def _datasets(self, ask: Request) -> Answer:
        _need_user(ask.user)
        if ask.method == "GET":
            found = [one for one in self.data.values() if one["created_by"] == ask.user]
            if ask.query.get("_type") == "bundle":
                found = [one for one in found if one["type"] == "competition_bundle"]
            if "key" in ask.query:
                found = [one for one in found if one["key"] == ask.query["key"]]
            words = ask.query.get("search", "").split()
            found = [one for one in found if all(word in f"{one['name']} {one['file_name']}" for word in words)]
            return 200, _page(found, ask.query, f"{self.address}/api/datasets/")
        if not ask.body.get("file_size"):
            raise Refused(400, {"file_size": "This field is required."})
        if sum(one["file_size"] for one in self.data.values()) + ask.body["file_size"] > self.quota:
            raise Refused(400, {"data_file": ["Insufficient space. Your available space is 0 B."]})
        if any(one["name"] == ask.body["name"] and one["created_by"] == ask.user for one in self.data.values()):
            raise Refused(
                400, {"non_field_errors": ["You already have a dataset by this name, please delete that dataset"]}
            )
        key = str(uuid.uuid4())
        self.data[key] = {
            "id": self.number(), "key": key, "name": ask.body["name"], "type": ask.body["type"], "created_by": ask.user,
            "file_name": ask.body["file_name"], "file_size": 0.0, "created_when": self.now().isoformat(),
            "competition": None,
        }  # fmt: skip
        return 201, {
            "key": key,
            "sassy_url": f"{self.address}/storage/{key}/{ask.body['request_sassy_file_name']}?Signature=s",
        }

    def _delete_data(self, ask: Request) -> Answer:
        key = next((key for key, one in self.data.items() if one["id"] == int(ask.found[0])), None)
        if key is None:
            raise Refused(404, {"detail": "Not found."})
        del self.data[key]
        return 204, None

    def _completed(self, ask: Request) -> Answer:
        one = self.data[ask.found[0]]
        one["file_size"] = float(len(self.files.get(ask.found[0], b"")))
        if one["type"] != "competition_bundle":
            return 200, {"key": ask.found[0]}
        status_id = self.number()
        self.statuses[status_id] = {"status": "Starting", "details": None, "resulting_competition": None,
                                    "key": ask.found[0], "looks": 0, "user": ask.user}  # fmt: skip
        return 200, {"status_id": status_id}

    def _creation_status(self, ask: Request) -> Answer:
        status = self.statuses[int(ask.found[0])]
        status["looks"] += 1
        if status["status"] == "Starting" and status["looks"] > self.looks_to_unpack:
            self._unpack(status)
        return 200, {name: status[name] for name in ("status", "details", "resulting_competition")}

    def _unpack(self, status: Json) -> None:
        key = status["key"]
        try:
            with zipfile.ZipFile(io.BytesIO(self.files.get(key, b""))) as archive:
                document = yaml.safe_load(archive.read("competition.yaml"))
                competition_id = self.make(document, archive, str(status["user"]))
        except (zipfile.BadZipFile, KeyError, ValueError) as error:
            bad = isinstance(error, zipfile.BadZipFile)
            status |= {"status": "Failed", "details": "Bad zip file uploaded." if bad else f"{error}"}
            del self.data[key]  # the upload disappears
            return
        self.data[key]["name"] += f" - {document['title']}"
        self.data[key]["competition"] = {"id": competition_id, "title": document["title"]}
        status |= {"status": "Finished", "resulting_competition": competition_id}

    def make(self, document: Json, archive: zipfile.ZipFile, owner: str) -> int:
        """Make a competition of what stands in its file."""
        tasks = {task["index"]: self._make_task(task, archive, owner) for task in document["tasks"]}
        competition_id = self.number()
        board = dict(document["leaderboards"][0])
        board.setdefault("primary_index", 0)
        board["columns"] = [{"hidden": False, "precision": 2, **column} for column in board["columns"]]
        phases = []
        for index, phase in enumerate(sorted(document["phases"], key=lambda one: one["index"])):
            phases.append({
                "id": self.number(), "index": index, "name": phase["name"], "description": phase.get("description", ""),
                "start": _utc(phase["start"]), "end": _utc(phase.get("end")),
                "max_submissions_per_day": phase.get("max_submissions_per_day", 5),
                "max_submissions_per_person": phase.get("max_submissions", 100),
                "execution_time_limit": phase.get("execution_time_limit", 600),
                **{key: phase.get(key, False) for key in PHASE_SWITCHES},
                "starting_kit": {"name": "kit"} if phase.get("starting_kit") else None,
                "public_data": {"name": "public"} if phase.get("public_data") else None,
                "tasks": [tasks[number] for number in phase["tasks"]],
                "solutions": [one["name"] for one in document.get("solutions", ())],
            })  # fmt: skip
        content = {
            **{key: document.get(key) for key in TEXTS},
            "competition_type": document.get("competition_type", "competition"),
            **{key: document.get(key, default) for key, default in SWITCHES.items()},
            "id": competition_id, "published": False, "secret_key": str(uuid.uuid4()), "queue": None,
            "created_by": owner, "participants": {owner}, "logo": "logo.png", "phases": phases, "leaderboards": [board],
            "terms": archive.read(document["terms"]).decode(),
            "pages": [
                {"title": page["title"], "content": archive.read(page["file"]).decode()} for page in document["pages"]
            ],
        }  # fmt: skip
        self.competitions[competition_id] = content
        return competition_id

    def _make_task(self, task: Json, archive: zipfile.ZipFile, owner: str) -> int:
        task_id = self.number()
        keys = {}
        for part in PARTS:
            if part in task:
                name = task[part]
                inside = [one for one in archive.namelist() if one == name or one.startswith(name.rstrip("/") + "/")]
                if not inside:
                    raise ValueError(f'Cannot find dataset: "{name}"')
                keys[part] = self.add_data(part, owner)
        self.tasks[task_id] = {"id": task_id, "name": task["name"], "description": task.get("description"), **keys}
        return task_id

    def add_data(self, part: str, owner: str) -> str:
        """Store a data set as unpacking does."""
        key = str(uuid.uuid4())
        self.data[key] = {
            "id": self.number(), "key": key, "name": f"{part} @ {key}", "type": part, "file_name": "", "file_size": 1.0,
            "created_by": owner, "created_when": self.now().isoformat(), "competition": None,
        }  # fmt: skip
        self.files[key] = b"PK"
        return key

    def _competition(self, ask: Request) -> Answer:
        secret = ask.query.get("secret_key")
        if secret is not None and not _is_uuid(secret):
            raise Refused(500, "<!doctype html><html><title>Server Error (500)</title></html>")
        content = self.competitions.get(int(ask.found[0])) if int(ask.found[0]) < LARGEST_INTEGER else None
        shown = content and (
            content["published"] or content["secret_key"] == secret or content["created_by"] == ask.user
        )
        if content is None or not shown:
            raise Refused(404, {"detail": "No Competition matches the given query."})
        copy = {key: value for key, value in content.items() if key != "participants"}
        if content["created_by"] != ask.user:
            del copy["secret_key"]
        copy["phases"] = [
            {**phase, "tasks": [self._task_in_phase(number, phase["solutions"]) for number in phase["tasks"]]}
            for phase in content["phases"]
        ]
        return 200, copy

    def _task_in_phase(self, number: int, solutions: list[str]) -> Json:
        task = self.tasks[number]
        parts = [self.data[task[part]] for part in PARTS if task.get(part)]
        return {
            "id": number, "name": task["name"], "solutions": [{"name": name} for name in solutions],
            "public_datasets": parts if self.lists else [],
        }  # fmt: skip

    def _register(self, ask: Request) -> Answer:
        if ask.body.get("secret_key") is not None and not _is_uuid(str(ask.body["secret_key"])):
            raise Refused(500, "<!doctype html><html><title>Server Error (500)</title></html>")
        content = self.competitions[int(ask.found[0])]
        if ask.user in content["participants"]:
            raise Refused(400, ["You already applied for participation in this competition!"])
        content["participants"].add(ask.user)
        return 201, {"participant_status": "approved"}

    def _can(self, ask: Request) -> Answer:
        competition, phase = self.phase(int(ask.found[0]))
        own = [one for one in self.submissions.values() if one["owner"] == ask.user and one["phase"] == phase["id"]]
        if ask.user not in competition["participants"]:
            return 200, {"can": False, "reason": "User not approved to participate in this competition"}
        if len([one for one in own if one["status"] != "Failed"]) >= phase["max_submissions_per_day"]:
            return 200, {"can": False, "reason": "Reached maximum allowed submissions for today for this phase"}
        return 200, {"can": True, "reason": None}

    def phase(self, phase_id: int) -> tuple[Json, Json]:
        """Find a phase and its competition."""
        for competition in self.competitions.values():
            for phase in competition["phases"]:
                if phase["id"] == phase_id:
                    return competition, phase
        raise Refused(404, {"detail": "Not found."})

    def _submissions(self, ask: Request) -> Answer:
        _need_user(ask.user)
        if ask.method == "GET":
            found = [one for one in self.submissions.values() if str(one["phase"]) == ask.query["phase"]]
            own = self.phase(int(ask.query["phase"]))[0]["created_by"] == ask.user
            return 200, [self._look(one) for one in reversed(found) if own or one["owner"] == ask.user]
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

    def add_file(self, owner: str, content: bytes, file_name: str = "submission.zip") -> str:
        """Store a submission's file."""
        key = self.add_data("submission", owner)
        self.data[key] |= {"file_name": file_name, "file_size": float(len(content))}
        self.files[key] = content
        return key

    def _look(self, one: Json) -> Json:
        """Show a submission; a busy queue apart, it is one status further the next time."""
        shown = {key: value for key, value in one.items() if key not in ("data", "looks", "scored")}
        if not self.busy:
            self._go_on(one)
        return shown

    def _go_on(self, one: Json) -> None:
        if one["status"] in ("Submitting", *WAY):
            way = ("Submitting", *WAY)
            place = way.index(one["status"])
            one["status"] = way[place + 1] if place + 1 < len(way) else self.work(one)[0]
        elif one["status"] == "Finished" and not one["scored"]:
            one["looks"] += 1
            if one["looks"] >= self.late_scores:
                self._score(one, one["looks"] - self.late_scores + 1)

    def _score(self, one: Json, count: int) -> None:
        _, scores = self.work(one)
        columns = {
            column["key"]: column["index"] for column in self.phase(one["phase"])[0]["leaderboards"][0]["columns"]
        }
        one["scores"] = [
            {"column_key": key, "index": columns[key], "score": f"{value:.10f}"}
            for key, value in list(scores.items())[:count]
        ]
        if count < len(scores):
            return  # the board comes last
        one["scored"] = True
        primary = next(iter(columns))
        runs = [
            other for other in self.submissions.values()
            if other["owner"] == one["owner"] and other["phase"] == one["phase"] and other["status"] == "Finished"
        ]  # fmt: skip
        for other in runs:
            other["on_leaderboard"] = False
        # Of release 1.25: what has no score stands above what has one.
        max(runs, key=lambda other: _value(other, primary))["on_leaderboard"] = True

    def _submission(self, ask: Request) -> Answer:
        one = self.submissions.get(int(ask.found[0]))
        if one is None:
            raise Refused(404, {"detail": "No Submission matches the given query."})
        if ask.method == "DELETE":
            del self.submissions[one["id"]]
            if not any(other["data"] == one["data"] for other in self.submissions.values()):
                self.data.pop(one["data"], None)
            return 204, None
        return 200, self._look(one)

    def _details(self, ask: Request) -> Answer:
        one = self.submissions[int(ask.found[0])]
        competition, phase = self.phase(one["phase"])
        if phase["hide_output"] and competition["created_by"] != ask.user:
            raise Refused(403, {"detail": "Cannot access submission details while phase marked to hide output."})
        names = {name: self._signed(one, name, content) for name, content in self.outputs(one).items()}
        logs = [
            {"name": name, "data_file": names.pop(name)} for name in list(names) if name.endswith(("stdout", "stderr"))
        ]
        sent = f"{self.address}/storage/{one['data']}/{one['filename']}?Signature=s"
        nothing = dict.fromkeys(("prediction_result", "scoring_result", "detailed_result"))
        return 200, {"data_file": sent, **nothing, **names, "logs": logs}

    def _signed(self, one: Json, name: str, content: bytes) -> str:
        key = f"{one['id']}-{name}"
        self.files[key] = content
        return f"{self.address}/storage/{key}/{name}.zip?Signature=s"

    def _again(self, ask: Request) -> Answer:
        one = self.submissions[int(ask.found[0])]
        if one["status"] not in ("Finished", "Failed", "Cancelled"):
            raise Refused(403, {"detail": "Cannot request a re-run on a submission that has not finished processing."})
        return 200, {"id": self.add_submission(one["owner"], one["phase"], one["data"])}

    def _download_many(self, ask: Request) -> Answer:
        found = [self.submissions[number] for number in ask.body["pks"]]
        return 200, [
            {"name": f"{one['id']}_{one['owner']}_PhaseId{one['phase']}_{one['filename']}",
             "url": f"{self.address}/storage/{one['data']}/{one['filename']}?Signature={one['id']}"}
            for one in found
        ]  # fmt: skip

    def _task(self, ask: Request) -> Answer:
        task = self.tasks.get(int(ask.found[0]))
        if task is None or self._owner_of_task(task) != ask.user:
            raise Refused(404, {"detail": "No Task matches the given query."})
        if ask.method == "PATCH":
            for part in PARTS[:1] + PARTS[2:]:  # what is left out is emptied, but for the scoring program
                task[part] = None
            task |= {key: value for key, value in ask.body.items() if key != self.deaf_to}
            return 200, task
        return 200, {**task, **{part: self.data[task[part]] if task.get(part) else None for part in PARTS}}

    def _owner_of_task(self, task: Json) -> str:
        return str(self.data[task["scoring_program"]]["created_by"])

    def _board(self, ask: Request) -> Answer:
        competition, phase = self.phase(int(ask.found[0]))
        primary = competition["leaderboards"][0]["columns"][0]["key"]
        rows = [one for one in self.submissions.values() if one["phase"] == phase["id"] and one["on_leaderboard"]]
        rows.sort(key=lambda one: _value(one, primary), reverse=True)
        return 200, {"submissions": [{"id": one["id"], "owner": one["owner"], "scores": one["scores"]} for one in rows]}


SWITCHES = {
    "registration_auto_approve": False, "enable_detailed_results": False, "auto_run_submissions": True,
    "show_detailed_results_in_submission_panel": True, "show_detailed_results_in_leaderboard": True,
    "can_participants_make_submissions_public": True, "make_programs_available": False,
    "make_input_data_available": False, "forum_enabled": True,
}  # fmt: skip


def _need_user(user: str | None) -> None:
    if user is None:
        raise Refused(403, {"detail": "Authentication credentials were not provided."})


def _page(found: list[Json], query: Mapping[str, str], address: str) -> Json:
    page, size = int(query.get("page", 1)), min(int(query.get("page_size", 10)), 1000)
    more = page * size < len(found)
    return {"count": len(found), "next": f"{address}?{urlencode({**query, 'page': page + 1})}" if more else None,
            "previous": None, "results": found[(page - 1) * size : page * size]}  # fmt: skip


def _value(one: Json, primary: str) -> float:
    return next((float(score["score"]) for score in one["scores"] if score["column_key"] == primary), float("inf"))


def _utc(text: str | date | None) -> str | None:
    if isinstance(text, date):  # no quotes: the time of day is lost
        text = f"{text:%Y-%m-%d}"
    return datetime.fromisoformat(text).replace(tzinfo=UTC).isoformat().replace("+00:00", "Z") if text else None


def _is_uuid(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True
