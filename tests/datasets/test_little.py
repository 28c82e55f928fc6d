"""What the server reads itself is little, whatever a text says of where its cells and lines end."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from dpcore.datasets import read_table
from dpcore.datasets.apart.little import FEW, LITTLE, cells, little
from dpcore.datasets.reading.choices import Choices
from dpcore.errors import DpcoreError, InvalidArgument

MANY, WIDE = 1_000, 590
ROWS = b"x\n" * MANY
GURMUKHI = "".join(["a,b\n", "1,2\n" * MANY, ",ਬ" * WIDE, "\n"])
"""A letter whose half is a line feed in UTF-16 stands between any two signs."""
WIDER: dict[str, tuple[bytes, Choices]] = {
    "as usual": (b"a\n" + ROWS + b"," * WIDE + b"\n", Choices()),
    "a line that says at what": (b"sep=z\na\n" + ROWS + b"z" * WIDE + b"\n", Choices()),
    "one in capitals behind a mark of the encoding": (
        b'\xef\xbb\xbf "SEP=z"\na\n' + ROWS + b"z" * WIDE + b"\n",
        Choices(),
    ),
    "what ends none": (b"a\n" + ROWS + b"\x1f" * WIDE + b"\n", Choices()),
    "lone returns": (b"a,b\n" + b"1,2\n" * MANY + b",\r" * WIDE + b"\n", Choices()),
    "many returns and one long line": (b"a,b\r" + b"1,2\r" * MANY + b"," * WIDE, Choices()),
    "a chosen one": (b"a\n" + ROWS + b"z" * WIDE + b"\n", Choices(delimiter="z")),
    "stated columns": (b"a\n" + ROWS, Choices(header_rows=0, columns=500)),
    "UTF-16": (GURMUKHI.encode("utf-16"), Choices()),
    "UTF-16 without a mark": (GURMUKHI.encode("utf-16-be"), Choices(encoding="utf-16-be")),
}


@pytest.mark.parametrize("name", WIDER)
def test_one_wide_line_counts_for_all_however_it_is_wide(name: str) -> None:
    data, choices = WIDER[name]
    assert len(data) < LITTLE
    assert MANY * WIDE > FEW
    assert not little(data, choices)


@pytest.mark.parametrize(
    ("data", "choices"),
    [
        (b"a,b\r\n" + b"1,2\r\n" * 20_000, Choices()),
        ("name;größe\n".encode() + "Ülo;1,5\n".encode() * 20_000, Choices(encoding="utf-8")),
        ("name;größe\n".encode("cp1252") * 5_000, Choices(encoding="cp1252")),
        (b"when\tnote\n" + b"2020-01-01 10:00\tsome words of somebody\n" * 5_000, Choices()),
    ],
)
def test_what_people_bring_is_read_here(data: bytes, choices: Choices) -> None:
    assert little(data, choices)


@pytest.mark.thorough
def test_no_reading_has_more_cells_than_are_expected() -> None:
    """Of texts of signs, marks and ends of lines by chance, as they are read; blanks may part cells too."""
    rng, seen = random.Random(20), 0
    for _ in range(400):
        body = "".join(rng.choices(",;|\t:\n\n\r\"' ab1z\x1f", k=rng.randrange(20, 200)))
        data = rng.choice(["", "sep=z\n", "a,b\n"]).encode() + body.encode() + b"\n"
        chosen = Choices(
            delimiter=rng.choice([None, None, ",", "z", ""]), returns=rng.choice([None, "in cells", "at ends"])
        )
        with suppress(DpcoreError):
            read = read_table(data, delimiter=chosen.delimiter, returns=chosen.returns)
            seen += 1
            assert (len(read.frame) + 1) * read.frame.shape[1] <= cells(data, chosen), data
    assert seen > 40


@pytest.mark.parametrize("encoding", ["cp500", "utf-7", "punycode", "no such"])
def test_in_what_signs_are_other_bytes_nothing_is_read(encoding: str) -> None:
    """What signs stand for there could be more cells than were counted."""
    with pytest.raises(InvalidArgument, match="encoding"):
        Choices(encoding=encoding)
