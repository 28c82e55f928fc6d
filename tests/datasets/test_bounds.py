"""How much a workbook unfolds to is found out before it is opened, whatever its parts state."""

from __future__ import annotations

import io
import zipfile

import pytest

from dpcore.datasets import UnreadableFile, read_table
from dpcore.datasets.reading import workbook
from tests.datasets.cases.kinds import people_sheet, sheet, sheet_xml


def test_a_bomb_beside_the_sheet_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = io.BytesIO(sheet(people_sheet)())
    with zipfile.ZipFile(made, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/a.png", bytes(3 << 20))
    assert read_table(made.getvalue()).rows == 3
    monkeypatch.setattr(workbook, "_MOST_XML", 2 << 20)
    with pytest.raises(UnreadableFile, match="unpacks to more than 2 MB"):
        read_table(made.getvalue())


def test_cells_that_do_not_say_where_they_stand_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = b"".join(b"<row>" + b"<c><v>%d</v></c>" % place * 3 + b"</row>" for place in range(100))
    assert read_table(sheet_xml(rows)).rows in (99, 100)
    monkeypatch.setattr(workbook, "_MOST_CELLS", 299)
    with pytest.raises(UnreadableFile, match="300 cells"):
        read_table(sheet_xml(rows))
