"""Where one visit is protected, no page, price, dialog or report promises anything of a person."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import words
from dashboard.case import Source
from dashboard.catalogue import address
from dashboard.question import Offer, Question
from dashboard.report import again
from dashboard.report.answer import answered
from dashboard.report.value import Heading, Section
from dashboard.words import one_ball, report
from dashboard.words import release as release_words
from dpcore.costs import Cost
from dpcore.datasets import Declaration
from dpcore.ledger import Budget, Ledger
from dpcore.ledger.words import hides, refusal
from dpcore.release import release
from tests.dashboard.conftest import text
from tests.dashboard.keys import about
from tests.dashboard.test_data_page import declare, drop, held, look, press
from tests.report.made import FAST, KINDS, section
from tests.report.test_report_modes import own

Open = Callable[..., AppTest]


def of_visits(key: str) -> tuple[Source, str]:
    """A question's sample as somebody's own file, in which one visit is protected."""
    source, data = own(key, "what_if")
    schema = replace(source.table.schema, unit="visit")
    return replace(source, table=replace(source.table, schema=schema), declared=Declaration.of(schema)), data


def said_by(question: Question) -> Iterator[str]:
    """What the card, the release and the chart's caption say."""
    card, offer = question.protected, question.offer
    yield from (
        card.protected,
        card.judged,
        card.not_protected,
        card.at_once,
        *card.lines(),
        question.headline,
        question.caption,
    )
    yield from question.notes
    if isinstance(offer, Offer):
        request: Any = offer.request
        yield from (offer.forecast, offer.gives, offer.conclude, request.what, *request.rules, *request.notes)
        yield from (getattr(block, "markdown", "") for block in offer.before)


def written(part: object) -> Iterator[str]:
    """Every text in a part of a report."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, tuple | list):
        for one in part:
            yield from written(one)
    elif hasattr(part, "__dataclass_fields__"):
        for name in set(part.__dataclass_fields__) - {"code", "figure"}:
            yield from written(getattr(part, name))


def of_somebody(said: str) -> list[str]:
    """Sentences that bound guesses of somebody, who may have several visits."""
    return [one for one in re.findall(r"[^.;|]*\bguess[^.;|]*", said) if re.search(r"\b(of|whether) somebody\b", one)]


def of_people(section: Section) -> list[str]:
    """What a report says of persons, but for who declared a bound and for what a theorem itself is about."""
    found, theory = [], False
    for part in section.parts:
        if isinstance(part, Heading):
            theory = report.THEORY in list(written(part))
        if not theory:
            found += [one for one in written(part) if "person" in one.replace(report.DECLARED, "")]
    return found


def asked(key: str, page: str) -> tuple[Question, Section]:
    source, data = of_visits(key)
    settings: Any = FAST.get(key, {})
    question = again.asked(page, key, source, epsilon=0.5, delta=1e-6, settings=settings)
    return question, section(page, key, source, data, **settings)


@pytest.mark.parametrize(("page", "key"), KINDS)
def test_card_release_and_report_of_every_question_are_about_a_visit(page: str, key: str) -> None:
    question, found = asked(key, page)
    assert [one for one in said_by(question) if "person" in one] == []
    assert "any one visit" in question.protected.protected.lower()
    assert of_people(found) == []
    assert [one for text in (*said_by(question), *written(found.parts)) for one in of_somebody(text)] == []
    assert any("one visit" in one.lower() for one in written(found.parts))


@pytest.mark.parametrize("wrong", ["card", "label", "caption"])
def test_a_page_that_speaks_of_persons_is_found_out(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: as it was, each of these said “person” whatever is protected."""
    whole: Any = {"card": words.protected_words, "label": report.neighbours, "caption": one_ball.caption}[wrong]
    where = {"card": words, "label": report, "caption": one_ball}[wrong]
    name = {"card": "protected_words", "label": "neighbours", "caption": "caption"}[wrong]
    monkeypatch.setattr(where, name, lambda *given: whole(*given[:-1], "person"))
    question, found = asked("one_ball", "selection")
    assert of_people(found)
    assert bool([one for one in said_by(question) if "person" in one]) == (wrong != "label")


def test_guesses_of_somebody_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: whoever has ten visits was guessed right 95.9 times in 100 by a count, where the card said 62.3."""
    monkeypatch.setattr(words, "_whom", lambda unit: "somebody")
    question, found = asked("one_ball", "selection")
    said = [*said_by(question), *written(found.parts)]
    assert len([one for text in said for one in of_somebody(text)]) > 3


def test_nobody_can_leave_out_of_whom_one_is_hidden() -> None:
    """What was left out was taken to be a person."""
    for asks in (
        hides,
        refusal,
        words.LabelCard,
        words.guessed,
        words.odds_sentence,
        words.one_of,
        report.neighbours,
        release_words.conclude,
    ):
        assert inspect.signature(asks).parameters["unit"].default is inspect.Parameter.empty, asks
    assert "unit" not in inspect.signature(answered).parameters, "a receipt says of whom"


# -- price, dialog, tracker, budget and the report of the answer -------------------------------------------------------


def promises(said: str) -> list[str]:
    """Sentences that promise something of one person, but for the glossary and what somebody who asks has stated."""
    lines = [line for line in said.splitlines() if not line.startswith("- **")]
    found = re.findall(
        r"[^.]*\b[Oo]ne person\b[^.]*|[^.]*\bthat person\b[^.]*|[^.]*\ba person added\b[^.]*", "\n".join(lines)
    )
    return [one.strip() for one in (*found, *of_somebody("\n".join(lines)))]


def visits(open_app: Open, name: str = "visit") -> AppTest:
    """A file of visits of which an answer can be asked, on the Budget page."""
    rows = [f"v{n},{('red', 'blue', 'red')[n % 3]},{7919 * n % 1009}" for n in range(90)]
    app = drop(open_app("data"), ("visit,colour,number\n" + "\n".join(rows) + "\n").encode(), name="visits.csv")
    app.text_input(key="own-unit-person").set_value(name).run()
    app.number_input(key="own-rows-None").set_value(1).run()
    declare(app, "colour", categories="red\nblue\ngreen", public=True)
    look(app)
    assert held(app).schema.unit == name
    return app.switch_page(address("budget")).run()


def walked(app: AppTest) -> Iterator[tuple[str, str]]:
    """Each place, and what its page says."""
    yield "budget that is opened", "\n".join([text(app), *app.radio(key=about(app, "budget-neighbours")).options])
    press(app.text_input(key=about(app, "budget-name")).set_value("Visits").run(), "open-budget-review")
    yield "its dialog", text(app)
    press(app, "budget-open")
    yield "budget that is open", text(app)
    app.switch_page(address("selection"))
    app.session_state["selection_tab"] = "A private answer"
    yield "price", text(app.run())
    yield "dialog", text(press(app, "selection-begin"))
    yield "answer", text(press(app, "selection-confirm"))
    yield "budget that is spent", text(app.switch_page(address("budget")).run())


def test_price_dialog_tracker_and_budget_speak_of_a_visit(open_app: Open) -> None:
    seen = dict(walked(visits(open_app)))
    assert {place: found for place, said in seen.items() if (found := promises(said))} == {}
    assert "one visit added or removed, which counts twice where one visit's row changed is hidden" in seen["price"]
    assert "one visit added or removed" in seen["dialog"]
    assert "It protects any one visit." in seen["budget that is spent"]
    assert "Hides one visit's row changed." in seen["budget that is spent"]
    assert "one visit's row changed" in seen["its dialog"].lower()
    assert "anything about one visit" in seen["answer"]


def test_a_price_of_persons_is_found_out(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: as it was, nobody told the price of whom one is hidden."""
    monkeypatch.setattr(words, "one_of", lambda neighbours, unit: hides(neighbours, "person"))
    seen = dict(walked(visits(open_app)))
    assert set(seen) == {place for place, said in seen.items() if promises(said)}


def test_a_unit_is_no_markup(open_app: Open) -> None:
    """It is typed on the Data page, and stands in more sentences now."""
    for _, said in walked(visits(open_app, "*v*")):
        assert not re.search(r"one \*v\*", said)


def test_the_report_of_an_answer_speaks_of_a_visit(ledger_file: Any) -> None:
    source, _ = of_visits("most_common")
    question = again.asked("selection", "most_common", source, epsilon=0.5, delta=1e-6, settings={})
    assert isinstance(question.offer, Offer)
    request = question.offer.request
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        ledger.open_budget("people-1", epsilon=2.0, name="Visits")
        receipt = release(ledger, "one", "people-1", request, question.offer.data())
    assert receipt.unit == "visit"
    for given in ({"request": request, "declared": source.declared}, {}):
        found = answered(receipt, told="red", **given)  # type: ignore[arg-type]
        assert of_people(found) == []
        assert "one visit" in " ".join(written(found.parts))
    assert of_people(answered(replace(receipt, unit=""), told="red")), "of a receipt of persons it does"


@pytest.mark.parametrize("unit", ["visit", "person"])
def test_what_does_not_fit_says_so_of_whom_it_hides(unit: str) -> None:
    kept = Budget.planned(epsilon=0.1, neighbours="add_remove")
    told = refusal(kept, Cost.pure(1.0), "replace_one", unit)
    assert f"one {unit}'s row changed" in told
    assert f"one {unit} added or removed" in told
    counted = refusal(Budget.planned(epsilon=0.1, neighbours="replace_one"), Cost.pure(1.0), "add_remove", unit)
    assert f"one {unit} is added or removed" in counted
    assert ("person" in told + counted) == (unit == "person")
