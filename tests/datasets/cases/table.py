"""Files as people have them, made by code: each gets the right reading, or one clear sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpcore.datasets import Notice, Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """``check`` looks at a reading; ``refusal`` is a piece of the one sentence that a refused file gets."""

    group: str
    name: str
    make: Callable[[], bytes]
    check: Callable[[Reading], None] | None = None
    refusal: str = ""
    heavy: bool = False

    def __str__(self) -> str:
        return f"{self.group}: {self.name}"


def rows(reading: Reading) -> list[tuple[str, ...]]:
    return [tuple(row) for row in reading.frame.itertuples(index=False, name=None)]


def names(reading: Reading) -> list[str]:
    return list(reading.frame.columns)


def notice(reading: Reading, words: str) -> Notice:
    found = [notice for notice in reading.report.notices if words in notice.sentence]
    assert len(found) == 1, [notice.sentence for notice in reading.report.notices]
    return found[0]


def typed(reading: Reading, name: str) -> list[object]:
    return reading.apply(reading.suggested()).frame[name].tolist()


def column(values: list[str], name: str = "x") -> bytes:
    """One column of cells, quoted where needed, beside a column of letters."""
    lines = [f"k,{name}"] + [f'{chr(97 + i % 26)},"{value}"' for i, value in enumerate(values)]
    return ("\n".join(lines) + "\n").encode()


CASES: list[Case] = []


def case(
    group: str, name: str, data: str | bytes | Callable[[], bytes], *, heavy: bool = False
) -> Callable[[Callable[[Reading], None]], Callable[[Reading], None]]:
    def add(check: Callable[[Reading], None]) -> Callable[[Reading], None]:
        CASES.append(Case(group=group, name=name, make=_maker(data), check=check, heavy=heavy))
        return check

    return add


def refused(
    group: str, name: str, data: str | bytes | Callable[[], bytes], sentence: str, *, heavy: bool = False
) -> None:
    CASES.append(Case(group=group, name=name, make=_maker(data), refusal=sentence, heavy=heavy))


def _maker(data: str | bytes | Callable[[], bytes]) -> Callable[[], bytes]:
    if isinstance(data, str):
        return lambda: data.encode()
    if isinstance(data, bytes):
        return lambda: data
    return data
