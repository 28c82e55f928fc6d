"""What links carry: every control reads back what it writes, and no nonsense breaks a page."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import catalogue, controls, session
from dashboard.blocks import Drag
from dashboard.controls import Choice, Control, Kept, Number, Numbers, Refused, Setting, Several, slug
from dashboard.question import CannotAsk
from dashboard.scenes import remote
from dashboard.scenes import unused as unused_links
from dashboard.view import axis_control
from dashboard.widgets import handles
from dashboard.words.page import unused
from tests.dashboard.conftest import text
from tests.questions.samples import KEYS, sample_case

NONSENSE = (
    *("", " ", "None", "nan", "inf", "-inf", "1e309", "-1e309", "1e-400", "0x10", "１２", "true", "null"),
    *(
        "[]",
        "{}",
        '{"0": 1e999}',
        '{"-1": 2}',
        '{"999999999": 1}',
        '{"0": 1' + "0" * 400 + "}",
        "1" + "0" * 400,
        "[[[[[[",
        "[" * 5000,
        '"' * 2000,
        "\x00",
        "\u202e",
    ),
    *("<script>alert(1)</script>", "ward: code", "a|b;c=d", "%00", "../../etc/passwd", "🙂" * 300),
)


@cache
def controls_of(key: str, sample: str) -> tuple[Control[Any], ...]:
    """Every control that a question asks for on a sample, those of its open tabs included."""
    read = Setting()
    kind = next(kind for _, kind in catalogue.every() if kind.key == key)
    try:
        question = kind.ask(sample_case(sample), read)
    except CannotAsk:
        return ()
    for tab in question.tabs:
        tab.blocks()
    return (*(control for _, control in read.seen.values()), axis_control(question.view))


def questions() -> Iterator[Any]:
    for page, kind in catalogue.every():
        yield pytest.param(kind.key, id=f"{page.key}-{kind.key}")


@pytest.mark.parametrize("key", list(questions()))
def test_no_nonsense_gets_through_a_control(key: str) -> None:
    seen = 0
    for sample in ("clinic", "forecasts", "outbreak"):
        for control in controls_of(key, sample):
            for nonsense in NONSENSE:
                seen += 1
                try:
                    found = control.read(nonsense)
                except Refused:
                    continue
                assert control.checked(found) == found, f"{control.key} takes {nonsense[:20]!r} from a link"
    assert seen >= len(NONSENSE), "the question suits none of these samples"


@pytest.mark.parametrize("key", list(questions()))
def test_every_control_reads_what_it_writes(key: str) -> None:
    for sample in ("clinic", "forecasts", "outbreak"):
        for control in controls_of(key, sample):
            for value in values_of(control):
                assert control.read(control.written(value)) == value, control.key


FAR = (math.nan, math.inf, -math.inf, 1e308, -1e308, 1e16, -1e16, 10**400, -(10**400), True, "1", None)


@pytest.mark.parametrize("key", list(questions()))
def test_numbers_beyond_reason_leave_every_control_at_its_default(key: str) -> None:
    """Out of a link, a widget's value or a deck: not only what no double holds, but also what no sum of it does."""
    for sample in ("clinic", "forecasts", "outbreak"):
        for control in controls_of(key, sample):
            if isinstance(control, Number):
                assert [one for one in FAR if control.checked(one) is not None] == [], control.key
                assert refused(control, "1e308")
            elif isinstance(control, Numbers):
                least = 0 if control.low is None else control.low
                for one in FAR:
                    assert control.checked((one, *control.default[1:])) is None, (control.key, one)
                    assert refused(control, json.dumps({"0": one}))
                assert control.checked((max(least, 1e14),) * len(control.names)) is not None, "large ones are shown"


def refused(control: Control[Any], text: str) -> bool:
    try:
        control.read(text)
    except Refused:
        return True
    return False


def test_counts_as_large_as_may_be_are_answered_and_larger_ones_were_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second half shows that the bound is what answers."""
    kind = next(kind for _, kind in catalogue.every() if kind.key == "most_common")
    case, read = sample_case("clinic"), Setting()
    kind.ask(case, read)
    counts = next(control for _, control in read.seen.values() if isinstance(control, Numbers))
    for far in (1e15, 0.0):
        for axis in ("epsilon", "n"):
            edits = (far,) * (len(counts.names) - 1) + (1.0,)
            kind.ask(case, Setting({counts.key: edits})).view.picture(axis)
    monkeypatch.setattr(controls, "FARTHEST", sys.float_info.max)
    with pytest.raises((OverflowError, RuntimeWarning)):
        kind.ask(case, Setting({counts.key: (1e308,) * len(counts.names)})).view.picture("n")


@pytest.mark.parametrize("which", range(len(FAR)))
def test_a_component_that_sends_numbers_beyond_reason_moves_nothing(
    which: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = FAR[which]
    moved: list[Any] = []
    state = SimpleNamespace(go=sent, moved={"who": 1.0, "x": sent, "y": 2.0})
    monkeypatch.setattr(session, "entered", lambda *_: state)
    monkeypatch.setattr(session, "change", lambda *told: moved.append(told))
    monkeypatch.setattr(remote, "_STAGE_COMPONENT", lambda **told: told["on_go_change"]())
    remote.control({}, moved.append)
    drag = Drag(axes=("x", "y"), at=(), keys=("who", "x", "y"), reach=((0.0, 9.0), (0.0, 9.0)))
    handles._moved("chart-handles", drag)
    assert moved == []


def values_of(control: Control[Any]) -> list[Any]:
    if isinstance(control, Choice):
        return list(control.options)
    if isinstance(control, Several):
        some = [(), tuple(control.options), tuple(control.options)[:1], tuple(control.options)[:2]]
        return [one for one in some if control.checked(one) is not None]
    if isinstance(control, Number):
        return [one for one in (control.default, control.low, control.high) if control.checked(one) is not None]
    if isinstance(control, Numbers):
        return [control.default, tuple(one + 1 for one in control.default)]
    return [control.default]


@pytest.mark.parametrize("key", list(questions()))
def test_options_are_stable_keys_and_not_the_words_on_the_control(key: str) -> None:
    """Words can be improved without breaking a link: no option of a choice made by us is its own label."""
    for control in controls_of(key, "clinic"):
        if isinstance(control, Choice) and all(isinstance(option, str) for option in control.options):
            named_by_data = control.name is not None and control.options and not control.linked
            for option in control.options:
                assert " " not in str(option) or named_by_data or control.name(option) == option


def test_a_link_from_before_still_opens() -> None:
    """Older links carry the words that stood on a control."""
    for key, _ in ((kind.key, page) for page, kind in catalogue.every()):
        for control in controls_of(key, "clinic"):
            if isinstance(control, Choice):
                for words, option in control.once.items():
                    if option in control.options:
                        assert control.read(words) == option


def test_kept_scenarios_survive_anything() -> None:
    kept = Kept(key="kept", label="Kept", default=())
    for nonsense in NONSENSE:
        with pytest.raises(Refused):
            kept.read("[" + nonsense if nonsense in ("[]", "") else nonsense)
    rows = ((("scenario", "a|b;c=d"), ("ε", "0.5")), (("scenario", "a|b;c=d"), ("ε", "1")))
    assert kept.read(kept.written(rows)) == rows


OWN_NAME = "0123456789ab"


def own_controls(key: str, sample: str) -> Iterator[Control[Any]]:
    """Every control that a question asks for of a person's own table, under all tabs, with each choice in turn that has
    few options."""
    kind, case = next(kind for _, kind in catalogue.every() if kind.key == key), sample_case(sample)
    source = replace(case.source, key=f"own-{OWN_NAME}", mode="what_if", practice=False)
    known: dict[str, Control[Any]] = {}
    waiting: list[dict[str, Any]] = [{}]
    while waiting:
        values = waiting.pop()
        read = Setting(values)
        try:
            question = kind.ask(replace(case, source=source), read)
        except CannotAsk:
            question = None
        for tab in () if question is None else question.tabs:
            tab.blocks()
        found = [control for _, control in read.seen.values()]
        found += [] if question is None else [axis_control(question.view), question.need.control]
        for control in found:
            if control.key not in known and isinstance(control, Choice) and len(control.options) <= controls.FEW:
                waiting += [{**values, control.key: one} for one in control.options if one != control.default]
            known.setdefault(control.key, control)
    return iter(known.values())


def naming_own(found: Iterator[Control[Any]]) -> list[str]:
    """Those that a link is said to carry, and whose key tells of which table of a person's own they are."""
    return [control.key for control in found if control.linked and OWN_NAME in control.key]


@pytest.mark.thorough
@pytest.mark.parametrize("key", list(questions()))
def test_no_control_whose_key_names_a_persons_own_table_is_linked(key: str) -> None:
    seen = 0
    for sample in ("clinic", "forecasts", "outbreak"):
        found = list(own_controls(key, sample))
        seen += sum(OWN_NAME in control.key for control in found)
        assert naming_own(iter(found)) == []
        assert {control.key for control in found if control.carried} == {one.key for one in found if one.linked}
    assert seen, "the question names no table: the test sees nothing"


def test_a_control_that_is_said_to_be_linked_all_the_same_is_found_and_not_carried() -> None:
    """As it was, by which a guess of the whole file could be held against somebody's link."""
    for key in (slug("linear_target", f"own-{OWN_NAME}"), f"own-{OWN_NAME}-line", slug("a", f"own-{OWN_NAME}", "b")):
        control = Number(key=key, label="need", default=1.0, low=0.0, high=9.0, step=0.5)
        assert naming_own(iter([control])) == [key]
        assert not control.carried
    for key in ("known-others", slug("line", "down-own"), slug("line", "down-own", "x"), "experts_delta-own-1e~106"):
        assert Number(key=key, label="need", default=1.0, low=0.0, high=9.0, step=0.5).carried


def test_a_link_never_carries_a_key_that_names_a_persons_own_table(open_app: Callable[..., AppTest]) -> None:
    app = open_app("selection")
    linked = {
        key: Number(key=key, label="need", default=1.0, low=0.0, high=9.0, step=0.5)
        for key in (slug("linear_target", f"own-{OWN_NAME}"), "a_target")
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "write_link", lambda write=session.write_link: _asking(linked, write))
        for key in linked:
            app.session_state["_set"][key] = 2.5
        app.run()
    assert app.query_params["a_target"] == "2.5"
    assert not [key for key in app.query_params if OWN_NAME in key]


def _asking(linked: dict[str, Control[Any]], write: Callable[[], None]) -> None:
    for control in linked.values():
        session.ask(control)
    write()


def test_keys_made_of_parts_never_meet() -> None:
    parts = [("a", "b-c"), ("a-b", "c"), ("a~", "b"), ("a", "~b"), ("ward: code", "x"), ("ward", " code-x")]
    assert len({slug(*one) for one in parts}) == len(parts)


@pytest.mark.parametrize("page", [page.key for page in catalogue.pages()])
@pytest.mark.parametrize("nonsense", ["", "nan", "1e309", "None", "[", '{"0": 1e999}', "<b>x</b>", "ward: code"])
def test_a_page_opens_whatever_its_link_holds(open_app: Callable[..., AppTest], page: str, nonsense: str) -> None:
    """Every parameter of the page at once is nonsense: its default is shown, and sentences say so."""
    keys = {control.key for kind in catalogue.questions(page).values() for control in controls_of(kind.key, "clinic")}
    app = open_app(page, **dict.fromkeys((*keys, "seed", "question", f"{page}_kept", f"{page}_open"), nonsense))
    assert not app.exception
    assert "Traceback" not in text(app)


SETS = "The link also sets"


def test_a_setting_that_nothing_uses_is_said_in_one_sentence(open_app: Callable[..., AppTest]) -> None:
    """Also under a name that is no plain word; what only a closed tab takes is no such thing."""
    read = Setting()
    kind = catalogue.questions("selection")["most_common"]
    question = kind.ask(sample_case("clinic"), read)
    asked = set(read.seen)
    for tab in question.tabs:
        tab.blocks()
    in_tabs = {key: control for key, (_, control) in read.seen.items() if key not in asked and control.linked}
    app = open_app("selection", **{key: control.written(control.default) for key, control in in_tabs.items()})
    assert in_tabs
    assert SETS not in text(app)
    app = open_app("selection", epsilon="0.3", selection_metod="exponential", **{"<b>x</b>": "1"})
    (said,) = [one.value for one in app.warning if SETS in one.value]
    assert "“selection\\_metod”" in said
    assert "<b>" not in said
    assert app.session_state["_set"]["epsilon"] == 0.3, "all else is as the link says"
    app = open_app("start", nonsense="1")
    assert [one.value for one in app.warning] == [unused(["nonsense"])]


def test_samples_are_found() -> None:
    assert len(KEYS) >= 10


def test_what_is_remembered_of_links_is_bounded(open_app: Callable[..., AppTest]) -> None:
    """One that walks through links of made-up settings holds a few of them."""
    app = open_app("selection", nonsense="1")
    for number in range(unused_links.MOST + 3):
        app.session_state["_linked"][f"made up {number}"] = "1"
        app.run()
        assert "made up" in app.warning[0].value
    assert len(app.session_state["_unused"]) == unused_links.MOST
