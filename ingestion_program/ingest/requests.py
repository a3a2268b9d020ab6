"""What a model process may send: every message with its fields, and every field with one type and its limits.

A model can replace our code in its process, so a message may hold anything. Truth values are no numbers, floats are no
whole numbers, and nothing is converted, except a whole number where a float is due.
"""

from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, StrictFloat, StrictInt, StrictStr, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from ingest.schema import brief
from model_process.protocol import BadMessage
from model_process.sandbox import IsolationLevel

MAXIMUM_FRAMES = 100_000
MAXIMUM_SIDE = 4096
RATES = (4_000, 48_000)
"""Lowest and highest sampling rate of a sound, samples a second."""

LONGEST = 600
"""Most characters of a text that a message can quote."""

_Index = Annotated[StrictInt, Field(ge=0, lt=2**63)]
_Number = Annotated[StrictFloat, Field(allow_inf_nan=False)]
_Side = Annotated[StrictInt, Field(ge=1, le=MAXIMUM_SIDE)]
_Text = Annotated[StrictStr, AfterValidator(lambda text: text[:LONGEST])]
_FORM = ConfigDict(extra="ignore")


class BadRequest(Exception):
    """A model requested invalid frames or sound; the message is shown to the participant."""


@dataclass(frozen=True, config=_FORM)
class FrameRequest:
    """Which frames, and how large. Two equal requests give equal frames, so one decoding serves both."""

    count: Annotated[StrictInt, Field(ge=1, le=MAXIMUM_FRAMES)] | None = None
    """This many frames, each in the middle of one of as many equal intervals."""
    fps: Annotated[StrictFloat, Field(gt=0, le=1000)] | None = None
    """This many frames a second."""
    start_s: _Number = 0.0
    """Start of the interval."""
    end_s: _Number | None = None
    """End of the interval; None means the clip's end."""
    time_s: _Number | None = None
    """The one frame shown at this time; then only `size` is used besides."""
    size: tuple[_Side, _Side] | None = None
    """(width, height) to scale to."""


@dataclass(frozen=True, config=_FORM)
class SoundRequest:
    """Which sound."""

    rate: Annotated[StrictInt, Field(ge=RATES[0], le=RATES[1])]
    """Samples a second."""


_EXPECTED = {
    "count": f"a whole number from 1 to {MAXIMUM_FRAMES}",
    "fps": "more than 0, at most 1000",
    "size": f"(width, height) in whole pixels, 1 to {MAXIMUM_SIDE} pixels a side",
    "rate": f"a whole number from {RATES[0]} to {RATES[1]}",
}
"""What a participant is told to give for an argument; a number for the others."""


def parse_request(message: dict[str, Any]) -> FrameRequest:
    """Check the arguments of `frames` or `frame_at`; raises BadRequest with a text for the participant."""
    request: FrameRequest = _parse(_FRAMES, "frames", message)
    if request.count is not None and request.fps is not None:
        raise BadRequest("frames: give count or fps, not both")
    return request


def parse_sound(rate: object) -> int:
    """Check the argument of `audio`; raises BadRequest with a text for the participant."""
    request: SoundRequest = _parse(_SOUND, "audio", {"rate": rate})
    return request.rate


def _parse(form: TypeAdapter[Any], method: str, message: dict[str, Any]) -> Any:  # noqa: ANN401 - what `form` makes
    try:
        return form.validate_python({name: value for name, value in message.items() if value is not None})
    except ValidationError as error:
        name = str(error.errors(include_url=False)[0]["loc"][0])
        expected = _EXPECTED.get(name, "a number")
        raise BadRequest(f"{method}: {name} is {brief(message.get(name))}, expected {expected}") from None


@dataclass(frozen=True, config=_FORM)
class Confined:
    """The process is in its sandbox; sent by our code before any of the participant's is loaded."""

    level: IsolationLevel
    landlock: Annotated[StrictInt, Field(ge=0, le=99)]


@dataclass(frozen=True, config=_FORM)
class Ready:
    """The submission is loaded."""

    notes: dict[str, Any]
    """What there is to say of it; see whoever reads it."""


@dataclass(frozen=True, config=_FORM)
class Failed:
    """The submission cannot be loaded; the fields of a problem."""

    code: _Text
    where: _Text
    found: _Text
    expected: _Text
    fix: _Text


@dataclass(frozen=True, config=_FORM)
class Frames:
    """The model wants frames."""

    stream: _Index
    """Number under which they are to be announced."""
    request: dict[str, Any]
    """The participant's arguments, see `parse_request`."""


@dataclass(frozen=True, config=_FORM)
class Free:
    """The model needs some frames no longer."""

    slots: Annotated[list[tuple[_Index, _Index]], Field(fail_fast=True)]
    """(stream, slot) of each."""
    left: Annotated[list[_Index], Field(fail_fast=True)]
    """Streams of which it reads no more."""


@dataclass(frozen=True, config=_FORM)
class Audio:
    """The model wants sound."""

    rate: Any
    """The participant's argument, see `parse_sound`."""


@dataclass(frozen=True, config=_FORM)
class Answered:
    """What a call returned."""

    number: _Index
    """Of the call."""
    value: Any
    """Packed, see `model_process.packing`."""


@dataclass(frozen=True, config=_FORM)
class Raised:
    """A call raised an exception."""

    number: _Index
    """Of the call."""
    where: _Text
    found: _Text


Request = Frames | Free | Audio | Answered | Raised | Ready | Failed | Confined
_FORMS: dict[str, TypeAdapter[Request]] = {
    "confined": TypeAdapter(Confined),
    "ready": TypeAdapter(Ready),
    "failed": TypeAdapter(Failed),
    "frames": TypeAdapter(Frames),
    "free": TypeAdapter(Free),
    "audio": TypeAdapter(Audio),
    "answer": TypeAdapter(Answered),
    "raised": TypeAdapter(Raised),
}
"""Every kind of message, by its `op`."""
_FRAMES, _SOUND = TypeAdapter(FrameRequest), TypeAdapter(SoundRequest)


def read_request(body: dict[str, Any]) -> Request:
    """Return a message of the model process as what it is; raises BadMessage if a field has another type."""
    op = body.get("op")
    if not isinstance(op, str) or op not in _FORMS:
        raise BadMessage(f"the unknown request {brief(op)}")
    try:
        return _FORMS[op].validate_python(body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise BadMessage(f"a malformed request: {op} with {where} {brief(first['input'])}") from None
