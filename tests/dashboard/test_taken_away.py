"""What somebody else takes away while a page is open is said once, in a place that is there, and is true."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session
from dashboard.budget import deciding
from dashboard.catalogue import address
from dashboard.data import actions
from dashboard.words import data as data_said
from dashboard.words import login as said
from dashboard.words import tracker as tracker_said
from dpcore.accounting import Cost
from dpcore.errors import LedgerError
from dpcore.ledger import Ledger, Petition
from dpcore.ledger.approvals import NO_ROLE, NOT_THEIRS, OTHERWISE, OUTGROWN
from dpcore.ledger.engine import UNREACHABLE
from dpcore.ledger.member import NO_MORE, NO_OPENING, NOT_YOURS, MembersLedger
from dpcore.ledger.roles import Person
from dpcore.ledger.terms import ENDED, NOT_OWNER, NOT_SHARED
from tests.dashboard.asking import Draw
from tests.dashboard.conftest import text
from tests.dashboard.keys import about
from tests.dashboard.test_data_page import declare, drop, look, press
from tests.dashboard.test_login import people, receipts, releasing, settings, subject, tab
from tests.dashboard.test_two_windows import ROWS, table

__all__ = ["people", "settings"]
Open = Callable[..., AppTest]
Takes = Callable[[Ledger], object]

SAID = {said.TAKEN_AWAY, said.GIVEN_BACK, said.NOT_FOR_ASKING, said.NO_MORE, said.NONE_TO_ASK}
SAID |= {NO_MORE, NO_OPENING, NOT_YOURS, NOT_SHARED, ENDED, NOT_OWNER, OUTGROWN}
"""Every sentence about what one may not, or not any more."""
PRACTICE = "practice, of this sample"
"""In the sidebar, where a sample is in view."""
TAKEN: dict[str, tuple[Takes, set[str], set[str]]] = {
    # by whom it is taken, what is said of the click after it, and then of the page as it stays
    "role": (lambda whole: whole.give_roles(subject("anna"), []), {NOT_YOURS, said.TAKEN_AWAY}, {said.TAKEN_AWAY}),
    "asking": (lambda whole: whole.share("people", subject("anna"), "see"), {NOT_SHARED}, {said.NOT_FOR_ASKING}),
    "share": (lambda whole: whole.share("people", subject("anna"), "none"), {NO_MORE}, {said.NO_MORE}),
    "budget": (lambda whole: whole.end_budget("people"), {ENDED}, {ENDED}),
}


def told(app: AppTest) -> set[str]:
    """Which of them stand on the page, each once."""
    page = text(app).replace("\\", "")
    found = {
        one: page.count(data_said.here(one)) + (page.count(one) if data_said.here(one) != one else 0) for one in SAID
    }
    assert max(found.values()) <= 1, page
    return {one for one, count in found.items() if count}


def take(how: Takes) -> None:
    with Ledger.open() as whole:
        how(whole)


def holding(open_app: Open) -> AppTest:
    """Anna's window: her file is about Olga's people, and what an answer about it needs is said."""
    take(lambda whole: whole.set_limit("people", None))
    app = drop(tab(open_app, "data", "anna", ""), table(ROWS), name="file.csv")
    app.selectbox(key=about(app, "own-group-name")).set_value("people")
    press(app, "own-group-join")
    app.number_input(key="own-rows-None").set_value(1).run()
    declare(app, "colour", categories="red\nblue\ngreen", public=True)
    return look(app)


def asking(app: AppTest, *, tab_open: bool) -> AppTest:
    """A private answer is about to be confirmed: by the panel, or beside the chart with the panel closed."""
    app.switch_page(address("selection"))
    app.session_state["selection_tab"] = "A private answer" if tab_open else "Inside"
    app.run()
    key = "selection-begin" if tab_open else "selection-now-0"
    return press(app, key)


@pytest.mark.thorough
@pytest.mark.parametrize("tab_open", [True, False])
@pytest.mark.parametrize("taken", TAKEN)
def test_a_click_that_comes_to_nothing_says_so_and_nothing_else_takes_its_place(
    people: None, open_app: Open, taken: str, tab_open: bool
) -> None:
    how, clicked, stays = TAKEN[taken]
    app = asking(holding(open_app), tab_open=tab_open)
    take(how)
    press(app, "selection-confirm")
    assert told(app) == clicked
    assert receipts() == []
    assert PRACTICE not in text(app)
    assert not [one for one in app.button if str(one.key).startswith(("selection-now", "selection-begin"))]
    app.run()
    assert told(app) == (stays if tab_open or taken == "role" else set())
    assert PRACTICE not in text(app)


@pytest.mark.thorough
def test_without_that_a_click_would_say_nothing(people: None, open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: the part of the page that would tell it was gone, and a sample stood in its place."""
    monkeypatch.setattr(session, "untold", lambda: [])
    monkeypatch.setattr(actions.OWN_TAKEN, "put", lambda _: None)
    app = asking(holding(open_app), tab_open=True)
    take(TAKEN["role"][0])
    press(app, "selection-confirm")
    assert said.TAKEN_AWAY not in told(app)
    assert PRACTICE in text(app)


@pytest.mark.thorough
def test_whose_own_data_were_let_go_chooses_what_comes_then(people: None, open_app: Open) -> None:
    """On every page of the product; until something else is chosen, or the role is back."""
    app = holding(open_app)
    take(TAKEN["role"][0])
    for page in ("data", "budget", "selection", "start", "demos"):
        app.switch_page(address(page)).run()
        assert said.TAKEN_AWAY in told(app), page
    app.switch_page(address("selection")).run()
    assert data_said.YOUR_OWN in app.selectbox(key="data").options
    take(lambda whole: whole.give_roles(subject("anna"), ["analyst"]))
    assert told(app.run()) == {said.GIVEN_BACK}
    app.selectbox(key="data").set_value("clinic").run()
    assert told(app) == set()
    assert data_said.YOUR_OWN not in app.selectbox(key="data").options


@pytest.mark.thorough
def test_who_looks_at_a_sample_meanwhile_is_told_too(people: None, open_app: Open) -> None:
    app = holding(open_app).switch_page(address("selection")).run()
    app.selectbox(key="data").set_value("clinic").run()
    take(TAKEN["role"][0])
    assert told(app.run()) == {said.TAKEN_AWAY}
    assert told(app.run()) == set()


@pytest.mark.thorough
@pytest.mark.parametrize(("taken", "by_page"), [("asking", {said.NOT_FOR_ASKING}), ("share", {said.NO_MORE})])
def test_no_page_speaks_of_opening_a_budget_that_there_is(
    people: None, open_app: Open, taken: str, by_page: set[str]
) -> None:
    """The Budget page and the tracker too; an owner of others is not offered to open it once more."""
    app = holding(open_app)
    take(TAKEN[taken][0])
    for roles in (["analyst"], ["analyst", "owner"]):
        with Ledger.open() as whole:
            whole.give_roles(subject("anna"), roles)
        app.switch_page(address("data")).run()
        assert told(app) == by_page
        app.switch_page(address("budget")).run()
        assert told(app) == (by_page if taken == "share" else set())
        assert not [one for one in app.button if one.key == "open-budget-review"]
        assert tracker_said.NOT_OPENED not in text(app)


def test_who_has_nothing_is_told_whom_to_ask(people: None) -> None:
    assert told(releasing("vera")) == {said.NONE_TO_ASK}, "she does not even see that there is one"
    assert told(releasing("ursel")) == {said.NOT_FOR_ASKING}


@pytest.mark.parametrize("title", [said.SHARING, said.REQUESTS])
def test_an_owner_whose_role_is_gone_is_told_what_became_of_the_click(people: None, open_app: Open, title: str) -> None:
    """The tab that would tell it is gone with the role."""
    with Ledger.open() as whole:
        anna = MembersLedger(whole, Person(subject=subject("anna")), "anna" * 8)
        anna.ask("asked", "people", Cost.pure(0.5), "?")
    app = tab(open_app, "budget", "olga", title)
    take(lambda whole: whole.give_roles(subject("olga"), []))
    with Ledger.open() as whole:
        before = len(whole.records())
    key = "sharing-end-people" if title == said.SHARING else "decide-asked-grant"
    app.button(key=key).click().run()
    assert told(app) == {NOT_YOURS if title == said.SHARING else NOT_OWNER}
    with Ledger.open() as whole:
        assert len(whole.records()) == before


def test_what_outgrew_its_grant_is_asked_for_anew(people: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The budget has yet to say what it hides when Anna asks; an answer says it while her grant is in view."""
    monkeypatch.setattr(Draw, "neighbours", "add_remove")
    app = releasing("anna")
    press(press(app, "test-begin"), "test-confirm")
    with Ledger.open() as whole:
        MembersLedger(whole, Person(subject=subject("olga")), "olga" * 8).grant(whole.petitions()[0].request_id)
    app.run()
    take(lambda whole: whole.charge("first", "people", Cost.pure(0.1), "?", neighbours="replace_one"))
    press(app, "test-granted")
    assert receipts() == ["/"], "the first alone"
    assert told(app) == {OUTGROWN}
    assert text(app).count(said.outgrown("ε = 0.5", "ε = 1")) == 1
    assert not [one for one in app.button if one.key == "test-granted"]
    press(press(app, "test-begin"), "test-confirm")
    with Ledger.open() as whole:
        asked = [(one.state, one.counted and one.counted.epsilon) for one in whole.petitions()]
    assert asked == [("granted", 0.5), ("waiting", 1.0)]


STATED = {
    one: tuple(
        f"How the cells of “{name}” are read{' and what they can hold' if name == one else ''} were stated or called "
        "right by a person who had seen the file or an earlier one: not covered by ε."
        for name in ("age", "pay")
    )
    for one in ("age", "pay")
}
"""What two sessions say of one question, each of another column."""


def granted_in_other_words(monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """Anna's page, where her request was granted in the words of another session."""
    monkeypatch.setattr(Draw, "notes", STATED["age"], raising=False)
    app = releasing("anna")
    press(press(app, "test-begin"), "test-confirm")
    with Ledger.open() as whole:
        MembersLedger(whole, Person(subject=subject("olga")), "olga" * 8).grant(whole.petitions()[0].request_id)
    monkeypatch.setattr(Draw, "notes", STATED["pay"])
    return app.run()


def test_what_was_granted_in_words_of_another_session_is_asked_for_anew(
    people: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The grant of one stands in the other's way no more, and in its own it is drawn."""
    app = granted_in_other_words(monkeypatch)
    assert text(app).count(OTHERWISE) == 1
    assert not [one for one in app.button if one.key == "test-granted"]
    press(press(app, "test-begin"), "test-confirm")
    with Ledger.open() as whole:
        assert [one.state for one in whole.petitions()] == ["granted", "waiting"]
    assert said.ASKED in text(app)
    monkeypatch.setattr(Draw, "notes", STATED["age"])
    press(app.run(), "test-granted")
    assert receipts() == [f"{subject('anna')}/{subject('olga')}"]


def test_a_page_on_which_nobody_can_ask_anew_is_found_out(people: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: whatever had been granted and not drawn hid the button."""
    monkeypatch.setattr(Petition, "pending", True)
    app = granted_in_other_words(monkeypatch)
    assert not [one for one in app.button if one.key in ("test-begin", "test-granted")]


HINDERED: dict[str, tuple[Takes, str]] = {
    "closed": (lambda whole: whole.end_budget("people"), ENDED),
    "not shared": (lambda whole: whole.share("people", subject("anna"), "none"), NOT_THEIRS),
    "no role": (lambda whole: whole.give_roles(subject("anna"), []), NO_ROLE),
    "spent": (lambda whole: whole.charge("first", "people", Cost.pure(1.8), "?"), "0.5 and ε = 0.2 is left"),
    "counts more": (
        lambda whole: whole.charge("first", "people", Cost.pure(0.1), "?", neighbours="replace_one"),
        OUTGROWN,
    ),
}


@pytest.mark.parametrize("since", HINDERED)
def test_an_owner_is_asked_to_grant_nothing_that_cannot_be_drawn(people: None, open_app: Open, since: str) -> None:
    """The box says why, offers a refusal alone, and no share of the budget that would be spent; what waits at a closed
    budget waits for nobody."""
    with Ledger.open() as whole:
        anna = MembersLedger(whole, Person(subject=subject("anna")), "anna" * 8)
        anna.ask("waits", "people", Cost.pure(0.5), "?", neighbours="add_remove")
    take(HINDERED[since][0])
    app = tab(open_app, "budget", "olga", said.REQUESTS)
    counted = [link.proto.label for link in app.sidebar.get("page_link") if "waiting" in link.proto.label]
    if since == "closed":
        assert counted == []
        assert app.dataframe[-1].value["State"].tolist() == [f"waits{said.NOTHING_TO_DRAW}"]
        return
    assert counted == ["1 request waiting for you"]
    assert HINDERED[since][1] in text(app).replace("\\", "")
    assert "would be" not in text(app)
    assert app.button(key="decide-waits-grant").disabled
    app.text_input(key="decide-waits-why").set_value("Ask anew.")
    app.button(key="decide-waits-refuse").click().run()
    with Ledger.open() as whole:
        assert [one.state for one in whole.petitions()] == ["refused"]


def states(open_app: Open, name: str) -> list[str]:
    return list(tab(open_app, "budget", name, said.REQUESTS).dataframe[-1].value["State"])


@pytest.mark.parametrize("since", [one for one in HINDERED if one != "counts more"])  # as the first charge has said
def test_what_was_granted_is_told_as_what_it_leads_to(people: None, open_app: Open, since: str) -> None:
    """To who granted it and to who asked, whatever either sees of the budget by now."""
    with Ledger.open() as whole:
        olga, anna = (MembersLedger(whole, Person(subject=subject(name)), name * 8) for name in ("olga", "anna"))
        for request in ("drawn", "granted"):
            anna.ask(request, "people", Cost.pure(0.5), "?", neighbours="add_remove", question=request)
            olga.grant(request)
        anna.charge("drawn", "people", Cost.pure(0.5), "?", neighbours="add_remove", question="drawn")
        assert states(open_app, "olga") == states(open_app, "anna") == ["granted", "drawn"]
    take(HINDERED[since][0] if since != "spent" else lambda whole: whole.charge("s", "people", Cost.pure(1.3), "?"))
    for name in ("olga", "anna"):
        assert states(open_app, name) == [f"granted{said.NOTHING_TO_DRAW}", "drawn"], name


def test_what_was_granted_in_other_words_is_told_once_it_was_asked_for_anew(
    people: None, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = granted_in_other_words(monkeypatch)
    assert states(open_app, "olga") == ["granted"]
    press(press(app, "test-begin"), "test-confirm")
    assert states(open_app, "olga") == [f"granted{said.ASKED_ANEW}"]
    monkeypatch.setattr(deciding, "_ends", lambda found, hindered: {})
    assert states(open_app, "olga") == ["granted"], "as it was: these tests can fail"


def test_what_was_charged_and_not_drawn_is_drawn_and_not_asked_for_again(
    people: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page offers the draw that is paid, once, and neither to ask nor to draw what was granted."""

    def away(self: Ledger, request_id: str) -> None:
        raise LedgerError(UNREACHABLE)

    app = releasing("anna")
    press(press(app, "test-begin"), "test-confirm")
    with Ledger.open() as whole:
        request = whole.petitions()[0].request_id
        MembersLedger(whole, Person(subject=subject("olga")), "olga" * 8).grant(request)
    with monkeypatch.context() as then:
        then.setattr(MembersLedger, "begin_draw", away)
        press(app.run(), "test-granted")
    app.run()
    free = f"test-draw-{request[:8]}"
    assert [one.key for one in app.button if one.key in ("test-begin", "test-granted", free)] == [free]
    assert "free of charge" in app.button(key=free).label
    press(app, free)
    assert receipts() == [f"{subject('anna')}/{subject('olga')}"]
    assert "test-begin" in [one.key for one in app.run().button]


@pytest.mark.parametrize(("raised", "by"), [(5.0, "otto"), (None, "otto")])
def test_a_limit_is_told_as_it_counts_for_who_reads_it(
    people: None, open_app: Open, raised: float | None, by: str
) -> None:
    """Who raised it themselves was told the raised one as what they may take."""
    with Ledger.open() as whole:
        whole.give_roles(subject("otto"), ["owner", "analyst"])
        whole.share("people", subject("otto"), "own")
        MembersLedger(whole, Person(subject=subject("otto")), "otto" * 8).set_limit("people", raised)
    assert said.above(0.2, raised=True) in text(releasing("otto"))
    shown = {name: text(tab(open_app, "budget", name, said.SHARING)) for name in ("otto", "olga")}
    assert f"You may take ε = 0.2 alone. {said.RAISED}" in shown["otto"]
    assert f"{said.shown(subject('otto'))} may take ε = 0.2 alone." in shown["olga"]
    for page in shown.values():
        assert "Each person" not in page
        assert "Everyone who may" not in page
