"""Lines of UTF-8 are found in a file of another encoding as one finds them line by line."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest

from dpcore.datasets import UnreadableFile, read_table
from dpcore.datasets.reading import utf8_lines

SIGNS = (
    *(b"a", b"\n", b"\r", b"\x7f", b"\x80", b"\x8f", b"\x90", b"\x9f", b"\xa0", b"\xbf", b"\xc0", b"\xc1", b"\xc2"),
    *(b"\xdf", b"\xe0", b"\xe1", b"\xec", b"\xed", b"\xee", b"\xef", b"\xf0", b"\xf1", b"\xf3", b"\xf4", b"\xf5"),
    *(b"\xff", "é".encode(), "€".encode(), "🙂".encode()),
)


def line_by_line(data: bytes) -> bool:
    return any(not line.isascii() and is_utf8(line) for line in re.split(rb"\r\n|\r|\n", data))


def is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_every_short_sequence_is_judged_as_by_python() -> None:
    """All of up to two of the bytes at which rules change, and many longer ones drawn from them."""
    rng = np.random.Generator(np.random.PCG64(5))
    drawn = (b"".join(SIGNS[place] for place in rng.integers(0, len(SIGNS), size)) for size in [3, 3, 4, 5, 6] * 600)
    for data in (*(b"".join(some) for size in (1, 2) for some in product(SIGNS, repeat=size)), *drawn):
        assert utf8_lines.has_utf8_line(data) == line_by_line(data), data


def test_pieces_end_with_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.Generator(np.random.PCG64(6))
    monkeypatch.setattr(utf8_lines, "_PIECE", 7)
    for _ in range(500):
        data = b"".join(SIGNS[place] for place in rng.integers(0, len(SIGNS), 40))
        assert utf8_lines.has_utf8_line(data) == line_by_line(data), data


@pytest.mark.parametrize(("end", "line"), [("\n", 4), ("\r", 4), ("\r\n", 4)])
def test_the_first_line_of_another_encoding_is_named(end: str, line: int) -> None:
    data = f"a;b{end}1;x{end}2;é{end}".encode() + f"3;é{end}".encode("latin-1")
    with pytest.raises(UnreadableFile, match=f"first on line {line};"):
        read_table(data)
