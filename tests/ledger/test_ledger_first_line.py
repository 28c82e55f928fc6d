"""A journal that was cut within its first line, by a full disk or a power failure: nobody had any of it, so nothing is
lost, and it is written whole as soon as it can be, by a program that runs and by one that is started."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from benchmarks.private_postgresql import PrivateServer
from dpcore.costs import Cost
from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import Ledger, journal
from dpcore.ledger import place as places
from dpcore.ledger import store as stores
from tests.ledger.conftest import Computers, Place

LINE = 380
"""No first line of these tests is as long."""
CUTS = (0, 1, 9, 10, 11, 150, LINE)
ZEROS = (b"", b"\0" * 70_000)


def first_line(folder: Path) -> bytes:
    """As a computer that wrote all of it has it, without its end."""
    with (folder / "ledger.journal").open("rb") as file:
        return file.readline().removesuffix(b"\n")


def opened(url: str, folder: Path, *, create: bool | None = None) -> Ledger:
    return Ledger.open(url, journal=folder / "ledger.journal", create=create)


def begun(url: str, first: Path) -> bytes:
    """A ledger with several records, and the first line of its journal."""
    with opened(url, first, create=True) as ledger:
        ledger.open_budget("people", epsilon=1000.0)
        for number in range(3):
            ledger.charge(f"r{number}", "people", Cost.pure(0.01), "?")
    return first_line(first)


def is_whole(ledger: Ledger, folder: Path) -> bool:
    """Whether its journal holds every record, and nothing is left beside it of what was begun."""
    lines = (folder / "ledger.journal").read_text(encoding="ascii").splitlines()
    return lines == [one.line() for one in ledger.records()] and not [*folder.glob("*.partial")]


def cut_at(patch: pytest.MonkeyPatch, cut: int) -> None:
    """The disk takes so many bytes of what is written next, and no more."""

    def written(handle: int, data: bytes) -> None:
        os.write(handle, data[:cut])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    patch.setattr(journal, "_write_all", written)


def start_cut(server: PrivateServer, folder: Path, computers: Computers, cuts: tuple[int, ...], left: bytes) -> None:
    """Computers that join, each with so much of a first line."""
    url = server.new_schema()
    line = begun(url, computers("first", folder))
    for cut in cuts:
        joins = computers(f"joins{cut}", folder)
        (joins / "ledger.journal").write_bytes(line[:cut] + (left if cut else b""))
        with opened(url, joins) as ledger:
            ledger.charge(f"c{cut}", "people", Cost.pure(0.01), "?")
            ledger.verify()
            assert is_whole(ledger, joins), cut
        (joins / "ledger.journal").write_bytes(line[:cut])
        with pytest.raises(LedgerUnsound, match="is missing"):  # known from now on to have one
            opened(url, joins)


def run_cut(server: PrivateServer, folder: Path, computers: Computers, cuts: tuple[int, ...], left: bytes) -> None:
    """Computers that came before the ledger began, each of which is left so much of a first line."""
    url, first = server.new_schema(), computers("first", folder)
    with ExitStack() as opens:
        opens.enter_context(opened(url, first, create=True))
        came = {cut: computers(f"came{cut}", folder) for cut in cuts}
        running = {
            cut: (computers(one.name, folder), opens.enter_context(opened(url, one)))[1] for cut, one in came.items()
        }
        computers("first", folder)
        with opened(url, first) as ledger:
            ledger.open_budget("people", epsilon=1000.0)
            ledger.open_budget("others", epsilon=1000.0)
        for cut, ledger in running.items():
            here = computers(came[cut].name, folder)
            (here / "ledger.journal").write_bytes(first_line(first)[:cut] + (left if cut else b""))
            ledger.charge(f"c{cut}", "people", Cost.pure(0.01), "?")
            ledger.verify()
            assert is_whole(ledger, here), cut


Way = Callable[[PrivateServer, Path, Computers, tuple[int, ...], bytes], None]
WAYS: dict[str, Way] = {"started anew": start_cut, "running on": run_cut}


@pytest.mark.thorough
@pytest.mark.parametrize("left", ZEROS, ids=["plain", "with zeros"])
@pytest.mark.parametrize("way", WAYS)
def test_a_new_computer_writes_all_of_it(
    way: str, left: bytes, server: PrivateServer, tmp_path: Path, computers: Computers
) -> None:
    """It was closed for want of a journal that there never was, or said for good that another had just begun."""
    WAYS[way](server, tmp_path, computers, CUTS, left)


def test_wherever_it_is_cut_it_is_one_that_has_not_begun(whole: Ledger, tmp_path: Path) -> None:
    """As each of them asks, at every letter and with zeros behind it."""
    path, record = tmp_path / "cut.journal", whole.records()[0]
    line = record.line().encode("ascii")
    for cut in range(1, len(line) + 1):
        for left in ZEROS if cut % 50 == 1 else (b"", b"\0"):
            path.write_bytes(line[:cut] + left)
            found = journal.Journal(path)
            found.read_on()
            assert journal.is_one(path)
            assert not journal.is_begun(path)
            assert (found.seq, found.is_finished(), found.ends_before([record])) == (0, False, True), cut
    path.write_bytes(line + b"\n")
    assert journal.is_begun(path)
    assert len(line) < LINE


@pytest.mark.thorough
@pytest.mark.parametrize("cut", CUTS)
def test_of_a_journal_whose_disk_is_full_nothing_is_left(
    cut: int, server: PrivateServer, tmp_path: Path, computers: Computers
) -> None:
    url, first = server.new_schema(), computers("first", tmp_path)
    with opened(url, first, create=True), opened(url, came := computers("came", tmp_path)) as ledger:
        begun_by = computers("first", tmp_path)
        with opened(url, begun_by) as other:
            other.open_budget("people", epsilon=1000.0)
            other.open_budget("others", epsilon=1000.0)
        computers("came", tmp_path)
        with pytest.MonkeyPatch.context() as full:
            cut_at(full, cut)
            with pytest.raises(LedgerError, match="disk is full"):
                ledger.charge("c", "people", Cost.pure(0.01), "?")
        ledger.charge("c", "people", Cost.pure(0.01), "?")
        assert is_whole(ledger, came)
    joins = computers("joins", tmp_path)
    with pytest.MonkeyPatch.context() as full:
        cut_at(full, cut)
        with pytest.raises(LedgerError, match="disk is full"):
            opened(url, joins)
    with opened(url, joins) as ledger:
        assert is_whole(ledger, joins)


@pytest.mark.thorough
@pytest.mark.parametrize("way", WAYS)
def test_the_first_record_is_written_down_wherever_its_line_was_cut(way: str, new_place: Callable[[], Place]) -> None:
    """By who wrote it, on either database; an empty file is a journal that was lost."""
    for cut in CUTS[1:]:
        place = new_place()
        ledger = place.open()
        with pytest.MonkeyPatch.context() as full:
            cut_at(full, cut)
            with pytest.raises(LedgerError, match="has recorded this"):
                ledger.open_budget("people", epsilon=1.0)
        if way == "started anew":
            ledger.close()
            ledger = place.open()
        assert ledger.charge("a", "people", Cost.pure(0.01), "?").request_id == "a"
        ledger.verify()
        assert place.journal.read_bytes().count(b"\n") == len(ledger.records())
        ledger.close()
        place.open().close()


@pytest.mark.parametrize("found", [b'{"body":"{"another', b"{x", b"\0" * 100], ids=["another", "no journal", "zeros"])
def test_what_is_left_of_anything_else_stays_as_it_is(
    found: bytes, server: PrivateServer, tmp_path: Path, computers: Computers
) -> None:
    url = server.new_schema()
    begun(url, computers("first", tmp_path))
    joins = computers("joins", tmp_path)
    (joins / "ledger.journal").write_bytes(found)
    for _ in range(2):
        with pytest.raises(LedgerUnsound, match="holds no record"):
            opened(url, joins)
        assert (joins / "ledger.journal").read_bytes() == found


@pytest.mark.parametrize("way", WAYS)
def test_these_tests_can_fail(
    way: str, server: PrivateServer, tmp_path: Path, computers: Computers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: new here was who had no file, or an empty one."""
    monkeypatch.setattr(places, "is_begun", lambda path: path.exists() and path.stat().st_size > 0)
    with pytest.raises(LedgerError, match="is missing" if way == "started anew" else stores.JUST_BEGUN):
        WAYS[way](server, tmp_path, computers, (100,), b"")
