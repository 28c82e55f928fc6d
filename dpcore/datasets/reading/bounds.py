"""How much a file may hold. Checked before anything is unpacked or copied, so that no file fills the memory."""

from __future__ import annotations

from collections.abc import Sequence

from dpcore.errors import UnreadableFile

MOST_COLUMNS = 500
MOST_CELLS = 100_000_000
"""Cells of a text file, which is as large as they are."""
MOST_UNPACKED_CELLS = 20_000_000
"""Cells that a packed or typed file may unpack to: what fits with its text into 1 GB."""
MOST_SHEETS = 1_000
"""Sheets of a workbook: each is looked through, however little is in it."""
MOST_TEXT = 256 << 20
LONGEST_CELL = 131_072
LONGEST_NAME = 200
"""Letters of a column's name: longer ones of a file are shortened to some 120."""
MOST_LINES = 1 << 28
"""Lines and records of a file, each of which takes a byte at least of the 200 MB that are read, or unpacked."""
MOST_TOLD, MOST_TOLD_APART = 32 << 20, 1_000_000
"""Bytes of all that a file says beside its cells (names, labels of values, descriptions, what was set aside), and signs
by which it is told apart, each of which can stand for a thing that takes some 60 bytes."""
_BYTES = 4  # of a letter at most


def check_size(rows: int, columns: int, *, most: int = MOST_UNPACKED_CELLS) -> None:
    """For tables that a small file can unfold to. Raises UnreadableFile."""
    if columns > MOST_COLUMNS:
        raise UnreadableFile(f"The file has {columns:,} columns; up to {MOST_COLUMNS} can be read.")
    if rows * columns > most:
        raise UnreadableFile(
            f"The table has {rows * columns:,} cells and up to {most:,} can be unpacked; "
            "keep fewer columns or rows, or save it as CSV."
        )


def check_sheets(count: int) -> None:
    """Raises UnreadableFile for a workbook of more sheets than are looked through."""
    if count > MOST_SHEETS:
        raise UnreadableFile(
            f"The workbook has more than {MOST_SHEETS:,} sheets, which is what can be looked through; save the one "
            "with the table as a workbook of its own, or as CSV."
        )


def check_text(total: int, longest: int) -> None:
    """Raises UnreadableFile for more characters than can be held."""
    if total > MOST_TEXT or longest > LONGEST_CELL:
        raise UnreadableFile("The file unpacks to more text than can be read; keep fewer rows or columns.")


def check_cells(rows: int, names: Sequence[str]) -> None:
    """For a table of any kind, under the names of its columns. Raises UnreadableFile."""
    check_size(rows, len(names), most=MOST_CELLS)
    if max(map(len, names), default=0) > LONGEST_NAME:
        raise UnreadableFile(f"The file has names of more than {LONGEST_NAME} letters; shorten them.")


def check_bytes(total: int, longest: int) -> None:
    """As ``check_text``, where bytes are known and letters are not. Raises UnreadableFile."""
    check_text(total // _BYTES, longest // _BYTES)


def check_said(told: bytes) -> None:
    """For what stands beside the cells, as it is written down. Raises UnreadableFile."""
    check_told(len(told))
    if sum(map(told.count, (b",", b"[", b"{"))) > MOST_TOLD_APART:
        check_told(MOST_TOLD + 1)


def check_told(size: int) -> None:
    """For what stands beside the cells. Raises UnreadableFile."""
    if size > MOST_TOLD:
        raise UnreadableFile(
            f"The file says more about its columns than the {MOST_TOLD >> 20} MB that can be held (names, labels of "
            "values, descriptions); keep fewer labels, or save the table as CSV."
        )
