"""Rows made up from a declaration: what pages say is said of these, and never as if it were so in somebody's file."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard import catalogue, offering
from dashboard.case import Case
from dashboard.controls import Setting
from dashboard.question import CannotAsk, Offer, Question
from dashboard.report.again import twin_source
from dashboard.view import Needed, View
from dashboard.widgets import finger
from dashboard.words import made_up as said
from dashboard.words import needs
from dpcore.datasets import Column, Declaration, Relation, Schema, related
from tests.questions.samples import sample_case

SCHEMA = Schema(
    columns=(
        Column(name="department", type="category", categories=("Ward", "Kitchen", "Office")),
        Column(name="smoker", type="yes/no"),
        Column(name="salary", type="number", low=20_000.0, high=200_000.0),
        Column(name="age", type="integer", low=15.0, high=70.0),
    ),
    each_row="record",
    unit="person",
    rows_per_person=1,
)
WITH_AGE = Relation(target="smoker", driver="age", strength=0.8)
KINDS = [
    (page.key, key)
    for page in catalogue.pages()
    for key in catalogue.questions(page.key)
    if key not in ("one_ball", "predict", "best_rule")
]
PREDICTED = [("selection", "best_rule"), ("training", "predict")]


def case(*relations: Relation, epsilon: float = 0.3) -> Case:
    declared = Declaration.of(SCHEMA)
    source = twin_source(SCHEMA, key="own", rows=500, seed=3, relations=relations, declared=declared)
    return Case(source=source, epsilon=epsilon)


def asked(page: str, key: str, about: Case) -> offering.Found | None:
    try:
        return offering.ask(catalogue.questions(page)[key], about, Setting())
    except CannotAsk:
        return None


@pytest.mark.parametrize(("page", "key"), KINDS)
def test_the_headline_and_the_advice_are_about_made_up_rows(page: str, key: str) -> None:
    found = asked(page, key, case())
    if found is None:
        assert page != "selection", "these columns suit it"
        return
    question = found.question
    assert question.headline.startswith("In made-up rows")
    assert question.need.whatever is not None
    assert question.need.better is None
    assert question.need.hint == ""
    if isinstance(question.offer, Offer):
        assert question.offer.forecast in question.need.whatever, "what holds of the file stands beside the advice"
    assert advice(question).endswith(question.need.whatever)
    assert "would do" not in advice(question)
    assert "more than enough" not in advice(question)


def advice(question: Question) -> str:
    found, whatever = question.need.found, question.need.whatever
    assert found is not None
    assert whatever is not None
    return said.next_step(found, whatever)


def test_of_a_sample_all_is_said_as_it_is() -> None:
    found = asked("selection", "most_common", sample_case("clinic", 0.5))
    assert found is not None
    assert "made-up" not in found.question.headline
    assert found.question.need.whatever is None


def test_what_says_it_as_of_a_file_is_caught() -> None:
    """The very question before it is told so."""
    bare = catalogue.questions("selection")["most_common"].ask(case(), Setting())
    assert not bare.headline.startswith("In made-up rows")
    assert bare.need.found is not None
    assert "more than enough" in needs.next_step(bare.need.found, 0.3)


@pytest.mark.parametrize(("page", "key"), PREDICTED)
def test_rows_in_which_nothing_goes_together_tell_of_no_prediction(page: str, key: str) -> None:
    """Each column is made up by itself: “these columns tell little” was said of whatever the file held."""
    about = case()
    found = asked(page, key, about)
    assert found is not None, "its private answer is offered all the same"
    assert found.trouble == said.unrelated("smoker")
    assert isinstance(found.question.offer, Offer)


@pytest.mark.parametrize(("page", "key"), PREDICTED)
def test_what_somebody_said_to_go_together_is_drawn(page: str, key: str) -> None:
    setting = Setting(values={"training_target": "smoker", "rule_target": "smoker"})
    found = offering.ask(catalogue.questions(page)[key], case(WITH_AGE), setting)
    assert found.trouble == ""
    assert found.question.headline.startswith("In made-up rows")
    unrelated = replace(case(WITH_AGE), source=replace(case(WITH_AGE).source, related=frozenset()))
    assert offering.ask(catalogue.questions(page)[key], unrelated, setting).trouble == said.unrelated("smoker")


def test_a_finger_on_the_slider_reads_the_same_headline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.session.Reader", Setting)  # without a page
    kind = catalogue.questions("selection")["most_common"]
    told = finger.told(kind, case(), 0.3, dark=False)
    assert told["headline"] == finger.pieces(offering.ask(kind, case(), Setting()).question.headline)


@pytest.mark.parametrize(("epsilon", "start"), [(0.05, "**Next:** ε = 0.05 is enough for made-up rows."), (40.0, "")])
def test_the_advice_begins_with_the_level_that_is_enough_for_them(epsilon: float, start: str) -> None:
    found = Needed(epsilon=epsilon, size=None, size_word="people", possible=True)
    told = said.next_step(found, "This holds.")
    assert told.startswith(start)
    assert told.endswith("This holds.")


def test_a_relation_whose_other_column_is_gone_relates_nothing() -> None:
    assert related([WITH_AGE], SCHEMA) == {"smoker", "age"}
    assert related([WITH_AGE], SCHEMA.only("smoker", "salary")) == frozenset()
    assert related([Relation(target="smoker", share=0.3)], SCHEMA) == frozenset()


@pytest.mark.parametrize("guarded", [True, False], ids=["", "control"])
def test_what_is_guaranteed_is_guaranteed_of_made_up_rows(monkeypatch: pytest.MonkeyPatch, *, guarded: bool) -> None:
    """Lines, the numbers behind them and captions; “guaranteed by theory” read as if it were of the file's rows."""
    if not guarded:
        monkeypatch.setattr("dashboard.made_up.GUARANTEED", ("none of them",))
    bare, seen = list[str](), 0
    for page, key in [*KINDS, *PREDICTED]:
        found = asked(page, key, case(WITH_AGE))
        if found is None:
            continue
        question = found.question
        assert question.caption.startswith("Of made-up rows: "), key
        for name in question.view.names.values() if isinstance(question.view, View) else ():
            told = any(word in name.lower() for word in ("guarantee", "theor", "promises"))
            seen += told
            bare += [name] if told and not name.endswith(", of made-up rows") else []
        if key in ("most_common", "quantile"):
            told = f"{question.view.picture('epsilon').figure(False)}"
            assert ("guaranteed by theory, of made-up rows" in told) is guarded
    assert seen > 6
    assert (not bare) is guarded, bare


def test_of_a_sample_guarantees_are_of_the_sample() -> None:
    page, key = KINDS[0]
    question = catalogue.questions(page)[key].ask(sample_case("clinic", epsilon=0.3), Setting())
    assert "made-up" not in question.caption
    assert isinstance(question.view, View)
    assert not any("made-up" in name for name in question.view.names.values())
