"""The model process: load a participant's model or results, then answer calls until the channel closes.

Started by ingestion as `python -s -P .../model_process/__main__.py WALLS`. Whatever the participant's code
does, it does here, inside the sandbox of `sandbox`, and never in the process that writes results.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Serve calls over the socket at standard input, inside the sandbox that the argument describes."""
    here = str(Path(__file__).resolve().parent.parent)
    sys.path.insert(0, here)
    from model_process import protocol, sandbox  # noqa: PLC0415 - the folder is on the path only here

    channel = protocol.take_channel()
    sandbox.enter_sandbox(
        sandbox.SandboxPolicy.from_record(json.loads(sys.argv[1])),
        lambda isolation, listener: protocol.send(channel, {"op": "confined", **vars(isolation)}, descriptor=listener),
    )
    order = protocol.receive(channel).body
    submission = Path(order["submission"])
    submitted = order.get("results")
    # Only now: these import NumPy, which starts threads, and the sandbox would not apply to existing threads.
    from model_process import clip, loading, packing  # noqa: PLC0415

    if submitted:
        from model_process import results  # noqa: PLC0415

    # The participant's imports must not find our modules, nor ours theirs.
    sys.path.remove(here)
    for name in [name for name in sys.modules if name.partition(".")[0] == "model_process"]:
        del sys.modules[name]
    connection = clip.Connection(
        send=lambda body: protocol.send(channel, body),
        receive=lambda: protocol.receive(channel),
    )
    try:
        model: Any = results.SubmittedResults(submission, **submitted) if submitted else loading.load_model(submission)
    except loading.LoadFailure as failure:
        connection.send({"op": "failed", **failure.report})
        return
    connection.send({"op": "ready", "notes": model.notes if submitted else {"alone": loading.runs_alone(model)}})

    view: Any = None
    while True:
        order = connection.wait_for_call()
        try:
            if order["call"] == "predict":
                view = order["clip_id"] if submitted else clip.Clip(**order["clip"], _connection=connection)
                value: Any = model.predict(view)
            else:  # the very object that was predicted, so that a model can keep what it has read
                value = model.explain(view, dict(order["prediction"]))
            packer = packing.Packer()
            packed = packer.pack(value)
        except protocol.ChannelClosed:
            return
        except BaseException as error:  # noqa: BLE001 - one clip's failure must not end the process
            where = loading.location(error, submission)
            connection.send(
                {"op": "raised", "number": order["number"], "found": loading.describe(error), "where": where}
            )
        else:
            del value
            connection.flush()
            answer = {"op": "answer", "number": order["number"], "value": packed}
            protocol.send(channel, answer, blob=packer.blob())


if __name__ == "__main__":
    try:
        main()
    finally:
        # Threads and exit handlers of the participant's code must not keep the process alive.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
