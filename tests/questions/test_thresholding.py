"""The question of Thresholding as a value: what is promised is what would be drawn, and from declared facts alone."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard import offering
from dashboard.case import Case, Source
from dashboard.charts.theme import ENDINGS, ending_colours
from dashboard.controls import Choice, Setting, Switch, slug
from dashboard.question import CannotAsk, NoOffer, Offer, Question
from dashboard.questions.thresholding import known_mistakes
from dashboard.questions.thresholding.alarm import Alarm
from dashboard.questions.thresholding.alarm_controls import METHODS
from dashboard.questions.thresholding.watched import LONGEST, Watched, first_line, offered, own_line, series_of
from dashboard.words import alarm as said
from dpcore.datasets import Column, Declaration, PrivateRows, Schema
from dpcore.datasets.conversion import apply
from dpcore.grid import on_grid
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.asked import CHOSEN
from dpcore.thresholding.discrete import discrete_log_probability
from dpcore.thresholding.methods import family
from dpcore.written import exact
from tests.questions.samples import KEYS, sample_case, table

SUITED = ("clinic", "outbreak", "meeting_dates")
ONE_WAY = tuple(METHODS)
GENERAL = tuple(key for key, way in METHODS.items() if not way.monotonic)


def asked(case: Case | str, epsilon: float = 0.5, **values: Any) -> Question:
    found = sample_case(case, epsilon) if isinstance(case, str) else replace(case, epsilon=epsilon)
    return Alarm.ask(found, Setting(values))


DAY = Column(name="named", type="date", earliest=date(2024, 3, 1), latest=date(2024, 3, 31))


def offer_of(question: Question) -> Offer:
    assert isinstance(question.offer, Offer), question.offer
    return question.offer


def method_key(relation: str, sample: str) -> str:
    counted = series(sample).counts
    return "alarm_method" if counted and relation == "add_remove" else "alarm_method_general"


# -- what is promised is what is drawn ---------------------------------------------------------------------------------


def by_hand(request: AlarmRun, rows: PrivateRows, answers: np.ndarray, late_by: int) -> dict[str, float]:
    """How a run with one alarm ends, by the law of the place of its alarm: from the request and the data alone."""
    law = request.law(rows)[0]
    reached = np.flatnonzero(answers >= request.threshold)
    if not reached.size:
        return {"on_time": law[-1], "late": 0.0, "missed": 0.0, "false_alarm": law[:-1].sum()}
    first = int(reached[0])
    end = min(first + late_by + 1, answers.size)
    return {
        "on_time": law[first:end].sum(),
        "late": law[end:-1].sum(),
        "missed": law[-1],
        "false_alarm": law[:first].sum(),
    }


def faults(question: Question, sample: str, method: str, epsilon: float) -> list[str]:
    """What a page would say wrongly about the release of ``question``."""
    offer = offer_of(question)
    request, answers = offer.request, series(sample).answers
    assert isinstance(request, AlarmRun)
    fitted, wrong = family(method, request.entries, 1, 0.05), []
    if (request.noise, request.one_way) != (fitted.way.noise, fitted.way.monotonic):
        wrong.append("another method is drawn than the one chosen")
    if request.threshold_share != fitted.share or request.offset != request.units.offset(
        fitted.offset_factor * request.sensitivity / epsilon
    ):
        wrong.append("the line is lifted, or ε is split, as another method does")
    if request.cost.epsilon != epsilon or request.cost.delta != 0.0:
        wrong.append("the cost is not the run's")
    late_by = 3 if series(sample).timed else 0
    ends = by_hand(request, offer.data(), answers, late_by)
    reached = np.flatnonzero(answers >= request.threshold)
    crossing = int(reached[0]) if reached.size else None
    if offer.forecast != said.forecast(ends, crossing):
        wrong.append("the forecast is not the law of what is drawn")
    assert question.outcomes is not None
    shown = dict(zip(question.outcomes.names, question.outcomes.chances, strict=True))
    if any(
        abs(chance - ends[key]) > 1e-9 for key in ENDINGS for name, chance in shown.items() if name == said.ENDINGS[key]
    ):
        wrong.append("the dots are not the law of what is drawn")
    return wrong


def series(sample: str) -> Any:
    found = series_of(table(sample), offered(table(sample).schema)[0])
    assert not isinstance(found, str)
    return found


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("sample", "epsilon"), [("clinic", 0.5), ("outbreak", 0.1), ("outbreak", 3.0), ("meeting_dates", 0.5)]
)
def test_what_is_promised_is_what_is_drawn(sample: str, epsilon: float) -> None:
    for relation in ("add_remove", "replace_one"):
        key = method_key(relation, sample)
        for method in ONE_WAY if key == "alarm_method" else GENERAL:
            question = asked(sample, epsilon, alarm_neighbours=relation, **{key: method})
            assert faults(question, sample, method, epsilon) == []
            assert offer_of(question).request.neighbours == relation


def test_a_swapped_method_is_caught() -> None:
    question = asked("clinic", alarm_method="laplace_monotone")
    other = offer_of(asked("clinic", alarm_method="book"))
    swapped = replace(question, offer=replace(offer_of(question), request=other.request))
    assert faults(swapped, "clinic", "laplace_monotone", 0.5)[0] == "another method is drawn than the one chosen"
    tuned = replace(offer_of(question).request, offset=0.0)
    assert "the forecast is not the law of what is drawn" in faults(
        replace(question, offer=replace(offer_of(question), request=tuned)), "clinic", "laplace_monotone", 0.5
    )


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_the_law_of_several_alarms_is_that_of_every_pattern(limit: int) -> None:
    """All 2⁷ patterns of a short run, each with its exact chance, judged one by one."""
    case = small((3, 1, 6, 2, 9, 4, 1))
    setting = {"line-small-column:n": 6.0, "alarms": float(limit), "late_by": 1.0}
    question = asked(case, 0.7, **setting)
    request = offer_of(question).request
    assert isinstance(request, AlarmRun)
    answers = request.read(offer_of(question).data())
    ends = dict.fromkeys(ENDINGS, 0.0)
    for pattern in range(2**7):
        raised = np.array([pattern >> place & 1 for place in range(7)], dtype=np.bool_)
        chance = np.exp(discrete_log_probability(request.scales, answers, request.bar, raised))
        alarms = np.flatnonzero(raised)[:limit].tolist()  # once they are spent, the rest is not asked
        later = [place for place in alarms if place >= 2]
        if not later:
            ends["false_alarm" if len(alarms) == limit else "missed"] += chance
        else:
            ends["on_time" if later[0] <= 3 else "late"] += chance
    assert question.outcomes is not None
    assert dict(zip(ENDINGS, question.outcomes.chances, strict=True)) == pytest.approx(ends, abs=1e-9)
    bars = np.asarray(question.view.picture("when").data()["alarm here"])
    drawn = {"false_alarm": bars[:2].sum(), "on_time": bars[2:4].sum(), "late": bars[4:-1].sum(), "missed": bars[-1]}
    assert drawn == pytest.approx(ends, abs=1e-9)


def test_the_forecast_names_every_way_of_being_wrong() -> None:
    for sample in SUITED:
        forecast = offer_of(asked(sample)).forecast
        for word in ("on time", "false alarm", "late", "missed"):
            assert word in forecast.lower(), (sample, forecast)


def test_more_people_change_the_picture_and_never_the_release() -> None:
    plain, more = asked("outbreak"), asked("outbreak", alarm_factor=3.0)
    assert offer_of(plain).request == offer_of(more).request
    assert offer_of(plain).forecast == offer_of(more).forecast
    assert plain.headline != more.headline
    assert offer_of(more).request.threshold == 50.0
    assert "150" in more.tabs[1].blocks()[0].markdown


# -- declared facts and nothing else -----------------------------------------------------------------------------------


def made(frame: pd.DataFrame, schema: Schema, mode: Any = "demo", key: str = "small") -> Case:
    text = frame.astype("str").where(frame.notna(), "")
    found = apply(schema, text).table(fingerprint=f"{key}:{text.to_csv()}:{schema!r}", lineage=key)
    source = Source(
        key=key,
        title=key,
        mode=mode,
        table=found,
        lineage=key,
        practice=mode == "demo",
        declared=Declaration.of(schema),
        rows=lambda: PrivateRows(text),
    )
    return Case(source=source, epsilon=0.5)


def small(answers: tuple[Any, ...], mode: Any = "demo", **declared: Any) -> Case:
    column = Column(name="n", type="integer", low=0, high=100, **({"sensitivity": 1.0} | declared))
    frame = pd.DataFrame({"n": [str(answer) for answer in answers]}, dtype="str")
    return made(frame, Schema(columns=(column,), each_row="step"), mode)


def test_without_a_declared_sensitivity_there_is_no_release() -> None:
    question = asked(small((1, 2, 3), sensitivity=None))
    assert question.offer == NoOffer(sentence=said.declare_sensitivity("n", "person"))
    assert said.not_declared("n", 100.0, "person") in question.notes  # the picture supposes the whole range, never 1


def test_of_a_persons_own_steps_is_said_from_which_end_they_are_looked_at() -> None:
    """A file that begins with its newest day is steps as well, and “first” begins with that day."""
    assert said.FROM_THE_TOP in asked(small((30, 20, 10), mode="what_if")).notes
    assert said.FROM_THE_TOP not in asked(small((30, 20, 10))).notes, "samples begin with their oldest"


def test_declared_sensitivity_is_the_noise() -> None:
    request = offer_of(asked(small((1, 2, 3), sensitivity=40.0))).request
    assert isinstance(request, AlarmRun)
    assert request.sensitivity == 40.0
    assert request.scales.query_scale > 40.0


def test_whole_numbers_are_counts_only_where_that_was_declared() -> None:
    assert "alarm_method_general" in seen(small((1, 2, 3)))
    assert "alarm_method" in seen(small((1, 2, 3), counts=True))
    assert not offer_of(asked(small((1, 2, 3)))).request.one_way
    assert offer_of(asked(small((1, 2, 3), counts=True))).request.one_way
    assert not offer_of(asked(small((1, 2, 3), counts=True), alarm_neighbours="replace_one")).request.one_way


def seen(case: Case, **values: Any) -> dict[str, Any]:
    setting = Setting(values)
    Alarm.ask(case, setting)
    return setting.seen


NEIGHBOURS: tuple[tuple[Any, ...], ...] = (
    (4, 5, 4, 90, 80),
    (4, 5, 4, 91, 80),
    (0, 0, 0, 0, 0),
    (100, 4, 4, 4, 4),
    ("", "", "", "", ""),
    ("many", 5, "", "1e400", -7),
)


def told(case: Case, **values: Any) -> tuple[Any, ...]:
    """All that the release tab shows, and what the controls begin with."""
    read = Setting(values)
    offer = Alarm.ask(case, read).offer
    begins = {key: control.default for key, (_, control) in read.seen.items() if key != "sampling"}
    if isinstance(offer, NoOffer):
        return begins, offer
    request = offer.request
    return (
        begins,
        (request, request.what, request.rules, request.notes, request.cost),
        (offer.forecast, offer.before, offer.relation),
    )


@pytest.mark.parametrize("mode", ["what_if", "twin"])
@pytest.mark.parametrize("counts", [False, True])
def test_on_own_data_the_release_tab_depends_on_declared_facts_alone(mode: Any, counts: bool) -> None:
    """Request, cost, forecast, sentences, refusals and defaults: the same whatever the values are."""
    for values in ({}, {"line-small-column:n": 33.0}, {"line-small-column:n": 9.0, "alarms": 3.0}):
        found = [told(small(answers, mode, counts=counts), **values) for answers in NEIGHBOURS]
        assert all(one == found[0] for one in found)


def visits(days: tuple[str, ...], mode: Any = "what_if") -> Case:
    schema = Schema(
        columns=(
            Column(name="when", type="date", earliest=date(2024, 3, 1), latest=date(2024, 3, 5)),
            Column(name="back", type="yes/no"),
        ),
        unit="visit",
    )
    frame = pd.DataFrame({"when": days, "back": ["yes"] * len(days)}, dtype="str")
    return made(frame, schema, mode)


@pytest.mark.parametrize("watched", [Watched("rows", "when"), Watched("yes", "when", "back")])
def test_of_own_rows_not_even_their_number_shows(watched: Watched) -> None:
    """One row more or less, down to none at all; a sample's numbers do differ, so that this would be noticed."""
    files = (("2024-03-02", "2024-03-02"), ("2024-03-02",), (), ("2030-01-01", "soon", ""))
    values = {"series": watched, slug("line", "small", watched.code): 3.0}
    found = [told(visits(days), **values) for days in files]
    assert len(found[0]) == 3
    assert all(one == found[0] for one in found)
    assert told(visits(files[0], "demo"), **values) != told(visits(files[1], "demo"), **values)


def test_on_own_data_a_release_needs_a_line_of_ones_own() -> None:
    case = small((1, 2, 3), "what_if")
    refused = asked(case).offer
    assert isinstance(refused, NoOffer)
    assert refused.sentence == said.type_a_line(50.0)
    assert refused.instead is not None
    key, value, _ = refused.instead
    assert offer_of(asked(case, **{key: value})).request.threshold == 50.0
    assert offer_of(asked(case, **{"line-small-column:n": 3.0})).request.threshold == 3.0


def test_a_bar_of_own_data_puts_the_line_on_the_public_grid() -> None:
    """No exact count is what a click gives; what is typed is as exact as whoever types it."""
    case = small((1, 87, 3), "what_if")
    picture = asked(case).view.picture("when")
    assert picture.click is not None
    assert picture.click.values[1] != 87.0
    assert all(on_grid(value) for value in picture.click.values)
    for line in (picture.click.values[1], 87.0):
        request = offer_of(offering.ask(Alarm, case, Setting({picture.click.key: line})).question).request
        assert isinstance(request, AlarmRun)
        assert (request.threshold, request.notes[-1]) == (line, CHOSEN)
    shown = small((1, 87, 3), "twin")
    picture = asked(shown).view.picture("when")
    assert picture.click is not None
    assert 87.0 in picture.click.values


def test_a_missing_cell_is_an_answer_like_any_other() -> None:
    frame = pd.DataFrame({"n": ["5", "", "7"]}, dtype="str")
    column = Column(name="n", type="integer", low=2, high=100, sensitivity=1.0)
    case = made(frame, Schema(columns=(column,), each_row="step"))
    offer = offer_of(asked(case))
    request = offer.request
    assert isinstance(request, AlarmRun)
    assert request.entries == 3
    assert request.read(offer.data()).tolist() == [5, 2, 7]
    assert seen_series(case).answers.tolist() == [5.0, 2.0, 7.0]


@pytest.mark.thorough
@pytest.mark.parametrize(("each_row", "named"), [("step", DAY), ("option", Column(name="named", type="text"))])
def test_an_empty_row_keeps_its_place(each_row: Any, named: Column) -> None:
    """What one person leaves empty moves no other answer, and answers keep their names."""
    names = ("2024-03-01", "", "2024-03-03")
    frame = pd.DataFrame({"named": names, "n": ["5", "", "70"]}, dtype="str")
    columns = (named, Column(name="n", type="integer", low=0, high=100, sensitivity=1.0))
    case = made(frame, Schema(columns=columns, each_row=each_row))
    offer = offer_of(asked(case, 3.0, **{"line-small-column:n": 40.0}))
    request = offer.request
    assert isinstance(request, AlarmRun)
    assert request.read(offer.data()).tolist() == [5, 0, 70]
    assert request.labels == names
    assert offer.describe({"alarms": [1, 2], "names": ["", names[2]]}) == "Alarm at 2, 03 Mar 2024."


@pytest.mark.parametrize(("unit", "relations"), [("person", 2), ("day", 1)])
def test_where_a_day_is_protected_itself_one_that_changes_is_hidden(unit: str, relations: int) -> None:
    frame = pd.DataFrame({"n": ["5", "8", "70"]}, dtype="str")
    column = Column(name="n", type="integer", low=0, high=100, sensitivity=1.0)
    case = made(frame, Schema(columns=(column,), each_row="step", unit=unit))
    read = Setting({"line-small-column:n": 40.0})
    question = Alarm.ask(replace(case, epsilon=3.0), read)
    (relation,) = [one for key, (_, one) in read.seen.items() if key == "alarm_neighbours"]
    assert isinstance(relation, Choice)
    assert len(relation.options) == relations
    assert offer_of(question).request.neighbours == relation.default  # type: ignore[attr-defined]


def seen_series(case: Case) -> Any:
    return series_of(case.table, offered(case.table.schema)[0])


def test_days_are_the_declared_ones_and_a_clock_time_does_not_hide_a_row() -> None:
    case = visits(("2024-03-02 17:30", "2024-03-02 09:00", "2024-03-04"), "demo")
    offer = offer_of(asked(case))
    request = offer.request
    assert isinstance(request, AlarmRun)
    assert request.read(offer.data()).tolist() == [0, 2, 0, 1, 0]
    assert offer.describe({"alarms": [1], "names": [request.name_of(1)]}) == "Alarm at 02 Mar 2024."


@pytest.mark.parametrize(
    ("latest", "kept"), [(date(2000, 1, 1) + timedelta(days=LONGEST - 1), True), (date(2024, 1, 1), False)]
)
def test_what_is_declared_longer_than_a_picture_holds_is_not_offered_beside_others(latest: date, kept: bool) -> None:
    born = Column(name="born", type="date", earliest=date(2000, 1, 1), latest=latest)
    ward = Column(name="ward", type="category", categories=("east", "west"))
    wards = Schema(columns=(born, ward))
    assert ("born" in {one.column for one in offered(wards)}) is kept
    assert any(found.sets["series"].column == "born" for found in Alarm.ways(wards)) is kept
    assert Watched("rows", "ward") in offered(wards)
    assert offered(Schema(columns=(born,))) == (Watched("rows", "born"),), "alone it is there, and a sentence says why"


# -- every control, sample and tab -------------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", KEYS)
def test_every_sample_opens(sample: str) -> None:
    found = offered(table(sample).schema)
    for one in found[:2]:
        question = asked(sample, series=one)
        assert question.view.picture("when").alt
        assert question.caption
    if not found:
        with pytest.raises(CannotAsk, match=re.escape(said.NO_SERIES)):
            asked(sample)


def test_every_option_of_every_control_asks() -> None:
    for key, (_, control) in seen(sample_case("clinic")).items():
        options = (
            control.options if isinstance(control, Choice) else (False, True) if isinstance(control, Switch) else ()
        )
        for option in options:
            asked("clinic", **{key: option})


def test_every_tab_and_axis_draws() -> None:
    question = asked("outbreak")
    assert [len(tab.blocks()) > 1 for tab in question.tabs] == [True] * len(question.tabs)
    for axis in question.view.axes:
        assert question.view.picture(axis).figure(False)["data"]
    assert known_mistakes.blocks(sample_case("outbreak"), Setting({"broken": "no_cutoff"}))[0]


def test_a_heading_with_a_colon_is_a_name_like_any_other() -> None:
    one, other = Watched("yes", "a", "b:c"), Watched("yes", "a:b", "c")
    assert one.code != other.code
    assert Watched("yes", "day", "returned").code == "yes:day:returned"  # as older links have it


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("rows:day", Watched("rows", "day")),
        ("rows per day", Watched("rows", "day")),
        ("“yes” in returned per day", Watched("yes", "day", "returned")),
    ],
)
def test_older_links_name_the_series(text: str, found: Watched) -> None:
    assert seen(sample_case("clinic"))["series"][1].read(text) == found


def test_a_picture_calls_steps_by_the_years_that_count_them_and_a_release_never_does() -> None:
    columns = (
        Column(name="volume", type="number", low=0.0, high=9.0, sensitivity=1.0),
        Column(name="year", type="integer", low=0, high=3000),
    )
    schema = Schema(columns=columns, each_row="step")
    frame = pd.DataFrame({"volume": [1.0, 2.0, 8.0], "year": [1871, 1872, 1873]})
    case = made(frame, schema, mode="what_if")
    found = series_of(case.table, Watched("column", "volume"))
    assert not isinstance(found, str)
    assert found.names == ("1871", "1872", "1873")
    falling = made(frame.iloc[::-1].reset_index(drop=True), schema, mode="what_if")
    told = series_of(falling.table, Watched("column", "volume"))
    assert not isinstance(told, str)
    assert told.names == ("1", "2", "3"), "a column that does not rise counts nothing up"
    key = slug("line", case.source.key, "column:volume")
    assert offer_of(asked(case, **{key: 3.0})).request.labels == ()  # type: ignore[attr-defined]


def test_more_alarms_than_entries_is_one_sentence() -> None:
    with pytest.raises(CannotAsk, match="This cannot be watched"):
        asked("election", alarms=10.0)


# -- what is said ------------------------------------------------------------------------------------------------------


def test_an_ending_has_one_colour_on_the_whole_page() -> None:
    question = asked("clinic")
    assert question.outcomes is not None
    assert question.outcomes.inks is not None
    for dark in (False, True):
        inks = ending_colours(dark)
        assert len(set(inks.values())) == len(ENDINGS)
        assert list(question.outcomes.inks(dark)) == [inks[key] for key in ENDINGS]
        bars = question.view.picture("when").figure(dark)["data"][1]["marker"]["color"]
        assert [bars[0], bars[10], bars[-1]] == [inks["false_alarm"], inks["on_time"], inks["late"]]


def test_an_ending_that_cannot_be_is_not_praised() -> None:
    at_once = asked("clinic", **{"line-clinic-rows:day": 9.0})
    assert "false alarm" not in at_once.headline.lower()
    assert said.at_once("day") in at_once.notes
    silent = asked("clinic", **{"line-clinic-rows:day": 500.0})
    assert "stays silent" in silent.headline
    assert "late" not in silent.headline


def test_late_says_from_when() -> None:
    caption = asked("clinic").caption
    assert "14 Mar 2024 to 17 Mar 2024, up to 3 days after; before is a false alarm, later is late" in caption


def test_the_headline_says_whether_it_is_what_was_asked_for() -> None:
    assert "less than the goal of 95 set under “I need”" in asked("clinic").headline
    assert "enough for the" in asked("outbreak", 2.0).headline


def test_the_run_says_why_its_line_lies_there() -> None:
    blocks = asked("clinic").tabs[0].blocks()
    told = [block.markdown for block in blocks if hasattr(block, "markdown")]
    assert any("when you set 13" in text for text in told)


@cache
def lines() -> dict[str, float]:
    return {key: first_line(series(key)) for key in ("clinic", "outbreak")}


def test_a_sample_begins_with_the_line_its_card_speaks_of() -> None:
    assert lines() == {"clinic": 13.0, "outbreak": 50.0}
    assert own_line(table("outbreak").schema, Watched("column", "cases")) == 500.0


def test_a_method_that_does_clearly_better_is_named_and_taken_by_one_click() -> None:
    """Of samples alone: what a picture of somebody's own data shows must not choose for them."""
    question = asked("clinic", alarm_method="book")
    found = question.need.better
    assert found is not None
    assert found.label == said.use(METHODS["exponential_monotone"].about.name)
    taken = asked("clinic", **{found.control: found.value})
    assert isinstance(taken.offer, Offer)
    assert taken.need.better is None
    assert asked(small((30, 20, 10), mode="what_if"), alarm_method="book").need.better is None


@pytest.mark.parametrize("sample", SUITED)
def test_the_table_of_levels_has_the_law_of_the_headline(sample: str) -> None:
    """That of the very release, on its grid of numbers; where nothing is drawn, that of the chart."""
    for level in (0.1, 2.0):
        chance = asked(sample, level).outcomes.chances[0]  # type: ignore[union-attr]
        assert asked(sample, 0.5).view.heights([level]) == [pytest.approx(100.0 * chance)]
    private = asked(small((30, 20, 10), mode="what_if")).view
    assert private.heights([0.5]) == [pytest.approx(private.point, rel=1e-12)]


@pytest.mark.parametrize("sample", SUITED)
@pytest.mark.parametrize("metric", ENDINGS)
def test_dot_line_and_smallest_epsilon_have_the_law_of_the_headline(sample: str, metric: str) -> None:
    """That of the release, in whole units: at every ε of the chart, and along the number of people at theirs."""
    apart = 0.0
    for epsilon in (0.3, 1.1):
        question = asked(sample, epsilon, alarm_metric=metric)
        view = question.view
        right = dict(zip(ENDINGS, question.outcomes.chances, strict=True))  # type: ignore[union-attr]
        assert view.point == pytest.approx(100 * right[metric], abs=1e-9)
        for axis, here in (("epsilon", epsilon), ("n", view.problem.n)):  # type: ignore[attr-defined]
            frame = view.picture(axis).data()  # type: ignore[operator]
            mine = frame[frame["method"] == view.main].set_index(axis)["value"]  # type: ignore[attr-defined]
            assert mine[here] == pytest.approx(right[metric], abs=1e-12)
            if axis == "epsilon":
                other = mine.index[len(mine) // 2]
                there = asked(sample, float(other), alarm_metric=metric).outcomes
                assert mine[other] == pytest.approx(dict(zip(ENDINGS, there.chances, strict=True))[metric])  # type: ignore[union-attr]
        plain = replace(view.problem, units=None)  # type: ignore[type-var]
        apart = max(apart, abs(float(plain.evaluate(view.main, metric, *here_of(question)).value[0]) - right[metric]))
    assert apart > 1e-7, "what shows that it can fail: the continuous law differs"


def here_of(question: Question) -> tuple[np.ndarray, np.ndarray]:
    return np.array([question.protected.epsilon]), np.array([float(question.view.problem.n)])  # type: ignore[attr-defined]


def test_another_method_has_its_own_band() -> None:
    """The line of the method in use has the band, whichever was in use before."""
    case, key = sample_case("clinic"), method_key("add_remove", "clinic")
    for method in ("book", "laplace"):
        view = asked(case, sampling=True, **{key: method}).view
        for axis in ("epsilon", "n"):
            frame = view.picture(axis).data()  # type: ignore[operator]
            wide = frame.groupby("method").apply(lambda found: bool((found["high"] > found["low"]).any()))
            assert wide[wide].index.tolist() == [method]


@pytest.mark.parametrize("line", [654_321.0, 123_456.0, 0.123456, 1_700_000_001.0])
def test_a_line_that_somebody_stated_is_written_whole(line: float) -> None:
    """Three digits of it were another line: the release said 654,000 above a question about 654,321."""
    stated = exact(line)
    for told in (
        said.in_words("day", 1, line, "visits"),
        said.uncertain(0.1, 0.1, "Monday", line),
        said.uncertain(0.1, 0.1, None, line),
    ):
        assert stated in told
