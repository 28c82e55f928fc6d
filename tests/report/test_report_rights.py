"""A report that holds something of the ledger is sealed for who may see that alone, names it, and says since when."""

from __future__ import annotations

import io
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from dashboard import words
from dashboard.report import held
from dashboard.report.answer import answered
from dashboard.report.plan import PlannedTotal, planned
from dashboard.report.render import SEALED, rendered
from dashboard.report.spent import Charged, spent
from dashboard.report.value import Drawing, Report, Section
from dashboard.words import report as said
from dpcore.costs import Cost
from dpcore.errors import DpcoreError, NotAllowed
from dpcore.ledger import Ledger, seal
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.receipt import Receipt
from dpcore.ledger.roles import Person
from dpcore.ledger.visitor import VisitorsLedger
from tests.report.made import report
from tests.report.test_report_forms import flat, pages

BARS = Drawing(svg='<svg xmlns="http://www.w3.org/2000/svg"/>', width=10, height=10, alt="bars", caption=())
CARD = words.LabelCard(neighbours="add_remove", epsilon=0.5, delta=0.0, unit="person")


def subject(name: str) -> str:
    return f"{name} at https://login.example"


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}", create=True) as found:
        for name, role in (("olga", "owner"), ("anna", "analyst")):
            found.give_roles(subject(name), [role])
        olga = member(found, "olga")
        olga.open_budget("people", epsilon=9.0, name="Patients")
        olga.share("people", subject("anna"), "ask")
        yield found


def member(whole: Ledger, name: str) -> MembersLedger:
    return MembersLedger(whole, Person(subject=subject(name)), name * 8)


def drawn(ledger: Ledger, lineage: str, number: int) -> Receipt:
    request = f"{lineage} {number}"
    ledger.charge(request, lineage, Cost.pure(0.01), "Which ward?", neighbours="add_remove", question="q")
    ledger.begin_draw(request)
    return ledger.store_answer(request, {"option": "South"})


def of_answer(lineage: str, receipts: list[Receipt]) -> Section:
    return answered(receipts[-1], told="South", counting="sum")


def of_budget(lineage: str, receipts: list[Receipt]) -> Section:
    return spent(
        "Patients",
        lineage=lineage,
        headline=f"ε = {0.01 * len(receipts):g} of 9 is spent",
        caption="",
        picture=BARS,
        facts=[("left", "much")],
        charges=[Charged(receipt=one, answer="South") for one in receipts],
        card=CARD,
        numbers=[],
        code="",
        practice=False,
    )


def of_new_budget(lineage: str, receipts: list[Receipt]) -> Section:
    return of_budget(lineage, [])


def of_plan(lineage: str, receipts: list[Receipt]) -> Section:
    return planned(
        ["**5 ×** the most common option"],
        [0.5],
        [PlannedTotal(rule="basic", name="Adding up ε", epsilon=2.5, holds="always")],
        verdict="These 5 answers cost **ε = 2.5** together.",
        picture=BARS,
        delta=1e-6,
        fit="They fit the budget of these people: 60 in 100 of it would be left.",
        code="",
        kind="plan",
        budget=lineage,
    )


SECTIONS: dict[str, Callable[[str, list[Receipt]], Section]] = {
    "an answer": of_answer,
    "a budget": of_budget,
    "a budget of which nothing is spent": of_new_budget,
    "a plan": of_plan,
}


def form(report: Report) -> bytes:
    return rendered(report, "html")[1]


@pytest.mark.parametrize("kind", SECTIONS)
def test_it_is_sealed_as_long_as_its_budget_may_be_seen(whole: Ledger, kind: str) -> None:
    """With a share, after it was taken away, and for an auditor; a mutant that says nothing of whose budget it is, as
    earlier versions did, is sealed for anybody."""
    anna, olga = member(whole, "anna"), member(whole, "olga")
    receipts = [drawn(anna, "people", number) for number in range(3)]
    made = report(SECTIONS[kind]("people", receipts))
    assert whole.examine(anna.sealed(form(made), made.receipts, made.budgets)).unchanged
    olga.share("people", subject("anna"), "none")
    with pytest.raises(DpcoreError):
        anna.sealed(form(made), made.receipts, made.budgets)
    silent = replace(
        made, sections=tuple(replace(one, receipt=None, budget=None, newest=None) for one in made.sections)
    )
    assert whole.examine(anna.sealed(form(silent), silent.receipts, silent.budgets)).unchanged
    whole.give_roles(subject("anna"), ["auditor"])
    assert whole.examine(anna.sealed(form(made), made.receipts, made.budgets)).unchanged


@pytest.mark.parametrize("kind", SECTIONS)
def test_a_visitor_seals_what_is_of_their_own_practice_alone(whole: Ledger, kind: str) -> None:
    mine, other = VisitorsLedger(whole, "visitor" * 4), VisitorsLedger(whole, "another" * 4)
    lineage = mine.open_practice("visitor" * 4, "clinic", epsilon=9.0).lineage
    made = report(SECTIONS[kind](lineage, [drawn(mine, lineage, 1)]))
    assert whole.examine(mine.sealed(form(made), made.receipts, made.budgets)).unchanged
    with pytest.raises(DpcoreError):
        other.sealed(form(made), made.receipts, made.budgets)


@pytest.mark.parametrize("ending", SEALED)
def test_the_seal_names_the_last_charge_of_each_budget(whole: Ledger, ending: str) -> None:
    """Of however many: who has that one in their journal has all before it. So do files with as many sections as a
    report of several holds; and the section says which it is, and how many came before."""
    anna = member(whole, "anna")
    receipts = [drawn(anna, "people", number) for number in range(20)]
    made = report(of_budget("people", receipts), of_answer("people", receipts[:4]))
    found = whole.examine(anna.sealed(rendered(made, ending)[1], made.receipts, made.budgets))
    assert found.unchanged
    assert [one.journal_hash for one in found.receipts] == [receipts[-1].journal_hash, receipts[3].journal_hash]
    told = said.examined(True, [one.journal_hash[:12] for one in found.receipts], found.unknown, sees_all=True)
    assert "names no private answer" not in told
    last = said.as_of(20, f"{receipts[-1].time[:16].replace('T', ' ')} UTC", receipts[-1].journal_hash[:12])
    assert flat(last) in flat(readable(rendered(made, ending)[1], ending))


def test_a_budget_that_the_journal_does_not_have_is_not_confirmed(whole: Ledger) -> None:
    """Of a ledger that was set back: its report names a charge that is nowhere."""
    anna = member(whole, "anna")
    gone = replace(drawn(anna, "people", 1), journal_hash="0" * 64)
    made = report(of_budget("people", [gone]))
    with pytest.raises(NotAllowed):
        anna.sealed(form(made), made.receipts, made.budgets)
    found = whole.examine(whole.sealed(form(made), made.receipts, made.budgets))
    assert (found.receipts, found.unknown) == ((), ("0" * 16,))


def test_seals_from_before_are_read_as_they_were(whole: Ledger) -> None:
    """A report of a budget whose seal names nothing, as earlier versions made it."""
    made = seal.sealed(b"<html><body>spent</body></html>", (), whole._store.key.derived("report"))
    found = whole.examine(made)
    assert (found.unchanged, found.receipts, found.unknown) == (True, (), ())


# -- from when it is ---------------------------------------------------------------------------------------------------


def readable(made: bytes, ending: str) -> str:
    if ending == "pdf":
        return "".join(pages(made))
    if ending == "html":
        return made.decode()
    with zipfile.ZipFile(io.BytesIO(made)) as parts:
        return parts.read("word/document.xml").decode()


@pytest.mark.parametrize("ending", SEALED)
def test_it_says_when_the_server_made_it_whatever_date_its_author_types(ending: str) -> None:
    made = report(of_plan("people", []), made="2026-11-29 09:01 UTC")
    for told in (said.MADE, "2026-11-29 09:01 UTC", made.day.isoformat()):
        assert flat(told) in flat(readable(rendered(made, ending)[1], ending))
    assert flat(said.MADE) not in flat(readable(rendered(replace(made, made=""), ending)[1], ending))


def test_the_same_report_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the server's clock, which a session does not set; the latest are known, so that a page that is looked at again
    makes no other file."""
    times: OrderedDict[str, str] = OrderedDict()
    monkeypatch.setattr(held, "_MADE_ON", SimpleNamespace(once=lambda: times))
    clock = iter(f"minute {number}" for number in range(99))
    monkeypatch.setattr(held, "_now", lambda: next(clock))
    assert held.made_on("a") == held.made_on("a") == "minute 0"
    found = [held.made_on(f"{number}") for number in range(held.MOST_REPORTS)]
    assert len(set(found)) == len(times) == held.MOST_REPORTS
    assert held.made_on("a") not in ("minute 0", *found)


@pytest.mark.parametrize("kind", SECTIONS)
def test_what_is_kept_of_a_budget_says_since_when(whole: Ledger, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes into a file that is made later, when more is spent; an answer stays what it is."""
    kept: list[tuple[int, Section]] = []
    slots = SimpleNamespace(put=kept.extend, get=tuple)
    monkeypatch.setattr(held, "_OPEN", slots)
    monkeypatch.setattr(held, "_OWN", slots)
    monkeypatch.setattr(held, "_now", lambda: "2026-11-29 09:01 UTC")
    section = SECTIONS[kind]("people", [drawn(member(whole, "anna"), "people", 1)])
    held.keep(section)
    ((_, found),) = kept
    assert found.key == section.key
    assert (said.kept_at("2026-11-29 09:01 UTC") in form(report(found)).decode()) == (kind != "an answer")
