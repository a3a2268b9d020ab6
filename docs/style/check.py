"""The language check of `make lint`: Harper over pages and guides, with the words and rules of this folder.

Harper (an offline grammar checker) knows general English. `words.txt` adds names and terms of the field, one a line;
each file of `rules/` is a rule of our own in Harper's rule language, with its tests.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CHECKED = ("*.md", "docs/*.md", "docker/*.md", "pages/*.md", "solutions/*/*.md", "starting_kit/*.md", "tests/**/*.md")
OFF = (
    *("UseTitleCase", "SentenceCapitalization", "OxfordComma"),  # matters of taste: headings and lists are lower-case
    *("ExpandMemoryShorthands", "ExpandTimeShorthands", "ExpandMinimum"),  # MB, ms and min are units and names
    *("SplitWords", "CapitalizePersonalPronouns", "OrthographicConsistency"),  # names of packages and symbols
    # What they found was right as it stood: lists without articles, symbols of formulas.
    *("MassNouns", "MakeupCompoundNoun", "MergeWords", "Overall", "CompoundNouns", "ItsContraction", "MissingTo"),
    *("MissingPreposition", "MissingDeterminer", "PhrasalVerbAsCompoundNoun", "QuantifierNumeralConflict"),
    *("PronounVerbAgreement", "InflectedVerbAfterTo"),
)
"""Rules of Harper that are switched off, and why."""
MANIFEST = '{"author": "First Impressions, Explained", "version": "1", "description": "Our words", "license": "MIT"}'


def main() -> int:
    """Check the tests of the rules, then every text; return 1 where something is found."""
    rules = sorted((HERE / "rules").glob("*.weir"))
    texts = sorted({path for pattern in CHECKED for path in ROOT.glob(pattern) if ".venv" not in path.parts})
    failed = [_harper("test", rule) for rule in rules]
    with tempfile.TemporaryDirectory() as scratch:
        pack = Path(scratch) / "rules.weirpack"
        with zipfile.ZipFile(pack, "w") as archive:
            archive.writestr("manifest.json", MANIFEST)
            for rule in rules:
                archive.write(rule, rule.name)
        off = [word for name in OFF for word in ("--ignore", name)]
        ours: list[str | Path] = ["--weirpacks", pack, "--user-dict-path", HERE / "words.txt", *off]
        failed.append(_harper("lint", *ours, "--dialect", "gb", "--format", "compact", "--quiet", *texts))
    return int(any(failed))


def _harper(*arguments: str | Path) -> int:
    line = [Path(sys.executable).with_name("harper"), "--no-color", *arguments]
    done = subprocess.run(line, check=False, capture_output=True, text=True)  # noqa: S603 - a locked package
    if done.returncode:
        sys.stdout.write(done.stdout)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
