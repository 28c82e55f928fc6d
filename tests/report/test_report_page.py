"""The report on the pages, in process: one click, several questions, an answer's report, and the check on Budget."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import Executor, Future
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import all_held, session, words
from dashboard.background import compute
from dashboard.background.in_turn import InTurn
from dashboard.budget import receipts
from dashboard.people import login
from dashboard.report import held, panel
from dashboard.report.of_deck import LeftOut, section_of, section_with, simulated
from dashboard.report.render import MIMES, Whole, one_form, piece_of
from dashboard.report.text import line
from dashboard.report.value import Drawing, Facts, Paragraph, Report, Section, plain
from dashboard.scenes.address import Address
from dashboard.scenes.deck import Deck, Scene, bundled
from dashboard.scenes.editor import making_of
from dashboard.widgets import page as page_of_questions
from dashboard.words import report as said
from dpcore.errors import LedgerUnsound
from dpcore.ledger import Ledger
from tests.dashboard.conftest import text
from tests.dashboard.test_data_page import drop, look
from tests.report.made import visits
from tests.report.test_report_again import run
from tests.report.test_report_forms import flat, pages

Open = Callable[..., AppTest]


class Here(Executor):
    """Does the work at once, in this process, and notes what it was."""

    turns = property(InTurn)

    def __init__(self) -> None:
        self.done: list[Any] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        found: Future[Any] = Future()
        found.set_result(fn(*args, **kwargs))
        self.done.append(fn)
        return found


@pytest.fixture
def workers() -> Here:
    """In the place of the processes that pages share in other tests."""
    return Here()


@pytest.fixture(autouse=True)
def here(workers: Here, monkeypatch: pytest.MonkeyPatch) -> Here:
    monkeypatch.setattr(compute, "pool", lambda: workers)
    return workers


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[Report]:
    """Reports that were handed over to be written; writing them takes long and is tested elsewhere."""
    found: list[Report] = []

    def note(whole: Whole, form: str) -> tuple[str, bytes]:
        found.append(whole.report)
        return form, form.encode()

    monkeypatch.setattr(panel, "one_form", note)
    return found


def open_report(app: AppTest, key: str) -> AppTest:
    app.session_state[f"{key}-report"] = True
    app.run()
    assert not app.exception, [error.value for error in app.exception]
    return app


def files(app: AppTest) -> list[str]:
    return [one.proto.label for one in app.get("download_button") if one.proto.label in said.FORMS.values()]


def sentences(section: Section) -> str:
    lines = [plain(part.line) for part in section.parts if isinstance(part, Paragraph)]
    facts = [plain(told) for part in section.parts if isinstance(part, Facts) for _, told in part.rows]
    return "\n".join([*lines, *facts])


def test_one_click_gives_every_form(open_app: Open, here: Here) -> None:
    app = open_report(open_app("selection"), "selection")
    assert files(app) == list(said.FORMS.values())
    assert [getattr(work, "work", None) for work in here.done] == [one_form] * len(MIMES)  # beside the page, not in it


@pytest.mark.parametrize("page", ["selection", "thresholding", "experts"])
def test_the_report_says_what_the_page_says(open_app: Open, written: list[Report], page: str) -> None:
    app = open_report(open_app(page), page)
    (section,) = written[-1].sections
    shown = text(app)
    headline = next(part.line for part in section.parts if isinstance(part, Paragraph) and part.size == "large")
    (told,) = [one for one in re.findall(r"^### (.*)$", shown, re.M) if plain(line(one)) == plain(headline)]
    assert any(sign.isdigit() for sign in told)
    for metric in app.metric:
        assert metric.value in sentences(section)
    assert section.kind == "sample"
    assert section.code


def test_it_follows_what_is_set(open_app: Open, written: list[Report]) -> None:
    open_report(open_app("selection", epsilon="0.05", selection_metric="expected_loss"), "selection")
    (section,) = written[-1].sections
    assert "At ε = 0.05" in sentences(section)
    assert "'selection_metric': 'expected_loss'" in section.code
    run(f"from math import *\nfrom dashboard.report.again import *\nfrom dpcore.tradeoff import *\n{section.code}")


def test_several_questions_in_one_report_with_a_title_of_one_s_own(open_app: Open, written: list[Report]) -> None:
    app = open_report(open_app("selection"), "selection")
    app.button(key="selection-report-keep").click().run()
    assert said.IS_KEPT in text(app)
    app.switch_page("questions/thresholding/page.py").run()
    app = open_report(app, "thresholding")
    assert len(written[-1].sections) == 2
    app.text_input(key="thresholding-report-title").set_value("For the \u202eboard").run()
    app.text_input(key="thresholding-report-author").set_value("M. Curie").run()
    app.button(key="thresholding-report-keep").click().run()
    assert (written[-1].title, written[-1].author) == ("For the ⟨U+202E⟩board", "M. Curie")
    # on the Budget page, with what is spent last
    app.switch_page("app_pages/budget.py").run()
    app = open_report(app, "budget")
    assert [one.title.split()[0] for one in written[-1].sections] == ["Which", "Which", "What"]
    assert written[-1].title.startswith("For the")
    app.button(key="budget-report-remove-0").click().run()
    assert len(written[-1].sections) == 2


@pytest.mark.thorough
def test_a_report_of_an_own_file_is_marked_and_goes_with_it(open_app: Open, written: list[Report]) -> None:
    app = open_app("data")
    drop(app, visits(), "visits.csv")
    look(app)
    app.switch_page("questions/selection/page.py").run()
    app = open_report(app, "selection")
    assert any(said.WHAT_IF_NOTE in one.value for one in app.warning)
    assert written[-1].file_name.startswith("not-private")
    (section,) = written[-1].sections
    assert section.own
    assert "'visits.csv'" in section.code
    app.button(key="selection-report-keep").click().run()
    assert len(app.session_state["_report_own"]) == 1
    # a deck that wants the file is about it, as its pages show it, and the one scene marks the report
    scenes = [
        Scene(title=title, sentence="One.", address=Address.of(f"selection?epsilon=0.2{more}"), wants="visits")
        for title, more in (("Mine", "&data=own"), ("Everybody's", ""))
    ]
    app.session_state["_deck_making"] = making_of(Deck(title="Two", scenes=tuple(scenes)))
    app.switch_page("app_pages/demos.py").run()
    app = open_report(app, "deck-mine")
    assert [one.kind for one in written[-1].sections] == ["what_if", "sample"]
    assert dict(written[-1].sections[0].numbers) != dict(written[-1].sections[1].numbers)
    assert "complaint" in sentences(written[-1].sections[0])
    assert any(said.WHAT_IF_NOTE in one.value for one in app.warning)
    app.switch_page("app_pages/data.py").run()
    app.button(key="own-remove").click().run()
    assert "_report_own" not in app.session_state
    app.switch_page("app_pages/demos.py").run()
    app = open_report(app, "deck-mine")
    assert [one.kind for one in written[-1].sections] == ["sample", "sample"]
    assert said.files_missing(1) in text(app)


def test_nothing_is_offered_before_all_is_computed(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    class Never(Executor):
        turns = property(InTurn)

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            return Future()

    monkeypatch.setattr(compute, "pool", Never)
    app = open_report(open_app("training"), "training")
    assert said.NOT_READY in text(app)
    assert not files(app)


def test_a_simulated_curve_is_reported_once_it_is_whole(open_app: Open, written: list[Report]) -> None:
    few = {"training_seeds": "8", "training_drawn-accuracy-False": "[]"}
    open_report(open_app("training", **few), "training")
    (section,) = written[-1].sections
    assert said.SIMULATED.split("**")[1] in str(section.parts)
    assert "'training_seeds': '8'" in section.code


def test_the_plan_and_an_answer_of_the_ledger(open_app: Open, written: list[Report], ledger_file: Any) -> None:
    app = open_app("selection", selection_open="release")
    app.button(key="selection-begin").click().run()
    app.button(key="selection-confirm").click().run()
    app = open_report(app, "selection-answer")
    (answer,) = written[-1].sections
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        (receipt,) = ledger.receipts()
    assert answer.kind == "practice"
    assert answer.receipt == receipt.journal_hash
    assert receipt.journal_hash[:12] in sentences(answer)
    assert "not part of the receipt" not in sentences(answer).lower()
    app.button(key="selection-answer-report-keep").click().run()
    app.switch_page("app_pages/budget.py").run()
    app = open_report(app, "receipt")
    assert [one.key for one in written[-1].sections] == [answer.key]  # the same answer, told once
    app = open_report(app, "budget")
    spent = written[-1].sections[-1]
    assert spent.kind == "practice"
    assert receipt.journal_hash[:12] in sentences(spent)
    assert receipt.answer["option"] in sentences(spent)
    (lines,) = [part for part in spent.parts if isinstance(part, Drawing)]
    assert "Simple sum" in lines.svg
    assert "the budget: ε = 3" in lines.svg
    assert (spent.budget, spent.newest) == (receipt.lineage, receipt.journal_hash)
    assert said.kept_at("")[:24] not in sentences(spent)
    scope = run(spent.code)
    assert {rule: pytest.approx(scope["found"][rule], rel=1e-6) for rule, _ in spent.numbers} == dict(spent.numbers)
    assert dict(spent.numbers)["basic"] == pytest.approx(receipt.epsilon)
    app.session_state["budget_tab"] = "Plan answers"
    app.run()
    app = open_report(app, "budget-plan")
    kinds = [one.kind for one in written[-1].sections]
    assert kinds == ["practice", "plan"]
    plan = written[-1].sections[1]
    assert plan.budget == receipt.lineage
    assert written[-1].made.endswith("UTC")
    scope = run(f"{plan.code}")
    assert {rule: pytest.approx(scope["found"][rule], rel=1e-6) for rule, _ in plan.numbers} == dict(plan.numbers)
    (bars,) = [part for part in plan.parts if isinstance(part, Drawing)]
    assert bars.svg.count("<rect") >= 2 + len(plan.numbers)
    hatched = sum("(if planned)" in name for name in re.findall(">([^<]+)<", bars.svg))
    assert bars.svg.count('fill="url(#hatch)"') == hatched > 0
    assert f"ε = {words.number(dict(plan.numbers)['basic'])}" in bars.svg


@pytest.mark.thorough
def test_a_deck_goes_on_paper_where_it_is_kept(open_app: Open, written: list[Report], here: Here) -> None:
    app = open_report(open_app("demos"), "deck-selection")
    deck = bundled()["selection"]
    asking = [one.title for one in deck.scenes if one.address.page != "poll"]  # a room asks its phones
    assert [one.title for one in written[-1].sections] == asking
    assert written[-1].title == deck.title
    assert {one.kind for one in written[-1].sections} == {"sample"}
    assert files(app) == list(said.FORMS.values())
    done = [getattr(work, "work", None) for work in here.done]
    assert done.count(section_of) == len(deck.scenes)
    assert done.count(simulated) == done.count(section_with) == 0, "nothing of this deck is simulated"
    # the title of one deck is not that of another
    app.text_input(key="deck-selection-deck-selection-title").set_value("For the board").run()
    assert written[-1].title == "For the board"
    app.session_state["deck-selection-report"] = False
    open_report(app, "deck-experts")
    assert written[-1].title == bundled()["experts"].title


def test_a_long_report_is_written_section_by_section(
    open_app: Open, written: list[Report], here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No slice can be stopped, nor do others have a turn before its end: the document of a hundred scenes was one."""
    monkeypatch.setattr(panel, "MOST_SECTIONS", 2)
    scenes = [
        Scene(title=f"{number}", sentence="It is one.", address=Address(page="selection", settings=settings))
        for number, settings in enumerate([(("epsilon", epsilon),) for epsilon in ("0.2", "0.5", "1")])
    ]

    def done(many: int) -> list[Any]:
        app = open_app("demos")
        app.session_state["_deck_making"] = making_of(Deck(title="Some", scenes=tuple(scenes[:many])))
        app.run()
        here.done.clear()
        app = open_report(app, "deck-mine")
        assert files(app) == list(said.FORMS.values())
        assert len(written[-1].sections) == many
        app.text_input(key="deck-mine-deck-mine-title").set_value("For the board").run()
        assert written[-1].title == "For the board"
        return [getattr(work, "work", None) for work in here.done if getattr(work, "work", None) is not section_of]

    twice = [panel.one_form] * 2 * len(MIMES)
    assert done(3) == [piece_of] * 3 + twice, "a title has no section written anew"
    assert done(2) == twice


@pytest.mark.thorough
def test_what_a_deck_waits_for_is_simulated_part_by_part(open_app: Open, written: list[Report], here: Here) -> None:
    app = open_report(open_app("demos"), "deck-training")
    deck = bundled()["training"]
    assert not app.exception
    assert [one.title for one in written[-1].sections] == [one.title for one in deck.scenes]
    done = [getattr(work, "work", None) for work in here.done]
    assert done.count(section_of) == len(deck.scenes)
    assert done.count(simulated) > 5 * done.count(section_with) == 5 * len(deck.scenes)
    jobs = app.session_state["_jobs"]
    assert not any("simulated" in key for key in (*jobs._jobs, *jobs._over._values)), (
        "what was simulated is let go of with its scene"
    )
    assert files(app) == list(said.FORMS.values())


def test_several_decks_keep_what_was_drawn_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that were open at once dropped each other's scenes, and none was ever finished."""
    state: dict[str, Any] = {}
    monkeypatch.setattr(session, "_state", lambda: state)
    for number in range(held.MOST_DECKS):
        held.drawn(f"{number}")[0] = LeftOut(f"{number}")
    found = [held.drawn(f"{number}") for number in (0, 1, 0)]
    assert found == [{0: LeftOut("0")}, {0: LeftOut("1")}, {0: LeftOut("0")}]
    held.drawn("another")
    assert held.drawn("0"), "the latest stay"
    assert not held.drawn("2")


def test_nothing_of_a_report_is_made_before_the_click(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(page_of_questions, "analysis", lambda *_: made.append("section"))
    monkeypatch.setattr(panel, "data_code", lambda *_: made.append("code"))
    app = open_app("selection")
    app.run()
    assert not made


def test_a_closed_ledger_is_said_before_the_click_and_in_the_files(
    open_app: Open, written: list[Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_report(open_app("selection"), "selection")
    assert written[-1].sealed
    assert said.UNSEALED_FILES not in text(app)
    download = panel._sealing(written[-1], "pdf", b"%PDF-1.7\n%%EOF\n")
    assert b"epsilon-lab-seal" in download()

    def closed() -> Ledger:
        raise LedgerUnsound("the journal is damaged")

    monkeypatch.setattr(compute, "ledger", closed)
    monkeypatch.setattr(compute, "opens", closed)
    # it closed after the page was drawn: the file that is downloaded says so itself
    late = download()
    assert flat(said.UNSEALED) in flat("".join(pages(late)))
    assert b"epsilon-lab-seal" not in late
    app.run()
    assert said.UNSEALED_FILES in text(app)
    assert not written[-1].sealed


def test_nobody_seals_who_has_logged_out_since_the_page_was_drawn(
    open_app: Open, written: list[Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An old tab holds the ledger as its person saw it."""
    open_report(open_app("selection"), "selection")
    whole, here = compute.ledger(), [True]
    monkeypatch.setattr(login, "person", lambda: "somebody")
    monkeypatch.setattr(login, "known", lambda _: "somebody" if here[0] else None)
    monkeypatch.setattr(compute, "ledger", lambda: whole)
    download = panel._sealing(written[-1], "pdf", b"%PDF-1.7\n%%EOF\n")
    assert b"epsilon-lab-seal" in download()
    here[0] = False
    late = download()
    assert flat(said.UNSEALED) in flat("".join(pages(late)))
    assert b"epsilon-lab-seal" not in late


def test_a_report_that_somebody_brings_is_checked(open_app: Open, ledger_file: Any) -> None:
    from tests.report.made import form

    open_app("budget")
    made = compute.ledger().sealed(form("quantile", "pdf"))
    assert receipts.checked(made).startswith("Confirmed")
    changed = made.replace(b"/Author", b"/author", 1)
    assert receipts.checked(changed).startswith("Not confirmed")
    assert "carries no seal" in receipts.checked(form("quantile", "html"))
    assert receipts.checked(b"{}") == receipts.NOT_CONFIRMED
    assert len(pages(made)) == len(pages(form("quantile", "pdf")))  # the seal is no word of it


def test_a_download_is_sealed_by_the_ledger_that_the_page_had(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made without a page: asked there, the ledger would take whoever clicked for nobody."""
    page = SimpleNamespace(sealed=lambda made, receipts, budgets: made + b" sealed")
    asked = iter([page])
    monkeypatch.setattr(panel.compute, "ledger", lambda: next(asked))
    monkeypatch.setattr(panel.compute, "opens", lambda: None)
    monkeypatch.setattr(panel.login, "person", lambda: None)
    report: Any = SimpleNamespace(sealed=True, receipts=("r",), budgets=())
    download = panel._sealing(report, "html", b"a report")
    assert download() == download() == b"a report sealed"


def test_a_report_counts_among_what_all_sessions_hold_and_is_said_not_to_fit(
    open_app: Open, written: list[Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixty sessions with four reports each took 900 MB that nobody counted."""
    monkeypatch.setattr(all_held, "LITTLE_EACH", 0)
    monkeypatch.setattr(all_held, "_live", WeakKeyDictionary())  # nothing of other tests
    before = all_held.held()
    app = open_report(open_app("selection"), "selection")
    assert files(app) == list(said.FORMS.values())
    size = sum(map(len, said.FORMS))
    assert all_held.held() - before == size
    app.run()
    assert all_held.held() - before == size, "the same once more"
    app.session_state["_report_logo"] = b"x" * 1000
    monkeypatch.setattr(all_held, "most", lambda: before + size + 999)
    app.run()
    assert not files(app)
    assert "more than the 0 MB that" in text(app)
