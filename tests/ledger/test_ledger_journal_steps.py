"""A process that is killed at any step of the journal leaves a ledger that goes on, and whoever reads the journal
meanwhile, to keep its head elsewhere, sees its lines and the beginning of one."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from dpcore.costs import Cost
from dpcore.errors import LedgerUnsound
from dpcore.ledger import Ledger
from dpcore.ledger import journal as journals
from dpcore.ledger.people import Brought
from dpcore.ledger.records import Record
from dpcore.ledger.recovery import restore
from tests.ledger.conftest import Place

CALLS = {"open", "fstat", "write", "lseek", "ftruncate", "fsync", "posix_fallocate"}
DOCS = Path(__file__).parents[2] / "docs" / "operations.md"
FILE = Brought(fingerprint="a")
USUAL = "~/.local/share/epsilon-lab/ledger.sqlite3.journal"


class Killed(BaseException):
    """No step is taken any more, but that the system closes what is open."""


class Steps:
    """``os`` as the journal sees it; what lies there is noted before and after each of its steps."""

    def __init__(self, path: Path, dies_at: int) -> None:
        self.path, self.dies_at = path, dies_at
        self.taken = 0
        self.seen: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(os, name)
        return self._step(name, found) if name in CALLS else found

    def _step(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def taken(*given: Any, **more: Any) -> Any:
            self._pass()
            if name == "write" and len(given[1]) > 1:
                given = (given[0], given[1][: len(given[1]) // 2])  # as a system may
            found = call(*given, **more)
            self._pass()
            return found

        return taken

    def _pass(self) -> None:
        self.taken += 1
        self.seen.append(self.path.read_bytes() if self.path.exists() else b"")
        if self.taken > self.dies_at:
            raise Killed


def killed(place: Place, earlier: int, dies_at: int, file: Brought | None) -> tuple[Steps, bool]:
    """What a reader saw of a process that writes after so many others a record, or two at once where it links a file,
    and whether it was killed."""
    with place.open() as ledger:
        for number in range(earlier):
            ledger.open_budget(f"people-{number}", epsilon=1.0)
        steps = Steps(place.journal, dies_at)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(journals, "os", steps)
            try:
                ledger.open_budget("more", epsilon=1.0, file=file)
            except Killed:
                return steps, True
    return steps, False


def opened(place: Place) -> Ledger:
    return place.open()


def restored(place: Place) -> Ledger:
    """By its owner, who was told that there was trouble."""
    said = restore(place.url, journal=place.journal)
    assert not any("set aside" in one for one in said), "nothing is damaged"
    return place.open()


def goes_on(place: Place, way: Callable[[Place], Ledger]) -> None:
    with way(place) as ledger:
        if "more" not in [one.lineage for one in ledger.chargeable()]:
            ledger.open_budget("more", epsilon=1.0)
        ledger.charge("a", "more", Cost.pure(0.5), "?")
        ledger.verify()
        assert ledger.remaining("more").epsilon == 0.5
        assert place.journal.read_text(encoding="ascii").splitlines() == [one.line() for one in ledger.records()]


def every_step(
    new_place: Callable[[], Place],
    earlier: int,
    file: Brought | None = None,
    way: Callable[[Place], Ledger] = opened,
) -> int:
    for dies_at in range(100):
        place = new_place()
        steps, died = killed(place, earlier, dies_at, file)
        if earlier:  # before there is a record nobody has a head to keep
            assert not any(b"\0" in seen for seen in steps.seen), dies_at
        goes_on(place, way)
        if not died:
            return dies_at
    raise AssertionError("it never ends")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("earlier", "file", "way"),
    [
        *((earlier, None, opened) for earlier in (0, 1, 2)),
        *((earlier, FILE, way) for earlier in (0, 1) for way in (opened, restored)),
    ],
)
def test_a_kill_at_any_step_closes_no_ledger(
    earlier: int, file: Brought | None, way: Callable[[Place], Ledger], new_place: Callable[[], Place]
) -> None:
    """At the very first records too: their journal was empty, or too little, as one that was lost."""
    assert every_step(new_place, earlier, file, way) > 10


def without_a_sign(patch: pytest.MonkeyPatch, folder: Path) -> None:
    patch.setattr(journals, "_SIGN", b"")


def lost_from_the_second_record_on(patch: pytest.MonkeyPatch, folder: Path) -> None:
    def is_lost(journal: journals.Journal, records: Iterable[Record]) -> bool:
        many = len(list(records))
        return journal.seq == 0 and many > 0 and (journal.is_finished() or many > 1)

    patch.setattr(journals.Journal, "is_lost", is_lost)


def cut_before_it_is_written(patch: pytest.MonkeyPatch, folder: Path) -> None:
    write_all = journals._write_all

    def cut(handle: int, data: bytes) -> None:
        journals.os.ftruncate(handle, os.lseek(handle, 0, os.SEEK_CUR))
        write_all(handle, data)

    patch.setattr(journals, "_write_all", cut)


def with_room_in_the_journal(patch: pytest.MonkeyPatch, folder: Path) -> None:
    take = journals._take

    def taken(handle: int, start: int, size: int) -> None:
        for own in held_journals(folder):
            take(own, start, size)
            os.ftruncate(own, start)

    patch.setattr(journals, "_take", taken)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("broken", "earlier", "file", "error"),
    [
        (without_a_sign, 0, None, LedgerUnsound),
        (cut_before_it_is_written, 0, None, LedgerUnsound),
        (lost_from_the_second_record_on, 0, FILE, LedgerUnsound),
        (with_room_in_the_journal, 1, None, AssertionError),
    ],
)
def test_these_tests_can_fail(
    broken: Callable[[pytest.MonkeyPatch, Path], None],
    earlier: int,
    file: Brought | None,
    error: type[Exception],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As it was."""
    files = (tmp_path / f"{number}.db" for number in range(100))
    broken(monkeypatch, tmp_path)
    with pytest.raises(error):
        every_step(lambda: Place(f"sqlite:///{(one := next(files))}", Path(f"{one}.journal"), one), earlier, file)


def held_journals(folder: Path) -> list[int]:
    """The descriptors of journals there that this process has open."""
    named = {int(one.name): os.readlink(one) for one in Path("/proc/self/fd").iterdir() if os.path.lexists(one)}
    return [handle for handle, name in named.items() if name.startswith(str(folder)) and name.endswith(".db.journal")]


@pytest.fixture
def commands() -> tuple[str, str]:
    """How docs/operations.md has the head kept, and looks for it."""
    found = re.search(r"^(tail .*)\n(grep .*)$", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return found[1], found[2]


@pytest.mark.parametrize("behind", [b"", b'{"body":"{', b"\0" * 70_000, b'{"body":"{\\"a\\":\\"b\\"}'])
def test_the_head_that_is_kept_is_the_last_whole_record(
    behind: bytes, commands: tuple[str, str], whole: Ledger, sqlite_place: Place, tmp_path: Path
) -> None:
    """Whatever a writer, or a machine that died, left behind it; and it is missed in a journal that was set back."""
    lines = sqlite_place.journal.read_bytes().splitlines(keepends=True)
    journal, head = tmp_path / "journal", tmp_path / "head"
    said = [one.replace(USUAL, str(journal)).replace("/elsewhere/head", str(head)) for one in commands]

    def run(command: str) -> str:
        return subprocess.run(["sh", "-c", command], check=False, capture_output=True, text=True).stdout

    for upto in (1, 2, len(lines)):
        journal.write_bytes(b"".join(lines[:upto]) + behind)
        run(said[0])
        assert head.read_bytes() == lines[upto - 1]
        assert run(said[1]) == "", "it is there"
        journal.write_bytes(b"".join(lines))
        assert run(said[1]) == "", "and stays there"
        journal.write_bytes(b"".join(lines[: upto - 1]))
        assert "set back" in run(said[1])
    if behind:
        journal.write_bytes(b"".join(lines) + behind)
        subprocess.run(["sh", "-c", f"tail -n 1 {journal} > {head}"], check=True)
        journal.write_bytes(b"".join(lines))
        assert "set back" in run(said[1]), "as it was"
