"""What was asked for, or charged, when its question was drawn by another mechanism: the page says of each button what
it draws, how far off that may be and what it takes, and a click takes just that. The question as it is asked now stands
beside it, at its own price."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import words
from dashboard.blocks import Small
from dashboard.question import Offer
from dashboard.words import login as login_words
from dashboard.words import release as said
from dpcore.ledger import Budget, Ledger
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.roles import Person
from dpcore.release import _asked, ask, sentence
from tests.dashboard.conftest import text
from tests.dashboard.test_draw_beside import press
from tests.dashboard.test_login import people, settings, subject, user  # noqa: F401
from tests.release.test_gaussian_confusion import ROWS, asked, rows

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("people")]
COUNTED = "counted in ρ"
NOW = asked(epsilon=0.15, delta=1e-7)
(OLD,) = NOW.instead_of


def offer_of(request: Any) -> Offer:
    """What a page says of it, where it hangs on its mechanism and where it does not."""
    return Offer(
        request=request,
        data=lambda: rows(ROWS),
        forecast=f"as far as by {request.mechanism}",
        describe=lambda answer: f"Found {answer['found']} by {request.mechanism}",
        gives="four counts",
        before=(Small("Four counts leave."), Small(f"Together with the model: {request.mechanism}")),
        instead_of=tuple(map(offer_of, request.instead_of)),
    )


def question() -> None:
    from dataclasses import replace

    from dashboard import session
    from dashboard.data import source
    from dashboard.widgets.release import release_panel
    from tests.dashboard.test_asked_at_another_price import COUNTED, NOW, offer_of

    session.begin()
    shown = source.current()
    if shown is None:
        return
    own = replace(shown, lineage=COUNTED, practice=False, mode="what_if", title="own.csv", drawn_from="its table")
    release_panel(own, offer_of(NOW), slot="test")


@pytest.fixture
def budget(people: None) -> None:  # noqa: F811
    """Olga's, counted in ρ, from which Anna may ask."""
    with Ledger.open() as whole:
        olga = person(whole, "olga")
        olga.open_budget(COUNTED, epsilon=1.0, delta=1e-6, counting="zcdp", neighbours=NOW.neighbours, name="Patients")
        olga.share(COUNTED, subject("anna"), "ask")
        olga.set_limit(COUNTED, 0.01)


def person(whole: Ledger, name: str) -> MembersLedger:
    return MembersLedger(whole, Person(subject=subject(name)), name * 8)


def asked_for(*, granted: bool = True) -> None:
    """By a program from before."""
    with Ledger.open() as whole:
        ask(person(whole, "anna"), "old", COUNTED, OLD)
        if granted:
            person(whole, "olga").grant("old")


def charged() -> None:
    asked_for()
    with Ledger.open() as whole:
        person(whole, "anna").charge("old", COUNTED, OLD.cost, sentence(OLD), **_asked(OLD))


def opened() -> AppTest:
    app = AppTest.from_function(question, default_timeout=600)
    app.user = user("anna")
    app.run()
    assert not app.exception, [error.value for error in app.exception]
    return app


def told_of_each(app: AppTest) -> dict[str, str]:
    """What is read before each button, since the one before it: what it does is there."""
    parts: dict[str, str] = {}
    read: list[str] = []
    for element in app.main:
        if element.type == "button":
            parts[str(element.key)] = "\n".join(read)
            read = []
        elif isinstance(value := getattr(element, "value", None), str):
            read.append(value)
    return parts


def found() -> Budget:
    with Ledger.open() as whole:
        return whole.budget(COUNTED)


def takes(request: Any) -> str:
    """As a price says it."""
    share = found().untouched.share_of(request.cost, request.neighbours)
    assert share is not None
    return said.share(share)


def says(part: str, request: Any, *, priced: bool = True) -> None:
    """All that hangs on its mechanism, and nothing that hangs on the other's."""
    (other,) = {NOW, OLD} - {request}
    assert f"as far as by {request.mechanism}" in part
    assert f"as far as by {other.mechanism}" not in part
    assert (takes(request) in part) == priced
    assert takes(other) not in part


def says_of_old(part: str, *, priced: bool = True) -> None:
    says(part, OLD, priced=priced)
    assert said.as_then(OLD.mechanism) in part
    assert f"Together with the model: {OLD.mechanism}" in part
    assert "Four counts leave." not in part, "said once"
    assert words.odds_sentence(0.15, 0.0, OLD.neighbours, OLD.unit) in part


def grows_by(request: Any, click: Callable[[], Any]) -> None:
    """What a click takes of the budget."""
    before = found().share_spent
    click()
    assert found().share_spent - before == pytest.approx(found().untouched.share_of(request.cost, NOW.neighbours))


def granted(app: AppTest) -> None:
    parts = told_of_each(app)
    assert list(parts) == ["test-begin", "test-old-granted"]
    says(parts["test-begin"], NOW)
    says_of_old(parts["test-old-granted"])
    grows_by(OLD, lambda: press(app, "test-old-granted"))
    assert f"by {OLD.mechanism}" in text(app)


def granted_and_asked_beside(app: AppTest) -> None:
    """Who would rather have the cheaper count asks for it, and both stand there until either is drawn."""
    press(app, "test-begin")
    press(app, "test-confirm")
    assert login_words.ASKED in text(app)
    app.run()
    parts = told_of_each(app)
    assert list(parts) == ["test-look", "test-old-granted"]
    says(parts["test-look"], NOW)
    says_of_old(parts["test-old-granted"])
    with Ledger.open() as whole:
        (new,) = [one for one in whole.petitions() if one.state == "waiting"]
        assert (new.mechanism, new.cost) == (NOW.mechanism, NOW.cost)
        person(whole, "olga").grant(new.request_id)
    app.run()
    assert list(told_of_each(app)) == ["test-granted", "test-old-granted"]
    grows_by(NOW, lambda: press(app, "test-granted"))
    assert f"by {NOW.mechanism}" in text(app)


def waiting(app: AppTest) -> None:
    parts = told_of_each(app)
    assert list(parts) == ["test-begin", "test-old-look"]
    says(parts["test-begin"], NOW)
    says_of_old(parts["test-old-look"])


def paid(app: AppTest) -> None:
    """What was charged takes nothing more, and its price is not said as if it did."""
    parts = told_of_each(app)
    assert list(parts) == ["test-draw-old"]
    part = parts["test-draw-old"].split(said.as_then(OLD.mechanism))
    assert len(part) == 2
    says_of_old(said.as_then(OLD.mechanism) + part[1], priced=False)
    before = found().share_spent
    press(app, "test-draw-old")
    assert found().share_spent == before
    assert f"by {OLD.mechanism}" in text(app)


WAYS: dict[str, tuple[Callable[[], None], Callable[[AppTest], None]]] = {
    "granted": (asked_for, granted),
    "granted, and asked beside": (asked_for, granted_and_asked_beside),
    "waiting": (lambda: asked_for(granted=False), waiting),
    "charged": (charged, paid),
}
ways = pytest.mark.parametrize("way", WAYS)


@ways
def test_each_button_stands_below_what_it_draws_and_takes(way: str, budget: None) -> None:
    begin, check = WAYS[way]
    begin()
    check(opened())


@ways
def test_these_tests_can_fail(way: str, budget: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one offer for all that was asked, as if the page drew all of it by today's mechanism."""
    begin, check = WAYS[way]
    begin()
    monkeypatch.setattr(Offer, "of", lambda offer, found: offer)
    app = opened()
    with pytest.raises((AssertionError, KeyError)):
        check(app)


def test_what_is_asked_as_it_is_now_is_told_once(budget: None) -> None:
    """The control: where nothing was asked otherwise, there is one price and one forecast, and one request."""
    app = opened()
    press(app, "test-begin")
    press(app, "test-confirm")
    app.run()
    parts = told_of_each(app)
    assert list(parts) == ["test-look"]
    says(parts["test-look"], NOW)
    assert text(app).count(said.COST) == text(app).count(said.FORECAST) == 1
    with Ledger.open() as whole:
        (one,) = whole.petitions()
        person(whole, "olga").grant(one.request_id)
    app.run()
    assert list(told_of_each(app)) == ["test-granted"]
    grows_by(NOW, lambda: press(app, "test-granted"))
