"""What of a reader's words is the program's own: those that its sentences are made of, and the places in its code.

A reader that a file has taken over says what it likes. Whatever goes from it to a page or into the log is held against
this first, so that nobody reads another's words, or cells of the file, as if this program had said them.
"""

from __future__ import annotations

import importlib.util
import pkgutil
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

LONGEST = 600
"""Letters of a sentence; ours have some two hundred."""
ELSEWHERE, ANOTHER = "elsewhere", "another failure"
"""Stand for a place in other code than this, and for a kind of failure that this process does not know."""
_PACKAGES = ("dpcore.datasets", "dpcore.datasets.apart", "dpcore.datasets.reading")
_WORD = re.compile(r"[^\W\d_]+")
_BETWEEN = re.compile(r"[\d .,;:()'\"%+_–—…“”‘’-]*")
_JOINED = re.compile(r"[^\W_][.:][^\W\d_]|\d{16}")
"""What stands in an address, and in no sentence of ours; and digits of no number that there is."""
_PLACE = re.compile(r"([\w.-]{1,80}):(\d{1,6}) ([\w<>]{1,80})")
_PANIC = "PanicException"


@dataclass(frozen=True, slots=True)
class Own:
    """``words`` of sentences, and the ``lines`` of each function, by the name of its file and its own."""

    words: frozenset[str]
    lines: Mapping[tuple[str, str], frozenset[int]]

    def says(self, sentence: str) -> bool:
        """Whether this is made of words of the program's own and of numbers alone, on one line, and no longer than a
        sentence is."""
        return (
            len(sentence) <= LONGEST
            and _BETWEEN.fullmatch(_WORD.sub("", sentence)) is not None
            and _JOINED.search(sentence) is None
            and self.words.issuperset(_WORD.findall(sentence))
        )

    def names(self, argument: str) -> bool:
        """Whether this can be the name of an argument of ours."""
        return argument.isidentifier() and self.says(argument.replace("_", " "))

    def place(self, said: str) -> str:
        """A place in the code ("file.py:12 function"), where there is such a one."""
        found = _PLACE.fullmatch(said)
        if found is None:
            return ELSEWHERE
        file, line, name = found.groups()
        return said if int(line) in self.lines.get((file, name), ()) else ELSEWHERE


def failure(kind: str) -> str:
    """The name of a kind of failure, where there is such a one."""
    waiting, known = [BaseException], {_PANIC}
    while waiting:
        one = waiting.pop()
        known.add(one.__name__)
        waiting.extend(type.__subclasses__(one))
    return kind if kind in known else ANOTHER


@lru_cache(maxsize=8)
def own(also: tuple[str, ...] = ()) -> Own:
    """That of the modules that readers are made of, and of others, by their names."""
    words, lines = set[str](), dict[tuple[str, str], frozenset[int]]()
    for code in _codes((*_modules(), *also)):
        words.update(word for text in _texts(code.co_consts) for word in _WORD.findall(text))
        place = Path(code.co_filename).name, code.co_name
        lines[place] = lines.get(place, frozenset()) | {line for *_, line in code.co_lines() if line}
    return Own(frozenset(words), lines)


def _modules() -> Iterator[str]:
    for package in _PACKAGES:
        spec = importlib.util.find_spec(package)
        for found in pkgutil.iter_modules(None if spec is None else spec.submodule_search_locations):
            yield f"{package}.{found.name}"


def _codes(names: tuple[str, ...]) -> Iterator[CodeType]:
    """Of each of these modules and of all functions in it; none of them is loaded for it."""
    for name in names:
        spec = importlib.util.find_spec(name)
        of_module = getattr(getattr(spec, "loader", None), "get_code", lambda _: None)(name)
        waiting = [of_module] if isinstance(of_module, CodeType) else []
        while waiting:
            code = waiting.pop()
            yield code
            waiting.extend(each for each in code.co_consts if isinstance(each, CodeType))


def _texts(constants: Any) -> Iterator[str]:
    for each in constants:
        if isinstance(each, str):
            yield each
        elif isinstance(each, tuple | frozenset):
            yield from _texts(each)
