"""Every command says what it does, with an example that it takes; a misspelled one gets a suggestion."""

import argparse
import shlex
import subprocess
import sys
from collections.abc import Iterator

import pytest

from bundle_tools.cli.main import COMMANDS, _parser, main
from bundle_tools.cli.options import Parser
from tests import ROOT


def commands_of(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield a command and those below it."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from commands_of(below)


def subcommand(name: str) -> argparse.ArgumentParser:
    """Give a command with its options."""
    (top,) = (action for action in _parser(name)._actions if isinstance(action, argparse._SubParsersAction))
    found: argparse.ArgumentParser = top.choices[name]
    return found


ALL = [command for name in COMMANDS for command in commands_of(subcommand(name))]


@pytest.mark.parametrize("command", ALL, ids=lambda command: command.prog)
def test_help_begins_with_what_the_command_does_and_has_an_example_that_works(command: Parser) -> None:
    lines = command.format_help().splitlines()
    assert lines[0].endswith((".", ")."))
    assert lines[0][0].isupper()
    examples = [line.strip() for line in lines[lines.index("Example:") + 1 :] if line.startswith("  bundle ")]
    assert examples
    for example in examples:
        assert example.startswith(command.prog)
        _, *words = shlex.split(example)
        assert _parser(words[0]).parse_args(words).action


def test_commands_start_without_the_programs() -> None:
    """Which of several scoring programs is loaded is decided later, by the bundle that is asked for."""
    code = (
        "import sys; from bundle_tools.cli.main import COMMANDS, _parser\n"
        "for name in COMMANDS: _parser(name)\n"
        "print('score' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("False\n", "")


@pytest.mark.parametrize("command", ALL, ids=lambda command: command.prog)
def test_every_value_has_a_name_in_capitals(command: Parser) -> None:
    plain = [
        action.dest
        for action in command._actions
        if action.nargs != 0 and action.choices is None and not "".join(action.metavar or "").isupper()
    ]
    assert plain == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["chek"], "bundle: no command 'chek'. Did you mean `check`? `bundle --help` tells more."),
        (["data", "fases"], "bundle data: no command 'fases'. Did you mean `faces`?"),
        (["jury", "qqq"], "bundle jury: no command 'qqq'. There are: make, score."),
        (["run"], "bundle run: the following arguments are required: SUBMISSION. `bundle run --help`"),
    ],
)
def test_a_wrong_command_line_is_told_in_one_line(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(given)
    assert ended.value.code == 2
    assert said in (printed := capsys.readouterr().err)
    assert printed.count("\n") == 1


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("bundle 0.")
