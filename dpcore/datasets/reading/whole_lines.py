"""Whole lines of a text: those at its beginning, by which it is guessed how it is written, and all, some at a time."""

from __future__ import annotations

from collections.abc import Iterator

_BEGINNING, _PIECE = 1 << 18, 1 << 20


def beginning(data: bytes) -> bytes:
    """Some 256 kB of lines; of a longer one so much of it."""
    if len(data) <= _BEGINNING:
        return data
    return data[: data.rfind(b"\n", 0, _BEGINNING) + 1 or _BEGINNING]


def pieces(data: bytes) -> Iterator[bytes]:
    """Some megabyte of lines at a time, without the line end between one piece and the next: as objects, the lines of a
    large file take many times its size."""
    start = 0
    while (end := data.find(b"\n", start + _PIECE)) >= 0:
        yield data[start:end]
        start = end + 1
    yield data[start:]
