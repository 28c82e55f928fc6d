"""Records are found by whom and what they name, whatever stands in a name, by indexes; and lists have no length."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import event, insert, select

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument, LedgerError, NotAllowed
from dpcore.ledger import Ledger, daily, history, joining, people, schema, terms
from dpcore.ledger.asked import Known
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.people import Bringer, Brought
from dpcore.ledger.records import Kind
from dpcore.ledger.roles import EVERYONE, LONGEST, Person
from dpcore.ledger.several import SeveralLedger
from tests.ledger.conftest import Place

AT = " at https://login.example"
ODD = ('an"na', "anna", "anna\\", 'an"', "ännä", "a" * 399, "a" * 400, "a" * 401, "a" * 500, '","subject":"olga', "😀")
"""What a name may hold that its JSON writes otherwise, or that its index does not hold to its end."""
SMALL = Cost.pure(1e-3)


def person(whole: Ledger, name: str) -> MembersLedger:
    return MembersLedger(whole, Person(subject=name + AT, claimed=frozenset({"owner", "analyst"})), "t" * 32)


def whose(ledger: Ledger) -> dict[str, set[str]]:
    with ledger._store.reading() as connection:
        return {name: set(history.naming(connection, name + AT)) for name in ODD}


def test_everybody_finds_what_is_theirs_whatever_they_are_called(ledger: Ledger) -> None:
    """Opened, shared, asked, charged and counted: each their own, and nobody else's."""
    assert len({name[: LONGEST - len(AT)] for name in ODD}) == len(ODD)
    for place, name in enumerate(ODD):
        person(ledger, name).open_budget(f"of {place}", epsilon=1.0)
        ledger.open_budget(f"shared {place}", epsilon=1.0)
        ledger.share(f"shared {place}", name + AT, "ask")
        ledger.open_budget(ledger.room_lineage(f"{place:032}"), epsilon=1.0)
        person(ledger, name).charge(f"charged {place}", f"of {place}", SMALL, "?", question=name)
        person(ledger, name).ask(f"asked {place}", f"shared {place}", SMALL, "?", question=name)
    assert whose(ledger) == {name: {f"of {place}", f"shared {place}"} for place, name in enumerate(ODD)}
    for place, name in enumerate(ODD):
        theirs = person(ledger, name)
        assert {one.lineage for one in theirs.budgets()} >= {f"of {place}", f"shared {place}"}
        assert [one.request_id for one in theirs.petitions()] == [f"asked {place}"]
        with ledger._store.reading() as connection:
            for other in range(len(ODD)):
                budget = ledger.budget(f"of {other}")
                assert terms.taken_alone(connection, budget, name + AT)[0] == pytest.approx(1e-3 * (other == place))
            assert history.ids_about(connection, [name]) == [f"charged {place}"]


def test_a_question_that_was_answered_is_found_whatever_it_is_called(ledger: Ledger) -> None:
    ledger.open_budget("people", epsilon=100.0)
    for place, question in enumerate(ODD):
        ledger.charge(f"r{place}", "people", SMALL, "?", question=question, known=Known())
        ledger.store_answer(f"r{place}", place)
    for place, question in enumerate(ODD):
        again = ledger.charge(f"again {place}", "people", SMALL, "?", question=question, known=Known())
        assert (again.request_id, again.answer) == (f"r{place}", place)


@pytest.mark.parametrize("name", ["anna", 'an"na', "a" * 500])
def test_what_one_person_wrote_today_is_counted_whatever_they_are_called(
    ledger: Ledger, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daily, "MOST", 6)
    person(ledger, name + "x").open_budget("another's", epsilon=1.0)
    theirs = person(ledger, name)
    theirs.open_budget("theirs", epsilon=1.0)
    theirs.share("theirs", "vera" + AT, "see")
    theirs.rename("theirs", "Patients")
    theirs.set_limit("theirs", 0.5)
    theirs.link("a file", "theirs")
    theirs.say_others(Brought(fingerprint="f", because="Nobody is in both."), "theirs", than="another's")
    with pytest.raises(NotAllowed, match="as one person can"):
        theirs.rename("theirs", "Others")


@pytest.mark.parametrize("wrong", ["q", None, (1,), (None,), (["q"],)])
def test_what_is_no_list_of_digests_is_known_of_no_question(wrong: Any) -> None:
    with pytest.raises(InvalidArgument, match="digests"):
        Known(digests=wrong)


def plans(ledger: Ledger, act: Callable[[], object]) -> str:
    """How a database in a file finds what an act looks for."""
    found: list[str] = []

    @event.listens_for(ledger._store.engine, "before_cursor_execute")
    def explain(connection: object, cursor: object, statement: str, values: object, *rest: object) -> None:
        if statement.startswith("SELECT"):
            steps = cursor.connection.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()  # type: ignore[attr-defined]
            found.extend(str(step[3]) for step in steps)

    act()
    event.remove(ledger._store.engine, "before_cursor_execute", explain)
    return "\n".join(found)


def test_each_index_is_used_by_what_it_is_for(sqlite_place: Place) -> None:
    """And each kind of record that is counted in a day has one: the migration writes them down by hand."""
    with sqlite_place.open() as ledger:
        anna = person(ledger, "anna")
        anna.open_budget("people", epsilon=10.0)
        ledger.set_limit("people", 5.0)
        charged = plans(ledger, lambda: anna.charge("r", "people", SMALL, "?", question="q", known=Known()))
        assert "charges_by_question (lineage=? AND <expr>=?)" in charged
        known = Known(digests=("p", "r"))
        several = plans(ledger, lambda: anna.charge("s", "people", SMALL, "?", question="q", known=known))
        assert several.count("charges_by_question (lineage=? AND <expr>=?") == 6, "of those answered and under way"
        assert plans(ledger, lambda: anna.answered_ids("people", "p", "q")).count("charges_by_question") == 2
        assert "charges_by_subject (<expr>=? AND seq>?)" in charged, "of today"
        assert "charges_by_subject (<expr>=?)" in charged, "of this budget"
        listed = plans(ledger, anna.budgets)
        assert "opened_by_owner" in listed
        assert "shares_by_subject" in listed
        assert "asks_by_subject" in plans(ledger, anna.petitions)
        written = plans(ledger, lambda: anna.rename("people", "Patients"))
        for index in ("opened_by_owner", "links_by_start", "noted_by_person"):
            assert index in written


@pytest.mark.parametrize("kind", daily._NOTED)
def test_every_kind_that_is_counted_by_its_person_is_in_the_index(sqlite_place: Place, kind: Kind) -> None:
    with sqlite_place.open() as ledger, ledger._store.reading() as connection:
        said = connection.exec_driver_sql("SELECT sql FROM sqlite_schema WHERE name = 'noted_by_person'").scalar()
        assert f"'{kind}'" in str(said)


def test_a_list_has_no_length(ledger: Ledger) -> None:
    """A database takes so many values by themselves at most: 65,535, or fewer."""
    for lineage in ("first", "second", "third"):
        ledger.open_budget(lineage, epsilon=1.0)
    names = [*(f"none {number}" for number in range(70_000)), "first", "third", 'odd "\\ 😀']
    column = schema.lineages.c.lineage
    with ledger._store.reading() as connection:
        dialect = connection.dialect.name
        for some, found in ((names, {"first", "third"}), (["second"], {"second"}), ([], set())):
            query = select(column).where(schema.among(column, some, dialect))
            assert set(connection.execute(query).scalars()) == found
        assert len(people.files(connection, names)) == 0


@pytest.mark.thorough
def test_nothing_that_others_lengthen_is_asked_for_value_by_value(ledger: Ledger) -> None:
    olga, vera = person(ledger, "olga"), person(ledger, "vera")
    for number in range(60):
        olga.open_budget(f"of {number}", epsilon=1.0)
        olga.share(f"of {number}", EVERYONE, "see")
        olga.share(f"of {number}", vera._subject, "ask")
    most: list[int] = []

    @event.listens_for(ledger._store.engine, "before_cursor_execute")
    def counted(connection: object, cursor: object, statement: str, values: object, *rest: object) -> None:
        most.append(len(values) if isinstance(values, tuple | dict) else 0)

    acts: dict[str, Callable[[], object]] = {
        "budgets": vera.budgets,
        "chargeable": vera.chargeable,
        "receipts": vera.receipts,
        "petitions": lambda: (vera.petitions(), olga.petitions()),
        "statements": vera.statements,
        "find": lambda: vera.find("0" * 12),
        "comparable": vera.comparable,
        "similar": lambda: vera.similar("f", among=vera.comparable()),
        "charge": lambda: vera.charge("r", "of 1", SMALL, "?", question="q", known=Known()),
        "ask": lambda: vera.ask("a", "of 2", SMALL, "?", question="q"),
        "rename": lambda: olga.rename("of 3", "Patients"),
        "link": lambda: vera.link("f", "of 4"),
        "join": lambda: vera.join(Brought(fingerprint="g"), "of 5"),
    }
    for name, act in acts.items():
        most.clear()
        act()
        assert max(most) < 40, name
    with ledger._store.reading() as connection:
        most.clear()
        named = [one.lineage for one in vera.budgets()]
        connection.execute(select(schema.lineages.c.lineage).where(schema.lineages.c.lineage.in_(named))).all()
        assert max(most) >= 60, "or this test cannot fail"


# -- where nobody has a name -------------------------------------------------------------------------------------------


def several(whole: Ledger, name: str) -> SeveralLedger:
    return SeveralLedger(whole, name * 32, network="192.0.2.1")


def test_a_file_is_found_by_what_was_brought_and_by_links_of_before(ledger: Ledger) -> None:
    """Of persons, and of earlier versions, whose links say nothing of it."""
    for lineage in ("named", "older", "now", "others"):
        ledger.open_budget(lineage, epsilon=1.0)
    ledger.share("named", "anna" + AT, "own")
    person(ledger, "anna").link("of a person", "named")
    with ledger._store.writing() as connection:
        key = ledger._store.key
        row = {"fingerprint": people._mark(key, "older", "of before"), "sketch": ""}
        ledger._store.append(connection, "link", lineage="older", body=row)
        connection.execute(insert(schema.fingerprints).values({**row, "lineage": "older"}))
    several(ledger, "a").link("of now", "now")
    for file, lineage in (("of a person", "named"), ("of before", "older"), ("of now", "now")):
        for who in (several(ledger, "b"), ledger):
            assert [one.lineage for one in who.similar(file, among=["named", "older", "now", "others"])] == [lineage]
            with pytest.raises(InvalidArgument, match="belongs to other people"):
                who.link(file, "others")
            who.link(file, lineage)
    assert several(ledger, "b").similar("of nobody", among=["named", "older", "now"]) == []
    links = [one.content for one in ledger.records() if one.kind == "link"]
    assert [("by" in one, "brought" in one) for one in links] == [(True, False), (False, False), (False, True)]


def test_what_was_brought_tells_no_person_of_another_s_file(ledger: Ledger) -> None:
    """Of one file each person's link says something else, and nothing that who has no name would say."""
    ledger.open_budget("people", epsilon=1.0)
    for name in ("anna", "olga"):
        ledger.share("people", name + AT, "own")
        person(ledger, name).link("a file", "people")
    several(ledger, "a").link("a file", "people")
    bodies = [one.content for one in ledger.records() if one.kind == "link"]
    marks = [value for body in bodies for name, value in body.items() if name in ("fingerprint", "brought")]
    assert len(set(marks)) == len(marks)


def test_files_that_are_linked_again_and_again_keep_nobody_for_ever(ledger: Ledger) -> None:
    """Where others link one each time that a file is compared, whoever brings it is told so."""
    ledger.open_budget("people", epsilon=1.0)
    numbers = itertools.count()
    who = Bringer(several=True, token="t" * 32)

    def linked() -> list[people.Resemblance]:
        ledger.link(f"another {next(numbers)}", "people")
        return []

    with pytest.raises(LedgerError, match="ask again"):
        joining.join(
            ledger._store,
            Brought(fingerprint="f"),
            "people",
            who,
            compare=linked,
            begin=lambda connection: ledger.budget("people"),
        )
    assert next(numbers) == joining.MOST_TIMES
