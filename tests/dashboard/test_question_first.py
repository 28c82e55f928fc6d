"""The question first: four files as people have them, each from the drop to the first right chart in a few clicks."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.case import OWN
from dashboard.data import asking, checklist, own_file, private_answer, read_again, suits
from dashboard.data.decisions import Decisions, typed_as
from dashboard.data.people import rows_label, rows_stated
from dashboard.questions.thresholding.watched import Watched
from dashboard.words import asking as said
from dashboard.words import columns as columns_said
from dashboard.words import data as data_said
from dpcore.datasets import Column, LeaveOutTotals, OneRowPer, Schema, Step, TicksToRows, read_csv
from dpcore.datasets.schema import EachRow
from dpcore.datasets.steps import rows_made
from dpcore.errors import InvalidArgument
from dpcore.selection import PermuteAndFlip
from tests.dashboard.conftest import text
from tests.dashboard.keys import key_of
from tests.dashboard.test_data_page import declare, drop, held, press, shown, waited

Open = Callable[..., AppTest]
MOST_CLICKS = 6
PARTS = {"Sales": 42, "Support": 38, "Engineering": 31, "Finance": 9}
PERKS = ["Gym", "Home office", "Meals"]


def plain(label: str) -> str:
    """A label without what keeps a file's words from being markup."""
    return label.replace("\\", "")


class Visitor:
    """Somebody at the page: every click, and every field that is filled in, is counted."""

    def __init__(self, app: AppTest) -> None:
        self.app, self.clicks = app, 0

    def drops(self, data: str, name: str) -> None:
        self.clicks = 1
        drop(self.app, data.encode(), name=name)

    def clicks_on(self, label: str) -> None:
        self.clicks += 1
        found = [one for one in self.app.button if plain(one.label) == label]
        assert found, (label, [one.label for one in self.app.button])
        found[-1].click().run()
        waited(self.app)

    def ticks(self, key: str) -> None:
        self.clicks += 1
        next(one for one in self.app.checkbox if str(one.key).startswith(key)).check()

    def says(self, label: str, value: Any) -> None:
        self.clicks += 1
        fields = (
            *self.app.number_input,
            *self.app.text_input,
            *self.app.text_area,
            *self.app.selectbox,
            *self.app.date_input,
        )
        next(one for one in fields if plain(one.label) == label).set_value(value)


def survey() -> str:
    """An export of a form: times in an order that can be read in two ways, cells with several answers."""
    rng = random.Random(5)
    parts = [part for part, count in PARTS.items() for _ in range(count)]
    rng.shuffle(parts)
    lines = ["Timestamp,Perks (choose all),Which department are you in?,Age"]
    for place, part in enumerate(parts):
        ticked = ";".join(PERKS[: 1 + place % 3])
        lines.append(f"03/0{1 + place // 40}/2026 08:{place % 60:02},{ticked},{part},{rng.randint(20, 64)}")
    return "\n".join(lines) + "\n"


def bank() -> str:
    """A statement of an account: a title above, days first, decimal commas, debits below 0."""
    rng = random.Random(6)
    lines = ["Kontoauszug;;", "Buchungstag;Zweck;Betrag (EUR)"]
    for n in range(150):
        amount, day = f"{rng.uniform(-120, 40):.2f}".replace(".", ","), n // 2
        lines.append(f"{1 + day % 28:02}.{1 + day // 28:02}.2025;Karte {n};{amount}")
    return "\n".join(lines) + "\n"


def weekly() -> str:
    rng = random.Random(7)
    return "week,North,South\n" + "".join(f"2025-W{n:02},{rng.randint(9, 30)},{20 + n}\n" for n in range(1, 41))


def forecasts() -> str:
    """What happened is a number, as the forecasts are: only its name and the click tell them apart."""
    rng, start = random.Random(8), date(2025, 5, 1)
    days = [(start + timedelta(days=n), rng.uniform(5, 25)) for n in range(60)]
    lines = [f"{day},{true:.1f},{true + rng.gauss(0, 1):.1f},{true + rng.gauss(0, 4):.1f}" for day, true in days]
    return "date,observed temperature,Met office,Phone app\n" + "\n".join(lines) + "\n"


@pytest.mark.thorough
def test_a_stranger_reaches_the_first_right_chart_in_a_few_clicks(open_app: Open) -> None:
    """Four files one after the other in one session; what one of them was asked is gone with it."""
    visitor = Visitor(open_app("data"))
    app = visitor.app

    visitor.drops(survey(), "survey.csv")
    page = text(app)
    assert "**All 120 rows.**" in page
    assert "**4 columns**" in page
    assert "**One row is one person or record.**" in page
    assert f"{data_said.IN_USE} Your file “survey.csv” is not in use yet" in plain(page), "beside the choice of data"
    assert re.search("Not said yet: which values .*“Perks .choose all.”.* and “Age” can hold", plain(page))
    visitor.clicks_on("Which “Which department are you in?” is most common?")
    assert "Everything about these data" not in text(app), "the question stands alone"
    assert "reads as" not in text(app), "times are not asked about, so how they are to be read is not asked"
    assert "Left out until you say how they are to be read: “Timestamp”" in text(app)
    visitor.ticks("own-public")
    visitor.clicks_on(said.SHOW_FILE)
    law = PermuteAndFlip(epsilon=0.5, monotonic=True).probabilities(np.array(list(PARTS.values())))
    assert f"about **{round(100 * law[0])} times in 100**" in text(app)
    assert shown(app).table.schema.names == ("Perks (choose all)", "Which department are you in?", "Age")
    assert "is not in use yet" not in text(app)
    assert data_said.IN_USE not in text(app)
    assert visitor.clicks <= MOST_CLICKS

    app.switch_page("app_pages/data.py").run()
    app.selectbox(key="data").set_value("wine").run()
    assert f"{data_said.IN_USE} To see “survey.csv”, choose “Your own data” in this list." in plain(text(app))
    visitor.drops(weekly(), "weekly.csv")
    visitor.clicks_on("When does North first reach a line?")
    visitor.ticks("own-public")
    visitor.clicks_on(said.SHOW_FILE)
    assert app.selectbox(key="series").value == Watched("column", "North")
    assert visitor.clicks <= MOST_CLICKS

    app.switch_page("app_pages/data.py").run()
    visitor.drops(bank(), "bank.csv")
    assert "1 line of the file was set aside" in text(app)
    visitor.clicks_on("What is the median of Betrag (EUR)?")
    visitor.says("Lowest possible Betrag (EUR)", -1000.0)
    visitor.says("Highest possible Betrag (EUR)", 1000.0)
    visitor.clicks_on(said.SHOW_MADE_UP)
    assert "the private median is within" in text(app)
    assert shown(app).mode == "twin"
    assert held(app).schema.column("Betrag (EUR)").low == -1000.0
    assert visitor.clicks <= MOST_CLICKS

    app.switch_page("app_pages/data.py").run()
    visitor.clicks_on("Which day in Buchungstag is the first with many people?")
    assert held(app).use == "twin", "what is there stays until the next question has what it needs"
    visitor.clicks_on(said.SHOW_FILE)
    assert (held(app).use, held(app).confirmed) == ("twin", False)
    assert any(button.key == "own-ask-other" for button in app.button), "without the tick nothing is opened"
    visitor.says("Earliest possible Buchungstag", date(2025, 1, 1))
    visitor.says("Latest possible Buchungstag", date(2025, 12, 31))
    visitor.clicks_on(said.SHOW_MADE_UP)
    assert app.selectbox(key="series").value == Watched("rows", "Buchungstag")


def test_what_happened_is_the_column_that_was_clicked_on() -> None:
    """Its own column is no expert, and the page opens with it as what happened, whatever the table's key is."""
    schema = read_csv(forecasts().encode()).suggested()
    best = suits.best_first(suits.questions(schema))[0]
    assert suits.sentence(best) == "Whose forecasts of observed temperature to follow?"
    assert best.way.others == ("Met office", "Phone app")
    assert suits.choices(best.way, "own-1") == {
        "experts_question": "follow",
        "experts_kind-own~11": "squared",
        "experts_outcome-own~11": "observed temperature",
    }


def test_the_best_question_comes_first_and_columns_of_few_options_before_free_ones(open_app: Open) -> None:
    """Remarks are options to the eye of a machine, and the last that anybody would ask about first."""
    rows = "".join(f"note {n % 50},{('red', 'blue', 'red')[n % 3]},{n % 60}\n" for n in range(120))
    app = drop(open_app("data"), f"remark,colour,age\n{rows}".encode())
    assert held(app).schema.column("remark").type == "category"
    labels = [button.label for button in app.button if str(button.key).startswith(("own-sel", "own-thr", "own-tra"))]
    assert labels[:2] == ["Which colour is most common?", "What is the median of age?"]
    assert not any("remark" in label for label in labels)
    app.button(key="own-row-step").click().run()
    assert held(app).schema.each_row == "step"
    assert held(app).decisions.said_row
    assert "You said so." in text(app)
    app.button(key="own-unit-day").click().run()
    assert held(app).schema.unit == "day"


def test_rows_of_one_person_become_one_row_in_one_click(open_app: Open) -> None:
    paid = "".join(f"c{n % 11},{n % 7}.5\n" for n in range(60))
    visitor = Visitor(open_app("data"))
    visitor.drops(f"customer_id,paid\n{paid}", "paid.csv")
    visitor.clicks_on("Make it one row per “customer_id”")
    assert held(visitor.app).reading is not None
    assert held(visitor.app).reading.rows == 11  # type: ignore[union-attr]
    assert "What is the median of “rows”?" in [plain(button.label) for button in visitor.app.button]


@pytest.mark.thorough
def test_only_what_the_question_needs_is_asked_and_all_of_it_at_once(open_app: Open) -> None:
    visitor = Visitor(open_app("data"))
    app = visitor.app
    visitor.drops(survey(), "survey.csv")
    visitor.clicks_on("Which day in Timestamp is the first with many people?")
    assert "reads as" in text(app)
    assert all(button.key != "own-asked-look" for button in app.button), "first how the times are to be read"
    visitor.clicks_on("Month first")
    assert any(button.key == "own-asked-look" for button in app.button)
    visitor.clicks_on("Ask something else")

    app.selectbox(key="own-about").set_value(2).run()  # the second column: Perks
    visitor.clicks_on("Which Perks (choose all) is most common?")
    assert "Asked about" not in text(app), "first how its cells count"
    visitor.says("Options one person can name, at most", 3)
    app.segmented_control(key=key_of(app, "own-ticks-", "-sign")).set_value(";")
    visitor.clicks_on("Count every option that was named")
    assert held(app).reading is not None
    assert held(app).reading.rows == sum(1 + place % 3 for place in range(120))  # type: ignore[union-attr]
    assert held(app).schema.rows_per_person == 3
    assert "**Asked about: “Perks (choose all)”.**" in plain(text(app))
    visitor.says("Options of Perks (choose all), one on each line", "Gym\nHome office; or at sea\nMeals")
    visitor.says("Rows one person can have in the file, at most", 2)
    visitor.clicks_on(said.SHOW_MADE_UP)
    assert held(app).schema.rows_per_person == 6, "each row in the file has become up to 3"
    assert held(app).schema.column("Perks (choose all)").categories == ("Gym", "Home office; or at sea", "Meals")
    assert "Still needed for the chart: what “Perks (choose all)” could hold" in text(app).replace("\\", "")
    assert held(app).decisions.said_rows, "what was said is kept"
    visitor.ticks("own-asked-public")
    visitor.ticks("own-asked-right")
    visitor.clicks_on(said.SHOW_MADE_UP)
    assert app.selectbox(key="column").value == "Perks (choose all)"
    assert shown(app).unreleased == ""
    assert held(app).columns.declared is not None


def test_no_step_or_answer_leaves_fewer_rows_per_person_than_can_move_an_answer() -> None:
    reading = read_csv(b"who,perks,meals,note\n" + b"a,Gym;Tea,x|y,Subtotal\nb,Gym,x,fine\n" * 6)
    perks = TicksToRows(column="perks", most=3)
    ticks = (perks, TicksToRows(column="meals", separator="|", most=2))
    read = read_again.opened("a.csv", b"", (), reading, None, None)
    own = read_again.worked(read, reading.after(ticks), ticks)
    assert (own.schema.rows_per_person, own.decisions.said_rows) == (6, False)
    fewer = replace(own.decisions, schema=replace(own.schema, rows_per_person=5))
    with pytest.raises(InvalidArgument, match="rows_per_person"):
        own.decide(replace(fewer, said_rows=True))
    assert own.decide(fewer).schema.rows_per_person == 6, "what nobody said is what the steps make"

    said_so = replace(own.schema, rows_per_person=rows_stated(own, 2), unit="patient", people=90)
    own = own.decide(replace(own.decisions, schema=said_so, said_rows=True))
    more = (*ticks, LeaveOutTotals(column="note"))
    later = read_again.worked(own, reading.after(more), more)
    assert later.decisions.said_rows
    assert (later.schema.rows_per_person, later.schema.unit, later.schema.people) == (12, "patient", 90)

    each = (perks, OneRowPer(by="who"))
    together = read_again.worked(own, reading.after(each), each)
    assert (together.schema.rows_per_person, together.schema.each_row) == (1, "record")
    stated = together.decide(replace(together.decisions, said_rows=True))
    counted = stated.decide(replace(stated.decisions, schema=replace(stated.schema, each_row="option")))
    assert (counted.schema.rows_per_person, counted.decisions.said_rows) == (3, False), "a count of up to 3 rows of one"
    again = read_again.opened("a.csv", b"", (), reading, None, stated)
    assert not again.decisions.said_rows, "one row per person is no longer what it was said of"


def test_rows_put_together_by_anything_but_people_are_not_asked_privately() -> None:
    """One person more would change rows of several shops, and add none: what no noise here is made for."""
    reading = read_csv(
        b"shop,Patient,day,paid\n"
        + b"".join(b"s%d,c%d,2024-01-0%d,%d\n" % (n % 3, n % 7, n % 9 + 1, n) for n in range(40))
    )

    def after(step: OneRowPer, unit: str, each_row: EachRow) -> str:
        own = read_again.opened("a.csv", b"", (), reading, None, None)
        own = read_again.worked(own, reading.after((step,)), (step,))
        return private_answer.unreleasable(
            own.decide(replace(own.decisions, schema=replace(own.schema, unit=unit, each_row=each_row)))
        )

    for unit in ("person", "patient", "Person", "pupil", "", "ward", "visit"):
        assert "change rows and take none away" in after(OneRowPer(by="shop"), unit, "record"), unit
        assert "change rows and take none away" in after(OneRowPer(by="day", day=True), unit, "record"), unit
    assert "change rows" not in after(OneRowPer(by="shop"), "shop", "record")
    assert "change rows" not in after(OneRowPer(by="Patient"), "patient", "record")
    assert "change rows" in after(OneRowPer(by="Patient"), "person", "record"), "the file may name others beside"
    assert "change rows" not in after(OneRowPer(by="day", day=True), "day", "record")
    for by in ("shop", "Patient"):
        assert "how many there are" in after(OneRowPer(by=by), "person", "option")
    assert "how many there are" in after(OneRowPer(by="day", day=True), "person", "step")


def test_what_was_called_right_of_one_column_is_not_called_right_of_another() -> None:
    reading = read_csv(b"age,pay\n" + b"".join(b"%d,%d\n" % (20 + n % 9, 900 + n % 7) for n in range(60)))
    own = read_again.opened("a.csv", b"", (), reading, None, None)

    def declared(own: own_file.OwnFile, name: str) -> own_file.OwnFile:
        schema = own.schema.with_column(replace(own.schema.column(name), low=0.0, high=9999.0))
        return own.decide(replace(own.decisions, schema=schema))

    own = declared(own, "age")
    assert private_answer.asks_confirmation(own)
    own = own.decide(own.confirm(own.columns.suggested))
    assert not private_answer.asks_confirmation(own)
    both = declared(own, "pay")
    assert private_answer.asks_confirmation(both)
    assert both.columns.unconfirmed(both.columns.suggested) == ("pay",)
    assert not private_answer.asks_confirmation(both.decide(both.confirm(["pay"])))
    retyped = own.decide(replace(own.decisions, schema=typed_as(own.schema, "age", "number")))
    assert private_answer.asks_confirmation(retyped), "what was called right was another type"


def test_how_many_rows_one_has_is_asked_of_the_file_where_steps_make_more_of_each() -> None:
    def asked(each_row: EachRow, steps: tuple[Step, ...] = ()) -> str:
        schema = Schema(columns=(Column(name="votes", type="integer", counts=True),), each_row=each_row)
        decisions = Decisions(schema=replace(schema, rows_per_person=rows_made(steps, each_row)))
        own = own_file.OwnFile(name="", data=b"", choices=(), reading=None, decisions=decisions, steps=steps)
        return rows_label(own)

    assert asked("record") == data_said.rows_at_most("person")
    assert asked("step", (TicksToRows(column="x", most=2),)) == data_said.rows_in_file("person", steps=True)


def test_columns_beyond_one_form_are_not_taken_for_declared() -> None:
    numbers = tuple(Column(name=f"n{n}", type="number") for n in range(60))
    schema = Schema(columns=(Column(name="y", type="yes/no"), *numbers))
    decisions = Decisions(schema=schema)
    own = own_file.OwnFile(name="", data=b"", choices=(), reading=None, decisions=decisions)
    wide = [one for one in suits.questions(schema) if len(one.way.others) > 50 and one.way.about == ("y",)]
    assert wide
    for suited in wide:
        assert len(checklist.asks(own, suited)) == 40
        assert checklist.lacking(own, suited) == said.too_few(suited.way.least)


def test_columns_that_a_step_took_away_are_not_asked_about() -> None:
    month = Column(name="Jan", type="number")
    shown = Schema(columns=(Column(name="who", type="text"), month), id_column="who")
    after = Schema(columns=(Column(name="month", type="date"), Column(name="value", type="number")))
    assert asking.both(shown, after) == after
    assert asking.both(shown, Schema(columns=(month,))).names == ("Jan",)


def test_a_tick_does_not_stay_when_its_sentence_becomes_another(open_app: Open) -> None:
    visitor = Visitor(open_app("data"))
    visitor.drops(survey(), "survey.csv")
    visitor.clicks_on("Which “Which department are you in?” is most common?")
    visitor.ticks("own-asked-public")
    ticked = next(box.key for box in visitor.app.checkbox if str(box.key).startswith("own-asked-public"))
    visitor.clicks_on(columns_said.COPY)
    tick = next(box for box in visitor.app.checkbox if str(box.key).startswith("own-asked-public"))
    assert (tick.label, tick.value) == (columns_said.NOT_HIDDEN, False)
    assert tick.key != ticked, "a browser keeps what is ticked in a form by its key"


def test_a_described_table_is_shown_in_two_clicks(open_app: Open) -> None:
    visitor = Visitor(open_app("data"))
    app = visitor.app
    app.session_state["_own_file"] = own_file.OwnFile(
        name="described",
        data=b"",
        choices=(),
        reading=None,
        decisions=Decisions(schema=Schema(columns=(Column(name="age", type="integer", low=0, high=120),))),
    )
    app.session_state["from"] = "described"
    app.run()
    visitor.clicks_on("What is the median of age?")
    assert app.selectbox(key="data").value == OWN
    assert "the private median is within" in text(app)
    assert visitor.clicks <= 2


def test_a_form_names_the_columns_that_its_question_can_use(open_app: Open) -> None:
    """Several numbers that are said in one row too."""
    visitor = Visitor(open_app("data"))
    rows = [f"{'yn'[place % 2]},{place % 7},{place % 5},{place % 3},{'ab'[place % 2]}" for place in range(60)]
    visitor.drops("\n".join(["ill,age,visits,children,ward", *rows]), "people.csv")
    visitor.clicks_on("Which simple rule predicts ill?")
    page = plain(text(visitor.app))
    assert "**Asked about: “ill”.** Beside it: “age”, “visits”, “children” and “ward”." in page
    assert "All of these: “age”, “visits” and “children”." in page
    many = [f"c{place}" for place in range(15)]
    assert said.takes_part(("a",), many).endswith("“c11” and 3 more as listed under Columns.")


def test_what_no_option_can_win_is_not_asked_first(open_app: Open) -> None:
    """In a table laid out so that every firm has as many rows, none is the most common."""
    rows = [
        f"{firm},{year},{firm * year % 17}.5,{'ab'[year % 3 > 0]}" for firm in range(6) for year in range(1950, 1960)
    ]
    even = "\n".join(f"firm{row}" for row in rows).replace("firm", "Firm ")
    visitor = Visitor(open_app("data"))
    visitor.drops("firm,year,sales\n" + "\n".join(line.rsplit(",", 1)[0] for line in even.split("\n")), "even.csv")
    assert offered(visitor)[0] == "What is the median of sales?"
    assert "Which firm is most common?" in offered(visitor)
    visitor.drops("firm,year,sales,kind\n" + even, "kinds.csv")
    assert offered(visitor)[0] == "Which kind is most common?"


def offered(visitor: Visitor) -> list[str]:
    """The questions in their order."""
    return [plain(button.label) for button in visitor.app.button if button.label.endswith("?")]


def test_one_answer_is_for_all_columns_that_can_be_read_in_the_same_ways(open_app: Open) -> None:
    """Twelve months whose point could stand between thousands are one question; one read in other ways stays open."""
    cells = "23.{0:03},24.{0:03},25.{0:03},26.{0:03}"
    rows = "".join(f"{1950 + n},{cells.format(n)},0{1 + n % 9}/0{1 + n % 8}/2020\n" for n in range(60))
    app = drop(open_app("data"), f"YEAR,JAN,FEB,MAR,APR,seen\n{rows}".encode())
    assert set(held(app).doubts) == {"JAN", "FEB", "MAR", "APR", "seen"}
    asked = next(button for button in app.button if button.label == "When does JAN first reach a line?")
    asked.click().run()
    assert "“JAN”, “FEB”, “MAR” and 1 more column " in text(app)
    next(button for button in app.button if button.label == "The point marks decimals").click().run()
    assert held(app).doubts == ("seen",)


def test_what_is_to_be_said_is_folded_only_while_there_is_something(open_app: Open) -> None:
    """Who had declared the column was told to say which values are possible, and found nothing to say in there."""
    visitor = Visitor(open_app("data"))
    folds = []
    visitor.drops("age,town\n" + "".join(f"{20 + n % 50},T{n % 3}\n" for n in range(60)), "age.csv")
    for declared in (False, True):
        if declared:
            declare(visitor.app, "age", low=0, high=120)
        visitor.clicks_on("What is the median of age?")
        folds.append([one.label for one in visitor.app.expander if one.label == said.FIELDS])
        assert any(plain(one.label) == said.SHOW_MADE_UP for one in visitor.app.button)
        press(visitor.app, "own-ask-other")
    assert folds == [[said.FIELDS], []]
