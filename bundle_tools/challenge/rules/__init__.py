"""Rules about the data and settings of this challenge, in addition to the rules for any bundle.

`codes.yaml` has the severity, effect and fix of every code.
"""

from pathlib import Path

import yaml

from bundle_tools.codabench.rules.findings import Finding

CODES: dict[str, list[str]] = yaml.safe_load(Path(__file__).with_name("codes.yaml").read_text("utf-8"))


def finding(code: str, where: str, what: str, **words: object) -> Finding:
    """Make a finding of the table.

    `code`: key of its row. `words`: fill its braces.
    """
    severity, effect, fix = CODES[code]
    return Finding(code.partition(" ")[0], severity, where, what, effect.format(**words), fix.format(**words))  # type: ignore[arg-type]  # a test reads all rows
