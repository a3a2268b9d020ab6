"""Score one run: ``python3 scoring.py [INPUT [OUTPUT]]``; see docs/output_format.md and docs/metrics.md."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the program folder is mounted read-only or thrown away

from score.packages import PackagesMissing, provide  # noqa: E402 - the switch above has to come first

MODULES = ("jinja2", "numpy", "yaml")


def main(arguments: list[str]) -> int:
    """Score the run in the folders named by `arguments`."""
    try:
        provide(Path(__file__).parent, MODULES)
    except PackagesMissing as error:
        from score.stopped import leave_page  # noqa: PLC0415 - only then

        return leave_page(arguments, str(error))
    from score.pipeline import main as score  # noqa: PLC0415 - it needs the packages

    return score(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
