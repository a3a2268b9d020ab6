"""The folder in which everything is made before it gets its final name: all or nothing."""

import secrets
import shutil
from pathlib import Path

from bundle_tools.errors import BundleError
from bundle_tools.own_clips.problems import Problems

SEED_BITS = 128


class Stage:
    """The folder in which everything is made."""

    def __init__(self, out: Path, seed: int | None) -> None:
        """Open the stage of `out`: new, or left by an interrupted run.

        Parameters
        ----------
        out
            The final folder; it must be empty or not exist.
        seed
            The secret seed; None uses that of the interrupted run, or a new random one.

        Raises
        ------
        BundleError
            When `out` is not empty, or an interrupted run had another seed.
        """
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise BundleError(f"--out {out}: expected a folder that is empty or new. Choose another one.")
        self.out = out.resolve()
        self.folder = self.out.with_name(self.out.name + ".part")
        self.private = self.folder / "private"
        kept = self.private / "seed.txt"
        if kept.exists():
            earlier = int(kept.read_text("utf-8"))
            if seed not in (None, earlier):
                raise BundleError(f"{self.folder} was started with another seed. Delete it, or leave --seed out.")
            self.seed = earlier
        else:
            self.seed = secrets.randbits(SEED_BITS) if seed is None else seed

    def check_apart(self, option: str, source: Path, problems: Problems) -> None:
        """Report an output folder inside the input folder: after an interruption, a run would read its own clips."""
        if self.out.is_relative_to(source.resolve()):
            where = f"{self.out} in {source}"
            problems.add(f"--out inside the folder of {option}", where, fix="Choose a folder outside it.")

    def begin(self, plan: str) -> None:
        """Make the folder; `plan` describes what will be made.

        Raises
        ------
        BundleError
            When an interrupted run had another plan.
        """
        noted = self.private / "plan.txt"
        if noted.exists() and noted.read_text("utf-8") != plan:
            raise BundleError(
                f"{self.folder} was started with other options or files. Delete it, or repeat the options."
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        self.private.mkdir(mode=0o700, exist_ok=True)
        (self.private / "seed.txt").write_text(f"{self.seed}\n", "utf-8")
        noted.write_text(plan, "utf-8")

    @property
    def journal(self) -> Path:
        """The file that lists finished clips."""
        return self.private / "finished.jsonl"

    def check_space(self, needed: int) -> None:
        """Stop before a disk is full.

        Raises
        ------
        BundleError
            When there is not enough free space.
        """
        free = shutil.disk_usage(self.folder).free
        if needed > free:
            raise BundleError(
                f"{self.folder}: expected {needed / 1e9:.1f} GB of free space, found {free / 1e9:.1f} GB. "
                "Take another disk for --out, or --reencode."
            )

    def finish(self) -> None:
        """Rename the folder to its final name."""
        for name in ("plan.txt", "finished.jsonl"):
            (self.private / name).unlink(missing_ok=True)
        if self.out.exists():
            self.out.rmdir()
        self.folder.rename(self.out)
