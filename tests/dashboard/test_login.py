"""Who may do what on the pages, where people log in: the pages show it, and the callbacks ask once more."""

from __future__ import annotations

import random
import runpy
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard import __main__ as command
from dashboard import catalogue, words
from dashboard.background import compute
from dashboard.background.once import forget_all
from dashboard.budget import auditing
from dashboard.catalogue import address
from dashboard.data import configured, private_answer
from dashboard.people import ended, logged_out, login, visitors
from dashboard.widgets import receipt_file
from dashboard.words import login as said
from dpcore.accounting import Cost
from dpcore.datasets import read_csv, sketch
from dpcore.errors import LedgerError, NotAllowed
from dpcore.ledger import Ledger, approvals, compared
from dpcore.ledger.engine import UNREACHABLE
from dpcore.ledger.member import NO_FILES, NO_OPENING, MembersLedger
from dpcore.ledger.roles import PEOPLE, Person
from dpcore.ledger.store import Store
from dpcore.ledger.terms import ENDED, LIMIT_CHANGED
from tests.dashboard.conftest import text
from tests.dashboard.test_data_page import drop, held, look

SERVER = Path(__file__).parents[2] / "dashboard" / "server.py"
ISSUER = "https://login.example"
AUTH = """
[auth]
redirect_uri = "http://127.0.0.1:8501/oauth2callback"
cookie_secret = "0123456789abcdef0123456789abcdef"
client_id = "lab"
client_secret = "secret"
server_metadata_url = "https://login.example/.well-known/openid-configuration"
"""


SINCE = int(time.time())
"""When those who say nothing else logged in: one login has one such second, however long a test takes."""


def user(name: str, **more: Any) -> dict[str, Any]:
    said = {"is_logged_in": True, "sub": name, "iss": ISSUER, "iat": SINCE, "provider": login.DEFAULT}
    return said | more


def subject(name: str) -> str:
    return f"{name} at {ISSUER}"


OTHERS = """
[auth.weak]
client_id = "lab"
client_secret = "secret"
server_metadata_url = "https://weak.example/realm/.well-known/openid-configuration"
"""


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    def write(content: str) -> Path:
        login._read.cache_clear()
        file = tmp_path / "login.toml"
        file.write_text(content, encoding="utf-8")
        monkeypatch.setenv(login.VARIABLE, str(file))
        return file

    return write


@pytest.fixture
def people(ledger_file: Path, settings: Callable[[str], Path]) -> Iterator[None]:
    """Olga owns the budget of "people" and shares it with Anna, who may take ε = 0.2 of it alone; Ursel audits."""
    settings(AUTH)
    forget_all()
    with Ledger.open() as whole:
        for name, role in (("olga", "owner"), ("anna", "analyst"), ("ursel", "auditor")):
            whole.give_roles(subject(name), [role])
        olga = MembersLedger(whole, Person(subject=subject("olga")), "olga" * 8)
        olga.open_budget("people", epsilon=2.0, name="Patients")
        olga.share("people", subject("anna"), "ask")
        olga.set_limit("people", 0.2)
    yield
    forget_all()


def asks(lineage: str) -> None:
    from tests.dashboard.asking import page

    page(lineage, 0.5, 0.0, "")


def releasing(name: str) -> AppTest:
    app = AppTest.from_function(asks, args=("people",), default_timeout=600)
    app.user = user(name)
    app.run()
    assert not app.exception
    return app


def receipts() -> list[str]:
    with Ledger.open() as whole:
        return [f"{one.subject}/{one.granted_by}" for one in whole.receipts()]


@pytest.mark.thorough
def test_what_was_granted_is_drawn_whatever_became_of_the_same_request_in_another_window(
    people: None, open_app: Callable[..., AppTest]
) -> None:
    """The later one, refused as the same twice, hid the grant from every page. In two windows, and as by a program, it
    is asked once now."""
    first, second = releasing("anna"), releasing("anna")
    for window in (first, second):
        window.button(key="test-begin").click().run()
    for window, told in ((first, said.ASKED), (second, said.ASKED_BEFORE)):
        window.button(key="test-confirm").click().run()
        assert told in text(window)
    with Ledger.open() as whole:
        (asked,) = whole.petitions()
        olga, anna = (MembersLedger(whole, Person(subject=subject(one)), one * 8) for one in ("olga", "anna"))
        again = {name: getattr(asked, name) for name in ("mechanism", "neighbours", "question", "unit")}
        with pytest.MonkeyPatch.context() as earlier:  # as by an earlier version
            earlier.setattr(approvals, "_standing", lambda *_: None)
            anna.ask("again", asked.lineage, asked.cost, asked.what, **again)
        olga.grant(asked.request_id)
        olga.refuse("again", "The same twice.")
        assert anna.ask("once more", asked.lineage, asked.cost, asked.what, **again).request_id == asked.request_id
    for window in (first, second):
        window.run()
        assert [one for one in window.button if one.key == "test-granted"]
    first.button(key="test-granted").click().run()
    assert receipts() == [f"{subject('anna')}/{subject('olga')}"]


@pytest.mark.thorough
def test_two_people_make_one_large_answer(people: None, open_app: Callable[..., AppTest]) -> None:
    """Asked by one on the page of a question, granted by another on the Budget page, then drawn by the first."""
    anna = releasing("anna")
    assert said.above(0.2) in text(anna)
    anna.button(key="test-begin").click().run()
    anna.button(key="test-confirm").click().run()
    assert said.ASKED in text(anna)
    assert "waits for an owner" in text(anna)
    assert receipts() == []
    assert not [one for one in anna.button if one.key in ("test-granted", "test-begin")], "asked once"

    budget = {name: tab(open_app, "budget", name, said.REQUESTS) for name in ("olga", "ursel", "anna")}
    olga = budget["olga"]
    assert "1 request waiting for you" in [link.proto.label for link in olga.sidebar.get("page_link")]
    assert "It costs **ε = 0.5** of “Patients”, of which 0% is spent now and 25% would be" in text(olga)
    key = next(str(one.key) for one in olga.button if str(one.key).endswith("-grant"))
    for name in ("ursel", "anna"):
        assert not [one for one in budget[name].button if str(one.key).endswith("-grant")], name
    # what her page would send, sent by the others: the callback is Olga's, the person is not
    for name in ("ursel", "anna", "nobody"):
        olga.user = user(name)
        olga.button(key=key).click().run()
        assert not olga.exception
        with Ledger.open() as whole:
            assert [one.state for one in whole.petitions()] == ["waiting"], name
        olga.user = user("olga")
        olga.session_state["budget_tab"] = said.REQUESTS
        olga.run()
    olga.user = {}
    olga.button(key=key).click().run()
    assert said.TITLE in text(olga)
    olga.user = user("olga")
    olga.session_state["budget_tab"] = said.REQUESTS
    olga.run()
    olga.text_input(key=key.replace("-grant", "-why")).set_value("For the yearly report.")
    olga.button(key=key).click().run()
    assert "Granted, on the record" in text(olga)

    anna.run()
    assert "For the yearly report" in anna.success[0].value
    assert said.DRAWN_FROM_THIS in text(anna), "it may have been asked about another file"
    anna.button(key="test-granted").click().run()
    assert receipts() == [f"{subject('anna')}/{subject('olga')}"]
    assert not [one for one in anna.button if one.key == "test-granted"], "drawn once"


def test_a_request_is_withdrawn_by_who_asked(people: None, open_app: Callable[..., AppTest]) -> None:
    """On the Budget page; whoever else sends that click changes nothing, and the question can be asked anew."""
    anna = releasing("anna")
    for name in ("test-begin", "test-confirm"):
        anna.button(key=name).click().run()
    budget = tab(open_app, "budget", "anna", said.REQUESTS)
    (key,) = [str(one.key) for one in budget.button if str(one.key).startswith("withdraw-")]
    for name in ("olga", "nobody"):
        budget.user = user(name)
        budget.button(key=key).click().run()
        assert not budget.exception
        budget.user = user("anna")
        budget.session_state["budget_tab"] = said.REQUESTS
        budget.run()
        with Ledger.open() as whole:
            assert [one.state for one in whole.petitions()] == ["waiting"], name
    budget.button(key=key).click().run()
    assert said.WITHDRAWN_NOW in text(budget)
    assert not [one for one in budget.button if str(one.key).startswith("withdraw-")]
    anna.run()
    assert said.WITHDRAWN in text(anna)
    assert [one for one in anna.button if one.key == "test-begin"], "it can be asked anew"


def test_requests_stand_whatever_became_of_the_budgets_of_others(
    people: None, open_app: Callable[..., AppTest]
) -> None:
    """A budget that is not shared any more, closed, or whose person has no role left: each request stays with who made
    it, who withdraws it, and with who decides about others."""
    with Ledger.open() as whole:
        whole.give_roles(subject("otto"), ["owner"])
        olga, otto, anna = (
            MembersLedger(whole, Person(subject=subject(name)), name * 8) for name in ("olga", "otto", "anna")
        )
        for lineage in ("ottos", "closed"):
            otto.open_budget(lineage, epsilon=2.0, name=lineage)
            otto.share(lineage, subject("anna"), "ask")
        olga.share("people", subject("otto"), "ask")
        anna.ask("to otto", "ottos", Cost.pure(0.5), "?")
        anna.ask("closed", "closed", Cost.pure(0.5), "?")
        anna.ask("to olga", "people", Cost.pure(0.5), "?")
        otto.ask("by otto", "people", Cost.pure(0.5), "?")
        olga.share("people", subject("otto"), "none")
        otto.share("ottos", subject("anna"), "none")
        otto.end_budget("closed")
        whole.give_roles(subject("anna"), [])

    def offered(name: str, begins: str) -> list[str]:
        app = tab(open_app, "budget", name, said.REQUESTS)
        assert not app.error
        return [str(one.key) for one in app.button if str(one.key).startswith(begins)]

    assert offered("otto", "withdraw-") == ["withdraw-by otto"]
    assert "decide-to otto-grant" in offered("otto", "decide-")
    assert "1 request waiting for you" in [  # what was asked of a closed budget waits for nobody
        link.proto.label for link in tab(open_app, "budget", "otto", "").sidebar.get("page_link")
    ]
    app = tab(open_app, "budget", "anna", said.REQUESTS)
    for name in ("to otto", "closed", "to olga"):
        app.button(key=f"withdraw-{name}").click().run()
        assert said.WITHDRAWN_NOW in text(app), name
    assert not offered("vera", "withdraw-")
    offers = {name: [one.label for one in tab(open_app, "budget", name, "").tabs] for name in ("anna", "vera")}
    assert said.REQUESTS in offers["anna"]
    assert said.REQUESTS not in offers["vera"], "who never asked"


def test_a_page_that_may_is_refused_when_somebody_else_sends_it(people: None) -> None:
    """The click of Anna's page, by a viewer, by nobody, and by Anna herself once the limit was lowered under it."""
    with Ledger.open() as whole:
        whole.set_limit("people", None)
    app = releasing("anna")
    app.button(key="test-begin").click().run()
    for sender in (user("vera"), user("ursel"), user("anna", iat=int(time.time()) - 13 * 3600), {}):
        app.user = sender
        app.button(key="test-confirm").click().run()
        assert not app.exception
        assert receipts() == []
        app.user = user("anna")
        app.run()
        app.button(key="test-begin").click().run()
    with Ledger.open() as whole:
        whole.set_limit("people", 0.1)
    app.button(key="test-confirm").click().run()
    assert receipts() == []
    with Ledger.open() as whole:
        whole.set_limit("people", None)
    app.run()
    app.button(key="test-begin").click().run()
    app.button(key="test-confirm").click().run()
    assert receipts() == [f"{subject('anna')}/"]


def test_what_is_not_yours_is_said_and_not_offered(people: None) -> None:
    assert said.NOT_FOR_ASKING in text(releasing("ursel"))
    assert said.NONE_TO_ASK in text(releasing("vera")), "she does not even see that there is one"
    with Ledger.open() as whole:
        whole.end_budget("people")
    app = releasing("anna")
    assert ENDED in text(app)
    assert not [one for one in app.button if one.key == "test-begin"]


def manages(app: AppTest) -> bool:
    """Whether the page shows Olga her budget."""
    return [str(one.value) for one in app.selectbox if one.key == "sharing-budget"] == ["people"]


def test_logging_out_ends_all_tabs_of_that_login_and_no_other(
    people: None, open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run asks, and each click: what a tab that was left open sends changes nothing."""
    here, elsewhere = user("olga", nonce="here"), user("olga", nonce="elsewhere")
    tabs = [open_app("budget") for _ in range(3)]
    for one, sent in zip(tabs, (here, here, elsewhere), strict=True):
        one.user = dict(sent)  # as Streamlit has it: one for each page
        one.session_state["budget_tab"] = said.SHARING
        one.run()
        assert manages(one)
    tabs[0].button(key="log-out").click().run()
    for one, sent in zip(tabs[:2], (here, here), strict=True):
        one.user = dict(sent)  # also where the cookie was copied
    with Ledger.open() as whole:
        before = len(whole.records())
    tabs[1].button(key="sharing-end-people").click().run()
    with Ledger.open() as whole:
        assert len(whole.records()) == before, "nothing was written"
    for one in (tabs[0].run(), tabs[1].run()):
        assert [title.value for title in one.title] == [said.TITLE]
        assert not manages(one)
    assert manages(tabs[2].run()), "another browser of hers"
    tabs[1].user = user("olga", nonce="anew")
    assert manages(tabs[1].run())
    tabs[0].user = dict(here)
    monkeypatch.setattr(logged_out, "is_ended", lambda _: False)
    assert manages(tabs[0].run()), "or nothing was tested"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., list[float]]:
    """Starts a server with one key, which knows nothing but its files; what clock it has, and for how long
    ended logins are ``kept``."""
    now = [100.0]
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "keys" / "ledger.key"))

    def anew(kept: float = 0.0) -> list[float]:
        monkeypatch.setattr(logged_out, "_ended", ended.Held())
        monkeypatch.setattr(logged_out, "_read", None)
        monkeypatch.setattr(logged_out, "_seen", None)
        monkeypatch.setattr(logged_out, "_tidied", 0.0)
        monkeypatch.setattr(logged_out, "_TIDY", 0.0)
        monkeypatch.setattr(logged_out, "_KEPT", kept)
        monkeypatch.setattr(logged_out, "time", SimpleNamespace(time=lambda: now[0], sleep=lambda _: None))
        return now

    anew()
    return anew


@pytest.mark.parametrize("kept", [logged_out._KEPT, 0.0])
def test_a_clock_that_was_ahead_for_a_moment_lets_nobody_back_in(
    started: Callable[..., list[float]], kept: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else logs out meanwhile, and what counts no more by then is forgotten; where nothing is kept beyond
    that, a copy of the cookie counted again."""
    monkeypatch.setattr(logged_out, "_LINES", 1)
    now = started(kept)
    logged_out.end(user("olga", nonce=1), 3600.0)
    now[0] += 14 * 3600.0
    for number in range(4):
        logged_out.end(user(f"p{number}", nonce=1), 10.0)
    now[0] -= 14 * 3600.0
    assert logged_out.is_ended(user("olga", nonce=1)) == bool(kept)
    started(kept)  # another server with the same file
    assert logged_out.is_ended(user("olga", nonce=1)) == bool(kept)


def test_what_was_logged_out_is_forgotten_when_it_could_not_count_any_more(started: Callable[[], list[float]]) -> None:
    now = started()
    for number in range(5):
        logged_out.end(user("olga", nonce=number), 10.0)
        now[0] += 8.0
    assert [logged_out.is_ended(user("olga", nonce=number)) for number in range(5)] == [False] * 3 + [True] * 2
    assert len(logged_out.known()) == 2, "of those before nothing is kept"


def test_a_log_out_counts_after_the_server_was_started_anew_and_at_another_one(
    started: Callable[[], list[float]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was forgotten by a restart, and a copied cookie was that person again."""
    logged_out.end(user("olga", nonce=1), 10.0)
    here = logged_out._ended, logged_out._read, logged_out._seen
    started()
    assert logged_out.is_ended(user("olga", nonce=1))
    assert not logged_out.is_ended(user("olga", nonce=2))
    logged_out.end(user("olga", nonce=2), 10.0)
    monkeypatch.setattr(logged_out, "_ended", here[0])
    monkeypatch.setattr(logged_out, "_read", here[1])
    monkeypatch.setattr(logged_out, "_seen", here[2])
    assert logged_out.is_ended(user("olga", nonce=2)), "the first server, which goes on, knows of it too"
    kept = (tmp_path / "keys" / "ledger.key.logged-out").read_text()
    assert "olga" not in kept
    assert len(kept.splitlines()) == 1 + 2


def test_a_log_out_adds_a_line_and_others_read_no_more_than_that(
    started: Callable[[], list[float]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each wrote all of them anew, and each run after it read them all, while everybody's pages waited."""
    file = tmp_path / "keys" / "ledger.key.logged-out"
    for number in range(30):
        logged_out.end(user(f"p{number}", nonce=number), 10.0)
    held, taken, from_line = file.stat().st_ino, list[int](), logged_out._from_line
    monkeypatch.setattr(logged_out, "_from_line", lambda line: taken.append(1) or from_line(line))
    logged_out.end(user("olga", nonce=1), 10.0)
    assert (len(taken), file.stat().st_ino) == (1, held)
    with file.open("a") as text:
        text.write("half")
    assert not logged_out.is_ended(user("olga", nonce=2))
    assert len(taken) == 1
    with file.open("a") as text:
        text.write(" of 1\n")
    logged_out.is_ended(user("olga", nonce=2))
    assert len(taken) == 2


def test_another_file_of_the_same_number_is_read_from_its_beginning(
    started: Callable[[], list[float]], tmp_path: Path
) -> None:
    """A server where nobody was meanwhile went on in the middle of it, and missed who had logged out."""
    file = tmp_path / "keys" / "ledger.key.logged-out"
    for number in range(9):
        logged_out.end(user("ben", nonce=number), 10.0)
    assert logged_out.is_ended(user("ben", nonce=8))
    here, head = (logged_out._ended, logged_out._read, logged_out._seen), file.read_text().splitlines()[0]
    started()
    file.unlink()
    for number in range(99):
        logged_out.end(user("olga" if number == 3 else f"p{number}", nonce=1, iat=1), 10.0)
    logged_out._ended, logged_out._read, logged_out._seen = here
    assert file.read_text().splitlines()[0] != head
    assert logged_out.is_ended(user("olga", nonce=1, iat=1))


def test_a_file_that_was_taken_away_takes_no_later_log_out_with_it(
    started: Callable[[], list[float]], tmp_path: Path
) -> None:
    file = tmp_path / "keys" / "ledger.key.logged-out"
    logged_out.end(user("olga", nonce=1, iat=1), 10.0)
    file.unlink()
    logged_out.end(user("olga", nonce=2, iat=1), 10.0)
    assert "\0" not in file.read_text()
    assert logged_out.is_ended(user("olga", nonce=1, iat=1)), "this server knew of it"
    started()
    assert logged_out.is_ended(user("olga", nonce=2, iat=1))


def test_a_line_that_was_not_finished_takes_no_log_out_with_it(
    started: Callable[[], list[float]], tmp_path: Path
) -> None:
    """Of a process that was ended while it wrote, or a disk that was full."""
    logged_out.end(user("olga", nonce=1), 10.0)
    with (tmp_path / "keys" / "ledger.key.logged-out").open("a") as text:
        text.write("half of a line")
    logged_out.end(user("olga", nonce=2), 10.0)
    for _ in range(2):
        assert [logged_out.is_ended(user("olga", nonce=number)) for number in (1, 2, 3)] == [True, True, False]
        started()


def test_of_who_logs_out_again_and_again_all_logins_until_then_are_ended(
    started: Callable[[], list[float]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = started()
    monkeypatch.setattr(logged_out, "_LINES", 20)

    def login(number: int, since: float) -> dict[str, Any]:
        return user("olga", nonce=number, iat=since)

    for number in range(ended.MOST):
        logged_out.end(login(number, 90.0), 1000.0)
    assert logged_out.is_ended(login(3, 90.0))
    assert not logged_out.is_ended(login(-1, 90.0)), "another that nobody ended"
    logged_out.end(login(-2, 130.0), 1000.0)  # by a clock that is ahead
    for known in (True, False):
        assert [logged_out.is_ended(login(which, 90.0)) for which in (3, -1)] == [True, True]
        assert [logged_out.is_ended(login(-2, since)) for since in (130.0, 131.0)] == [True, False]
        assert not logged_out.is_ended(user("ben", nonce=3, iat=90.0))
        assert len((tmp_path / "keys" / "ledger.key.logged-out").read_text().splitlines()) < 20, "written anew"
        if known:
            started()
    now[0] = 2000.0
    logged_out.end(user("ben", nonce=1, iat=1990.0), 1000.0)
    assert not logged_out.is_ended(login(3, 90.0)), "nobody needs to know it any more"


def test_where_log_outs_cannot_be_read_nobody_is_logged_in(
    started: Callable[[], list[float]], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "keys" / "ledger.key.logged-out"
    place.mkdir(parents=True)
    assert logged_out.is_ended(user("olga", nonce=1))
    logged_out.end(user("olga", nonce=1), 10.0)
    assert ["log-outs cannot be read" in one.message for one in caplog.records] == [True, False]
    assert "cannot be written down for now, and count at this server alone" in caplog.text
    place.rmdir()
    logged_out._writing.rest(60)
    assert logged_out.is_ended(user("olga", nonce=1))
    assert not logged_out.is_ended(user("olga", nonce=2))


def test_nobody_sees_a_page_before_they_log_in(people: None, open_app: Callable[..., AppTest]) -> None:
    app = open_app("budget", whose="all")
    assert [one.value for one in app.title] == [said.TITLE]
    assert not app.sidebar.button
    assert "Patients" not in text(app)
    with pytest.raises(NotAllowed):
        compute.ledger()
    assert visitors.restricted()


def tab(open_app: Callable[..., AppTest], page: str, name: str, title: str, **query: str) -> AppTest:
    app = open_app(page, **query)
    app.user = user(name)
    if title:
        app.session_state[f"{page}_tab"] = title
    app.run()
    assert not app.exception
    return app


@pytest.mark.parametrize("name", ["olga", "anna", "ursel", "vera"])
@pytest.mark.parametrize("page", ["start", "data", "budget", "demos", *(page.key for page in catalogue.pages())])
def test_every_page_opens_while_the_database_is_away(
    people: None, open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch, page: str, name: str
) -> None:
    """Also where the roles are in it: what needs no budget goes on, and the rest says one sentence."""
    app = open_app(page)
    app.user = user(name)
    compute.opens()

    def away(*_: Any, **__: Any) -> Any:
        raise LedgerError(UNREACHABLE)

    for way in ("reading", "row", "snapshot", "writing"):
        monkeypatch.setattr(Store, way, away)
    app.run()
    assert not app.exception
    assert "went wrong" not in text(app)
    assert any(f"{name} at" in one.value for one in app.sidebar.markdown)
    if page == "data":
        assert UNREACHABLE in text(app)
        assert NO_FILES not in text(app), "it is not their role"


def limit_of(app: AppTest) -> Any:
    (found,) = [one for one in app.number_input if str(one.key).startswith("sharing-limit")]
    return found


def press_limit(app: AppTest) -> None:
    next(one for one in app.button if one.label == "Set this limit").click().run()
    assert not app.exception


def test_what_is_set_of_a_budget_begins_with_what_is_in_force_there(
    people: None, open_app: Callable[..., AppTest]
) -> None:
    """A field that kept the limit of the budget before would set it here, untouched."""
    with Ledger.open() as whole:
        olga = MembersLedger(whole, Person(subject=subject("olga")), "olga" * 8)
        olga.open_budget("strict", epsilon=2.0, name="Strict")
        olga.set_limit("strict", 0.05)
    app = tab(open_app, "budget", "olga", said.SHARING)
    app.selectbox(key="sharing-budget").set_value("people").run()
    assert limit_of(app).value == 0.2
    limit_of(app).set_value(1.5)
    app.selectbox(key="sharing-who-people").set_value(subject("ursel"))
    app.selectbox(key="sharing-budget").set_value("strict").run()
    assert limit_of(app).value == 0.05
    assert app.selectbox(key="sharing-who-strict").value is None
    press_limit(app)
    with Ledger.open() as whole:
        assert (whole.terms("people").limit, whole.terms("strict").limit) == (0.2, 0.05)
        MembersLedger(whole, Person(subject=subject("olga")), "olga" * 8).set_limit("strict", 0.01)  # in another window
    press_limit(app)
    assert LIMIT_CHANGED in text(app)
    assert limit_of(app).value == 0.01
    with Ledger.open() as whole:
        assert whole.terms("strict").limit == 0.01
    limit_of(app).set_value(0.02)
    press_limit(app)
    with Ledger.open() as whole:
        assert (whole.terms("people").limit, whole.terms("strict").limit) == (0.2, 0.02)


@pytest.mark.thorough
def test_an_owner_shares_limits_and_closes(people: None, open_app: Callable[..., AppTest]) -> None:
    app = tab(open_app, "budget", "olga", said.SHARING)
    assert any("olga at" in one.value and "owner" in one.value for one in app.sidebar.markdown)
    app.selectbox(key="sharing-who-people").set_value(subject("ursel"))
    app.radio(key="sharing-level-people").set_value("see")
    share = next(one for one in app.button if one.label == "Share it")
    share.click().run()
    with Ledger.open() as whole:
        assert whole.terms("people").level(subject("ursel")) == "see"
    limit_of(app).set_value(0.7)
    next(one for one in app.button if one.label == "Set this limit").click().run()
    with Ledger.open() as whole:
        assert whole.terms("people").limit == 0.7
        before = len(whole.records())
    # Anna sends the same states and clicks
    for label in ("Share it", "Set this limit"):
        app.user = user("anna")
        app.radio(key="sharing-level-people").set_value("own")
        limit_of(app).set_value(2.0)
        next(one for one in app.button if one.label == label).click().run()
        app.user = user("olga")
        app.session_state["budget_tab"] = said.SHARING
        app.run()
        assert not app.exception
    app.user = user("anna")
    app.button(key="sharing-end-people").click().run()
    with Ledger.open() as whole:
        assert len(whole.records()) == before, "nothing was written"
    app.user = user("olga")
    app.session_state["budget_tab"] = said.SHARING
    app.run()
    app.text_input(key="open-for-name").set_value("Clients")
    app.checkbox(key="open-for-sure").check()
    opens = next(one for one in app.button if one.label == "Open it for good")
    opens.click().run()
    app.selectbox(key="sharing-budget").set_value("people").run()
    app.button(key="sharing-end-people").click().run()
    with Ledger.open() as whole:
        assert whole.terms("people").ended
        clients = next(one for one in whole.budgets() if one.name == "Clients")
        assert whole.terms(clients.lineage).owners == (subject("olga"),)
        assert whole.protects(clients.lineage) == "person", "as the form says it"


def test_an_auditor_reads_and_checks_all_and_spends_nothing(people: None, open_app: Callable[..., AppTest]) -> None:
    app = tab(open_app, "budget", "ursel", said.RECORDS, whose="all")
    assert "1 group of people" in text(app)
    (whole,) = (one.proto for one in app.get("download_button") if one.proto.label.startswith("All records"))
    assert whole.deferred_file_id
    assert not whole.url, "whoever had it would read all, without a login, also after the page is closed"
    app.button(key="records-check").click().run()
    assert "Sound: " in text(app)
    assert said.SHARING not in [one.label for one in app.tabs]
    app = tab(open_app, "data", "ursel", "")
    assert NO_FILES in text(app)
    # what an analyst's page would send, sent by an auditor
    app = tab(open_app, "data", "anna", "")
    app.text_area(key="own-paste-0").set_value("a,b\n1,2\n3,4\n")
    app.user = user("ursel")
    next(one for one in app.button if str(one.key).startswith("own-paste-go") or "paste" in str(one.key)).click().run()
    assert not app.exception
    assert "own_file" not in app.session_state or app.session_state["own_file"] is None
    assert NO_FILES in text(app)


@pytest.mark.thorough
def test_a_file_beside_others_people_is_on_the_record_and_a_day_takes_a_few(
    people: None, open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another owner is told that the people have a budget; over the bound, none is opened for a file."""

    def table(seed: int) -> bytes:
        rng = random.Random(seed)
        rows = (f"{rng.randint(18, 90)},{rng.randint(140, 210)},{rng.randint(0, 999)}\n" for _ in range(60))
        return f"age,height,visits\n{''.join(rows)}".encode()

    known = read_csv(table(1))
    with Ledger.open() as whole:
        whole.give_roles(subject("otto"), ["owner"])
        whole.link(known.fingerprint, "people", sketch(known, whole.sketch_key))
    app = drop(tab(open_app, "data", "otto", ""), table(1))
    assert [one.name for one in held(app).alike] == ["Patients"]
    monkeypatch.setattr(compared, "MOST_FILES", 1)
    drop(app, table(2))
    assert compared.TOO_MANY in text(app)
    own = held(app)
    assert own.alike == ()
    assert private_answer.lacking(own)[0] == compared.TOO_MANY
    look(app).switch_page(address("budget")).run()
    assert words.safe(compared.TOO_MANY, 400) in text(app)
    assert not [one for one in app.button if one.key == "open-budget-review"]
    auditor = tab(open_app, "budget", "ursel", said.RECORDS)
    shown = auditor.dataframe[0].value
    assert list(shown["Kind"][:2]) == ["alike", "compare"]


def look_who() -> None:
    import streamlit as st

    from dashboard.background import compute
    from dashboard.people import login

    person = login.person()
    st.text("nobody" if person is None else f"{person.subject} {sorted(compute.roles())}")


def seen_as(sent: dict[str, Any]) -> str:
    """Who somebody is, and what they may, by what their login says."""
    app = AppTest.from_function(look_who, default_timeout=60)
    app.user = sent
    app.run()
    assert not app.exception
    return str(app.text[0].value)


WEAK = "https://weak.example/realm"
BY_WEAK = {"provider": "weak"}
BESIDES = {  # what the weak provider could state of somebody, and who that may be at most
    "its own": ({**BY_WEAK, "iss": WEAK}, f"olga at {WEAK}"),
    "its own with a stroke": ({**BY_WEAK, "iss": f"{WEAK}/"}, f"olga at {WEAK}/"),
    "the other's": ({**BY_WEAK, "iss": ISSUER}, ""),
    "the other's with a stroke": ({**BY_WEAK, "iss": f"{ISSUER}/"}, ""),
    "the other's in the name": ({**BY_WEAK, "iss": WEAK, "sub": subject("olga")}, f"{subject('olga')} at {WEAK}"),
    "half of it in the name": ({**BY_WEAK, "iss": f"{ISSUER} at {WEAK}"}, ""),
    "a mail address": ({**BY_WEAK, "iss": WEAK, "sub": "x", "email": "olga@login.example"}, f"x at {WEAK}"),
    "nobody's": ({"provider": "gone", "iss": ISSUER}, ""),
    "no name": ({"provider": None, "iss": ISSUER}, ""),
    "a list": ({"provider": ["default"], "iss": ISSUER}, ""),
}


@pytest.mark.parametrize("claim", [False, True])
def test_nobody_of_one_provider_is_a_person_of_another(
    claim: bool, people: None, settings: Callable[[str], Path]
) -> None:
    """Nor has their roles: whatever a provider states of an address, of names or of groups."""
    lab = '[lab]\nclaim = "groups"\nclaim_from = ["default"]\n' if claim else ""
    settings(AUTH + OTHERS + lab)
    groups = ["owner", "auditor"] if claim else None
    assert seen_as(user("olga", groups=groups)).startswith(f"{subject('olga')} ["), "the real one gets in"
    assert "'owner'" in seen_as(user("olga", groups=groups))
    for case, (sent, who) in BESIDES.items():
        found = seen_as(user("olga", groups=["owner", "auditor", "analyst"]) | sent)
        assert found == (f"{who} ['viewer']" if who else "nobody"), case
        token = login.practice_token(who)
        assert token != login.practice_token(subject("olga")), case
        if who:
            with Ledger.open() as whole:
                view = MembersLedger(whole, Person(subject=who), token)
                assert (view.budgets(), view.petitions(), view.chargeable()) == ([], [], []), case


def test_without_the_binding_one_would_be_the_other(
    people: None, settings: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What shows that the test above can fail."""
    settings(AUTH + OTHERS)
    monkeypatch.setattr(login, "_speaks_for", lambda *_: True)
    assert seen_as(user("olga", **BY_WEAK)) == f"{subject('olga')} ['owner', 'viewer']"


def test_a_provider_that_is_not_under_its_metadata_says_its_issuer(
    people: None, settings: Callable[[str], Path]
) -> None:
    """Streamlit is not told of it; without a claim's providers the ledger's own records say the roles of the others."""
    elsewhere = 'issuer = "https://other.example/"\n'
    settings(AUTH + OTHERS + elsewhere + '[lab]\nclaim = "groups"\nclaim_from = ["default"]\n')
    secrets = login.secrets()
    assert secrets is not None
    assert "issuer" not in secrets["auth"]["weak"]
    assert secrets["auth"]["weak"]["client_id"] == "lab"
    with Ledger.open() as whole:
        whole.give_roles("otto at https://other.example/", ["analyst"])
    sent = user("otto", iss="https://other.example/", groups=["owner"], **BY_WEAK)
    assert seen_as(sent) == "otto at https://other.example/ ['analyst', 'viewer']"
    assert seen_as(user("otto", iss=WEAK, **BY_WEAK)) == "nobody"


def test_roles_of_the_login(ledger_file: Path, settings: Callable[[str], Path]) -> None:
    forget_all()
    settings(AUTH + '[lab]\nclaim = "groups"\n[lab.roles]\nstaff = "analyst"\nheads = "owner"\n')
    with Ledger.open() as whole:
        whole.give_roles(subject("anna"), ["auditor"])
        whole.open_budget("people", epsilon=1.0)
        whole.charge("r", "people", Cost.pure(0.1), "?")
    seen: dict[str, str] = {}
    for name, sent in {
        "listed": user("anna", groups=["staff", "others"]),
        "one": user("anna", groups="heads"),
        "words": user("anna", groups="heads staff"),
        "none": user("anna"),
        "own name": user("anna", groups=["owner"]),
        "strange": user("anna", groups={"staff": 1}),
        "late": user("anna", groups=["staff"], iat=int(time.time()) - 13 * 3600),
        "early": user("anna", groups=["staff"], iat=int(time.time()) + 3600),
        "no time": user("anna", groups=["staff"], iat=None),
        "no issuer": user("anna", iss=None),
        "not in": user("anna", is_logged_in=False),
        "in words": user("anna", is_logged_in="yes"),
        "blank": user(""),
        "control": user("an\nna"),
    }.items():
        seen[name] = seen_as(sent)
    anna = subject("anna")
    assert seen["listed"] == f"{anna} ['analyst', 'viewer']"
    assert seen["one"] == f"{anna} ['owner', 'viewer']"
    assert {seen[name] for name in ("none", "own name", "strange", "words")} == {f"{anna} ['viewer']"}
    assert {
        seen[name] for name in ("late", "early", "no time", "no issuer", "not in", "in words", "blank", "control")
    } == {"nobody"}


TITLES = ("Product owner", "owner of a dog", "owner,auditor", "no owner", " owner", "owner\n", "owner\u3000analyst")


@pytest.mark.parametrize("claim", ["title", "groups", "sub", "scope"])
def test_a_text_is_one_value_and_gives_no_role_by_a_word_of_it(
    claim: str, ledger_file: Path, settings: Callable[[str], Path]
) -> None:
    """Whoever may write their own title could make themselves an owner. A scope is a list of words by its standard."""
    settings(AUTH + f'[lab]\nclaim = "{claim}"\n')
    for title in TITLES:
        found = login.known(user("anna") | {claim: title})
        given = set() if found is None or not found.claimed else found.claimed
        assert given == ({*title.split()} & {"owner", "analyst"} if claim == "scope" else set())
        assert claim == "sub" or set(login.kept(user("anna") | {claim: title})[claim]) == given
    for value in ("owner", ["owner"], ["no", "owner"]):
        found = login.known(user("anna") | {claim: value})
        nobody = claim == "sub" and value != "owner"
        assert (None if found is None else found.claimed) == (None if nobody else {"owner"})


@pytest.mark.parametrize(
    "wrong",
    [
        "[auth",
        "auth = 1",
        AUTH + "[other]\n",
        AUTH.replace('client_id = "lab"', ""),
        AUTH.replace("oauth2callback", "callback"),
        AUTH.replace("0123456789abcdef0123456789abcdef", "short"),
        AUTH + 'expose_tokens = "id"\n',
        AUTH + "[lab]\nhours = 0\n",
        AUTH + "[lab]\nhour = 1\n",
        AUTH + '[lab]\nclaim = "groups"\n[lab.roles]\nstaff = "king"\n',
        AUTH + '[lab]\nclaim = "groups"\n[lab.roles]\nstaff = ["owner"]\n',
        AUTH + '[lab.roles]\nstaff = "analyst"\n',
        "".join(line for line in AUTH.splitlines(True) if not line.startswith(("client_", "server_")))
        + OTHERS.replace("[auth.weak]", "[auth.default]"),
        AUTH + '[auth.second]\nclient_id = "x"\n',
        AUTH.replace("/.well-known/openid-configuration", "/config"),
        AUTH + 'issuer = ""\n',
        AUTH + 'issuer = "https://a.example at https://b.example"\n',
        AUTH + OTHERS + 'issuer = "https://login.example/"\n',
        AUTH + OTHERS.replace("weak.example/realm", "login.example"),
        AUTH + OTHERS.replace("[auth.weak]", "[auth.default]"),
        AUTH + OTHERS + OTHERS.replace("[auth.weak]", "[auth.Weak]").replace("/realm", "/second"),
        AUTH + OTHERS.replace("[auth.weak]", "[auth.the_weak]"),
        AUTH + OTHERS + '[lab]\nclaim = "groups"\n',
        AUTH + OTHERS + '[lab]\nclaim = "groups"\nclaim_from = ["strong"]\n',
        AUTH + OTHERS + '[lab]\nclaim = "groups"\nclaim_from = "weak"\n',
        AUTH + '[lab]\nclaim = "groups"\nclaim_from = []\n',
        AUTH + '[lab]\nclaim_from = ["default"]\n',
        AUTH + OTHERS + '[lab]\nsilent = ["strong"]\n',
        AUTH + OTHERS + '[lab]\nsilent = "weak"\n',
    ],
)
def test_a_login_that_is_not_set_up_starts_nothing(
    wrong: str, settings: Callable[[str], Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings(wrong)
    monkeypatch.setattr(command, "_serve", lambda *_, **__: pytest.fail("it began to serve"))
    assert command.main(["serve"]) == 2
    told = capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:  # `streamlit run` ends with this in one line
        runpy.run_path(str(SERVER))
    assert f"{ended.value}\n" == told
    assert told.startswith("epsilon-lab: ")
    assert 'secret"' not in told
    assert told.count("\n") == 1


def test_a_page_that_runs_without_the_server_says_in_one_sentence_what_is_not_set_up(
    settings: Callable[[str], Path], open_app: Callable[..., AppTest]
) -> None:
    """`streamlit run dashboard/app.py` begins before anything of ours is asked."""
    settings("[auth")
    app = open_app()
    assert [error.value for error in app.error] == [
        words.safe(f"epsilon-lab: the file that {login.VARIABLE} names is not TOML")
    ]
    assert (len(app.main), len(app.sidebar)) == (1, 0)
    settings(AUTH)
    forget_all()
    assert not app.run().error
    assert app.title[0].value == said.TITLE


def test_without_a_setting_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(login.VARIABLE, raising=False)
    assert login.configured() is None
    assert login.person() is None
    assert login.secrets() is None
    assert not compute.no_files()


@pytest.mark.parametrize(
    ("name", "lineage", "told"),
    [("anna", "people", []), ("anna", "configured:clinic", [("own", NO_OPENING)]), ("olga", "configured:clinic", [])],
)
def test_a_source_of_the_server_is_opened_by_an_owner_and_then_shared(
    people: None, monkeypatch: pytest.MonkeyPatch, name: str, lineage: str, told: list[tuple[str, str]]
) -> None:
    """An analyst with whom its budget was shared is not told that only owners open budgets."""
    said_here: list[tuple[str, str]] = []
    monkeypatch.setattr(
        compute, "ledger", lambda: MembersLedger(Ledger.open(), Person(subject=subject(name)), name * 8)
    )
    monkeypatch.setattr(configured.session, "say", lambda *words: said_here.append(words))
    source = SimpleNamespace(
        lineage=lineage, epsilon=2.0, delta=0.0, hides="replace_one", unit="patient", label="North clinic"
    )
    configured._open_budget(source)  # type: ignore[arg-type]
    assert said_here == told


def test_who_may_ask_nothing_is_offered_no_source(
    people: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    listed = tmp_path / "sources.toml"
    listed.write_text(f'[clinic]\nlabel = "North clinic"\naddress = "sqlite:///{tmp_path}/x.db"\nepsilon = 2.0\n')
    monkeypatch.setenv("EPSILON_LAB_SOURCES", str(listed))
    monkeypatch.setattr(visitors, "restricted", lambda: False)
    for name, offered in (("anna", True), ("ursel", False)):
        person = Person(subject=subject(name))
        monkeypatch.setattr(compute, "ledger", lambda person=person: MembersLedger(Ledger.open(), person, "x" * 32))
        assert configured.offered() is offered, name


NAMED = "olga at https://login.example" + "·" * 200 + " at https://weak.example"
RECORDS = {
    "who had a practice answer": ("charge", "lineage", {"subject": NAMED, "what": "w" * 400}),
    "who decided": ("grant", "lineage", {"by": NAMED, "what": "w"}),
    "who it was shared with": ("share", "lineage", {"by": "b", "subject": NAMED, "level": "own"}),
    "whose roles they are": ("role", f"{PEOPLE}{NAMED}", {"roles": ["owner"]}),
}


@pytest.mark.parametrize("which", RECORDS)
def test_in_no_table_of_records_a_name_is_cut_before_who_vouches_for_it(which: str) -> None:
    kind, lineage, body = RECORDS[which]
    record = SimpleNamespace(kind=kind, lineage=lineage, content=body, seq=1, time="2026-01-01T00:00:00", hash="h" * 64)
    told = auditing._row(record, {}).values()  # type: ignore[arg-type]
    (named,) = [cell for cell in told if "olga" in str(cell)]
    assert "at https://weak.example" in named
    assert max(len(str(cell)) for cell in told) < 250


def test_however_long_a_name_is_who_vouches_for_it_is_read() -> None:
    """A name of 205 letters that begins as somebody of another provider was read as that person."""
    false = "olga at https://login.example (" + "x" * 400
    for most in (120, 160, 200):
        told = said.who_is(f"{false} at https://weak.example", most)
        assert told.endswith(" at https://weak.example")
        assert len(told) < most + 10
    assert said.who_is("olga at https://login.example", 120) == "olga at https://login.example"
    assert said.who_is("", 120) == ""
    assert said.shown("`a` at b") == "`` `a` at b ``", "to the letter, as whoever shares a budget with them types it"


@pytest.mark.parametrize("ours", [True, False])
def test_no_file_of_charges_is_given_after_the_share_ended(
    people: None, open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch, *, ours: bool
) -> None:
    """A page that was open before goes on offering them; a click runs no page."""
    offered: dict[str, Any] = {}
    draw = st.download_button

    def note(label: str, data: Any, *rest: Any, **more: Any) -> bool:
        offered[label] = data
        return draw(label, data, *rest, **more)

    monkeypatch.setattr(st, "download_button", note)
    if not ours:  # what shows that it can fail
        monkeypatch.setattr(receipt_file, "_shows", lambda ledger, receipts: True)
    with Ledger.open() as whole:
        for number in range(2):
            whole.charge(f"r{number}", "people", Cost.pure(0.1), "?")
            whole.store_answer(f"r{number}", {"option": "a"})
        tab(open_app, "budget", "anna", "Charges", whose="all")
        files = {name: make for name, make in offered.items() if "Charges" in name or "receipt" in name.lower()}
        assert set(files) >= {"Charges (CSV)", "Charges (JSON)", "This receipt (JSON)"}
        for make in files.values():
            assert make()
        olga = MembersLedger(whole, Person(subject=subject("olga")), "olga" * 8)
        olga.share("people", subject("anna"), "none")
        given = []
        for name, make in files.items():
            with suppress(LedgerError):
                given.append((name, make()))
    assert bool(given) is not ours
