"""Labels of odd bytes: a label, which many programs make of a row's word, says what these bytes say in a cell.

A file and its neighbour with one row more, whose label is odd, say the same in every other row.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from dpcore.datasets import read_table
from dpcore.datasets.reading import labelled_files, labelled_heads
from dpcore.errors import UnreadableFile
from tests.datasets.test_labelled_letters import ODD, PLACED, WRITERS, by_readstat

Write = Callable[[Sequence[str]], bytes]
WORDS = ["Ann", "Bo", "Ann", "Cy"]
BYTES = {name: (find, put) for name, (_, find, put) in ODD.items() if find == PLACED.encode()}


def by_codes(write: Any, **how: Any) -> Write:
    """A label for each word that occurs, of codes counted from 0."""

    def written(words: Sequence[str]) -> bytes:
        codes = {word: place for place, word in enumerate(dict.fromkeys(words))}
        labels = {"word": {code: word for word, code in codes.items()}}
        cells = {"word": [float(codes[word]) for word in words]}
        return by_readstat(write, variable_value_labels=labels, **how)(cells)  # type: ignore[arg-type]

    return written


def by_letters(write: Any, **how: Any) -> Write:
    """The same, of codes that are letters."""

    def written(words: Sequence[str]) -> bytes:
        codes = {word: f"code{place}" for place, word in enumerate(dict.fromkeys(words))}
        labels = {"word": {code: word for word, code in codes.items()}}
        return by_readstat(write, variable_value_labels=labels, **how)({"word": [codes[word] for word in words]})

    return written


def by_pandas(version: int) -> Write:
    def written(words: Sequence[str]) -> bytes:
        made = io.BytesIO()
        frame = pd.DataFrame({"word": pd.Categorical(words)})
        frame.to_stata(made, version=version, write_index=False)  # type: ignore[arg-type]
        return made.getvalue()

    return written


def stating(write: Write, code: int) -> Write:
    """An SPSS file that states another encoding, or where ``code`` is 0 none."""

    def written(words: Sequence[str]) -> bytes:
        data = write(words).replace(b"UTF-8", b"-----")
        if code:
            return data.replace(np.int32(65001).tobytes(), np.int32(code).tobytes())
        for kind in (3, 20):
            record = np.array([7, kind], dtype=np.int32).tobytes()
            assert data.count(record) == 1
            data = data.replace(record, np.array([7, 99], dtype=np.int32).tobytes())
        return data

    return written


def portable(words: Sequence[str]) -> bytes:
    """What ReadStat writes without labels, with a record of these before its rows."""
    codes = {word: place for place, word in enumerate(dict.fromkeys(words), 1)}
    data = by_readstat(pyreadstat.write_por)({"word": [float(codes[word]) for word in words]})  # type: ignore[list-item]
    one = data.replace(b"\r\n", b"").replace(b"\n", b"")
    labels = "".join(f"{code}/{len(word)}/{word}" for word, code in codes.items())
    assert one.count(b"F1/") == 1
    one = one.replace(b"F1/", f"D1/4/WORD{len(codes)}/{labels}F1/".encode())
    return b"\r\n".join(one[at : at + 80] for at in range(0, len(one), 80)) + b"\r\n"


LABELLED: dict[str, Write] = {
    **{f"readstat {version}": by_codes(pyreadstat.write_dta, version=version) for version in (8, 10, 12, 13, 14, 15)},
    **{f"pandas {version}": by_pandas(version) for version in (114, 117, 118, 119)},
    "SPSS": by_codes(pyreadstat.write_sav),
    "SPSS, packed": by_codes(pyreadstat.write_sav, compress=True),
    "SPSS, in commands": by_codes(pyreadstat.write_sav, row_compress=True),
    "SPSS, Windows": stating(by_codes(pyreadstat.write_sav), 1252),
    "SPSS, unstated": stating(by_codes(pyreadstat.write_sav), 0),
    "SPSS, letters": by_letters(pyreadstat.write_sav),
    "SPSS, letters, packed": by_letters(pyreadstat.write_sav, compress=True),
    "SPSS, letters, unstated": stating(by_letters(pyreadstat.write_sav), 0),
    "portable": portable,
}


def first(data: bytes, **how: Any) -> list[str]:
    frame = read_table(data, **how).frame
    return [str(cell) for cell in frame.iloc[:, 0]]


def placed(data: bytes, odd: str) -> bytes:
    find, put = BYTES[odd]
    assert find in data
    return data.replace(find, put)


ALIKE = dict.fromkeys(LABELLED, "SPSS") | {name: name for name in LABELLED if name in WRITERS and "packed" not in name}
ALIKE |= {name: "SPSS, unstated" for name in LABELLED if "unstated" in name} | {"SPSS, in commands": "SPSS"}
"""Who writes cells whose bytes can be found, and states the same of them."""


def said_in_a_cell(name: str, odd: str) -> str:
    """What these bytes say as a cell; up to the first zero, where ReadStat ends a label."""
    find, put = BYTES[odd]
    data = WRITERS[ALIKE[name]]({"word": [*WORDS, find.decode()]})
    return first(data.replace(find, put.partition(b"\0")[0].ljust(len(put))))[-1]


def tell(name: str, odd: str) -> None:
    """Raises AssertionError where a row with an odd label changes another, or says something else than as a cell."""
    write, word = LABELLED[name], BYTES[odd][0].decode()
    assert first(write(WORDS)) == WORDS
    *others, own = first(placed(write([*WORDS, word]), odd))
    assert others == WORDS
    if name != "portable":
        assert own == said_in_a_cell(name, odd)


@pytest.mark.thorough
@pytest.mark.parametrize("name", LABELLED)
@pytest.mark.parametrize("odd", BYTES)
def test_an_odd_label_changes_no_other_row_and_says_what_a_cell_says(name: str, odd: str) -> None:
    tell(name, odd)


@pytest.mark.parametrize("name", ["pandas 114", "pandas 118", "SPSS", "SPSS, letters"])
def test_an_odd_label_changes_no_other_row(name: str) -> None:
    for odd in BYTES:
        tell(name, odd)


@pytest.mark.parametrize("name", LABELLED)
def test_of_an_odd_label_the_code_stays_where_codes_are_read(name: str) -> None:
    odd = placed(LABELLED[name]([*WORDS, PLACED]), "in no encoding")
    column = str(read_table(odd).frame.columns[0])
    codes = first(odd, coded=(column,))
    assert codes == first(LABELLED[name]([*WORDS, "more"]), coded=(column,))
    assert (len(set(codes)), first(odd, coded=(column,))[-1][-1].isdigit()) == (4, True)


@pytest.mark.parametrize("name", ["pandas 117", "SPSS", "SPSS, letters"])
def test_labels_that_cannot_be_read_are_counted_and_not_shown(name: str) -> None:
    reading = read_table(placed(LABELLED[name]([*WORDS, PLACED]), "in no encoding"))
    (notice,) = reading.report.repaired
    assert "whose label has bytes that are no letters" in notice.sentence
    assert (notice.count, notice.columns, notice.texts) == (1, ("word",), ())
    assert reading.column("word").codebook == ("Ann", "Bo", "Cy")


def spss(cells: Sequence[str], labels: dict[str, str], **how: Any) -> bytes:
    write = by_readstat(pyreadstat.write_sav, variable_value_labels={"word": labels}, **how)
    return write({"word": list(cells), "beside": list(cells)})


@pytest.mark.parametrize("wrong", [b"\xff\xfe\xfd\xfc", b"\xc3\xc3\xc3\xc3"])
def test_an_odd_code_is_a_cell_that_cannot_be_read(wrong: bytes) -> None:
    data = spss(["a", "ZQZQ", "b"], {"a": "one", "ZQZQ": "two"}, missing_ranges={"beside": ["ZQZQ"]})
    frame = read_table(data.replace(b"ZQZQ", wrong)).frame
    assert frame.to_dict("list") == {"word": ["one", "", "b"], "beside": ["a", "", "b"]}


def of_one_word() -> None:
    """Raises AssertionError where codes of other bytes that are the same word, one cut within a letter, take each
    other's label."""
    for more in ({}, {"abQQ": "two"}):
        data = spss(["ab", "abQQ"], {"ab": "one", **more}).replace(b"abQQ", b"ab\xe6\x97")
        assert first(data) == ["one", more.get("abQQ", "ab")]


def test_a_label_is_of_its_code_to_the_byte() -> None:
    of_one_word()


def test_a_description_that_cannot_be_read_is_none() -> None:
    labels = {"column_labels": ["ZQZQ", "fine"]}
    for name, write in (
        ("SPSS", pyreadstat.write_sav),
        ("Stata", pyreadstat.write_dta),
        ("SAS", pyreadstat.write_xport),
    ):
        data = by_readstat(write, **labels)({"word": ["a"], "beside": ["b"]})
        found = read_table(data.replace(b"ZQZQ", b"\xff\x81\x8d\x90"))
        assert [column.suggestion.about for column in found.columns] == ["", "fine"], name


def test_a_name_that_cannot_be_read_or_is_anothers_is_a_sentence() -> None:
    data = by_readstat(pyreadstat.write_sav)({"name_zqzq": ["a"], "name_qqqq": ["b"]})
    for put, other in ((b"\x81\x8d\x8f\x90", b"qqqq"), (b"ab\xe6\x97", b"ab\xe6\xa0")):
        with pytest.raises(UnreadableFile, match=r"Names of columns in this file .*no letters.*rename these"):
            read_table(data.replace(b"zqzq", put).replace(b"qqqq", other))


def as_a_whole(read: Callable[..., Any], file: str, kind: str, **given: Any) -> Any:
    return read(file, metadataonly=True, encoding="UTF-8", **given)[1]


@pytest.mark.parametrize("name", ["readstat 8", "pandas 114", "pandas 118", "SPSS", "SPSS, letters, packed"])
def test_labels_read_as_a_whole_are_found_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelled_files, "beside", as_a_whole)
    with pytest.raises((AssertionError, UnreadableFile)):
        tell(name, "no UTF-8")


def test_labels_that_are_found_by_words_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_words(cell: Any) -> Any:
        return cell.decode("utf-8", "ignore") if isinstance(cell, bytes) else cell

    for home in (labelled_files, labelled_heads):
        monkeypatch.setattr(home, "key", by_words)
    with pytest.raises(AssertionError):
        of_one_word()
