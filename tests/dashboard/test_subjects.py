"""Whom a login names, an owner chooses and the tool is told is one and the same person everywhere, or nobody's."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from starlette.exceptions import HTTPException
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from dashboard.budget import sharing
from dashboard.people import login, login_cookie
from dashboard.words import login as said
from dpcore.errors import InvalidArgument, NotAllowed
from dpcore.ledger import Ledger, roles
from dpcore.ledger.__main__ import main
from dpcore.ledger.asked import Asked
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.roles import Person
from tests.dashboard.conftest import text
from tests.dashboard.test_login import ISSUER, people, settings, subject, tab, user

__all__ = ["people", "settings"]
UNSEEN = (" ", "\u00a0", "\u3000", "\u2003", "\u200b", "\u200e", "\ufeff", "\u00ad", "\u2028", "\t")
ENDS = [f"{before}mallory{after}" for one in UNSEEN for before, after in ((one, ""), ("", one))]
WITHIN = ["mallory x", "mallory  x", "mallory\u00a0x", "mal\u200dlory", "mallory at x", "Mállory", "張"]


def _by_login(name: str) -> str | None:
    found = login.known(user(name))
    return None if found is None else found.subject


def _by_cookie(name: str) -> str | None:
    kept = list[str]()
    try:
        login_cookie._in_one(
            lambda _, text: kept.append(text), lambda *_: b"", USER_COOKIE_NAME, user(name), cookie_attr_size=0
        )
    except HTTPException as error:
        return None if error.detail == said.NO_SUBJECT else f"{error.status_code} {error.detail}"
    return subject(name) if kept else None


def _by_person(name: str) -> str | None:
    try:
        return Person(subject=subject(name)).subject
    except InvalidArgument:
        return None


def _by_charge(name: str) -> str | None:
    try:
        return Asked(what="?", mechanism="", neighbours="", question="", subject=subject(name)).subject
    except InvalidArgument:
        return None


def _written(act: Callable[[], object]) -> str | None:
    """Of whom the record is that this writes."""
    with Ledger.open() as whole:
        before = len(whole.records())
    act()
    with Ledger.open() as whole:
        records = whole.records()[before:]
    if not records:
        return None
    (record,) = records
    return str(record.content.get("subject") or record.lineage.removeprefix(roles.PEOPLE))


def _by_role(name: str) -> str | None:
    return _written(lambda: main(["role", subject(name), "analyst"]))


def _by_share(name: str) -> str | None:
    return _written(lambda: main(["share", "people", subject(name), "see"]))


def _by_page(name: str, monkeypatch: pytest.MonkeyPatch) -> str | None:
    return page_shares(subject(name), monkeypatch)[0]


def page_shares(who: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str | None, str]:
    """With whom the callback of the Budget page shares that gets this as chosen or typed, and what it says."""
    told = list[str]()

    def share() -> None:
        with monkeypatch.context() as then, Ledger.open() as whole:
            entered = {"who": who, "level": "ask"}
            say = SimpleNamespace(
                entered=lambda key, _: entered[key], say=lambda _, sentence: told.append(sentence), leave=None
            )
            then.setattr(sharing, "session", say)
            then.setattr(sharing, "compute", SimpleNamespace(ledger=lambda: whole))
            sharing._shared("people", "who", "level")

    written = _written(share)
    (sentence,) = told
    assert (", on record." in sentence) is (written is not None), sentence
    return written, sentence


def everywhere(name: str, monkeypatch: pytest.MonkeyPatch) -> set[str | None]:
    """Whom each way takes somebody for whom their provider calls ``name``."""
    found = {by(name) for by in (_by_login, _by_cookie, _by_person, _by_charge, _by_role, _by_share)}
    return found | {_by_page(name, monkeypatch)}


@pytest.mark.parametrize("name", ENDS)
def test_a_name_that_hides_an_end_is_refused_everywhere(
    name: str, people: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert everywhere(name, monkeypatch) == {None}


@pytest.mark.parametrize("name", WITHIN)
def test_any_other_name_is_the_same_person_everywhere(name: str, people: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert everywhere(name, monkeypatch) == {subject(name)}


def test_a_way_that_strips_is_found_out(people: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: the page stripped what was chosen, and no other way did."""
    monkeypatch.setattr(roles, "_hides_an_end", lambda _: False)
    assert everywhere(" mallory", monkeypatch) == {subject(" mallory")}

    def strips(lineage: str, who: str, level: str) -> None:
        kept = sharing.session.entered
        monkeypatch.setattr(sharing.session, "entered", lambda key, other: str(kept(key, other)).strip())
        before(lineage, who, level)

    before = sharing._shared
    monkeypatch.setattr(sharing, "_shared", strips)
    assert everywhere(" otto", monkeypatch) == {subject(" otto"), subject("otto")}


@pytest.fixture
def from_before(people: None, monkeypatch: pytest.MonkeyPatch) -> str:
    """Somebody who was given rights when names were not looked at so closely."""
    with monkeypatch.context() as then, Ledger.open() as whole:
        then.setattr(roles, "_hides_an_end", lambda _: False)
        whole.give_roles(subject(" mallory"), ["analyst"])
        whole.share("people", subject(" mallory"), "own")
    return subject(" mallory")


def test_what_such_a_name_was_given_before_can_be_taken_and_not_added_to(from_before: str) -> None:
    with Ledger.open() as whole:
        for act in (
            lambda: whole.give_roles(from_before, ["owner"]),
            lambda: whole.share("people", from_before, "see"),
        ):
            with pytest.raises(InvalidArgument, match="blank"):
                act()
        whole.share("people", from_before, "none")
        whole.give_roles(from_before, [])
        assert from_before not in whole.roles()
        assert from_before not in whole.terms("people").shares
        for again in (lambda: whole.give_roles(from_before, []), lambda: whole.share("people", from_before, "none")):
            with pytest.raises(InvalidArgument, match="blank"):
                again()
        assert whole.verify()


def test_what_an_owner_chooses_is_who_gets_it_or_nobody(from_before: str, open_app: Callable[..., AppTest]) -> None:
    """Mallory and “ mallory” are two: what was chosen for the one went to the other."""
    with Ledger.open() as whole:
        whole.give_roles(subject("mallory"), ["analyst"])
    app = tab(open_app, "budget", "olga", said.SHARING)

    def share(who: str, level: str) -> str:
        app.selectbox(key="sharing-who-people").set_value(who)
        app.radio(key="sharing-level-people").set_value(level)
        next(one for one in app.button if one.label == "Share it").click().run()
        return text(app)

    assert "begins or ends with a blank" in share(from_before, "ask")
    with Ledger.open() as whole:
        assert subject("mallory") not in whole.terms("people").shares
    assert "nothing any more, on record" in share(from_before, "none")
    assert "nothing, as before; nothing was changed" in share(subject("mallory"), "none")
    with Ledger.open() as whole:
        assert set(whole.terms("people").shares) == {subject("olga"), subject("anna")}


def test_the_tool_tells_who_types_it(people: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["role", subject("mallory "), "owner"]) == 1
    assert main(["role", f"mallory at  {ISSUER}", "owner"]) == 1
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2
    assert all("begins or ends with a blank" in line for line in told)


def of_code(markdown: str) -> str:
    """What stands in a span of code, as CommonMark has it."""
    found = re.fullmatch(r"(`+)(?!`)(.+)(?<!`)\1", markdown)
    assert found is not None, markdown
    inner = found[2]
    return inner[1:-1] if inner.startswith(" ") and inner.endswith(" ") and inner.strip() else inner


@pytest.mark.parametrize("name", ["mallory", "`mallory`", "mal``lory", "*mallory*", "張", "x" * 300, "mallory at x"])
def test_a_page_shows_a_name_to_the_letter(name: str) -> None:
    """Whoever shares a budget with somebody types what their sidebar shows."""
    assert of_code(said.shown(subject(name))) == subject(name)


@pytest.mark.parametrize(("one", "other"), [("a b", "a  b"), ("a b", "a\u00a0b"), ("ab", "a\u200bb")])
def test_no_two_names_look_alike_for_what_is_not_seen(one: str, other: str) -> None:
    assert " ".join(said.shown(subject(one)).split()) != " ".join(said.shown(subject(other)).split())


@pytest.mark.parametrize(
    "who",
    ["mallory", "mallory at ", f"mallory at {ISSUER}/ typo", "mallory at https://elsewhere.example", f"at {ISSUER}"],
)
def test_a_page_shares_with_nobody_who_cannot_log_in(people: None, who: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert page_shares(who, monkeypatch) == (None, said.NOBODY_S)


def test_of_a_name_that_the_ledger_never_met_that_is_said(people: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be mistyped."""
    assert page_shares(subject("otoo"), monkeypatch) == (
        subject("otoo"),
        f"{said.shown(subject('otoo'))}: asks from it, on record. {said.NOT_MET}",
    )


@pytest.mark.parametrize("level", ["ask", "see", "none"])
def test_a_budget_is_never_left_with_owners_who_may_be_nobody(people: None, level: str) -> None:
    """Whoever takes an owner off is one, and is there; nobody takes themselves off."""
    with Ledger.open() as whole:
        whole.give_roles(subject("otto"), ["owner"])
        olga, otto = (MembersLedger(whole, Person(subject=subject(name)), name * 8) for name in ("olga", "otto"))
        olga.share("people", subject("nobody of that name"), "own")
        with pytest.raises(NotAllowed, match="at least one owner who is there"):
            olga.share("people", subject("olga"), level)
        olga.share("people", subject("otto"), "own")
        otto.share("people", subject("olga"), level)
        assert subject("otto") in whole.terms("people").owners
        whole.share("people", subject("otto"), level)  # by whoever looks after the ledger, which can be left so
        assert whole.terms("people").owners == (subject("nobody of that name"),)
