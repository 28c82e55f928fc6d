"""How much text a typed file unpacks to is known by its bytes where they tell, and by its letters where they do not."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dpcore.datasets.reading import bounds, engine
from dpcore.errors import UnreadableFile

MOST, LONGEST = 1000, 100


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (bounds, engine):
        monkeypatch.setattr(module, "MOST_TEXT", MOST)
        monkeypatch.setattr(module, "LONGEST_CELL", LONGEST)


class Column:
    """A column of rows of one word, which notes what is measured of it."""

    def __init__(self, word: str, rows: int) -> None:
        self.word, self.rows = word, rows
        self.asked: list[str] = []

    def aggregate(self, text: str) -> Any:
        self.asked.append("letters" if "(length(" in text else "bytes")
        size = len(self.word.encode()) if self.asked[-1] == "bytes" else len(self.word)
        self.found = [(self.rows, size, size * self.rows)]
        return self

    def fetchall(self) -> Any:
        return self.found


def asked(*columns: Column) -> list[str]:
    engine._check_texts([(column, "c") for column in columns], columns[0].rows)  # type: ignore[misc]
    return [measure for column in columns for measure in column.asked]


def test_letters_are_counted_where_bytes_leave_it_open_alone() -> None:
    assert asked(Column("a", MOST)) == ["bytes"]
    assert asked(Column("é", MOST)) == ["bytes", "letters"]
    assert asked(Column("é" * LONGEST, 2)) == ["bytes", "letters"]
    assert asked(Column("a", MOST // 2), Column("é", MOST // 2)) == ["bytes", "letters", "bytes", "letters"]


@pytest.mark.parametrize(
    ("word", "rows"), [("x" * 4 * (LONGEST + 1), 1), ("x", 4 * (MOST + 1)), ("x" * LONGEST, 10**9)]
)
def test_what_is_too_much_by_its_bytes_is_refused_before_letters_are_counted(word: str, rows: int) -> None:
    column = Column(word, rows)
    with pytest.raises(UnreadableFile, match="more text"):
        asked(column)
    assert column.asked == ["bytes"]


@pytest.mark.parametrize("letter", ["a", "é", "€", "😀"])
def test_as_many_letters_are_read_whatever_they_take(letter: str) -> None:
    for words in ([letter * LONGEST] * (MOST // LONGEST), [letter] * MOST):
        assert len(engine.arrow(pa.table({"a": words}))) == len(words)
        for more in ([*words, letter], [*words[:-1], letter * (LONGEST + 1)]):
            with pytest.raises(UnreadableFile, match="more text"):
                engine.arrow(pa.table({"a": pa.array(more).dictionary_encode()}))


def test_columns_of_several_lengths_are_still_told() -> None:
    with pytest.raises(ValueError, match="several lengths"):
        engine._check_texts([(Column("a", 2), "c"), (Column("a", 3), "c")], 2)  # type: ignore[list-item]
