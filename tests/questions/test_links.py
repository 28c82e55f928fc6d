"""What links carry: every control reads back what it writes, and no nonsense breaks a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import catalogue
from dashboard.controls import Choice, Control, Kept, Number, Numbers, Refused, Setting, Several, slug
from dashboard.question import CannotAsk
from dashboard.view import axis_control
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
