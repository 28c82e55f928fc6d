"""Where two modules put theirs in the place of one method, each is reached, and all of it goes away again."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import permutations
from types import MethodType, ModuleType, SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

from dashboard import replay, server
from dashboard.people import login
from dashboard.runtime import ended_logins, left_pages, looked_up, outgoing, replaced, shortcuts
from dashboard.runtime.replaced import Methods
from dashboard.serving import failures
from tests.put_back import BEGUN, changed_in_streamlit
from tests.serving.test_guards import DASHBOARD, modules_with_a_guard

THEIRS = ("streamlit", "uvicorn", "anyio", "starlette")
ALWAYS: tuple[Any, ...] = (looked_up, shortcuts, replay)
"""Those that every test begins with."""


class Owner:
    """What has a method of theirs."""

    def said(self) -> str:
        return "theirs"


def standing(name: str) -> tuple[Methods, Methods]:
    """What a module puts before that method, and where it looks up what it goes on to."""
    before: Methods = {}
    ours: Methods = {(Owner, "said"): lambda owner: f"{name} {before[Owner, 'said'](owner)}"}
    before.update(replaced.there(ours))
    return ours, before


@pytest.mark.parametrize("away", [*permutations("abc")], ids="".join)
def test_whoever_stands_before_another_goes_on_to_it(away: tuple[str, ...]) -> None:
    theirs, modules = Owner.said, {name: standing(name) for name in "abc"}
    for name in "abacba":
        replaced.put(*modules[name])
    left = ["c", "b", "a"]
    assert Owner().said() == "c b a theirs"
    for name in (away[0], *away):
        replaced.put_back(modules[name][0])
        left = [one for one in left if one != name]
        assert Owner().said().split() == [*left, "theirs"]
    assert Owner.said is theirs
    replaced.put(*modules["b"])
    assert Owner().said() == "b theirs"
    replaced.put_back(modules["b"][0])
    assert Owner.said is theirs


def theirs() -> dict[tuple[Any, str], Any]:
    """What stands in each place of the modules of others and their classes; of a bound method, which is made anew each
    time, its function."""
    found: dict[tuple[Any, str], Any] = {}
    for module in [one for name, one in sys.modules.items() if name.split(".")[0] in THEIRS]:
        classes = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__]
        found |= {(owner, name): value for owner in (module, *classes) for name, value in vars(owner).items()}
    return {place: value.__func__ if isinstance(value, MethodType) else value for place, value in found.items()}


def changed(before: dict[tuple[Any, str], Any], after: dict[tuple[Any, str], Any]) -> set[tuple[Any, str]]:
    return {place for place, value in after.items() if before.get(place) is not value}


def guards() -> list[ModuleType]:
    paths = (path.relative_to(DASHBOARD.parent).with_suffix("") for path in modules_with_a_guard())
    return [importlib.import_module(".".join(path.parts).removesuffix(".__init__")) for path in paths]


@contextmanager
def as_streamlit_is() -> Iterator[None]:
    for module in ALWAYS:
        module.unguard()
    try:
        yield
    finally:
        changed_in_streamlit()
        for module in ALWAYS:
            module.guard()


def reached(place: tuple[Any, str], own: dict[ModuleType, tuple[Methods, Methods]]) -> set[ModuleType]:
    """Whose methods a call of this place comes through, until it is at one of others."""
    owner, name = place
    found, now = set[ModuleType](), vars(owner)[name]
    while module := next((one for one, (ours, _) in own.items() if ours.get(place) is now), None):
        found.add(module)
        now = own[module][1][place]
    return found


def chaining(modules: list[ModuleType]) -> dict[ModuleType, tuple[Methods, Methods]]:
    """What these put by ``replaced``, and where they look up what it goes on to."""
    some = [one for one in modules if vars(one).get("put") is replaced.put]
    return {one: (vars(one)["_OURS"], vars(one).get("_STREAMLITS") or vars(one)["_ANYIOS"]) for one in some}


@pytest.fixture
def begin(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Has the server begin in this process."""
    monkeypatch.setattr(failures, "keep_values_from_the_log", lambda: None)
    monkeypatch.setattr(server, "raise_file_limit", lambda: 0)
    monkeypatch.setattr(server.safe_path, "keep", lambda: None)
    monkeypatch.setattr(server, "say", lambda _: None)

    async def through() -> None:
        async with server.begun(server.app):
            pass

    return lambda: asyncio.run(through())


def unreached(begin: Callable[[], None]) -> set[tuple[str, str]]:
    """Modules, and what they put somewhere that no call comes through once the server has begun."""
    modules, puts = guards(), dict[ModuleType, set[tuple[Any, str]]]()
    own = chaining(modules)
    with as_streamlit_is():
        before = theirs()
        for ours, under in own.values():
            under.update(replaced.there(ours))
        for module in modules:
            vars(module)["guard"]()
            puts[module] = changed(before, theirs())
            vars(module)["unguard"]()
            assert changed(before, theirs()) == set(), f"{module.__name__} goes away"
        many = Counter(place for places in puts.values() for place in places)
        assert many.total() > 50
        begin()
        assert set(many) <= changed(before, theirs())
        return {
            (module.__name__, place[1])
            for module, places in puts.items()
            for place in places
            if (module in own or many[place] > 1) and module not in reached(place, own)
        }


@pytest.mark.thorough
def test_every_method_of_ours_is_reached_once_the_server_has_begun(begin: Callable[[], None]) -> None:
    """A page that was left emptied others: who looks after log-outs stood where the guard against it did."""
    assert unreached(begin) == set()


def test_all_goes_away_whoever_stands_before_whom() -> None:
    with as_streamlit_is():
        before = theirs()
        for module in (*BEGUN, *BEGUN[::-1]):
            module.guard()
        assert changed_in_streamlit()
        replay.unguard()
        assert changed(before, theirs()) == set()


ORDERS = [(ended_logins, left_pages), (left_pages, ended_logins)]
GONE = RerunData(fragment_id_queue=["gone"], is_auto_rerun=True)
CLICK = RerunData(fragment_id_queue=["gone"])


def run_for(order: Sequence[ModuleType], patch: pytest.MonkeyPatch, *asked: tuple[str, RerunData]) -> list[RerunData]:
    """What Streamlit runs of what was asked, by whom, of one page; these guards stand one before the other."""
    ran: list[RerunData] = []
    patch.setattr(ScriptRunner, "_run_script", lambda _, asked: ran.append(asked))
    patch.setattr(outgoing, "_session_of", lambda runner: runner.page)
    patch.setattr(login, "known", lambda said: said or None)
    page, parts = SimpleNamespace(), SimpleNamespace(contains=lambda part: False)
    for module in order:
        vars(module)["guard"]()
    try:
        for who, what in asked:
            runner: Any = SimpleNamespace(page=page, _user_info=who, _fragment_storage=parts)
            ScriptRunner._run_script(runner, what)
    finally:
        for module in order:
            vars(module)["unguard"]()
    return ran


@pytest.mark.parametrize("order", ORDERS, ids=["as the server", "the other way"])
def test_a_run_is_looked_at_by_both(order: Sequence[ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_for(order, monkeypatch, ("olga", GONE), ("olga", CLICK), ("", CLICK)) == [CLICK, RerunData()]


@pytest.mark.thorough
def test_these_tests_can_fail(begin: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever came later stood there alone, and went on to Streamlit's."""

    def stand_alone(place: tuple[Any, str], standing: list[tuple[Any, Methods]]) -> None:
        setattr(*place, standing[-1][0])
        replaced._STANDING[place] = standing

    monkeypatch.setattr(replaced, "_stand", stand_alone)
    assert unreached(begin) == {("dashboard.runtime.left_pages", "_run_script")}
