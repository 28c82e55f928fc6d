"""A question is found again while what it read holds what it held, and asked anew as soon as one thing does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.testing.v1 import AppTest

from dashboard import catalogue, session, traces
from dashboard.case import Case
from dashboard.controls import Number, Numbers, Switch
from dashboard.question import CannotAsk
from dashboard.runtime import looked_up
from dpcore.memory import Memory, Room
from tests.questions.samples import sample_case

DEEP = Switch(key="deep", label="Deep", default=False)
HOW = Number(key="how", label="How deep", default=1.0, low=0.0, high=9.0)
WIDE = Number(key="wide", label="How wide", default=1.0, low=0.0, high=9.0)


class Set:
    """What a person has set; notes what is asked for."""

    def __init__(self, **values: Any) -> None:
        self.values = values
        self.asked: list[str] = []

    def __call__(self, control: Any, place: str = "options") -> Any:
        self.asked.append(control.key)
        return self.values.get(control.key, control.default)


class Kind:
    key = "a kind"


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> traces.Kept:
    found = traces.Kept()
    monkeypatch.setattr(traces, "EVERYBODYS", traces.Kept(traces.MOST_EVERYBODYS))
    monkeypatch.setattr(traces.KEPT, "once", lambda: found)
    return found


@pytest.fixture
def ask() -> Callable[..., Any]:
    """Ask a question that reads one control, and then one of two others."""
    times: list[Any] = []

    def question(case: Case, read: Set, kind: Any = Kind) -> Any:
        def make(_: Case, reads: Any) -> list[Any]:
            times.append(None)
            return [len(times), reads(HOW) if reads(DEEP) else reads(WIDE)]

        with traces.reading(read):
            return traces.asked(kind, case, make)

    return question


@pytest.fixture(scope="module")
def case() -> Case:
    return sample_case("clinic", 0.5)


def test_the_same_is_found_again_and_reads_the_same(ask: Callable[..., Any], case: Case) -> None:
    first, again = Set(), Set()
    assert ask(case, first) is ask(case, again)
    assert first.asked == again.asked == ["deep", "wide"], "the page learns which controls it has from what is read"


@pytest.mark.parametrize("values", [{"deep": True}, {"wide": 2.0}, {"wide": 1}, {"deep": True, "how": 3.0}])
def test_another_setting_is_another_question(ask: Callable[..., Any], case: Case, values: dict[str, Any]) -> None:
    assert ask(case, Set()) is not ask(case, Set(**values))
    again = Set(**values)
    found = ask(case, again)
    assert found == ask(case, Set(**values))
    assert set(again.asked) <= {"deep", "how" if values.get("deep") else "wide"}, "and no other is read"


def test_each_of_several_settings_is_found_again(ask: Callable[..., Any], case: Case) -> None:
    settings = [{}, {"deep": True}, {"wide": 2.0}]
    first = [ask(case, Set(**values)) for values in settings]
    assert [ask(case, Set(**values)) for values in settings] == first


def test_another_case_is_another_question(ask: Callable[..., Any], case: Case) -> None:
    found = ask(case, Set())
    assert ask(replace(case), Set()) is found
    other = sample_case("town", 0.5)
    cases = [
        replace(case, epsilon=0.8),
        replace(case, delta=1e-7),
        replace(case, hides="add_remove"),
        replace(case, counting="zcdp"),
        replace(case, brief=True),
        replace(case, models=()),
        replace(case, results={"curves": [object()]}),
        replace(case, complete=frozenset({"curves"})),
        replace(case, finished=frozenset({"curves"})),
        replace(case, source=replace(case.source, lineage="somebody else's")),
        replace(case, source=replace(case.source, declared=None)),
        replace(case, source=replace(case.source, so_far=case.source.declared)),
        replace(case, source=replace(case.source, mode="what_if")),
        other,
    ]
    assert all(ask(one, Set()) is not found for one in cases)
    assert ask(case, Set(), kind=type("Other", (), {})) is not found


def test_a_case_names_every_part_of_itself() -> None:
    """What is added to a case, or to a source, is looked at here: a question may depend on it."""
    assert set(Case.__dataclass_fields__) == {
        *("source", "epsilon", "delta", "hides", "counting", "brief", "models", "results", "complete", "finished"),
        *("memo", "large"),  # they remember, and change nothing
    }
    source = next(iter([sample_case("clinic", 0.5).source]))
    assert set(type(source).__dataclass_fields__) == {
        *("key", "title", "mode", "table", "lineage", "practice", "declared", "so_far", "unreleased", "in_place"),
        *("rows", "join", "count"),  # opened by a release alone, after the click
        "lines",  # in a report alone, for rows that are closed there
        *("related", "shown"),  # of what is one person's own, which is known by which it is
        "drawn_from",  # says which answers are this table's own
        "everybodys",  # says who else may have the question, and is nothing that it depends on
    }


def test_a_persons_own_data_are_known_by_which_they_are(ask: Callable[..., Any], case: Case) -> None:
    own = replace(case, source=replace(case.source, mode="what_if"))
    found = ask(own, Set())
    assert ask(replace(own), Set()) is found
    assert ask(replace(own, source=replace(own.source)), Set()) is not found, "read anew"


def test_what_cannot_be_asked_is_not_kept(case: Case, kept: traces.Kept) -> None:
    def fail(*_: Any) -> Any:
        raise CannotAsk("no")

    for _ in range(2):
        with pytest.raises(CannotAsk), traces.reading(Set()):
            traces.asked(Kind, case, fail)  # type: ignore[type-var]
    assert kept.askings == {}


def test_what_follows_reads_what_is_set_now(case: Case) -> None:
    about = object()
    for wide in (1.0, 2.0, 1.0):
        with traces.reading(Set(wide=wide)):
            found = traces.followed(about, "view", lambda: [traces.through(WIDE)], case.source)
        assert found == [wide]


def test_few_are_kept_and_of_own_data_one(ask: Callable[..., Any], case: Case, kept: traces.Kept) -> None:
    for step in range(40):
        found = ask(replace(case, epsilon=0.1 + step), Set())
        with traces.reading(Set()):
            for view in range(9):
                traces.followed(found, view, list, case.source)
    assert len(kept.askings) <= traces.MOST
    assert all(
        len(by_name) == 9 <= traces._FOLLOW for one in kept.askings.values() for by_name in one.followed.values()
    )
    assert len(kept._of) == len(kept.askings)
    own = replace(case.source, mode="what_if")
    for step in range(3):
        ask(replace(case, epsilon=0.1 + step, source=own), Set())
    assert len(kept.askings) == traces.MOST_OWN
    assert traces.KEPT._own is not None, "they go with the file"


def test_zeros_of_two_signs_are_two_questions(ask: Callable[..., Any], case: Case) -> None:
    found = ask(case, Set(wide=0.0))
    assert ask(case, Set(wide=-0.0)) is not found
    assert ask(case, Set(wide=(1.0, 0.0))) is not ask(case, Set(wide=(1.0, -0.0)))


@pytest.mark.parametrize("given", [-0.0, "-0", "-0.0"])
def test_no_control_holds_another_zero(given: Any) -> None:
    """What is set by a link and by a message."""
    for control in (WIDE, Number(key="whole", label="", default=1.0, low=-9.0, whole=True)):
        found = control.read(given) if isinstance(given, str) else control.checked(given)
        assert str(found) == "0.0"
    several = Numbers(key="several", label="", default=(1.0, 1.0), names=("a", "b"))
    found = several.read('{"1": -0.0}') if isinstance(given, str) else several.checked((1.0, given))
    assert str(found) == "(1.0, 0.0)"


class Heavy:
    """A question of some size, which refers to what everybody has."""

    def __init__(self, size: int, case: Case) -> None:
        self.own, self.table, self.memo = np.zeros(size, dtype=np.uint8), case.table, case.memo


def asked_heavy(case: Case, size: int, *, follow: int = 0) -> Any:
    with traces.reading(Set()):
        found: Any = traces.asked(Kind, case, lambda _, reads: Heavy(size, case))  # type: ignore[type-var]
        if follow:
            traces.followed(found, "chart", lambda: np.zeros(follow, dtype=np.uint8), case.source)
    return found


@pytest.fixture
def everybodys(monkeypatch: pytest.MonkeyPatch) -> traces.Kept:
    found = traces.Kept(600, room=1 << 20, within=Room(lambda: 1 << 30))
    monkeypatch.setattr(traces, "EVERYBODYS", found)
    return found


@pytest.mark.parametrize(("size", "follow"), [(100_000, 0), (1_000, 99_000)])
def test_what_everybody_shares_is_bounded_by_its_bytes(
    size: int, follow: int, case: Case, everybodys: traces.Kept
) -> None:
    shared = replace(case, source=replace(case.source, everybodys=True))
    for step in range(30):
        found = asked_heavy(replace(shared, epsilon=0.1 + step), size, follow=follow)
        assert 100_000 < everybodys.bytes <= 1 << 20
    assert 5 < len(everybodys.askings) <= 10
    assert len(everybodys._of) == len(everybodys.askings)
    assert asked_heavy(replace(shared, epsilon=29.1), size) is found
    assert asked_heavy(replace(shared, epsilon=0.1), size) is not found
    while everybodys.askings:
        everybodys.drop_oldest()
    assert (everybodys.bytes, everybodys._of) == (0, {})


def test_what_everybody_shares_gives_way_to_what_else_is_remembered(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    within = Room(lambda: 500_000)
    found = traces.Kept(600, room=1 << 20, within=within)
    monkeypatch.setattr(traces, "EVERYBODYS", found)
    shared = replace(case, source=replace(case.source, everybodys=True))
    for step in range(9):
        asked_heavy(replace(shared, epsilon=0.1 + step), 100_000)
        assert within.bytes == found.bytes <= 500_000
    other = Memory(10, room=1 << 20, within=within)
    other.put("large", bytes(400_000))
    assert (found.bytes, found.askings) == (0, {})


def test_what_followed_goes_with_its_question(ask: Callable[..., Any], case: Case, kept: traces.Kept) -> None:
    """Also where it refers to it, and where other choices of one asking have taken the question's place."""
    first = ask(case, Set())
    with traces.reading(Set()):
        assert traces.followed(first, "view", lambda: [first], case.source) == [first]
        assert traces.followed(first, "view", list, case.source) == [first]
        for wide in range(traces._EACH):
            ask(case, Set(wide=2.0 + wide / 10))
        assert traces.followed(first, "view", list, case.source) == []
    assert len(kept._of) == traces._EACH
    assert sum(len(one.followed) for one in kept.askings.values()) == traces._EACH


def test_what_is_not_weighed_would_be_found(
    case: Case, everybodys: traces.Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces.Kept, "settle", lambda kept: None)
    with pytest.raises(AssertionError):
        test_what_everybody_shares_is_bounded_by_its_bytes(100_000, 0, case, everybodys)


def test_a_trace_that_is_not_looked_at_would_be_found(
    ask: Callable[..., Any], case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces, "_same", lambda now, then: True)
    assert ask(case, Set()) is ask(case, Set(wide=2.0))


@pytest.mark.parametrize("page", [page.key for page in catalogue.pages()])
def test_a_page_asks_once(page: str, open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    kind = next(iter(catalogue.questions(page).values()))
    asked: list[str] = []
    inside = kind.ask

    def noted(case: Case, read: Any) -> Any:
        if not case.brief:
            asked.append(kind.key)
        return inside(case, read)

    monkeypatch.setattr(kind, "ask", noted)
    app = open_app(page).run()
    assert asked
    asked.clear()
    app.run()
    if page != "training":  # there more results may have come meanwhile
        assert asked == []
    assert session.SAID._name in app.session_state


def test_widgets_that_are_never_drawn_again_are_forgotten(open_app: Callable[..., AppTest]) -> None:
    """Each change of ε gives those that nobody moved a new name."""
    app = open_app("start").run()

    def known() -> tuple[int, int]:
        state: Any = app.session_state._state
        while isinstance(state, SafeSessionState):
            state = state._state
        return len(state._key_id_mapper._key_id_mapping), len(state._new_widget_state.widget_metadata)

    counts = []
    for step in range(50):
        app.number_input(key="epsilon-typed").set_value(0.1 + step / 50).run()
        assert not app.exception
        counts.append(known())
    assert counts[-1] == counts[25]


def test_widgets_that_are_kept_for_good_would_be_missed(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looked_up, "forget_widget", lambda *_: None)
    with pytest.raises(AssertionError):
        test_widgets_that_are_never_drawn_again_are_forgotten(open_app)
