"""Files of SPSS, Stata and SAS: what a cell says is up to that cell and the codebook, whatever other rows hold."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd
import pyreadstat
import pytest

from dpcore.datasets import Reading, read_table
from dpcore.datasets.reading import labelled_files, labelled_letters
from dpcore.datasets.temporary import private_folder
from dpcore.errors import UnreadableFile

DAY, NO_DAY = 13923619200.0, 1e18
_WRITE = {"SPSS": pyreadstat.write_sav, "Stata": pyreadstat.write_dta, "SAS": pyreadstat.write_xport}


def read(program: str, cells: list[Any], **how: Any) -> Reading:
    with private_folder() as folder:
        _WRITE[program](pd.DataFrame({"cell": cells, "row": range(len(cells))}), str(folder / "a"), **how)
        return read_table((folder / "a").read_bytes())


def labelled(program: str, cells: list[Any], labels: dict[Any, str], **how: Any) -> tuple[list[str], tuple[str, ...]]:
    found = read(program, cells, variable_value_labels={"cell": labels}, **how)
    return found.frame["cell"].tolist(), found.column("cell").codebook


@pytest.mark.parametrize("program", ["SPSS", "Stata"])
def test_a_code_without_a_label_leaves_the_others_theirs(program: str) -> None:
    codebook = {1: "Left", 2: "Right"}
    words, options = labelled(program, [1.0, 2.0, 2.0, float("nan")], codebook)
    assert (words, options) == (["Left", "Right", "Right", ""], ("Left", "Right"))
    assert labelled(program, [1.0, 2.0, 2.0, float("nan"), 3.0], codebook) == ([*words, "3"], options)


def test_a_word_as_a_code_is_its_label() -> None:
    assert labelled("SPSS", ["DE", "FR", "XX"], {"DE": "Germany", "FR": "France"})[0] == ["Germany", "France", "XX"]


def test_labels_of_codes_declared_missing_make_no_words() -> None:
    missing = {"cell": [{"lo": 0, "hi": 1}]}
    assert labelled("SPSS", [0.0, 1.0, 2.0], {0: "refused", 1: "unknown"}, missing_ranges=missing)[0] == ["", "", "2"]


@pytest.mark.parametrize(
    ("program", "written", "day", "text"),
    [
        ("SPSS", "DATE11", DAY, "2024-01-03"),
        ("SPSS", "DATETIME20", DAY + 3661, "2024-01-03 01:01:01"),
        ("SPSS", "TIME8", 3661.0, "01:01:01"),
        ("Stata", "%td", 23378.0, "2024-01-03"),
        ("Stata", "%tdDD/NN/CCYY", 23378.0, "2024-01-03"),
        ("Stata", "%tc", 23378 * 86_400_000.0, "2024-01-03"),
        ("Stata", "%tcHH:MM:SS", 3_661_000.0, "01:01:01"),
        ("SAS", "DATE9", 23378.0, "2024-01-03"),
        ("SAS", "DATETIME20", 23378 * 86_400.0, "2024-01-03"),
        ("SAS", "TIME8", 3661.0, "01:01:01"),
    ],
)
def test_a_day_that_no_calendar_has_is_missing_in_its_row(program: str, written: str, day: float, text: str) -> None:
    found = read(program, [day, NO_DAY, -NO_DAY, float("nan"), day], variable_format={"cell": written})
    assert found.frame["cell"].tolist() == [text, "", "", "", text]


SPANS = [0.0, 1.5, 3661.0, 86_399.0, 86_400.0, 90_061.25, 1e9, -5.0, -90_061.5, float("nan")]
OF_SPANS = [("SPSS", "TIME8"), ("SPSS", "TIME11.2"), ("SPSS", "DTIME12"), ("SAS", "TIME8"), ("SAS", "HHMM5")]


def of_spans(program: str, written: str) -> None:
    """Raises AssertionError where a number reads otherwise than as the span of time that it is in an Arrow file."""
    file = io.BytesIO()
    pd.DataFrame({"cell": pd.to_timedelta(SPANS, unit="s")}).to_feather(file)
    found = read(program, SPANS, variable_format={"cell": written}).frame["cell"].tolist()
    assert found == read_table(file.getvalue()).frame["cell"].tolist()
    assert found[4:6] == ["24:00:00", "25:01:01.25"], "with their days"


@pytest.mark.parametrize(("program", "written"), OF_SPANS)
def test_a_span_of_time_keeps_its_days(program: str, written: str) -> None:
    of_spans(program, written)


@pytest.mark.parametrize(("program", "written"), OF_SPANS)
def test_a_span_that_reads_as_a_time_of_day_is_found_out(
    program: str, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = labelled_files.moments

    def of_day(*given: str) -> Any:
        moment = real(*given)
        return moment and (lambda number: moment(number and number % 86_400))

    monkeypatch.setattr(labelled_files, "moments", of_day)
    with pytest.raises(AssertionError):
        of_spans(program, written)


def test_a_number_is_no_day() -> None:
    for program, written in (("SPSS", "F8.2"), ("Stata", "%9.0g"), ("Stata", "%tm"), ("SAS", "BEST12")):
        assert read(program, [700.0, 701.0], variable_format={"cell": written}).frame["cell"].tolist() == ["700", "701"]


OLD, NEW = (b"<stata_dta><header><release>%d</release>" % version for version in (117, 118))
WORDS = ["zoé", "QQQé", "Ökonom", "ok"]


def lettered(program: str, rows: list[int], wrong: bytes = b"\xff\xfeQ") -> Reading:
    """A file in UTF-8 with these rows; where a word begins with QQQ it has bytes that are no letters."""
    write = _WRITE[program]
    with private_folder() as folder:
        cells = {"word": [WORDS[row] for row in rows], "row": rows, "essay": [WORDS[row] * 200 for row in rows]}
        if program == "SAS":
            del cells["essay"]
        write(pd.DataFrame(cells), str(folder / "a"))
        return read_table((folder / "a").read_bytes().replace(b"QQQ", wrong))


@pytest.mark.parametrize("program", list(_WRITE))
def test_bytes_that_are_no_letters_are_one_missing_cell_and_change_no_other(program: str) -> None:
    whole, holed = lettered(program, [0, 2, 3]), lettered(program, [0, 1, 2, 3])
    assert holed.frame["word"].tolist() == ["zoé", "", "Ökonom", "ok"]
    others = holed.frame.drop(index=1).reset_index(drop=True)
    assert others.equals(whole.frame)
    (notice,) = holed.report.repaired
    assert (notice.count, notice.columns) == ((2, ("word", "essay")) if program != "SAS" else (1, ("word",)))
    assert notice.texts == notice.lines == ()
    assert not whole.report.repaired


def test_a_word_cut_within_its_last_letter_is_read_alike_beside_one_that_cannot_be() -> None:
    cut = b"QQ\xc3"  # a program that counts bytes cuts “QQé” so
    with private_folder() as folder:
        frames = []
        for first in (b"abc", b"\xff\xfeQ"):
            pyreadstat.write_sav(pd.DataFrame({"word": ["abc", "QQQ"]}), str(folder / "a"))
            data = (folder / "a").read_bytes().replace(b"QQQ", cut).replace(b"abc", first)
            frames.append(read_table(data).frame["word"].tolist())
    assert frames == [["abc", "QQ"], ["", "QQ"]]


@pytest.mark.parametrize(
    ("kind", "data", "said", "letters", "word"),
    [
        ("spss", b"", "UTF-8", b"B\xc3\xa9", "Bé"),
        ("spss", b"", "WINDOWS-1252", b"B\xc3\xa9", "BÃ©"),
        ("spss", b"", "SHIFT_JIS", b"\x93\xfa\x96{", "日本"),
        ("sas", b"", "WINDOWS-936", b"\xc8\xd5", "日"),
        ("sas", b"", "BIG-5", b"\xa4\xe9", "日"),
        ("spss", b"", None, b"B\xc3\xa9", "Bé"),
        ("stata", b"\x73", None, b"B\xc3\xa9", "Bé"),
        ("stata", b"\x73", None, b"B\xe9", "Bé"),
        ("stata", OLD, None, b"B\xc3\xa9", "Bé"),
        ("stata", OLD, None, b"Stra\xdfe", "Straße"),
        ("stata", NEW, None, b"B\xc3\xa9", "Bé"),
        ("stata", NEW, None, b"Stra\xdfe", None),
        ("transport", b"", None, b"B\xe9b", None),
    ],
)
def test_a_cell_is_decoded_by_its_bytes_and_what_the_file_states(
    kind: str, data: bytes, said: str | None, letters: bytes, word: str | None
) -> None:
    decode = labelled_letters.decoder(data, kind, said)
    assert labelled_letters.decoded([letters, 1.5], decode) == ([word or "", 1.5], int(word is None))


def test_an_encoding_that_is_not_known_is_named() -> None:
    with pytest.raises(UnreadableFile, match="in the encoding EUC-TW, which cannot be read; save it in UTF-8"):
        labelled_letters.decoder(b"", "sas", "EUC-TW")
