"""No sentence tells a command that runs modules of the folder in which somebody types it, as ``python -m`` does.

Who follows it when a ledger is closed stands anywhere: in a folder of back-ups, or one where others may write.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpcore.ledger import commands
from dpcore.ledger.__main__ import _parser, main

ROOT = Path(__file__).parents[2]
TOLD_IN = sorted(
    file
    for pattern in ("dpcore/**/*.py", "dashboard/**/*.py", "docs/**/*.md", "*.md", "deploy/*", "compose.yaml")
    for file in ROOT.glob(pattern)
)
# ".venv/bin/python" is there in the folder of the source alone, which is the program itself
OURS = re.compile(r"(?<!\.venv/bin/)(?<!\.venv/Scripts/)\bpython[\d.]*(?P<flags>(?: -\w+)*?) -m (?:dpcore|dashboard)\b")


def told(text: str) -> list[str]:
    """The commands of the program in a text that take modules from the folder of the call."""
    in_one = re.sub(r"\s+", " ", re.sub(r"[\"']\s*\n\s*[rf]?[\"']", "", text))
    return [found[0] for found in OURS.finditer(in_one) if not re.search(r" -\w*[PI]", found["flags"])]


@pytest.mark.parametrize("file", TOLD_IN, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_command_is_told_that_takes_modules_from_the_folder_of_the_call(file: Path) -> None:
    assert told(file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "wrong",
    [
        "run `python -m dpcore.ledger restore`.",
        "or ``python -m\ndashboard``",
        '    "run `python "\n    f"-m dpcore.ledger restore`"',
        "python3 -B -m dashboard open",
        "/usr/bin/python3.11 -m dpcore.audit",
    ],
)
def test_one_that_does_is_found_out(wrong: str) -> None:
    assert told(wrong)


@pytest.mark.parametrize(
    "right",
    [
        "python -P -m dpcore.ledger restore",
        "python3 -I -m dashboard",
        ".venv/bin/python -m dashboard ledger status",
        "python -m benchmarks.audit",
        "python -m venv .venv",
    ],
)
def test_others_are_none(right: str) -> None:
    assert not told(right)


TOLD = [said for said in vars(commands).values() if isinstance(said, str) and said.startswith("`")]


def is_understood(said: str) -> bool:
    _, _, words = said.strip("`").partition(f"{commands.PROGRAM} ")
    try:
        return bool(_parser(commands.PROGRAM).parse_args(words.split()))
    except SystemExit:
        return False


def test_every_command_that_sentences_tell_is_understood() -> None:
    assert len(TOLD) == 7
    assert [said for said in TOLD if not is_understood(said)] == []
    assert not is_understood(commands.command("restore --anew"))
    assert not is_understood("`python -m dpcore.ledger restore`")


def test_a_call_is_named_as_sentences_name_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert capsys.readouterr().out.startswith(f"usage: {commands.PROGRAM} ")
