"""Load models as the model process does, each in a process of its own: load.py PROGRAM SUBMISSION..."""

import json
import os
import sys
from pathlib import Path

sys.path[0] = sys.argv[1]  # in the place of this file's folder, in which the cases lie

from model_process.loading import LoadFailure, load_model  # noqa: E402 - the program's folder is an argument


def load(submission: Path) -> None:
    """Write the report of a failure beside the submission; never returns."""
    sys.path.remove(sys.argv[1])
    report = {}
    try:
        load_model(submission)
    except LoadFailure as failure:
        report = failure.report
    submission.with_name(f"{submission.name}.json").write_text(json.dumps(report))
    os._exit(0)


for name in sys.argv[2:]:
    if os.fork() == 0:
        try:
            load(Path(name))
        finally:
            os._exit(1)
    _, status = os.wait()
    if status:
        sys.exit(f"{name}: {status}")
