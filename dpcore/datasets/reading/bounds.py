"""How much a file may hold. Checked before anything is unpacked or copied, so that no file fills the memory."""

from __future__ import annotations

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
MOST_TOLD = 32 << 20
"""Bytes of all that a file says beside its cells: names, labels of values, descriptions, what was set aside."""


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


def check_told(size: int) -> None:
    """For what stands beside the cells. Raises UnreadableFile."""
    if size > MOST_TOLD:
        raise UnreadableFile(
            f"The file says more about its columns than the {MOST_TOLD >> 20} MB that can be held (names, labels of "
            "values, descriptions); keep fewer labels, or save the table as CSV."
        )
