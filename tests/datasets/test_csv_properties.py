"""Whatever the bytes: the right shape, or one sentence. Bounded runs with fixed seeds."""

from __future__ import annotations

import csv
import io
import random

import pytest
from hypothesis import HealthCheck, example, given, seed, settings
from hypothesis import strategies as st

from dpcore.datasets import Reading, UnreadableFile, read_csv

pytestmark = pytest.mark.usefixtures("one_connection")
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
QUICK = settings(max_examples=25, deadline=None, database=None, suppress_health_check=SLOW)

CELL = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r\ufeff"), max_size=12)
WORD = st.text("abcdefghijklmnopqrstuvwxyzäöüßéłж", min_size=2, max_size=8)
USUAL = st.one_of(
    WORD,
    st.integers(-10_000, 10_000).map(str),
    st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: f"{x:.3f}"),
    st.dates().map(lambda day: day.isoformat()),
    st.sampled_from(["yes", "no", "", "NA", "a, b", 'say "hi"', "two\nlines", "x;y", "50%", "=1+1"]),
)


@st.composite
def tables(draw: st.DrawFn, cell: st.SearchStrategy[str]) -> list[list[str]]:
    """A heading of different words, then rows of cells; at least two columns and two rows."""
    width = draw(st.integers(2, 6))
    heading = draw(st.lists(WORD, min_size=width, max_size=width, unique_by=str.casefold))
    row = st.lists(cell, min_size=width, max_size=width)
    return [heading, *draw(st.lists(row, min_size=2, max_size=12))]


def written(table: list[list[str]], delimiter: str, quoting: int, end: str) -> bytes:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows(table)
    return file.getvalue().encode()


def read(data: bytes, **choices: object) -> Reading | None:
    """A reading, or None when the file was refused with one sentence; anything else fails the test."""
    try:
        return read_csv(data, **choices)  # type: ignore[arg-type]
    except UnreadableFile as refusal:
        sentence = str(refusal)
        assert sentence.endswith(".")
        assert "\n" not in sentence
        assert len(sentence) < 300
        return None


@pytest.mark.thorough
@seed(1)
@QUICK
@given(tables(CELL), st.sampled_from([",", ";", "\t", "|"]), st.sampled_from(["\n", "\r\n"]))
def test_quoted_cells_come_back_as_they_were(table: list[list[str]], delimiter: str, end: str) -> None:
    """With the dialect and heading chosen, any text survives exactly; rows of blanks are set aside and counted."""
    data = written(table, delimiter, csv.QUOTE_ALL, end)
    reading = read(data, delimiter=delimiter, header_rows=1, header_line=1, keep_footer=True)
    wanted = [row for row in table[1:] if any(cell.strip() for cell in row)]
    if reading is None:
        assert not wanted
        return
    assert [list(row) for row in reading.frame.itertuples(index=False)] == wanted
    assert list(reading.frame.columns) == table[0]


@pytest.mark.thorough
@seed(2)
@QUICK
@given(
    tables(USUAL),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["utf-8", "utf-16"]),
)
def test_guessed_shapes_are_right_or_flagged(table: list[list[str]], delimiter: str, end: str, encoding: str) -> None:
    """Without any choice, a reading either has the table's columns or says that it is not certain.

    And every record is accounted for: in the frame, in the heading, or in a notice.
    """
    data = written(table, delimiter, csv.QUOTE_MINIMAL, end).decode().encode(encoding)
    reading = read(data)
    if reading is None:
        return
    if reading.frame.shape[1] != len(table[0]):
        empty = all(not row[-1].strip() for row in table[1:])
        assert empty or not reading.report.delimiter_certain
        return
    aside = sum(notice.count for notice in reading.report.set_aside)
    heading = len(reading.report.header_lines)
    assert len(reading.frame) + heading + aside == len(table)


@seed(3)
@QUICK
@given(st.binary(max_size=400))
@example(b"ARROW1")  # the name of a kind, and nothing after it
@example(b"PAR1PAR1")
@example(b"PK\x05\x06")
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    read(data)


@seed(4)
@QUICK
@given(st.text(st.sampled_from("ab1,.;\t|\"'\\\n\r =#-€ä\u202e\x1f"), max_size=200))
def test_any_text_of_troublesome_characters_is_read_or_refused(text: str) -> None:
    """And when it is read, the cells hold no more and no fewer records than an independent reader finds."""
    reading = read(text.encode())
    if reading is None or reading.report.quote != '"' or not reading.report.delimiter:
        return
    body = text.replace("\r\n", "\n").replace("\r", " ")
    if reading.report.returns == "at ends":  # the reader says which of two signs ends lines, and the other is a blank
        body = text.replace("\r\n", "\r").replace("\n", " ").replace("\r", "\n")
    if body.lower().lstrip('" \n\t').startswith("sep="):
        return
    lines = io.StringIO(body, newline="")
    records = [record for record in csv.reader(lines, delimiter=reading.report.delimiter) if record]
    aside = sum(notice.count for notice in reading.report.set_aside if "Empty lines" not in notice.sentence)
    assert len(reading.frame) + aside + len(reading.report.header_lines) == len(records)


@pytest.mark.thorough
def test_mutated_files_are_read_or_refused() -> None:
    """Sixty files with one to five flips, cuts or repeats give a reading or a refusal and nothing else."""
    rng = random.Random(7)
    usual = ("name;town;value;day\n" + 'Müller;Köln;1,5;01.02.2024\nŁuk;"a;b";2.345,5;25.02.2024\n' * 4).encode()
    for _ in range(60):
        data = bytearray(usual)
        for _ in range(rng.randint(1, 5)):
            place = rng.randrange(len(data))
            action = rng.randrange(3)
            if action == 0:
                data[place] = rng.randrange(256)
            elif action == 1:
                del data[place : place + rng.randint(1, 5)]
            else:
                data[place:place] = data[place : place + rng.randint(1, 5)]
        read(bytes(data))


@pytest.mark.thorough
@seed(5)
@settings(QUICK, max_examples=15)
@given(tables(USUAL), st.randoms(use_true_random=False))
def test_fingerprint_ignores_order_padding_line_ends_and_encoding(table: list[list[str]], rng: random.Random) -> None:
    """The same rows in another guise have one fingerprint; with one cell changed they have another."""
    chosen = {"header_rows": 1, "header_line": 1, "keep_footer": True}
    plain = read(written(table, ",", csv.QUOTE_ALL, "\n"), delimiter=",", **chosen)
    if plain is None:
        return
    order = rng.sample(range(len(table[0])), len(table[0]))
    body = rng.sample(table[1:], len(table) - 1)
    other = [[f" {row[place]}\u00a0" for place in order] for row in [table[0], *body]]
    guise = read(written(other, ";", csv.QUOTE_ALL, "\r\n").decode().encode("utf-16"), delimiter=";", **chosen)
    assert guise is not None
    assert guise.fingerprint == plain.fingerprint
    assert guise.key != plain.key
    row, place = rng.randrange(1, len(table)), rng.randrange(len(table[0]))
    changed = [list(each) for each in table]
    changed[row][place] += "!"
    third = read(written(changed, ",", csv.QUOTE_ALL, "\n"), delimiter=",", **chosen)
    assert third is not None
    assert third.fingerprint != plain.fingerprint
