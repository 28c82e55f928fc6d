"""A file of SPSS, Stata or SAS is read or called damaged, whatever its reader raises where bytes are lost or wrong.

What fails in the program itself stays the program's.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any, get_args

import pyreadstat
import pytest

from dpcore.datasets.reading import labelled_files, no_memory
from dpcore.datasets.reading.labelled_files import LabelledKind, labelled_table
from dpcore.datasets.reading.labelled_letters import decoder
from dpcore.errors import UnreadableFile
from tests.datasets.test_labelled_letters import Write, by_pandas, by_readstat

TABLE: dict[str, Any] = {"word": ["ab", "c"] * 10, "n": [float(at % 7) for at in range(20)], "row": range(20)}
WRITTEN: dict[str, tuple[LabelledKind, Write]] = {
    "SPSS": ("spss", by_readstat(pyreadstat.write_sav, variable_value_labels={"n": {0.0: "no", 1.0: "yes"}})),
    "SPSS, portable": ("portable", by_readstat(pyreadstat.write_por)),
    "Stata 12": ("stata", by_pandas(114)),
    "Stata 13": ("stata", by_pandas(117)),
    "Stata 14": ("stata", by_pandas(118)),
    "SAS, transport": ("transport", by_readstat(pyreadstat.write_xport)),
}
READERS = {
    "spss": "read_sav",
    "portable": "read_por",
    "stata": "read_dta",
    "sas": "read_sas7bdat",
    "transport": "read_xport",
}
TIMES = 300
"""Damages of each kind of file."""


def damaged(data: bytes, chance: random.Random) -> bytes:
    at, most = chance.randrange(len(data)), chance.randrange(1, 9)
    wrong = chance.choice([b"", bytes(most), chance.randbytes(1), b"\xff" * 4, bytes(4), b"\xff\xff\xff\x7f"])
    return data[:at] + wrong + data[at + chance.choice([0, len(wrong), most]) :]


def outcome(data: bytes, kind: LabelledKind) -> str:
    """What a damaged file comes to; any error of another kind goes through."""
    try:
        labelled_table(data, kind, lambda _: None)
    except UnreadableFile:
        return "refused"
    return "read"


@pytest.mark.parametrize("name", WRITTEN)
def test_a_damaged_file_is_read_or_refused(name: str) -> None:
    kind, write = WRITTEN[name]
    data, chance = write(TABLE), random.Random(1)
    found = Counter(outcome(damaged(data, chance), kind) for _ in range(TIMES))
    assert found["read"] + found["refused"] == TIMES
    assert min(found.values()) > TIMES / 20
    assert outcome(data, kind) == "read"


@pytest.mark.parametrize("kind", get_args(LabelledKind))
@pytest.mark.parametrize("failure", [TypeError, ValueError, KeyError, IndexError, AttributeError, RuntimeError])
def test_whatever_a_reader_breaks_with_the_file_is_damaged(
    kind: LabelledKind, failure: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the first it is asked, and at any other after that."""
    data = next(write for of, write in WRITTEN.values() if of == (kind if kind != "sas" else "spss"))(TABLE)
    real = pyreadstat.read_sav if kind == "sas" else getattr(pyreadstat, READERS[kind])
    asked, fails_at = 0, 0

    def counted(*given: Any, **how: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked == fails_at:
            raise failure("ab")
        return real(*given, **how)

    monkeypatch.setattr(pyreadstat, READERS[kind], counted)
    assert outcome(data, kind) == "read"
    for at in range(1, asked + 1):
        asked, fails_at = 0, at
        with pytest.raises(UnreadableFile, match="damaged") as caught:
            labelled_table(data, kind, lambda _: None)
        assert "ab" not in str(caught.value).split()
        assert caught.value.__cause__ is None


@pytest.mark.parametrize("home", ["head_of", "pieces", "moments", "decoded"])
def test_what_fails_here_is_no_damage(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: an error of the program's own would be hidden behind somebody's file."""

    def fail(*_: object, **__: object) -> None:
        raise TypeError("ab")

    kind, write = WRITTEN["Stata 12"]
    monkeypatch.setattr(labelled_files, home, fail)
    with pytest.raises(TypeError):
        labelled_table(write(TABLE), kind, lambda _: None)


def test_a_size_that_no_file_has_is_not_said_to_be_too_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was said of a file of 1 kB that it takes more than 1,024 MB."""
    kind, write = WRITTEN["SPSS"]
    data, real = write(TABLE), pyreadstat.read_sav
    said: list[str] = []

    def listened(*given: Any, **how: Any) -> Any:
        try:
            return real(*given, **how)
        except pyreadstat.ReadstatError as error:
            said.append(str(error))
            raise

    monkeypatch.setattr(pyreadstat, "read_sav", listened)

    def is_so(wrong: bytes) -> bool:
        said.clear()
        return outcome(wrong, kind) == "refused" and said == ["Unable to allocate memory"]

    head = data.index(b"WORD" if b"WORD" in data else b"word") + 64
    such = [wrong for at in range(head) if is_so(wrong := data[:at] + b"\xff" + data[at + 1 :])]
    assert such
    monkeypatch.setattr(no_memory, "_ROOM", 1 << 60)  # there is less than that
    for wrong in such:
        with pytest.raises(MemoryError):
            outcome(wrong, kind)


@pytest.mark.parametrize("version", [b"   ", b"10B", b"\0\0\0", b"1e2", b"\xff" * 3, b""])
def test_a_version_that_is_no_number_is_damage(version: bytes) -> None:
    """Its reader takes "10B" for 118: it counts in signs, whatever they are."""
    data = WRITTEN["Stata 14"][1](TABLE)
    assert data[28:31] == b"118"
    with pytest.raises(UnreadableFile, match="damaged"):
        decoder(data[:28] + version, "stata", None)
    assert outcome(data[:28] + version + data[31:], "stata") == "refused"


def test_these_tests_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the kinds of errors that were caught before."""
    kind, write = WRITTEN["Stata 12"]

    def narrow(read: Any, kind: LabelledKind) -> Any:
        def asked(*given: Any, **how: Any) -> Any:
            try:
                return read(*given, **how)
            except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, UnicodeDecodeError, OverflowError):
                raise UnreadableFile("damaged") from None

        return asked

    monkeypatch.setattr(labelled_files, "_asked", narrow)
    data, chance = write(TABLE), random.Random(1)
    with pytest.raises(TypeError):
        Counter(outcome(damaged(data, chance), kind) for _ in range(TIMES))
