"""The lines of a file of any size as UTF-8, some megabytes at a time, with their numbers; and what was set aside."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from dpcore.errors import UnreadableFile
from dpcore.validate import IntArray

AT_ONCE = 8 * 2**20
LONGEST = 2**20
"""Bytes that one line may have."""
TOO_LONG = f"longer than {LONGEST:,} bytes"
_NO_WIDE_TEXT = "The file is no {} text from line {:,} on: a byte is missing there, or one too many; save it again."
_LISTED = 5
_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
_REPLACED = "\N{REPLACEMENT CHARACTER}".encode()


class Source(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes: ...


@dataclass(slots=True)
class Lines:
    """How many there are of a kind, and the first of them, from 1."""

    count: int = 0
    first: list[int] = field(default_factory=list)

    def note(self, *lines: int) -> None:
        self.count += len(lines)
        self.first += lines[: _LISTED - len(self.first)]


@dataclass(slots=True)
class Aside:
    """Lines that became no row, by why; and those with bytes that are no text in the file's encoding."""

    lines: dict[str, Lines] = field(default_factory=dict)
    undecodable: Lines = field(default_factory=Lines)

    def note(self, why: str, line: int) -> None:
        self.lines.setdefault(why, Lines()).note(line)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Text:
    """Whole lines: where each ends (k,) in ``data``, behind its newline, and its number (k,)."""

    data: bytes
    ends: IntArray
    numbers: IntArray

    def begin(self, line: int) -> int:
        """Where a line begins; the end of the last for one more."""
        return int(self.ends[line - 1]) if line else 0

    def part(self, first: int, end: int) -> Text:
        """Lines from and up to."""
        start = self.begin(first)
        return Text(
            data=self.data[start : self.begin(end)], ends=self.ends[first:end] - start, numbers=self.numbers[first:end]
        )

    def record(self, first: int, end: int) -> str:
        """Lines from and up to, without the last one's end: a newline, and carriage returns on either side of lines."""
        return self.data[self.begin(first) : self.begin(end)].decode().removesuffix("\n").strip("\r")

    def and_then(self, more: Text) -> Text:
        return Text(
            data=self.data + more.data,
            ends=np.concatenate([self.ends, more.ends + len(self.data)]),
            numbers=np.concatenate([self.numbers, more.numbers]),
        )


def text_lines(file: Source, encoding: str, aside: Aside) -> Iterator[Text]:
    """All lines of a file, each ended by a newline; those that are too long are set aside. LookupError for an encoding
    that is none, UnreadableFile for bytes that are none of UTF-16 or UTF-32: one too many moves all behind it."""
    wide = codecs.lookup(encoding).name.startswith(("utf-16", "utf-32"))
    decoder = codecs.getincrementaldecoder(encoding)("strict" if wide else "replace")
    rest, line, skipping, last, first = b"", 1, False, False, True
    while not last:
        block = file.read(AT_ONCE)
        last = not block
        try:
            read = decoder.decode(block, last)
        except UnicodeDecodeError:
            raise UnreadableFile(_NO_WIDE_TEXT.format(encoding, line)) from None
        text = (read.removeprefix(_MARK) if first and read else read).encode()
        first = first and not read
        if skipping:
            end = text.find(b"\n") + 1
            text, skipping, line = (text[end:], False, line + 1) if end else (b"", True, line)
        data = rest + text
        if last and data and not data.endswith(b"\n"):
            data += b"\n"
        ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")).astype(np.int64) + 1
        whole = int(ends[-1]) if ends.size else 0
        numbers = np.arange(line, line + ends.size)
        line += ends.size
        rest = data[whole:]
        found = _short(Text(data=data[:whole], ends=ends, numbers=numbers), aside)
        if len(rest) > LONGEST:
            aside.note(TOO_LONG, line)
            rest, skipping = b"", True
        if found.ends.size:
            _look(found, aside)
            yield found


def _short(text: Text, aside: Aside) -> Text:
    """Without lines that are too long."""
    sizes = np.diff(text.ends, prepend=0)
    if not (sizes > LONGEST).any():
        return text
    for number in text.numbers[sizes > LONGEST].tolist():
        aside.note(TOO_LONG, number)
    kept = sizes <= LONGEST
    parts = [text.data[end - size : end] for end, size in zip(text.ends[kept], sizes[kept], strict=True)]
    return Text(data=b"".join(parts), ends=np.cumsum(sizes[kept]), numbers=text.numbers[kept])


def _look(text: Text, aside: Aside) -> None:
    """Note lines whose bytes were no text, or that hold the sign which stands for that."""
    at = text.data.find(_REPLACED)
    while at >= 0:
        line = int(np.searchsorted(text.ends, at, side="right"))
        aside.undecodable.note(int(text.numbers[line]))
        at = text.data.find(_REPLACED, int(text.ends[line]))
