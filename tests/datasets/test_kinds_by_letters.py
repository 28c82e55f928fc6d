"""No letters of a person make another kind of file of a text: neither how it begins nor what stands at some place."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import re
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.audit.files import PLAIN, as_a_page_reads
from dpcore.datasets.reading import container
from dpcore.datasets.reading.container import READ, REFUSED, kind_of
from dpcore.errors import UnreadableFile

NO_LETTER = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
ROWS = b",none,a\n" + b"q,none,b\n" * 40
BEGINNINGS = (
    "BZhang",
    "BZh91AY&SYlvia",
    "RDX",
    "RDX3",
    "PAR1S",
    "GIF8",
    "GIF89a",
    "FEA1",
    "$FL2",
    "$FL3",
    "ARROW1",
    "MZ",
)
BEGINNINGS += (
    "%PDF",
    "%PDF-1.4",
    "<table>",
    "<html>",
    "<!-- a -->",
    "<?xml ?>",
    "<stata_dta>",
    "HEADER RECORD*******LIB",
)
BEGINNINGS += ("SQLite format 3", "PK", "Rar!", "7z", "ELF", "PNG", "HDF", "ASCII SPSS PORT FILE", "SPSSPORT", "ustar")
BEGINNINGS += ("hello", "(µ/ý", "ÿØÿ", "ÿÿÿÿ", "‰PNG", "‰HDF", "ýzXZ", "ÐÏà¡±á")
WORDS = ("ustar", "ustar  ", "ASCII SPSS PORT FILE", "SPSSPORT", "PAR1", "%%EOF", "</html>", "}")
"""Of kinds that are told by what stands at some place, or at the end."""


def refused_or_read(data: bytes) -> str:
    try:
        return kind_of(data)
    except UnreadableFile as error:
        return str(error)


@pytest.mark.parametrize(("pattern", "kind"), [*READ, *REFUSED])
@given(data=st.data())
def test_no_kind_is_told_by_letters_alone(pattern: str, kind: str, data: st.DataObject) -> None:
    begun = data.draw(st.from_regex(re.compile(pattern.encode(), re.DOTALL), fullmatch=True))
    assert kind in refused_or_read(begun + ROWS)
    assert refused_or_read(NO_LETTER.sub(b"x", begun) + ROWS) in ("text", "json")


@pytest.mark.parametrize("delimiter", [None, ","])
@pytest.mark.parametrize("word", BEGINNINGS)
def test_a_first_cell_of_letters_is_a_cell(word: str, delimiter: str | None) -> None:
    """Where no line names the columns."""
    data = word.encode("cp1252") + ROWS
    stated = PLAIN | {"header_rows": 0, "columns": 3, "encoding": "cp1252"}
    if delimiter:
        data, stated = gzip.compress(data), stated | {"delimiter": delimiter}
    assert as_a_page_reads(data, stated).frame.iloc[0, 0] == word


def test_what_was_stated_to_be_a_text_is_one() -> None:
    """Whatever its first and its last cell are."""
    for data in (b"<table>,a\n1,<b>", b"%PDF-1.4,a\n1,%%EOF", b"{\\rtf1,a\n1,}", b"[1,2\n3,4"):
        assert kind_of(data, is_text=True) == "text"
        assert refused_or_read(data) != "text"


def texts(note: str) -> dict[str, bytes]:
    """Rows as texts of several kinds, one of them with this ``note``."""
    notes = ["none"] * 3 + [note] + ["none"] * 40
    people = [{"who": f"p{place}", "note": each, "word": "a"} for place, each in enumerate(notes)]
    frame = pd.DataFrame(people)
    return {
        "csv": frame.to_csv(index=False).encode(),
        "json": json.dumps(people).encode(),
        "packed tsv": gzip.compress(frame.to_csv(index=False, sep="\t").encode()),
    }


def moved(word: str) -> set[str]:
    """The kinds of text of which a cell that puts a word to some place makes something else."""
    usual = {kind: as_a_page_reads(data, PLAIN).frame.shape for kind, data in texts("none").items()}
    found = set()
    for kind in usual:
        start = gzip.decompress(texts("@")[kind]).index(b"@") if "packed" in kind else texts("@")[kind].index(b"@")
        for place in sorted({start, 257, 456} - set(range(start))):
            try:
                read = as_a_page_reads(texts("x" * (place - start) + word)[kind], PLAIN).frame.shape
            except UnreadableFile:
                read = (0, 0)
            if read != usual[kind]:
                found.add(kind)
    return found


@pytest.mark.parametrize("word", WORDS)
def test_a_cell_is_one_wherever_it_stands(word: str) -> None:
    assert moved(word) == set()


@pytest.mark.parametrize(
    ("told", "word"),
    [
        ("_is_tar", lambda data: data[257:262] == b"ustar"),
        ("_is_portable", lambda data: b"ASCII SPSS PORT FILE" in data[:500]),
    ],
    ids=["tar", "portable"],
)
def test_a_kind_told_by_one_cell_is_found(
    told: str, word: Callable[[bytes], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container, told, word)
    assert moved("ustar" if told == "_is_tar" else "ASCII SPSS PORT FILE") >= {"csv", "json", "packed tsv"}


def test_a_kind_told_by_how_it_begins_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "_READ", ((re.compile(b"BZh"), "bzip2"),))
    with pytest.raises(UnreadableFile):
        test_a_first_cell_of_letters_is_a_cell("BZhang", None)


FRAME = pd.DataFrame({"a": ["x", "y"], "b": [1.5, 2.5]})


def saved(folder: Path, write: Callable[..., None], **how: Any) -> bytes:
    write(FRAME, str(folder / "file"), **how)
    return (folder / "file").read_bytes()


def archive(form: int) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=form) as tar:
        tar.addfile(tarfile.TarInfo("a.csv"), io.BytesIO())
    return made.getvalue()


def files(folder: Path) -> dict[str, bytes]:
    """By what it is told for, and how it was written, a file that is one."""
    stream, duck = io.BytesIO(), folder / "duck"
    table = pa.Table.from_pandas(FRAME)
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    feather.write_feather(FRAME, str(folder / "feather"))
    duckdb.sql(f"COPY (SELECT 1 AS a WHERE false) TO '{duck}' (FORMAT parquet)")
    found = {f"parquet: {way}": FRAME.to_parquet(compression=way) for way in ("snappy", "gzip", "zstd", None)}
    found |= {"parquet: empty": FRAME.iloc[:0].to_parquet(), "parquet: duckdb": duck.read_bytes()}
    found |= {"arrow": (folder / "feather").read_bytes(), "arrow stream": stream.getvalue()}
    found |= {
        f"bzip2: {size}": bz2.compress(bytes(range(256)) * size, 1 + size % 9) for size in (0, 1, 2, 1_000, 20_000)
    }
    found |= {"spss": saved(folder, pyreadstat.write_sav), "portable": saved(folder, pyreadstat.write_por)}
    found |= {f"spss: {way}": saved(folder, pyreadstat.write_sav, compress=way) for way in (True, False)}
    found |= {f"stata: {form}": saved(folder, pyreadstat.write_dta, version=form) for form in (8, 10, 12, 13, 14, 15)}
    for form in (5, 8):
        found[f"transport: {form}"] = saved(folder, pyreadstat.write_xport, file_format_version=form)
    for ways in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        found[f"tar: {ways}"] = archive(ways)
    found["PDF"] = b"%PDF-1.4\n1 0 obj\nendobj\n" + b"BT ET\n" * 3_000 + b"trailer\n%%EOF\n"
    found["RTF"] = b"{\\rtf1\\ansi " + b"words " * 3_000 + b"}\r\n\x00"
    found["web page"] = b"<!doctype html><table>" + b"<tr><td>1" * 3_000 + b"</table>\n"
    return found


def test_what_is_of_a_kind_is_told_for_it(tmp_path: Path) -> None:
    for written, data in files(tmp_path).items():
        assert written.partition(":")[0] in refused_or_read(data), written
