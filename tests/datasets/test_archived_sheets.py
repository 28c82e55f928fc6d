"""Of a workbook inside an archive no row decides which sheet is read: one of several is refused."""

from __future__ import annotations

import io
import zipfile

import openpyxl
import pytest

from dpcore.datasets import UnreadableFile, read_table


def archived(*sheets: int, beside: bool) -> bytes:
    """A workbook with so many rows in each sheet, zipped, beside another table or alone."""
    book, held, packed = openpyxl.Workbook(), io.BytesIO(), io.BytesIO()
    book.remove(book.active)
    for place, rows in enumerate(sheets):
        sheet = book.create_sheet(f"sheet {place}")
        for row in (("ill", "age"), *[("flu", row) for row in range(rows)]):
            sheet.append(row)
    book.save(held)
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("book.xlsx", held.getvalue())
        if beside:
            archive.writestr("other.csv", "ill,age\nflu,1\ncold,2\n")
    return packed.getvalue()


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("sheets", [(40, 41), (41, 40), (40, 1)])
def test_a_workbook_of_several_sheets_is_refused_in_an_archive(sheets: tuple[int, int], beside: bool) -> None:
    with pytest.raises(UnreadableFile, match="bring the workbook itself"):
        read_table(archived(*sheets, beside=beside), part="book.xlsx")


def test_a_workbook_of_one_sheet_is_read_from_an_archive() -> None:
    assert len(read_table(archived(40, beside=True), part="book.xlsx").frame) == 40
