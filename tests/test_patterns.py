"""No text that somebody sends keeps a pattern busy: none of ours takes exponential or cubic time."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

with warnings.catch_warnings():  # it reads patterns by a module of Python's that has a new name
    warnings.simplefilter("ignore", DeprecationWarning)
    from regexploit.ast.sre import SreOpParser
    from regexploit.redos import find

ROOT = Path(__file__).parent.parent
USES = {"compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}
MOST = 2
"""Stars of the worst case, as regexploit counts them: n², and above 10 exponential."""


def _written(source: str) -> Iterator[str]:
    """The patterns that stand in the calls of ``re`` of a file."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=called),
                args=[ast.Constant(value=str() | bytes() as pattern), *_],
            ) if called in USES:
                yield pattern if isinstance(pattern, str) else pattern.decode("latin-1")


def _put_together(value: object) -> Iterator[str]:
    """The compiled patterns that a module holds, on their own or among others."""
    if isinstance(value, re.Pattern):
        yield value.pattern if isinstance(value.pattern, str) else value.pattern.decode("latin-1")
    elif isinstance(value, dict):
        for one in value.values():
            yield from _put_together(one)
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _put_together(one)


class _Parser(SreOpParser):  # type: ignore[misc]
    """What repeats and gives nothing back is gone through once, whatever follows; what is inside it counts as ever."""

    def from_POSSESSIVE_REPEAT(self, data: tuple[object, object, list[object]]) -> object:
        return self.sequence_or_singleton(data[2])


def _stars(pattern: str) -> int:
    """How slow a pattern can be on a text that fits it but for its end."""
    return max((found.starriness for found in find(_Parser().parse_sre(f"(?:{pattern})$"))), default=0)


@pytest.mark.parametrize(
    "pattern", [r"/(?:[a-z]+/?)*", r"(?:[^,;]+[,; ]*)*", r"\s*x?\s*y?\s*z?\s*", r"(?:\s*x?\s*y?\s*z?\s*b)*+"]
)
def test_a_slow_pattern_is_found(pattern: str) -> None:
    assert _stars(pattern) > MOST


def test_what_gives_nothing_back_is_not_slow() -> None:
    assert _stars(r"(?:[^\"]++|\"\")*+") <= MOST < _stars(r"(?:[^\"]+|\"\")*")


@pytest.mark.thorough
def test_no_pattern_is_slow_on_any_text() -> None:
    found: dict[str, str] = {}
    for folder in ("dpcore", "dashboard"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            source, name = path.read_text(), path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
            found |= dict.fromkeys(_written(source), name)
            if "re.compile(" in source:
                module = importlib.import_module(name)
                found |= dict.fromkeys((one for value in vars(module).values() for one in _put_together(value)), name)
    assert len(found) > 50
    assert {f"{name}: {pattern}" for pattern, name in found.items() if _stars(pattern) > MOST} == set()


LONG = """
import importlib, pathlib, re, sys
from dpcore.datasets.reading.dialect import DELIMITERS, has_single_marks

def put_together(value):
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, (dict, tuple, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from put_together(one)

root, length = pathlib.Path(sys.argv[1]), 60_000
patterns = {re.compile(sys.argv[2])} if len(sys.argv) > 2 else set()
for path in [] if patterns else sorted((root / "dpcore" / "datasets").rglob("*.py")):
    if "re.compile(" in path.read_text():
        module = importlib.import_module(path.relative_to(root).with_suffix("").as_posix().replace("/", "."))
        patterns |= {one for value in vars(module).values() for one in put_together(value)}
for pattern in patterns:
    for unit in (*" .,;:-+_/'0aA@[{(\\t\\n", "0,", "0.", "a ", " 0", "a.", "a-", "é"):
        text = unit * (length // len(unit)) + "!"
        for verb in (pattern.match, pattern.fullmatch):
            verb(text if isinstance(pattern.pattern, str) else text.encode())
for separator in sorted({*DELIMITERS, " "}) if len(sys.argv) < 3 else ():
    for unit in {*DELIMITERS, " ", "x"}:
        for end in (b"'", b'"', b"x'"):
            has_single_marks(b"a'b" + unit.encode() * 1_000_000 + end, separator)
print(len(patterns))
"""


def _long(*arguments: str, seconds: float) -> int:
    """How many patterns were tried on long runs of each sign. Raises TimeoutExpired: a quadratic one takes minutes."""
    call = [sys.executable, "-c", LONG, str(ROOT), *arguments]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=True)
    return int(done.stdout)


@pytest.mark.thorough
def test_what_reads_a_file_goes_through_no_run_of_signs_again_and_again() -> None:
    """A search among 130,000 blanks held everybody's pages for five seconds, and forty of them for minutes."""
    assert _long(seconds=120) > 40
    with pytest.raises(subprocess.TimeoutExpired):
        _long(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)", seconds=8)
