"""As many columns as can be read are read with as many rows as fit: what a reader never writes to is no memory."""

from __future__ import annotations

import io
import platform
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import UnreadableFile
from dpcore.datasets.apart import Apart, apart
from dpcore.datasets.reading.bounds import MOST_COLUMNS
from dpcore.datasets.reading.choices import Choices

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="elsewhere memory is given in other ways")
ROWS = 6_000
FRAME = pd.DataFrame(np.random.default_rng(1).integers(0, 10_000, (ROWS, MOST_COLUMNS)) / 100).add_prefix("v")


def text() -> bytes:
    return FRAME.to_csv(index=False).encode()


def uneven() -> bytes:
    """One row has a cell more than it should have, and one a cell less: DuckDB splits them all."""
    lines = text().decode().splitlines()
    return "\n".join([*lines[:5], lines[5] + ",1", lines[6].rpartition(",")[0], *lines[7:], ""]).encode()


def feather() -> bytes:
    made = io.BytesIO()
    FRAME.to_feather(made)
    return made.getvalue()


FILES: dict[str, Callable[[], bytes]] = {
    "text": text,
    "uneven": uneven,
    "almost empty": lambda: "\n".join([text().decode().partition("\n")[0], *["1" + "," * 499] * ROWS, ""]).encode(),
    "decimal commas": lambda: text().replace(b",", b";").replace(b".", b","),
    "UTF-16": lambda: text().decode().encode("utf-16"),
    "Parquet": lambda: FRAME.to_parquet(),
    "Feather": feather,
}


@pytest.fixture
def one() -> Iterator[Apart]:
    made = Apart()
    yield made
    made.close()


def rows(by: Apart, data: bytes) -> int:
    found = by.table_of(data, Choices(), lambda *_: None)
    assert found.frame.shape[1] == MOST_COLUMNS
    return found.report.rows


@pytest.mark.thorough
@pytest.mark.parametrize("kind", FILES)
def test_a_table_of_all_columns_is_read(kind: str, one: Apart) -> None:
    assert rows(one, FILES[kind]()) == ROWS - (kind == "uneven")


@pytest.mark.thorough
def test_what_lies_between_columns_would_count_as_memory(one: Apart, monkeypatch: pytest.MonkeyPatch) -> None:
    """15 MB of text took more than the two gigabytes, and three, that a reader may use."""
    usual = apart._environment
    monkeypatch.setattr(apart, "_environment", lambda: usual() | {"MALLOC_MMAP_THRESHOLD_": str(1 << 25)})
    with pytest.raises(UnreadableFile, match="more than 2,048 MB"):
        rows(one, text())


SAID: tuple[tuple[str, bool], ...] = (
    ("parser.cc:81:  Check failed: _s.ok()\nBad status: Out of memory: malloc of size 4354112 failed", True),
    ("result.cc:27: ValueOrDie called on an error: Out of memory: malloc of size 5242752 failed", True),
    ("terminate called after throwing an instance of 'std::bad_alloc'", True),
    ("memory allocation of 8589934592 bytes failed", True),
    ("Out of Memory Error: failed to pin block of size 256.0 KiB", True),
    ("terminate called after throwing an instance of 'std::system_error'\n  what():  Cannot allocate memory", True),
    ("MemoryError", True),
    ("terminate called after throwing an instance of 'std::out_of_range'", False),
    ("Segmentation fault", False),
    ("", False),
)


@pytest.mark.parametrize(("said", "none"), SAID)
def test_a_library_that_ends_for_want_of_memory_is_understood_as_it_writes_that(said: str, none: bool) -> None:
    assert apart._no_memory(io.BytesIO(said.encode().ljust(1 << 12, b"\0"))) == none


def test_one_in_other_letters_would_be_a_fault_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "_NO_MEMORY", tuple(mark.upper() for mark in apart._NO_MEMORY))
    assert not apart._no_memory(io.BytesIO(SAID[0][0].encode()))
