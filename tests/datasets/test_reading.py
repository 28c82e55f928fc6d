"""Choices, progress, cancelling, privacy of the work folder, keys and fingerprints, near-duplicates."""

from __future__ import annotations

import hashlib
import io
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import (
    Reading,
    ReadingCancelled,
    UnreadableFile,
    likeness,
    read_csv,
    sketch,
    sketched_likeness,
)
from dpcore.datasets.reading import engine
from dpcore.errors import InvalidArgument

SMALL = b"name,age,ill\nAnn,31,yes\nBob,45,no\nCy,27,yes\n"


def people(rows: int) -> str:
    rng = np.random.Generator(np.random.PCG64(5))
    ages, wards = rng.integers(0, 100, rows), rng.integers(0, 20, rows)
    return "number,age,ward\n" + "".join(f"{i},{a},W{w}\n" for i, (a, w) in enumerate(zip(ages, wards, strict=True)))


@pytest.mark.parametrize(
    ("choices", "argument"),
    [
        ({"delimiter": ";;"}, "delimiter"),
        ({"delimiter": "§"}, "delimiter"),
        ({"encoding": "klingon"}, "encoding"),
        ({"quote": "x"}, "quote"),
        ({"header_rows": 3}, "header_rows"),
        ({"header_line": 0}, "header_line"),
        ({"decimal": ";"}, "decimal"),
        ({"date_order": "ydm"}, "date_order"),
        ({"uneven": "drop"}, "uneven"),
    ],
)
def test_a_choice_that_is_none_is_refused_by_name(choices: dict[str, object], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        read_csv(SMALL, **choices)  # type: ignore[arg-type]
    assert caught.value.argument == argument


def test_choices_override_guesses() -> None:
    assert len(read_csv(SMALL, header_rows=0).frame) == 4
    assert read_csv(SMALL, header_rows=2).frame.shape == (2, 3)
    assert read_csv(SMALL, header_line=2, header_rows=1).frame.columns.tolist() == ["Ann", "31", "yes"]
    assert read_csv(SMALL, delimiter="").frame.columns.tolist() == ["name,age,ill"]
    assert read_csv(b"a,b\n1,2\nTotal,2\n", keep_footer=True).frame.shape == (2, 2)
    assert read_csv(b"a,b\n1,2\n3,4,5\n6,7\n", uneven="set aside").frame.shape == (2, 2)
    assert read_csv("größe\n1\n".encode("cp850"), encoding="cp850").frame.columns.tolist() == ["größe"]
    assert read_csv(b"a;b\n'x;y';2\n", quote="'").frame.iloc[0].tolist() == ["x;y", "2"]
    assert read_csv(b'a;b\n"x;2\n', quote="").frame.iloc[0].tolist() == ['"x', "2"]
    dates = b"when,x\n01/02/2024,1\n03/04/2024,2\n"
    assert read_csv(dates, date_order="mdy").column("when").suggestion.date_order == "mdy"
    assert read_csv(dates, date_order="mdy").column("when").certain
    assert read_csv(b"x;k\n1.234;a\n2.345;b\n", decimal=",").column("x").suggestion.decimal == ","


def test_sources_are_bytes_paths_and_files(tmp_path: Path) -> None:
    """A path with a name made to mislead is a path like any other; only the content counts."""
    place = tmp_path / "..%2f..%2fpasswd; rm -rf *.xlsx"
    place.write_bytes(SMALL)
    readings = [read_csv(source) for source in (SMALL, place, str(place), io.BytesIO(SMALL), bytearray(SMALL))]
    assert len({reading.key for reading in readings}) == 1
    with pytest.raises(UnreadableFile, match="no file at that place"):
        read_csv(tmp_path / "absent.csv")
    with pytest.raises(UnreadableFile, match="no file at that place"):
        read_csv(tmp_path)
    with pytest.raises(InvalidArgument, match="binary mode"):
        read_csv(io.StringIO("a,b\n1,2\n"))  # type: ignore[arg-type]


def test_parquet_reads_as_text() -> None:
    file = io.BytesIO()
    frame = pd.DataFrame({"x": [1.5, None], "n": [1, 2], "w": ["a", None], "d": pd.to_datetime(["2024-01-31", None])})
    frame.to_parquet(file)
    reading = read_csv(file.getvalue())
    assert reading.frame.iloc[0].tolist() == ["1.5", "1", "a", "2024-01-31 00:00:00"]
    assert reading.frame.iloc[1].tolist() == ["", "2", "", ""]
    assert [column.type for column in reading.columns] == ["number", "integer", "category", "date"]
    with pytest.raises(UnreadableFile, match="breaks off"):
        read_csv(file.getvalue()[:-4])
    with pytest.raises(UnreadableFile, match="damaged"):
        read_csv(file.getvalue()[:40] + b"PAR1")
    nested = io.BytesIO()
    pd.DataFrame({"x": [[1, 2], [3]]}).to_parquet(nested)
    with pytest.raises(UnreadableFile, match="lists or records"):
        read_csv(nested.getvalue())


def test_progress_rises_and_cancelling_stops() -> None:
    seen: list[float] = []
    read_csv(people(1000).encode(), progress=lambda fraction, what: seen.append(fraction))
    assert seen[0] == 0.0
    assert seen[-1] == 1.0
    assert seen == sorted(seen)
    for steps in (0, 2, len(seen) - 1):
        calls = iter([False] * steps + [True] * 1000)
        with pytest.raises(ReadingCancelled):
            read_csv(people(1000).encode(), cancel=lambda calls=calls: next(calls))


def test_nothing_of_a_file_stays_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The work folder is private while it exists and gone afterwards, whether reading succeeds or not."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    modes = []
    connect = engine.duckdb.connect

    def spy(*args: object, **options: object) -> object:
        modes.extend(
            (folder.stat().st_mode & 0o777, [f.stat().st_mode & 0o777 for f in folder.iterdir()])
            for folder in tmp_path.iterdir()
        )
        return connect(*args, **options)

    monkeypatch.setattr(engine.duckdb, "connect", spy)
    read_csv(SMALL)
    with pytest.raises(UnreadableFile):
        read_csv(b"a,b\n1,2\n3,4,5\n")
    assert (0o700, [0o600]) in modes
    assert all(folder == 0o700 and set(files) <= {0o600} for folder, files in modes)
    assert list(tmp_path.iterdir()) == []


def test_the_connection_reaches_no_other_file(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_bytes(SMALL)
    with engine._session() as (connection, _), pytest.raises(engine.duckdb.Error, match="disabled by configuration"):
        connection.read_csv(str(other)).fetchall()


CANARY = "kanarienvogel"


@pytest.mark.parametrize(
    "data",
    [
        f'a,b\n1,"{CANARY}\n2,y\n',
        f'a,b\n1,"{CANARY}" x\n',
        f"a,b\n1,2,{CANARY}\n",
        f"a,b\n{CANARY},\x00\n",
        f"a,b\n1,2,{CANARY}\n3,4,5\n",
        f"{CANARY},b\n",
        '"' + CANARY * 20_000 + '",b\n1,2\n',
    ],
)
def test_no_refusal_quotes_the_file(data: str) -> None:
    with pytest.raises(UnreadableFile) as caught:
        read_csv(data.encode())
    text = repr(caught.value) + repr(caught.value.__cause__) + str(caught.value)
    assert CANARY not in text


def test_large_files_keep_their_shape() -> None:
    """10⁵ rows with quoted newlines on the way; line numbers stay right after them."""
    lines = [f'{i},"x{i}"' if i % 1000 else f'{i},"x\n{i}"' for i in range(100_000)]
    reading = read_csv(("n,w\n" + "\n".join(lines)).encode())
    assert reading.frame.shape == (100_000, 2)
    assert reading.lines[:3].tolist() == [2, 4, 5]
    assert reading.lines[-1] == 2 + 99_999 + 100
    assert reading.frame["w"].iloc[99_000] == "x\n99000"


def test_keys_tell_a_thousand_one_row_neighbours_apart() -> None:
    """10⁶ rows, one row changed at a thousand places: every cache key is new.

    The key is SHA-256 over the choices and then every byte, so it can be continued from the state before the change;
    that this equals the key of a whole file is checked on one of them.
    """
    size, width = 10**6, 3
    data = b"age\n" + b"".join(b"%02d\n" % (i % 97) for i in range(size))
    from dpcore.datasets.reading.reader import Choices, _key

    keys = {_key(data, Choices())}
    state, done = hashlib.sha256(repr(Choices()).encode()), 0
    for row in range(0, size, size // 1000):
        start = 4 + row * width
        state.update(data[done:start])
        done = start
        neighbour = state.copy()
        neighbour.update(b"98\n")
        neighbour.update(data[start + width :])
        keys.add(neighbour.hexdigest())
        if row == 500 * (size // 1000):
            whole = data[:start] + b"98\n" + data[start + width :]
            assert neighbour.hexdigest() == _key(whole, Choices())
    assert len(keys) == 1001


def test_fingerprints_tell_a_thousand_one_row_neighbours_apart() -> None:
    """The fingerprint depends on rows through two exact sums of 64-bit halves of MD5, so a neighbour's is known
    from the digests of the old and the new row alone; that this equals a reading's is checked on one of them."""
    size = 10**6
    ages = pd.Series(np.arange(size) % 97).astype("str")
    frame = pd.DataFrame({"age": ages, "place": (pd.Series(np.arange(size)) // 97).astype("str")})
    low, high = engine.row_sums(frame)
    places = np.arange(0, size, size // 1000)
    old = frame.iloc[places].reset_index(drop=True)
    new = old.assign(age="98")
    sums = set()
    for before, after in zip(_digests(old), _digests(new), strict=True):
        sums.add((low - before[0] + after[0], high - before[1] + after[1]))
    assert len(sums | {(low, high)}) == 1001
    changed = frame.copy()
    changed.loc[places[500], "age"] = "98"
    assert engine.row_sums(changed) in sums


def _digests(frame: pd.DataFrame) -> list[tuple[int, int]]:
    """Both halves of each row's digest, made here as the engine describes it."""
    joined = frame["age"] + "\x1f1" + frame["place"]
    whole = [hashlib.md5(text.encode(), usedforsecurity=False).digest() for text in joined]
    return [(int.from_bytes(d[:8], "little"), int.from_bytes(d[8:], "little")) for d in whole]


def test_near_duplicates_are_noticed() -> None:
    """A file with a few rows changed, or with a column dropped, is about the same people; another draw is not."""
    text = people(1000)
    one = read_csv(text.encode())
    lines = text.splitlines()
    fewer = read_csv("\n".join([lines[0], *reversed(lines[11:]), "1001,5,W3", "1002,6,W4"]).encode())
    assert one.fingerprint != fewer.fingerprint
    assert likeness(one, fewer).rows == pytest.approx(990 / 992)
    assert likeness(one, fewer).same_people
    narrow = read_csv("\n".join(line.rsplit(",", 1)[0] for line in lines).encode())
    assert likeness(one, narrow).rows == 0.0
    assert likeness(one, narrow).columns == 1.0
    assert likeness(one, narrow).same_people
    other = read_csv(text.replace("W", "V").replace("\n", "\n9").encode())
    assert not likeness(one, other).same_people
    kept = sketch(one, "secret")
    assert sketched_likeness(kept, sketch(one, "secret")) == 1.0
    # 990 of 1002 different rows in common: .988, standard error at most .032 with 256 marks
    assert sketched_likeness(kept, sketch(fewer, "secret")) == pytest.approx(990 / 1002, abs=0.1)
    assert sketched_likeness(kept, sketch(other, "secret")) == 0.0
    assert sketched_likeness(kept, sketch(one, "another")) == 0.0


def test_a_reading_becomes_a_table() -> None:
    reading: Reading = read_csv(SMALL)
    table = reading.table(reading.suggested())
    assert table.counts("ill").tolist() == [1, 2]
    assert table.lineage == reading.fingerprint
    retyped = reading.table(reading.suggested().only("ill", "age"))
    assert retyped.fingerprint != table.fingerprint


def test_what_a_row_is_is_suggested() -> None:
    """Rising dates are steps, a few different words beside a number are options, all else is records."""
    data = Path(__file__).parents[2] / "data"
    found = {
        name: read_csv(data / f"{name}.csv").suggested().each_row for name in ("forecasts", "meeting_dates", "clinic")
    }
    assert found == {"forecasts": "step", "meeting_dates": "option", "clinic": "record"}
    falling = b"day,x\n2024-01-03,1\n2024-01-02,2\n2024-01-01,5\n"
    assert read_csv(falling).suggested().each_row == "record"
    assert read_csv(SMALL).suggested().each_row == "record"
