"""A backup adds to a ledger what this server's key file has marked, or what the owner says is to be believed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from dpcore.costs import Cost
from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import Ledger, backups, engine
from dpcore.ledger.__main__ import main
from dpcore.ledger.key import fresh
from dpcore.ledger.migrations import NEWEST
from dpcore.ledger.records import Record, canonical, sealed
from dpcore.ledger.recovery import restore
from dpcore.ledger.verify import MARKED, SQLITE_FORMS, SQLITE_SAFEGUARDS, replayed, sqlite_form
from tests.ledger.conftest import Place as LedgerPlace

MORE = {
    "a role": ("role", "person:mallory", "", {"roles": ["owner"]}),
    "a share": ("share", "people", "", {"subject": "mallory", "level": "own", "by": ""}),
    "an answer": ("answer", "people", "q", {"answer": {"option": "made up"}}),
    "a name": ("rename", "people", "", {"name": "Others"}),
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A ledger with a charge that is not answered yet."""
    file = tmp_path / "ledger.db"
    with Ledger.open(file) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        ledger.charge("q", "people", Cost(epsilon=0.5), "Which is most common?")
        ledger.begin_draw("q")
    return file


def records(place: Path) -> list[Record]:
    with Ledger.open(place) as ledger:
        return list(ledger.records())


def added(chain: Sequence[Record], kind: str, lineage: str, request_id: str, body: object) -> list[Record]:
    """``chain`` with one record more that fits, as anybody can work it out."""
    last = chain[-1]
    more = Record(
        seq=last.seq + 1,
        kind=kind,  # type: ignore[arg-type]
        lineage=lineage,
        request_id=request_id,
        time=last.time,
        body=canonical(body),  # type: ignore[arg-type]
        previous=last.hash,
        hash="",
    )
    return [*chain, sealed(more)]


def lines(path: Path, chain: Sequence[Record], *, mark: str = "") -> Path:
    path.write_text(
        "".join(f"{record.line()}\n" for record in chain) + (json.dumps({"mark": mark}) + "\n") * bool(mark)
    )
    return path


def lose(place: Path) -> None:
    """Database and journal, so that the backup is all there is."""
    for file in place.parent.glob(f"{place.name}*"):
        file.unlink()


@pytest.mark.parametrize("more", MORE)
def test_what_somebody_made_up_beyond_the_genuine_records_is_not_added(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: str
) -> None:
    """To a healthy ledger as little as to one that was lost; the sentence says what it would be."""
    before = records(place)
    made_up = lines(tmp_path / "made_up", added(before, *MORE[more]))
    command = ["--ledger", str(place), "restore", str(made_up)]
    assert main(command) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert f"1 × {MORE[more][0]}." in told
    assert "--unmarked" in told
    assert records(place) == before
    lose(place)
    assert main([*command, "--new-journal"]) == 1
    assert f"1 × {MORE[more][0]}" in capsys.readouterr().err
    assert main([*command, "--new-journal", "--unmarked"]) == 0, "it is the owner's to say"
    assert records(place)[len(before)].kind == MORE[more][0]


def test_a_mark_is_of_the_records_it_was_written_for(place: Path, tmp_path: Path) -> None:
    with Ledger.open(place) as ledger:
        key, last = ledger._store.key, ledger.records()[-1]
        right = backups._mark(key, last.seq, last.hash)
    genuine = records(place)
    assert backups.read(lines(tmp_path / "own", genuine, mark=right), key).marked
    wrong = {
        "more": (added(genuine, *MORE["a role"]), right),
        "fewer": (genuine[:-1], right),
        "no mark": (genuine, ""),
        "another key's": (genuine, backups._mark(fresh(), last.seq, last.hash)),
        "letters that are none": (genuine, "ä"),
    }
    for name, (chain, mark) in wrong.items():
        path = lines(tmp_path / name, chain, mark=mark)
        if name.startswith("letters"):
            with pytest.raises(LedgerUnsound):
                backups.read(path, key)
            continue
        found = backups.read(path, key)
        assert (found.marked, list(found.records)) == (False, list(chain)), name


@pytest.mark.parametrize("end", ["", " ", "\n"])
@pytest.mark.parametrize("padding", [0, 25, 26, 27])
def test_a_line_that_is_not_finished_lends_its_mark_to_nobody(
    place: Path, tmp_path: Path, end: str, padding: int
) -> None:
    """The genuine last record, of which nothing was read, stood behind made-up ones, and its mark counted for them."""
    with Ledger.open(place) as ledger:
        key, last = ledger._store.key, ledger.records()[-1]
    mark = json.dumps({"mark": backups._mark(key, last.seq, last.hash)})
    padded = mark + " " * (99 - len(mark)) if padding == 25 else mark + " " * padding
    path = lines(tmp_path / "backup", added(records(place), *MORE["a role"]))
    with path.open("a") as file:
        file.write(f"{last.line()}{end}{padded}\n")
    try:
        found = backups.read(path, key)
    except LedgerUnsound:
        return
    assert not found.marked


def test_a_backup_is_known_again_after_everything_else_was_lost(place: Path, tmp_path: Path) -> None:
    """Also the backup of a ledger that was a backup itself."""
    for number in range(3):
        before = records(place)
        with Ledger.open(place) as ledger:
            ledger.backup(tmp_path / f"backup-{number}")
        lose(place)
        restore(place, source=tmp_path / f"backup-{number}", new_journal=True)
        assert records(place)[: len(before)] == before
        if number:
            lose(place)
            place.write_bytes((tmp_path / f"backup-{number}").read_bytes())
            restore(place, new_journal=True)
        with Ledger.open(place) as ledger:
            ledger.charge(f"q{number}", "people", Cost(epsilon=0.1), "How many?")


def test_records_written_into_a_marked_database_take_its_mark_away(place: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    with Ledger.open(place) as ledger:
        ledger.backup(backup)
    made_up = added(records(place), *MORE["a role"])[-1]
    with closing(sqlite3.connect(backup)) as connection, connection:
        names = ", ".join(
            f":{name}" for name in ("seq", "kind", "lineage", "request_id", "time", "body", "previous", "hash")
        )
        columns = names.replace(":", "")
        said = {name: getattr(made_up, name) for name in columns.split(", ")}
        connection.execute(f"INSERT INTO records ({columns}) VALUES ({names})", said)  # noqa: S608
        connection.execute("UPDATE head SET seq = ?, hash = ?", (made_up.seq, made_up.hash))
    lose(place)
    with pytest.raises(LedgerUnsound, match="1 × role"):
        restore(place, source=backup, new_journal=True)
    with closing(sqlite3.connect(backup)) as connection, connection:
        connection.execute("DROP TRIGGER head_grows")
    with pytest.raises(LedgerUnsound, match="damaged itself"):
        restore(place, source=backup, new_journal=True)


def test_what_is_here_already_needs_no_mark(place: Path, tmp_path: Path) -> None:
    before = records(place)
    restore(place, source=lines(tmp_path / "older", before[:-1]))
    assert records(place) == before


def test_a_backup_of_a_ledger_without_a_record_is_not_damaged(
    new_place: Callable[[], LedgerPlace], tmp_path: Path
) -> None:
    """A nightly one may be written before anything was asked; nothing comes back from it, which is said."""
    empty, other = new_place(), new_place()
    with empty.open() as ledger:
        key = ledger._store.key
        assert ledger.backup(tmp_path / "backup") == 0
    assert backups.read(tmp_path / "backup", key) == backups.Backup([], marked=True)
    restore(empty.url, journal=empty.journal, source=tmp_path / "backup")
    with pytest.raises(LedgerUnsound, match="nothing to restore from: give the path of a backup that has a record"):
        restore(other.url, journal=other.journal, source=tmp_path / "backup")
    (tmp_path / "no mark").write_text('{"marks": ""}\n')
    with pytest.raises(LedgerUnsound, match="damaged itself"):
        backups.read(tmp_path / "no mark", key)


def test_another_key_file_does_not_know_it(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger.open(place) as ledger:
        ledger.backup(tmp_path / "backup")
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "another.key"))
    elsewhere = tmp_path / "elsewhere.db"
    with pytest.raises(LedgerUnsound, match="bears no mark"):
        restore(elsewhere, source=tmp_path / "backup", new_journal=True)
    assert not elsewhere.exists()
    with pytest.raises(LedgerUnsound, match="key file is not there"):
        restore(elsewhere, source=tmp_path / "backup", new_journal=True, unmarked=True)
    assert not (tmp_path / "another.key").exists()
    assert not elsewhere.exists()
    restore(elsewhere, source=tmp_path / "backup", new_journal=True, unmarked=True, new_key=True)


def test_records_that_no_ledger_writes_are_no_history(place: Path) -> None:
    genuine = records(place)
    answered = added(genuine, *MORE["an answer"])
    replayed(answered)
    linked = added(genuine, "link", "people", "", {"fingerprint": "f", "sketch": ""})
    replayed(linked)
    charge = next(record for record in genuine if record.kind == "charge")
    for chain in (
        added(answered, *MORE["an answer"]),
        added(answered, "draw", "people", "q", {}),
        added(genuine, "charge", "people", "q", charge.content),
        added(linked, "link", "people", "", {"fingerprint": "f", "sketch": "another"}),
        added(genuine, "link", "nobody", "", {"fingerprint": "f", "sketch": ""}),
        added(genuine, "charge", "people", "r", charge.content | {"units": charge.content["units"] | {"beyond": -1}}),
    ):
        with pytest.raises(LedgerUnsound):
            replayed(chain)


def test_every_form_that_ledgers_had_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {}
    for number in range(1, int(NEWEST) + 1):
        monkeypatch.setattr(engine, "NEWEST", f"{number:04}")
        file = tmp_path / f"{number}.db"
        made = engine.make_engine(engine.ledger_url(file))
        engine.migrate(made, fresh())
        made.dispose()
        assert backups._is_a_ledger_s(file)
        with closing(sqlite3.connect(file)) as connection:
            said = connection.execute(
                "SELECT sql FROM sqlite_schema WHERE sql NOT NULL AND tbl_name != 'alembic_version'"
            )
            found[number] = sqlite_form([sql for (sql,) in said])
            connection.execute(MARKED)
        assert backups._is_a_ledger_s(file)
    assert set(found.values()) == SQLITE_FORMS
    assert found[int(NEWEST)] == SQLITE_SAFEGUARDS


@pytest.mark.parametrize(("form", "believed"), [("0003", True), ("0006", True), ("0002", False)])
def test_a_mark_holds_for_every_form_whose_records_stay_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, believed: bool
) -> None:
    """A version more would else have made a backup of yesterday one that nobody marked."""
    key, file = fresh(), tmp_path / "old.db"
    with monkeypatch.context() as then:
        then.setattr(engine, "NEWEST", form)
        made = engine.make_engine(engine.ledger_url(file))
        engine.migrate(made, key)
        made.dispose()
    backups._mark_database(file, key)
    assert backups.read(file, key).marked is believed


@pytest.mark.parametrize(
    ("mode", "refused"), [(0o777, True), (0o707, True), (0o1777, False), (0o770, False), (0o700, False)]
)
def test_no_backup_is_written_where_everybody_may_replace_it(
    mode: int, refused: bool, place: Path, tmp_path: Path
) -> None:
    """Between two openings by its name another user's file would take its place."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(mode)
    with Ledger.open(place) as ledger, pytest.raises(LedgerError, match="your own") if refused else nullcontext():
        ledger.backup(folder / "backup")
    assert bool(list(folder.iterdir())) is not refused
