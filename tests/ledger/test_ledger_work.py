"""What a click of anybody's looks at does not grow with what everybody has written: counted, never timed."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from sqlalchemy import bindparam, event, select, text

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument, LedgerUnsound, NotAllowed
from dpcore.ledger import Ledger, history, journal, practice, rate, rooms, schema
from dpcore.ledger.budget import Budget
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.records import Record
from dpcore.ledger.roles import EVERYONE, Person, Role
from dpcore.ledger.visitor import VisitorsLedger
from tests.ledger.conftest import Place

TOKEN = "t" * 32
NONSENSE = json.dumps({"request_id": "x", "answer_hash": None, "journal_hash": ""})


def practised(ledger: Ledger, token: str, number: str) -> str:
    """One answer in somebody's practice; its receipt."""
    lineage = ledger.open_practice(token, "clinic", epsilon=3.0).lineage
    ledger.charge(number, lineage, Cost.pure(0.1), "Which?", question="q")
    return ledger.store_answer(number, 7).to_json()


@pytest.fixture
def crowd() -> Iterator[Ledger]:
    """A ledger in which twelve others have practised, two real budgets, a room, and us."""
    with Ledger.open("sqlite://") as ledger:
        for number in range(12):
            practised(ledger, f"{number:032}", f"r{number}")
        for lineage in ("people", "others", ledger.room_lineage(TOKEN)):
            ledger.open_budget(lineage, epsilon=1.0, name=lineage)
            ledger.charge(f"of {lineage}", lineage, Cost.pure(0.1), "How many?", question="q")
        practised(ledger, TOKEN, "mine")
        yield ledger


def viewer(crowd: Ledger) -> MembersLedger:
    return MembersLedger(crowd, Person(subject="vera at https://login.example", claimed=frozenset()), TOKEN)


CLICKS: dict[str, Callable[[Ledger, str], object]] = {
    "receipts": lambda ledger, brought: ledger.receipts(),
    "budgets": lambda ledger, brought: ledger.budgets(),
    "find": lambda ledger, brought: ledger.find(json.loads(brought)["journal_hash"][:12]),
    "find nothing": lambda ledger, brought: ledger.find("00000000"),
    "receipt": lambda ledger, brought: ledger.receipt("mine"),
    "confirms": lambda ledger, brought: ledger.confirms(brought),
    "confirms nonsense": lambda ledger, brought: ledger.confirms(NONSENSE),
    "may_begin": lambda ledger, brought: ledger.may_begin(),
}


@pytest.mark.parametrize("view", ["visitor", "viewer"])
def test_nothing_of_anybody_else_is_read(crowd: Ledger, monkeypatch: pytest.MonkeyPatch, view: str) -> None:
    """Rows that become receipts or budgets are this person's own; and no query walks through all records."""
    mine = VisitorsLedger(crowd, TOKEN) if view == "visitor" else viewer(crowd)
    brought = crowd.receipt("mine").to_json()
    made: Counter[str] = Counter()
    read, budget = history._read, Budget.of

    def reading(row: dict[str, Any]) -> Any:
        made["rows"] += 1
        return read(row)

    def budgeting(row: dict[str, Any]) -> Any:
        made["rows"] += 1
        return budget(row)

    monkeypatch.setattr(history, "_read", reading)
    monkeypatch.setattr(Budget, "of", budgeting)
    plans: list[str] = []

    @event.listens_for(crowd._store.engine, "before_cursor_execute")
    def explain(connection: Any, cursor: Any, statement: str, values: Any, context: Any, many: bool) -> None:
        if statement.startswith("SELECT"):
            plan = cursor.connection.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()
            plans.extend(str(step[3]) for step in plan)

    for name, click in CLICKS.items():
        made.clear()
        plans.clear()
        click(mine, brought)
        assert made["rows"] <= 1, name
        assert plans, name
        assert not [step for step in plans if step.startswith("SCAN records") and "INDEX" not in step], name
    monkeypatch.undo()
    assert [one.request_id for one in mine.receipts()] == ["mine"]
    assert [one.name for one in mine.budgets()] == ["clinic"]
    assert [one.request_id for one in CLICKS["find"](mine, brought)] == ["mine"]  # type: ignore[attr-defined]
    plans.clear()
    Ledger.receipts(mine)
    assert any(step.startswith("SCAN records") for step in plans), "what shows that the test can fail"


def steps(ledger: Ledger, act: Callable[[], object], counts: Callable[[], bool] = lambda: True) -> int:
    """What something costs while it ``counts``, without a clock: Python's own calls, and the database's steps."""
    found: Counter[str] = Counter()

    def step() -> None:
        found["steps"] += counts()

    def call(frame: FrameType, kind: str, argument: object) -> None:
        found["steps"] += kind.endswith("call") and counts()

    raw = ledger._store.engine.raw_connection()
    driver: Any = raw.driver_connection  # of a ledger in memory, which has one
    act()  # what is made once is made
    driver.set_progress_handler(step, 1)
    sys.setprofile(call)
    try:
        act()
    finally:
        sys.setprofile(None)
        driver.set_progress_handler(None, 0)
        raw.close()
    return found["steps"]


def others(ledger: Ledger, few: int, many: int) -> None:
    """So many others who practise and play rooms."""
    for number in range(few, many):
        ledger.open_practice(f"{number:032}", f"sample {number % 3}", epsilon=1.0)
        room = ledger.room_lineage(f"{number:032}")
        ledger.open_budget(room, epsilon=1.0)
        VisitorsLedger(ledger, f"{number:032}").note_room(room)


BEGUN: dict[str, Callable[[Ledger], object]] = {
    "may_begin": lambda ledger: ledger.may_begin(rate.room(1)),
    "open_practice": lambda ledger: ledger.open_practice(TOKEN, "clinic", epsilon=3.0),
    "reset_practice": lambda ledger: ledger.reset_practice(Ledger.practice_lineage(TOKEN, "clinic")),
    "budgets": lambda ledger: ledger.budgets(),
    "receipts": lambda ledger: ledger.receipts(),
    "chargeable": lambda ledger: ledger.chargeable(),
    "comparable": lambda ledger: ledger.comparable(),
}


def grown(view: Callable[[Ledger], Ledger], clicks: Mapping[str, Callable[[Ledger], object]]) -> list[str]:
    """What costs more than a little more where there are ten times as many others."""
    with Ledger.open("sqlite://") as ledger:
        practised(ledger, TOKEN, "mine")
        others(ledger, 0, 8)
        before = {name: steps(ledger, lambda click=click: click(view(ledger))) for name, click in clicks.items()}
        others(ledger, 8, 80)
        after = {name: steps(ledger, lambda click=click: click(view(ledger))) for name, click in clicks.items()}
    return [name for name in clicks if after[name] > 1.1 * before[name]]


def owner(whole: Ledger) -> MembersLedger:
    claimed = frozenset[Role]({"owner", "analyst"})
    return MembersLedger(whole, Person(subject="olga at https://login.example", claimed=claimed), TOKEN)


VIEWS: dict[str, Callable[[Ledger], Ledger]] = {
    "visitor": lambda whole: VisitorsLedger(whole, TOKEN),
    "viewer": viewer,
    "owner": owner,
}


@pytest.mark.parametrize("view", VIEWS)
def test_however_many_others_there_are_nobody_waits_for_them(view: str) -> None:
    """Whoever drops cookies, or opens rooms, makes nobody's click longer."""
    assert grown(VIEWS[view], BEGUN) == []


def test_names_that_are_all_looked_through_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: as practice and rooms were once found."""
    known = schema.lineages.c.lineage
    name = known.label("name")
    like = select(name).where(known.startswith("practice:"), known.endswith(bindparam("whose")))
    with monkeypatch.context() as then:
        then.setattr(practice, "_OF", like)
        assert set(grown(VIEWS["visitor"], BEGUN)) >= {"may_begin", "budgets", "receipts"}

    def tried(opened: rooms.Opened, token: str) -> list[str]:
        noted = [one for some in opened._rooms.values() for one in some]
        return [one for one in noted if rooms.opened_by(one, token)]

    monkeypatch.setattr(rooms.Opened, "opened_by", tried)
    assert grown(VIEWS["visitor"], BEGUN) == ["may_begin", "reset_practice"]


def test_of_what_is_shared_with_others_nothing_is_read(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of budgets that are nobody's, that others have, or that are a room's no record is read for a look."""
    olga, vera = owner(ledger), viewer(ledger)
    for number in range(5):
        ledger.open_budget(f"others {number}", epsilon=1.0)
        ledger.share(f"others {number}", f'"subject":"{olga._subject}"', "own")
        ledger.open_budget(ledger.room_lineage(f"{number:032}"), epsilon=1.0)
    olga.open_budget("hers", epsilon=1.0)
    olga.share("hers", vera._subject, "see")
    ledger.share("others 0", EVERYONE, "see")
    for level in ("ask", "none"):
        ledger.share("others 1", vera._subject, level)
    read: list[str] = []
    content = Record.content.fget  # type: ignore[attr-defined]
    monkeypatch.setattr(Record, "content", property(lambda record: (read.append(record.lineage), content(record))[1]))
    assert {one.lineage for one in vera.budgets()} == {"hers", "others 0"}
    assert set(read) == {"hers", "others 0", "others 1"}
    read.clear()
    assert {one.lineage for one in olga.budgets()} == {"hers", "others 0"}
    assert [one.lineage for one in olga.chargeable()] == ["hers"]
    assert olga.comparable() == ["hers", *(f"others {number}" for number in range(5))]
    assert set(read) == {"hers", "others 0"}


def test_a_room_is_not_shared(ledger: Ledger) -> None:
    """Nor opened by a person who would find a budget that no list of theirs shows."""
    room = ledger.room_lineage(TOKEN)
    ledger.open_budget(room, epsilon=1.0)
    for act in (lambda: ledger.share(room, "olga", "own"), lambda: ledger.set_limit(room, 0.1)):
        with pytest.raises(InvalidArgument, match="a room's"):
            act()
    with pytest.raises(NotAllowed):
        owner(ledger).open_budget(ledger.room_lineage(TOKEN), epsilon=1.0)


def test_whose_practice_it_is_is_looked_up_in_every_database(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """By an index, as far as the database is free to say so; and nothing but one's own is found, nor a real budget of
    such a name from before these were kept."""
    monkeypatch.setattr(Ledger, "_must_be_free", lambda *_, **__: None)
    for number in range(4):
        ledger.open_practice(f"{number:032}", "a:b" if number % 2 else "clinic", epsilon=1.0)
    ledger.open_practice(f"{1:032}", "clinic", epsilon=1.0)
    ledger.open_budget("practice:x" + Ledger.practice_lineage(f"{1:032}", "clinic")[-20:], epsilon=1.0)
    with ledger._store.reading() as connection:
        assert len(practice.of(connection, f"{1:032}")) == 2
        for number in range(4):
            assert all(practice.belongs(one, f"{number:032}") for one in practice.of(connection, f"{number:032}"))
        if connection.dialect.name == "postgresql":
            connection.execute(text("SET LOCAL enable_seqscan = off"))
            explain = "EXPLAIN "
        else:
            explain = "EXPLAIN QUERY PLAN "
        asked = str(practice._OF.compile(connection.engine, compile_kwargs={"literal_binds": False}))
        plan = connection.exec_driver_sql(explain + asked.replace("?", "'x'").replace("%(whose)s::VARCHAR", "'x'"))
        assert "lineages_by_end" in str(plan.fetchall())


def test_a_hash_is_found_by_its_beginning_alone(ledger: Ledger) -> None:
    """Whatever the order of texts is where the database stands."""
    receipts = [json.loads(practised(ledger, TOKEN, f"r{number}")) for number in range(4)]
    for one in receipts:
        for start in (one["journal_hash"], one["journal_hash"][:8]):
            assert [found.request_id for found in ledger.find(start)] == [one["request_id"]]
    assert len(ledger.find("")) == 2
    whole = receipts[0]["journal_hash"]
    for nothing in (whole.upper() + "A", "zz", "%", "_" * 12, whole[:8] + "%", whole + "0", "\x00"):
        assert ledger.find(nothing) == []


def test_a_receipt_is_held_against_its_own_lines_alone(sqlite_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two lines of the journal, however long it is; none for what was never charged. A changed line is found."""
    lines: list[bytes] = []
    parse = journal._parse

    def counted(raw: bytes) -> Any:
        lines.append(raw)
        return parse(raw)

    with sqlite_place.open() as ledger:
        receipts = [practised(ledger, f"{number:032}", f"r{number}") for number in range(4)]
        monkeypatch.setattr(journal, "_parse", counted)
        for one in receipts:
            lines.clear()
            assert ledger.confirms(one)
            assert len(lines) == 2
        lines.clear()
        for nonsense in (NONSENSE, NONSENSE.replace('"x"', '"x\\u0000"'), NONSENSE.replace('"x"', "5"), "{}"):
            assert not ledger.confirms(nonsense)
        assert lines == []
        _spoil(sqlite_place.journal, b'\\"answer\\":7', b'\\"answer\\":8')
        with pytest.raises(LedgerUnsound, match="journal is damaged"):
            ledger.confirms(receipts[0])


def test_a_journal_that_says_something_else_than_the_database_confirms_nothing(sqlite_place: Place) -> None:
    """Also where each of its lines is as it should be."""
    with sqlite_place.open() as ledger:
        receipt = practised(ledger, TOKEN, "mine")
        kept = ledger._store.journal
        assert kept is not None
        kept._places[1], kept._places[2] = kept._places[2], kept._places[1]
        with pytest.raises(LedgerUnsound, match="journal is damaged"):
            ledger.confirms(receipt)
        kept.path.unlink()
        with pytest.raises(LedgerUnsound, match="journal is missing"):
            ledger.confirms(receipt)


def _spoil(path: Path, was: bytes, now: bytes) -> None:
    data = path.read_bytes()
    assert was in data
    path.write_bytes(data.replace(was, now, 1))
