"""The reading process: open submitted results behind the walls of `sandbox`, then answer for one clip after another.

Started by ingestion as `python -s -P .../ingest/legacy/child.py WALLS`. It reads what strangers wrote, so it
gets no more trust than a model does: ingestion checks every answer as it checks a model's.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

NAMED = 5


def main() -> None:
    """Serve calls over the socket at standard input, inside the walls that the argument describes."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    # Found now, because behind the walls only the inside of these two folders can be read.
    import_module("ingest.legacy")
    from model_process import protocol, sandbox  # noqa: PLC0415

    channel = protocol.take_channel()
    sandbox.confine(
        sandbox.Walls.from_record(json.loads(sys.argv[1])),
        lambda held, listener: protocol.send(channel, {"op": "confined", **vars(held)}, descriptor=listener),
    )
    # Only now: these import NumPy, which starts threads, and threads that exist already would stay outside the walls.
    from ingest.legacy.forms import read_form  # noqa: PLC0415
    from ingest.legacy.forms.answers import Answers, Unreadable  # noqa: PLC0415
    from ingest.legacy.pickles import PickleRefused  # noqa: PLC0415
    from model_process import packing  # noqa: PLC0415

    def answer(answers: Answers, order: dict[str, Any]) -> None:
        packer = packing.Packer()
        body: dict[str, Any] = {"op": "answer", "number": order["number"], "unreadable": None}
        body["prediction"] = packer.pack(answers.prediction(order["names"]))
        try:
            body["explanation"] = packer.pack(answers.explanation(order["names"]))
        except (PickleRefused, Unreadable) as error:
            body["explanation"], body["unreadable"] = {}, str(error)[:300]
        protocol.send(channel, body, blob=packer.blob())

    order = protocol.receive(channel).body
    folder = Path(order["submission"])
    try:
        answers = read_form(
            order["form"],
            folder / order["predictions"],
            None if order["explanations"] is None else folder / order["explanations"],
        )
    except Unreadable as error:
        told = {"where": error.where, "found": error.found[:300], "expected": error.expected}
        protocol.send(channel, {"op": "refused", **told})
        return
    protocol.send(channel, {"op": "ready"})
    while True:
        try:
            order = protocol.receive(channel).body
        except protocol.ChannelClosed:
            return
        if order["call"] == "clip":
            answer(answers, order)
        else:
            unknown = answers.unknown()
            notes = {"unknown": len(unknown), "named": [name[:80] for name in unknown[:NAMED]]}
            notes["numbers_as_text"] = answers.numbers_as_text
            protocol.send(channel, {"op": "answer", "number": order["number"], **notes})


if __name__ == "__main__":
    main()
