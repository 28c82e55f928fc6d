"""The 1994 census extract: its published marital-status counts, and the full table where a file or a network has it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.datasets import fetched
from dpcore.datasets.entry import Request, Sample, bundled
from dpcore.datasets.schema import MISSING_WORDS, Column, Schema
from dpcore.datasets.size import Size
from dpcore.errors import UnavailableSample, UnreadableFile

if TYPE_CHECKING:  # it loads DuckDB
    from dpcore.datasets.reading.choices import Choices

_ORIGIN = (
    "B. Becker and R. Kohavi, Adult (1994 US census extract), UCI Machine Learning Repository, 1996, "
    "doi:10.24432/C5XW20, CC BY 4.0"
)
# The table is 4 MB of text in 48,842 rows of 15 columns.
_MOST_BYTES, _MOST_ROWS, _MOST_COLUMNS = 32 << 20, 100_000, 40
_LONGEST = 5_000  # letters of a line: no row of it is as long
_PIECE = 1 << 20  # bytes that are looked through at once: whoever else wants to go on has a turn after each
_NOT_IT = (
    "That file is far larger than the census table, packed or unpacked, or no table that can be read; point to its CSV "
    "file."
)
_OTHERS = (
    "That file is none of the known editions of the census table, so it may be about other people; bring it as a file "
    "of your own."
)
EDITIONS = frozenset(
    {
        "4efd820b4bf1b5dbce1ce384316d6ede3d6c70429e2b1a0a08b8d0294d1a8126",
        "5a4f056c9b6136cd386514e5fd1159a882a3a2a5af5c29878d6c02f899f12968",
        "5bf74f199a0e774b7c9c82fb11a623666256f052735c119a0960c22c52869290",
        "6cbfd4338bb57f68b900ae7287627b6a37403f5644f003ed65abefae50e8c670",
        "55b63b931a9db17213454ae957c63c74091562c3404cceb0f83ffb02fe1f3468",
        "774532989693c4adb2835dc4a15d7b1181ead733e2e59f30da656dccc97592a7",
    }
)
"""What ``edition`` says of the table as it was published: all 48,842 people, the 32,561 to train on and the 16,281 to
test with, and of each those without a missing cell."""
_STATUS = (
    *("Married-civ-spouse", "Never-married", "Divorced", "Separated", "Widowed"),
    *("Married-spouse-absent", "Married-AF-spouse"),
)
_WORK = (
    *("Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov"),
    *("Without-pay", "Never-worked"),
)
_SCHOOLING = (
    *("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college"),
    *("Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"),
)
_OCCUPATIONS = (
    *("Adm-clerical", "Armed-Forces", "Craft-repair", "Exec-managerial", "Farming-fishing", "Handlers-cleaners"),
    *("Machine-op-inspct", "Other-service", "Priv-house-serv", "Prof-specialty", "Protective-serv", "Sales"),
    *("Tech-support", "Transport-moving"),
)
_RELATIONS = ("Husband", "Wife", "Own-child", "Not-in-family", "Other-relative", "Unmarried")
_RACES = ("White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")
_COUNTRIES = (
    *("United-States", "Cambodia", "Canada", "China", "Columbia", "Cuba", "Dominican-Republic", "Ecuador"),
    *("El-Salvador", "England", "France", "Germany", "Greece", "Guatemala", "Haiti", "Holand-Netherlands"),
    *("Honduras", "Hong", "Hungary", "India", "Iran", "Ireland", "Italy", "Jamaica", "Japan", "Laos", "Mexico"),
    *("Nicaragua", "Outlying-US(Guam-USVI-etc)", "Peru", "Philippines", "Poland", "Portugal", "Puerto-Rico"),
    *("Scotland", "South", "Taiwan", "Thailand", "Trinadad&Tobago", "Vietnam", "Yugoslavia"),
)
_CLOSED = "The census table comes from openml.org, which cannot be reached now; point to a CSV file of it instead."
_RENAMED = {"class": "income", "educational_num": "education_num", "sex": "sex", "gender": "sex"}

_COUNTS = Sample(
    key="census_marital_status",
    title="Marital status of 32,561 people (1994 US census extract)",
    about="One row per marital status with its published count. One person adds one to one count.",
    origin=_ORIGIN + " (the counts of its training part)",
    rows=7,
    simulated=False,
    rank=5,
    why=(("selection", "Which marital status is most common: with so many people privacy turns out to be free."),),
    schema=Schema(
        columns=(
            Column(name="marital status", type="category", categories=_STATUS),
            Column(name="people", type="integer", low=0, high=1_000_000, sensitivity=1.0, counts=True),
        ),
        each_row="option",
    ),
    load=bundled("census_marital_status.csv"),
)


def _category(name: str, categories: Iterable[str]) -> Column:
    return Column(name=name, type="category", categories=tuple(categories), missing_words=(*MISSING_WORDS, "?"))


def _load_adult(request: Request) -> pd.DataFrame:
    frame = _from_network(request) if request.path is None else _from_file(request.path, request)
    frame = frame.rename(columns=lambda name: str(name).strip().replace("-", "_"))
    frame = frame.rename(columns=_RENAMED)
    names = _ADULT.schema.names
    absent = [name for name in names if name not in frame.columns]
    if absent or not frame.columns.is_unique:
        told = f"it has no column {absent[0]}" if absent else "it has a column twice"
        raise UnavailableSample(f"That file is not the census table: {told}.")
    frame = frame[list(names)]
    frame["income"] = frame["income"].astype("str").str.strip().str.rstrip(".")
    if request.path is not None and edition(frame) not in EDITIONS:
        raise UnavailableSample(_OTHERS)
    request.say(1.0, "Census table read")
    return frame


def edition(frame: pd.DataFrame) -> str:
    """A digest of all rows, by which an edition of the table is known: neither order nor padding changes it.

    ``frame`` has the columns of the sample; a table about other people that has them too is another edition.
    """
    cells = [frame[name].astype("str").str.strip() for name in _ADULT.schema.names]
    cells = [column.mask(column.isin(["", "nan", "<NA>"]), "?") for column in cells]
    rows = ["\x1f".join(row) for row in zip(*cells, strict=True)]
    digest = hashlib.sha256(f"{len(rows)}".encode())
    for row in sorted(rows):
        digest.update(b"\n" + row.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _from_file(path: Path, request: Request) -> pd.DataFrame:
    request.say(0.1, "Reading the census file")
    if not path.is_file():
        raise UnavailableSample("There is no file at that place; point to a CSV file of the census table.")
    if path.stat().st_size > _MOST_BYTES:
        raise UnavailableSample(_NOT_IT)
    try:
        frame = _cells(path.read_bytes(), request)
    except UnreadableFile:
        raise UnavailableSample(_NOT_IT) from None
    except (OSError, ValueError, EOFError) as error:
        raise UnavailableSample("That file cannot be read as the census table; point to its CSV file.") from error
    if len(frame) > _MOST_ROWS or frame.shape[1] > _MOST_COLUMNS or Size.of(frame).bytes > _MOST_BYTES:
        raise UnavailableSample(_NOT_IT)
    return frame


def _cells(data: bytes, request: Request) -> pd.DataFrame:
    """Read as the files that people bring are, text too: cells made for it keep the reader of pandas busy for a minute,
    and everybody else of a server with it. Raises UnreadableFile."""
    from dpcore.datasets.reading.choices import Choices
    from dpcore.datasets.reading.container import kind_of

    choices = Choices(header_rows=1, header_line=1, keep_footer=True)
    if kind_of(data) == "text":
        if _is_wide(data) or data[: _LONGEST + 1].partition(b"\n")[0].count(b",") > _MOST_COLUMNS:
            raise UnavailableSample(_NOT_IT)
        choices = replace(choices, delimiter=",", quote='"')
        return _tables(data, choices, request, "Reading it")
    return _tables(data, choices, request, "Unpacking it")


def _is_wide(data: bytes) -> bool:
    """Whether a line is longer than any row of the table: from the places of line ends, piece by piece."""
    before = -1  # where the line before ended
    for start in range(0, len(data), _PIECE):
        piece = np.frombuffer(data, dtype=np.uint8, count=min(_PIECE, len(data) - start), offset=start)
        ends = np.flatnonzero(piece == ord("\n")) + start
        if ends.size:
            if np.diff(ends, prepend=before).max() - 1 > _LONGEST:
                return True
            before = int(ends[-1])
    return len(data) - before - 1 > _LONGEST


def _tables(data: bytes, choices: Choices, request: Request, what: str) -> pd.DataFrame:
    """Raises UnreadableFile."""
    from dpcore.datasets.reading.kinds import table_of

    tables = request.tables or table_of
    return tables(data, choices, lambda part, _: request.say(0.1 + 0.8 * part, what)).frame


def _from_network(request: Request) -> pd.DataFrame:
    def going_on() -> None:
        request.say(0.1, "Downloading the census table from openml.org")

    request.say(0.0, "Asking openml.org for the census table")
    try:
        return _cells(fetched.fetched("adult", 2, going_on), request)
    except (OSError, UnreadableFile) as error:
        raise UnavailableSample(_CLOSED) from error


_ADULT = Sample(
    key="adult",
    title="Adult census income, 48,842 people (1994 US census extract)",
    about="One row per person: age, schooling, work and family, and whether the income is above 50,000 dollars.",
    origin=_ORIGIN,
    rows=48_842,
    simulated=False,
    rank=20,
    why=(
        ("training", "Who earns more than 50,000 dollars: the usual benchmark of private training."),
        ("selection", "Which occupation is most common, and what is the median age or working week."),
        ("thresholding", "Has any occupation passed a number of high earners."),
    ),
    asks=(("selection", "most_common", ("occupation",)), ("thresholding", "groups", ("occupation",))),
    schema=Schema(
        columns=(
            _category("income", ("<=50K", ">50K")),
            Column(name="age", type="integer", low=17, high=90, unit="years"),
            _category("workclass", _WORK),
            _category("education", _SCHOOLING),
            Column(name="education_num", type="integer", low=1, high=16),
            _category("marital_status", _STATUS),
            _category("occupation", _OCCUPATIONS),
            _category("relationship", _RELATIONS),
            _category("race", _RACES),
            _category("sex", ("Female", "Male")),
            Column(name="capital_gain", type="integer", low=0, high=100_000, unit="dollars"),
            Column(name="capital_loss", type="integer", low=0, high=5_000, unit="dollars"),
            Column(name="hours_per_week", type="integer", low=0, high=100, unit="hours"),
            _category("native_country", _COUNTRIES),
        )
    ),
    load=_load_adult,
    path_allowed=True,
    needs_network=True,
)

SAMPLES = (_COUNTS, _ADULT)
