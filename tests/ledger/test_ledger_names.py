"""A file by which name ever: a link is no second ledger, and what is no file, or another of its own, no journal."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dpcore.costs import Cost
from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import Ledger, found, journal, key
from dpcore.ledger.__main__ import main
from dpcore.ledger.journal import Journal
from dpcore.ledger.lock import HELD, exclusive
from dpcore.ledger.place import OF_THE_LEDGER, Place
from dpcore.ledger.recovery import restore
from tests.ledger.test_ledger_tools import ALL, as_it_is, beside_a_ledger
from tests.peak import peak

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links and named pipes are of other systems")


class Endless(AssertionError):
    """Somebody waits for what never comes."""


@pytest.fixture
def in_time() -> Iterator[None]:
    """Whoever reads a pipe that nobody writes to, or zeros without an end, is stopped and fails."""

    def ring(*_: object) -> None:
        raise Endless

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


NO_FILES: dict[str, Callable[[Path], Path]] = {
    "a pipe": lambda folder: os.mkfifo(folder / "pipe") or folder / "pipe",  # type: ignore[func-returns-value]
    "zeros": lambda folder: Path("/dev/zero"),
    "nothing": lambda folder: Path("/dev/null"),
    "a folder": lambda folder: (folder / "folder").mkdir() or folder / "folder",  # type: ignore[func-returns-value]
    "a link to zeros": lambda folder: (folder / "link").symlink_to("/dev/zero") or folder / "link",  # type: ignore[func-returns-value]
}


@pytest.mark.usefixtures("in_time")
@pytest.mark.parametrize("records", [0, 2])
@pytest.mark.parametrize("what", NO_FILES)
def test_what_is_no_file_is_no_journal(
    what: str,
    records: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A look waited for it without end, and held the ledger meanwhile. No half of a new ledger stays, either."""
    _, own = beside_a_ledger(tmp_path, monkeypatch, records)
    with Ledger.open(own / "l.db") as ledger:
        ledger.backup(own / "backup")
    path = NO_FILES[what](tmp_path)
    before = as_it_is(own)
    for command in ALL:
        place = own / ("l.db" if command != ["init"] else "new.db")
        assert main(["--ledger", str(place), "--journal", str(path), *(one.format(own) for one in command)]) == 1
        assert "holds no record of a ledger" in capsys.readouterr().err, command
    assert {name for name in as_it_is(own) if not name.endswith(".lock")} == {
        name for name in before if not name.endswith(".lock")
    }
    with Ledger.open(own / "l.db") as ledger:
        ledger.open_budget("more", epsilon=1.0)


@pytest.mark.usefixtures("in_time")
@pytest.mark.parametrize("what", [name for name in NO_FILES if name != "a folder"])
def test_nor_is_it_one_at_the_usual_place_or_a_key(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, own = beside_a_ledger(tmp_path, monkeypatch, 2)
    path = NO_FILES[what](tmp_path)
    with monkeypatch.context() as patch:
        patch.setenv("EPSILON_LAB_KEY", str(path))
        with pytest.raises(LedgerError, match="key file cannot be read"):
            Ledger.open(own / "l.db")
    (own / "l.db.journal").unlink()
    (own / "l.db.journal").symlink_to(path)
    with pytest.raises(LedgerUnsound, match="holds no record"):
        Ledger.open(own / "l.db")
    with pytest.raises(LedgerUnsound, match="holds no record"):
        Journal(own / "l.db.journal").read_on()


@pytest.mark.parametrize("name", ["new.db", "new.db-wal", "new.db-shm", "new.db.lock", "key", "key.lock", "link"])
def test_a_ledger_s_own_files_are_no_journal(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of a ledger was made first, and left."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    (tmp_path / "link").symlink_to(tmp_path / "new.db")
    for command in (["init"], ["restore", "--new-journal"]):
        assert main(["--ledger", str(tmp_path / "new.db"), "--journal", str(tmp_path / name), *command]) == 1
        assert OF_THE_LEDGER in capsys.readouterr().err
        assert [one.name for one in tmp_path.iterdir()] == ["link"]


def linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A ledger and a link to it that lies in another folder."""
    _, own = beside_a_ledger(tmp_path, monkeypatch, 1)
    (tmp_path / "mine" / "s.db").symlink_to(own / "l.db")
    return own / "l.db", tmp_path / "mine" / "s.db"


def test_a_link_names_the_same_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By another lock two programs cut each other's lines in one journal, and both found it damaged."""
    file, link = linked(tmp_path, monkeypatch)
    with Ledger.open(file) as one, Ledger.open(link, patience=0.1) as other:
        assert one.journal_path == other.journal_path
        with exclusive(file.with_name("l.db.lock")), pytest.raises(LedgerError, match=HELD):
            other.open_budget("held", epsilon=1.0)

        def work(ledger: Ledger, name: str) -> None:
            for number in range(20):
                ledger.charge(f"{name}{number}", "people-0", Cost.pure(0.001), "How many?")

        other._store.patience = 60.0
        threads = [threading.Thread(target=work, args=(ledger, str(n))) for n, ledger in enumerate((one, other))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert one.verify().charges == other.verify().charges == 40
    assert not list(link.parent.glob("*.lock"))


def test_two_locks_are_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, link = linked(tmp_path, monkeypatch)
    monkeypatch.setattr(Place, "lock", property(lambda self: self.file.with_name(f"{self.file.name}.lock")))
    with Ledger.open(link, patience=0.1) as other, exclusive(file.with_name("l.db.lock")):
        other.open_budget("not held", epsilon=1.0)


def test_a_journal_that_lies_beside_a_link_stays_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As whoever always went by the link has it."""
    file, link = linked(tmp_path, monkeypatch)
    file.with_name("l.db.journal").rename(link.with_name("s.db.journal"))
    with Ledger.open(link) as ledger:
        assert ledger.journal_path == link.with_name("s.db.journal")
    with pytest.raises(LedgerUnsound, match="journal is missing"):
        Ledger.open(file)


def test_a_ledger_that_is_lost_is_not_made_anew_by_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, link = linked(tmp_path, monkeypatch)
    for one in file.parent.glob("l.db*"):
        one.unlink()
    with pytest.raises(LedgerUnsound, match="link to a file that is not there"):
        Ledger.open(link)
    file.touch()
    with pytest.raises(LedgerUnsound, match="no ledger at the place"):
        Ledger.open(link)


def on_a_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a back-up, and a disk with a ledger, its journal and its lock."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    (tmp_path / "home").mkdir()
    (tmp_path / "disk").mkdir()
    (tmp_path / "home" / "r.json").write_text("{}")
    with Ledger.open(tmp_path / "disk" / "real.db", create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        ledger.backup(tmp_path / "home" / "backup")
        for number in range(5):
            ledger.charge(f"r{number}", "people", Cost.pure(0.1), "How many?")
    return tmp_path / "home"


def by_a_link(home: Path) -> Path:
    (home / "l.db").symlink_to(home.parent / "disk" / "real.db")
    return home / "l.db"


def by_two_links(home: Path) -> Path:
    (home / "between").symlink_to(home.parent / "disk" / "real.db")
    (home / "l.db").symlink_to("between")
    return home / "l.db"


def by_a_folder_s_link(home: Path) -> Path:
    (home / "data").symlink_to(home.parent / "disk")
    return home / "data" / "real.db"


LINKS: list[Callable[[Path], Path]] = [by_a_link, by_two_links, by_a_folder_s_link]


def not_mounted(home: Path, *, folder: bool) -> Path:
    """The disk of the ledger, elsewhere; in its place an empty folder, or nothing."""
    (home.parent / "disk").rename(home.parent / "away")
    if folder:
        (home.parent / "disk").mkdir()
    return home.parent / "disk"


@pytest.mark.parametrize(
    ("link", "folder"),
    [(by_a_link, True), (by_a_link, False), (by_two_links, True), (by_two_links, False), (by_a_folder_s_link, False)],
)
def test_a_link_to_a_disk_that_is_not_mounted_is_told_and_stays(
    link: Callable[[Path], Path],
    folder: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bringing the ledger back was refused, took the link away, and would then have forgotten what was spent."""
    home = on_a_disk(tmp_path, monkeypatch)
    place = link(home)
    Ledger.open(place).close()
    disk = not_mounted(home, folder=folder)
    before = {one: one.is_symlink() for one in sorted(home.iterdir())}
    for command in (one for one in ALL if one != ["init"]):
        assert main(["--ledger", str(place), *(part.format(home) for part in command)]) == 1
        assert "link to a file that is not there" in capsys.readouterr().err, command
    with monkeypatch.context() as patch:  # a server that knows nothing of a ledger here
        patch.setenv("EPSILON_LAB_KEY", str(tmp_path / "another"))
        with pytest.raises(LedgerUnsound, match="link to a file that is not there"):
            Ledger.open(place)
    assert {one: one.is_symlink() for one in sorted(home.iterdir())} == before
    assert not folder or not list(disk.iterdir())
    if folder:
        disk.rmdir()
    (tmp_path / "away").rename(disk)
    with Ledger.open(place) as ledger:
        assert ledger.verify().charges == 5


def test_a_link_that_is_filled_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = on_a_disk(tmp_path, monkeypatch)
    place = by_a_link(home)
    disk = not_mounted(home, folder=True)
    monkeypatch.setattr(Place, "_check_link", lambda *_, **__: None)
    restore(place, source=home / "backup", new_journal=True)
    assert (disk / "real.db").exists()


def test_where_the_file_is_lost_an_empty_one_is_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the sentence says; what is refused leaves link and file as they were."""
    home = on_a_disk(tmp_path, monkeypatch)
    place, file = by_a_link(home), tmp_path / "disk" / "real.db"
    file.unlink()
    file.touch()
    (tmp_path / "disk" / "real.db.journal").rename(tmp_path / "journal")
    with pytest.raises(LedgerUnsound, match="journal is missing"):
        restore(place, source=home / "backup")
    assert place.is_symlink()
    assert file.read_bytes() == b""
    assert {one.name for one in (*home.iterdir(), *file.parent.iterdir())} == {
        "l.db", "backup", "r.json", "real.db", "real.db.lock",
    }  # fmt: skip
    (tmp_path / "journal").rename(tmp_path / "disk" / "real.db.journal")
    restore(place, source=home / "backup")
    with Ledger.open(place) as ledger:
        assert ledger.verify().charges == 5
    assert place.is_symlink()


@pytest.mark.parametrize("link", LINKS)
def test_a_link_may_be_there_before_its_ledger(
    link: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks for a new one by it has one, where the disk is there."""
    home = on_a_disk(tmp_path, monkeypatch)
    place = link(home)
    not_mounted(home, folder=True)
    (tmp_path / "key").unlink()
    assert main(["--ledger", str(place), "init"]) == 0
    assert {one.name for one in (tmp_path / "disk").iterdir()} == {"real.db", "real.db.lock"}


def killed_by(place: Path) -> None:
    """A server that died before anything was in the database's own file."""
    child = os.fork()
    if child == 0:
        ledger = Ledger.open(place, create=True)
        ledger.open_budget("people", epsilon=1.0)
        ledger.charge("r", "people", Cost.pure(0.1), "How many?")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


@pytest.mark.parametrize("link", LINKS)
def test_what_was_written_last_is_found_by_a_link(
    link: Callable[[Path], Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It lies beside the file itself, and so is it read, kept private and kept from being a journal."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    (tmp_path / "home").mkdir()
    (tmp_path / "disk").mkdir()
    place = link(tmp_path / "home")
    killed_by(place)
    log = tmp_path / "disk" / "real.db-wal"
    assert log.stat().st_size > (tmp_path / "disk" / "real.db").stat().st_size
    log.chmod(0o644)
    for command in (["status"], ["restore"], ["restore", "--new-journal"]):
        assert main(["--ledger", str(place), "--journal", str(log), *command]) == 1
        assert OF_THE_LEDGER in capsys.readouterr().err
    with Ledger.open(place, create=False) as ledger:
        assert ledger.verify().charges == 1
        assert log.stat().st_mode & 0o777 == 0o600


def test_a_file_beside_the_link_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    (tmp_path / "home").mkdir()
    (tmp_path / "disk").mkdir()
    place = by_a_link(tmp_path / "home")
    killed_by(place)
    monkeypatch.setattr(found, "real", lambda file: file)
    assert found.look(place) is not found.Found.LEDGER


def test_a_key_by_a_link_is_one_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is noted in it was written into the link's place, so that there were two."""
    beside_a_ledger(tmp_path, monkeypatch, 1)
    (tmp_path / "linked").symlink_to(tmp_path / "key")
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "linked"))
    Ledger.open(tmp_path / "another.db", create=True).close()
    assert (tmp_path / "linked").is_symlink()
    known = key.load(tmp_path / "key")
    assert known is not None
    assert str(tmp_path / "another.db") in known.ledgers
    assert not (tmp_path / "linked.lock").exists()


SIZE = 200 << 20


def an_image(folder: Path) -> Path:
    """A large file without the end of a line."""
    path = folder / "image"
    with path.open("wb") as file:
        file.truncate(SIZE)
    return path


@pytest.mark.parametrize("how", ["journal", "usual", "backup", "key"])
def test_a_large_file_is_not_read_as_a_whole_nor_while_others_wait(
    how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took twice its size, and a server of that ledger waited meanwhile."""
    monkeypatch.setattr(journal, "_LONGEST_LINE", 1 << 20)
    _, own = beside_a_ledger(tmp_path, monkeypatch, 2)
    path = an_image(tmp_path)
    asked = ["--ledger", str(own / "l.db")]
    commands = [["status"], ["restore"], ["restore", "--new-journal"]]
    if how == "journal":
        asked += ["--journal", str(path)]
    elif how == "usual":
        path.replace(own / "l.db.journal")
    elif how == "backup":
        commands = [["restore", str(path)]]
    else:
        monkeypatch.setenv("EPSILON_LAB_KEY", str(path))
    for command in commands:
        with exclusive(own / "l.db.lock" if how in ("journal", "usual") else tmp_path / "nobody's"):
            assert peak(lambda: main([*asked, *command])) < SIZE / 4  # noqa: B023
        said = capsys.readouterr().err
        assert {
            "journal": "holds no record of a ledger",
            "usual": "holds no record of a ledger",
            "backup": "damaged itself",
            "key": "key file is damaged",
        }[how] in said


def test_a_line_without_an_end_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So the test above can fail."""
    path = an_image(tmp_path)
    monkeypatch.setattr(journal, "_LONGEST_LINE", -1)
    assert peak(lambda: journal.is_one(path)) >= SIZE


@pytest.mark.parametrize("command", [one for one in ALL if one[0] != "backup"], ids=" ".join)
@pytest.mark.parametrize("what", ["ledger", "journal", "key"])
@pytest.mark.parametrize("links", [1, 2])
def test_a_link_that_leads_to_itself_is_one_sentence(
    what: str,
    command: list[str],
    links: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, own = beside_a_ledger(tmp_path, monkeypatch, 2)
    with Ledger.open(own / "l.db") as ledger:
        ledger.backup(own / "backup")
    names = [tmp_path / f"loop{number}" for number in range(links)]
    for one, other in zip(names, [*names[1:], names[0]], strict=True):
        one.symlink_to(other)
    asked = ["--ledger", str(own / ("new.db" if command == ["init"] else "l.db"))]
    if what == "ledger":
        asked = ["--ledger", str(names[0])]
    elif what == "journal":
        asked += ["--journal", str(names[0])]
    else:
        monkeypatch.setenv("EPSILON_LAB_KEY", str(names[0]))
    assert main([*asked, *(part.format(own) for part in command)]) == 1
    said = capsys.readouterr().err
    expected = {"ledger": "link to a file that is not there", "journal": "no record", "key": "key file cannot be"}
    assert expected[what] in said
    assert names[0].is_symlink()


@pytest.mark.parametrize("mutant", [False, True])
@pytest.mark.parametrize("link", LINKS)
def test_a_ledger_that_was_used_by_a_link_is_not_made_anew_by_its_own_name(
    link: Callable[[Path], Path], mutant: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a second service names it; nor the other way round."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    (tmp_path / "home").mkdir()
    (tmp_path / "disk").mkdir()
    place, file = link(tmp_path / "home"), tmp_path / "disk" / "real.db"
    if mutant:
        true = key.pin
        monkeypatch.setattr(key, "pin", lambda *parts, **more: None if parts[2] == str(file) else true(*parts, **more))
    with Ledger.open(place, create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
    for one in file.parent.iterdir():
        one.unlink()
    if mutant:
        Ledger.open(file).close()
        return
    with pytest.raises(LedgerUnsound, match="no ledger at the place"):
        Ledger.open(file)
