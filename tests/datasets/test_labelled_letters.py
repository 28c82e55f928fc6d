"""Words in files of Stata, SPSS and SAS: what a cell says follows from its own bytes and what the file states for all.

A file and its neighbour with one row more, a cell of which is odd, say the same in every other row.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from dpcore.datasets import Column, Declaration, Reading, read_table
from dpcore.datasets.reading import labelled_files, labelled_letters, labelled_spss
from dpcore.datasets.reading.labelled_files import labelled_table
from dpcore.datasets.reading.labelled_spss import with_zeros_marked
from dpcore.datasets.reading.labelled_stata import StataCells
from dpcore.datasets.temporary import private_folder
from dpcore.errors import Defect, UnreadableFile
from dpcore.releases.selection import MostCommonOption

Table = dict[str, list[str]]
Write = Callable[[Table], bytes]
WORDS = ("Bé", "Straße", "日本", "😀")
PLACED = "ZQZQ"  # stands for the bytes of an odd cell
ODD: dict[str, tuple[str, bytes, bytes]] = {
    "no UTF-8": (PLACED, b"ZQZQ", b"\xff\xfe\xfd\xfc"),
    "in no encoding": (PLACED, b"ZQZQ", b"\x81\x8d\x8f\x90"),
    "of Windows": (PLACED, b"ZQZQ", b"\xe9\xdf\x80\xe4"),
    "cut within a letter": (PLACED, b"ZQZQ", b"ab\xe6\x97"),
    "a zero inside": (PLACED, b"ZQZQ", b"a\0\xff\x81"),
    "bytes, not a text": (PLACED, b"\x82\x05\0\0\0ZQZQ", b"\x81\x05\0\0\0a\0\xff\xfe"),
    "another's head": (PLACED * 9, b"ZQZQ" * 9, b"GSO\x03\0\0\0\x01\0\0\0\0\0\0\0\x82\x02\0\0\0q\0".ljust(36, b"q")),
    "empty": ("", b"", b""),
    "of two bytes a letter": ("é" * 120, b"", b""),
    "long of two bytes a letter": ("é" * 1022, b"", b""),
    "long": ("x" * 2046, b"", b""),
    "very long": ("x" * 100_000, b"", b""),
}
"""What is written, and which bytes of the file become which."""


def by_readstat(write: Any, **how: Any) -> Write:
    def written(table: Table) -> bytes:
        with private_folder() as folder:
            write(pd.DataFrame(table), str(folder / "a"), **how)
            return (folder / "a").read_bytes()

    return written


def by_pandas(version: int) -> Write:
    def written(table: Table) -> bytes:
        made = io.BytesIO()
        apart = {"convert_strl": [name for name in table if name == "apart"]} if version > 114 else {}
        pd.DataFrame(table).to_stata(made, version=version, write_index=False, **apart)  # type: ignore[arg-type]
        return made.getvalue()

    return written


def unstated(encoding: str) -> Write:
    """An SPSS file without the record that names its encoding, nor one in the other that has a number for it."""

    def written(table: Table) -> bytes:
        data = stating(0, encoding)(table)
        named = struct.pack("<4i", 7, 20, 1, 5)
        assert data.count(named) == 1
        return data.replace(named, struct.pack("<4i", 7, 99, 1, 5))

    return written


def stating(code: int, encoding: str) -> Write:
    """An SPSS file that states another encoding, in which its words are."""

    def written(table: Table) -> bytes:
        here = {word: word.encode(encoding) for word in WORDS if any(word in cells for cells in table.values())}
        marks = {word: "".ljust(len(letters), "Q") for word, letters in here.items()}
        data = by_readstat(pyreadstat.write_sav)(
            {name: [marks.get(cell, cell) for cell in cells] for name, cells in table.items()}
        )
        for word, mark in marks.items():
            data = data.replace(mark.encode(), here[word])
        stated = np.int32(65001).tobytes()
        assert data.count(stated) == 1
        return data.replace(stated, np.int32(code).tobytes()).replace(b"UTF-8", b"-----")

    return written


WRITERS: dict[str, Write] = {
    **{
        f"readstat {version}": by_readstat(pyreadstat.write_dta, version=version) for version in (8, 10, 12, 13, 14, 15)
    },
    **{f"pandas {version}": by_pandas(version) for version in (114, 117, 118, 119)},
    "SPSS": by_readstat(pyreadstat.write_sav),
    "SPSS, packed": by_readstat(pyreadstat.write_sav, compress=True),
    "SPSS, in commands": by_readstat(pyreadstat.write_sav, row_compress=True),
    "SPSS, Windows": stating(1252, "cp1252"),
    "SPSS, unstated": unstated("cp1252"),
    "SPSS, unstated UTF-8": unstated("utf-8"),
    "SAS, 5": by_readstat(pyreadstat.write_xport, file_format_version=5),
    "SAS, 8": by_readstat(pyreadstat.write_xport, file_format_version=8),
}
LONGEST = {"SPSS": 32_000, "SAS": 200}  # letters of a cell
HAVE_APART = [name for name in WRITERS if name.endswith((" 13", " 14", " 15", " 117", " 118", " 119"))]


def rows_of(word: str, apart: bool) -> Table:
    rows = {"word": [word] * 4 + ["b"] * 2, "other": ["a", word] * 3}
    return rows | {"apart": [word] * 2 + ["y" * 2100, "q", word, "b"]} if apart else rows


def counts(reading: Reading, word: str) -> list[int]:
    options = (Column(name="word", type="category", categories=(word, "b")),)
    request = MostCommonOption.of(Declaration(columns=options), "word", epsilon=1.0)
    return [int(count) for count in request.read(reading.private)]


def pairs(name: str, words: tuple[str, ...] = WORDS) -> Iterator[tuple[str, str, str, int]]:
    """A word, an odd cell, its column and its place."""
    columns = ("word", "other", "apart") if name in HAVE_APART else ("word", "other")
    for word in words:
        for number, odd in enumerate(ODD):
            for column in columns:
                yield word, odd, column, (0, 3, 6)[number % 3]


def differences(name: str, words: tuple[str, ...] = WORDS) -> Iterator[str]:
    """What a row more changes in others."""
    write, known = WRITERS[name], {}
    for word, odd, column, place in pairs(name, words):
        table = rows_of(word, name in HAVE_APART)
        more, find, put = ODD[odd]
        more = more[: LONGEST.get(name[:4].rstrip(","), len(more))]
        try:
            known.setdefault(word, read_table(write(table)))
            data = write({
                other: [*cells[:place], more if other == column else "b", *cells[place:]]
                for other, cells in table.items()
            })  # fmt: skip
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, UnicodeEncodeError, ValueError):
            continue  # the program does not write it
        whole, case = known[word], f"{name}: {word}, {odd} in {column}"
        if whole.frame.to_dict("list") != table:
            yield f"{case}: other words without it"
        try:
            found = read_table(data.replace(find, put) if find else data)
        except (UnreadableFile, Defect) as error:
            yield f"{case}: {type(error).__name__} {error}"
            continue
        others = found.frame.drop(index=place).reset_index(drop=True)
        if not others.equals(whole.frame):
            yield f"{case}: other words"
        own = np.array([found.frame["word"][place] == option for option in (word, "b")])
        if (np.array(counts(found, word)) - counts(whole, word) != own).any():
            yield f"{case}: other counts"


@pytest.mark.thorough
@pytest.mark.parametrize("name", WRITERS)
def test_an_odd_cell_changes_no_other_row(name: str) -> None:
    assert not list(differences(name))


def of_the_column(cells: list[Any], decode: labelled_letters.Decode) -> tuple[list[Any], int]:
    found, unreadable = labelled_letters.decoded(cells, decode)
    return labelled_letters.decoded(cells, lambda word: word.decode("latin-1")) if unreadable else (found, 0)


def by_their_reader(read: Any, file: str, kind: str, **given: Any) -> list[list[Any]]:
    return [list(column) for column in read(file, **given)[0].values()]


@pytest.mark.parametrize(
    ("name", "home", "part", "wrong"),
    [
        ("readstat 15", labelled_files, "stands_apart", lambda data: False),
        ("readstat 13", labelled_letters, "_of_no_encoding", lambda word: word.decode("cp1252")),
        ("SPSS, unstated", labelled_letters, "_of_no_encoding", lambda word: word.decode("utf-8")),
        ("pandas 117", labelled_letters, "_of_no_encoding", lambda word: word.decode("utf-8")),
        ("readstat 14", labelled_files, "decoded", of_the_column),
        ("SPSS", labelled_files, "rows_of", by_their_reader),
        ("SAS, 8", labelled_files, "rows_of", by_their_reader),
    ],
)
def test_these_tests_can_fail(name: str, home: Any, part: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, part, wrong)
    assert next(differences(name), None)


@pytest.mark.parametrize("version", [117, 118, 119])
@pytest.mark.parametrize("order", ["little", "big"])
def test_numbers_are_those_that_the_reader_of_other_files_finds(version: int, order: str) -> None:
    whole = {f"i{size}": np.array([-5, 0, 100, None, 7], dtype=object) for size in (8, 16, 32)}
    numbers = {"f32": np.float32([0.1, -1e30, np.nan, 1.5e38, 0]), "f64": [0.1, -1e300, np.nan, 8.9e307, 0.0]}
    frame = pd.DataFrame({name: pd.array(cells, dtype=f"Int{name[1:]}") for name, cells in whole.items()} | numbers)
    made = io.BytesIO()
    frame.assign(word="b").to_stata(made, version=version, write_index=False, byteorder=order)  # type: ignore[call-arg]
    with private_folder() as folder:
        (folder / "a").write_bytes(made.getvalue())
        expected = pyreadstat.read_dta(str(folder / "a"), output_format="dict")[0]
    found = StataCells(made.getvalue(), 5, 6).read(0, 5)
    assert found == [[cell.encode() if isinstance(cell, str) else cell for cell in column]
                     for column in (list(values) for values in expected.values())]  # fmt: skip
    assert found[0] == [-5, 0, 100, None, 7]


def test_numbers_with_a_tag_are_missing() -> None:
    tags = {"cell": ["a"]}
    data = by_readstat(pyreadstat.write_dta, version=15, missing_user_values=tags)({"cell": [1.5, "a", None, 2.0]})  # type: ignore[list-item]
    assert read_table(data).frame["cell"].tolist() == ["1.5", "", "", "2"]


@pytest.mark.parametrize("name", HAVE_APART)
def test_a_file_cut_short_or_of_other_kinds_is_refused(name: str) -> None:
    data = WRITERS[name](rows_of("Bé", True))
    rows, apart = data.index(b"<data>") + 6, data.index(b"<strls>") + 7
    for wrong in (data[: rows + 20], data[: apart + 30], data[:apart] + b"GSP" + data[apart + 3 :]):
        with pytest.raises(UnreadableFile, match="damaged"):
            read_table(wrong)


ZEROS = {"aZb": "ab", "日" * 80 + "ZZ" + "本" * 200: "日" * 80 + "本" * 200, "éZZ": "é", "Z": "", "x" * 600: "x" * 600}


def with_zeros(data: bytes, wrong: bytes) -> bytes:
    """An SPSS file with a zero for each Z, and with other bytes for QQ."""

    def placed(part: bytes) -> bytes:
        return part.replace(b"aZb", b"a\0b").replace(b"ZZ", b"\0\0").replace(b"Z ", b"\0 ").replace(b"QQ", wrong)

    if data.startswith(b"$FL2"):
        return placed(data)
    at = labelled_spss._dictionary(data, "<")[1]
    rows = placed(bytes(labelled_spss._unpacked(data, "<", at)[at:]))
    packed = zlib.compress(rows)
    head = data[:at] + struct.pack("<3q", at, at + 24 + len(packed), 48) + packed
    return head + struct.pack("<2q2i2q2i", -100, 0, 0x3FF000, 1, at, at + 24, len(rows), len(packed))


@pytest.mark.parametrize("packed", [{}, {"row_compress": True}, {"compress": True}])
def test_zeros_within_words_of_spss_count_for_nothing(packed: dict[str, bool], monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"word": [*ZEROS, "QQ"], "beside": ["QQ", *ZEROS], "row": range(6)}
    data = by_readstat(pyreadstat.write_sav, **packed)(table)  # type: ignore[arg-type]

    def found(wrong: bytes) -> dict[str, list[str]]:
        return read_table(with_zeros(data, wrong)).frame.to_dict("list")  # type: ignore[return-value]

    for wrong, word in ((b"QQ", "QQ"), (b"\xff\xfe", ""), (b"\xfe\xff", ""), (b"\0\xff", ""), (b"q\0", "q")):
        assert found(wrong) == {
            "word": [*ZEROS.values(), word], "beside": [word, *ZEROS.values()], "row": list("012345")
        }  # fmt: skip
    monkeypatch.setattr(labelled_files, "with_zeros_marked", lambda data: data)
    assert found(b"QQ")["word"][0] == "a"


@pytest.mark.parametrize("name", [name for name in WRITERS if not name.startswith(("SAS", "SPSS, W", "SPSS, u"))])
@pytest.mark.parametrize("rows", [0, 1])
def test_a_file_with_few_rows_or_none_is_read(rows: int, name: str) -> None:
    data = WRITERS[name]({"word": ["é"] * rows, "beside": ["b"] * rows})
    found = labelled_table(data, "spss" if name.startswith("SPSS") else "stata", lambda _: None).frame
    assert found.to_dict("list") == {"word": ["é"] * rows, "beside": ["b"] * rows}


@pytest.mark.parametrize("packed", [{}, {"row_compress": True}, {"compress": True}])
def test_a_damaged_file_of_spss_is_refused_or_marked(packed: dict[str, bool]) -> None:
    data = by_readstat(pyreadstat.write_sav, **packed)(rows_of("日本", False))
    refused = 0
    for place in range(64, len(data)):
        for wrong in (data[:place], data[:place] + b"\xf0" + data[place + 1 :]):
            try:
                with_zeros_marked(wrong)
            except UnreadableFile:
                refused += 1
    assert refused


def test_what_a_packed_file_of_spss_unfolds_to_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    data = by_readstat(pyreadstat.write_sav, compress=True)({"word": ["日本" * 20] * 5000})
    assert read_table(data).rows == 5000
    monkeypatch.setattr(labelled_spss, "_MOST", 200_000)
    with pytest.raises(UnreadableFile, match="unpacks to more than can be read; keep fewer rows or columns"):
        with_zeros_marked(data)


@pytest.mark.parametrize("encoding", [b"UTF16", b"UCS-2", b"UTF32", b"EUCTW"])
def test_an_encoding_that_nobody_reads_is_a_sentence(encoding: bytes, tmp_path: Path) -> None:
    file = tmp_path / "a.sav"
    pyreadstat.write_sav(pd.DataFrame({"word": ["Ann", "no"], "n": [1.0, 2.0]}), file)
    data = file.read_bytes()
    assert read_table(data).rows == 2
    with pytest.raises(UnreadableFile):
        read_table(data.replace(b"UTF-8", encoding))


def portable(word: str, length: int) -> bytes:
    """A portable file of SPSS in which one cell has so many letters, whatever its column has room for."""
    data = by_readstat(pyreadstat.write_por)({"word": ["Ann", word * 200, "Bob"], "n": [1.0, 2.0, 3.0]})  # type: ignore[list-item]
    digits = "".join("0123456789ABCDEFGHIJKLMNOPQRST"[length // 30**place % 30] for place in (2, 1, 0)).lstrip("0")
    one = data.replace(b"\r\n", b"").replace(b"\n", b"")
    cell = f"6K/{word * 200}".encode()
    assert one.count(cell) == 1
    one = one.replace(cell, f"{digits}/{word * length}".encode())
    return b"\r\n".join(one[at : at + 80] for at in range(0, len(one), 80)) + b"\r\n"


@pytest.mark.parametrize("length", [1, 200, 255, 256, 300, 766, 2000, 20_000])
def test_a_long_word_of_a_portable_file_changes_no_other_row(length: int) -> None:
    found = read_table(portable("M", length)).frame
    word, number = found.columns
    assert found[word].tolist()[::2] == ["Ann", "Bob"]
    assert found[number].tolist() == ["1", "2", "3"]
    assert set(found[word][1]) == {"M"}
