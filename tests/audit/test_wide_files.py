"""Whether a release is offered, and which, is the same on neighbouring files that are as large as a picture can be.

What a picture of a person's own file cannot be made for (more features than rows, more steps or options than it can
hold) must not hang on one row, nor on whether one entry is there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from benchmarks.audit.pages import offered
from dashboard import offering
from dashboard.case import Case, Source
from dashboard.controls import Choice, Setting, slug
from dashboard.question import CannotAsk, Kind, NoOffer
from dashboard.questions.experts import followed
from dashboard.questions.experts.follow import Follow
from dashboard.questions.selection.most_common import MOST_OPTIONS, MostCommon
from dashboard.questions.thresholding.alarm import Alarm
from dashboard.questions.thresholding.watched import LONGEST, Watched
from dashboard.questions.training import prepared_rows
from dashboard.questions.training.predict import Predict
from dpcore.datasets import Column, Declaration, Schema, read_table
from dpcore.training import ChosenSteps, PairedSteps, ScaledSteps

Rows = list[tuple[str, ...]]
WIDE = 300
JOB = Column(name="job", type="category", categories=tuple(f"w{place:03d}" for place in range(WIDE)))
TOWN = Column(name="town", type="category", categories=tuple(f"v{place:03d}" for place in range(WIDE)))
ILL = Column(name="ill", type="yes/no")
VOTES = Column(name="votes", type="integer", low=0, high=1000, counts=True)
LOAD = Column(name="load", type="number", low=0, high=100, sensitivity=1)
OTHER = Column(name="other", type="number", low=0, high=100)


def asked(kind: type[Kind], schema: Schema, rows: Rows, chosen: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """What is offered of a release about these rows, as a person's own, and the options of each choice."""
    lines = [";".join(cells) for cells in (tuple(schema.names), *rows)]
    reading = read_table(("\n".join(lines) + "\n").encode(), name="f.csv", delimiter=";", header_rows=1)
    source = Source(
        key="own-file",
        title="f.csv",
        mode="what_if",
        table=reading.table(schema),
        lineage="people",
        practice=False,
        declared=Declaration.of(schema, hidden="replace_one" if schema in (STEPS, TOWNS, WIDE_TOWNS) else "add_remove"),
        rows=lambda: reading.private,
    )
    read = Setting(chosen)
    try:
        offer = offering.ask(kind, Case(source=source, epsilon=1.0), read).question.offer
    except CannotAsk:
        return "nothing", {}
    options = {key: one.options for key, (_, one) in read.seen.items() if isinstance(one, Choice)}
    return ("no offer" if isinstance(offer, NoOffer) else offered(offer)), options


def trained(schema: Schema, rows: Rows, **chosen: Any) -> tuple[str, dict[str, Any]]:
    return asked(Predict, schema, rows, {"training_target": "ill"} | chosen)


def jobs(count: int) -> Rows:
    return [(f"w{place % WIDE:03d}", "yes" if place % 3 else "no") for place in range(count)]


def towns(count: int) -> Rows:
    return [("v000", "yes" if place % 3 else "no") for place in range(count)]


NEIGHBOURS: dict[str, Callable[[], tuple[Schema, Rows, list[Rows]]]] = {
    "as many rows as features": lambda: (
        Schema(columns=(JOB, ILL)),
        jobs(WIDE),
        [[("w007", "yes")], [("", "yes")], [("w007", "")]],
    ),
    "one of another town": lambda: (Schema(columns=(TOWN, ILL)), towns(250), [[("v000", "yes")], [("v001", "yes")]]),
}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_a_model_is_offered_whatever_one_row_makes_of_a_wide_table(name: str) -> None:
    schema, rows, more = NEIGHBOURS[name]()
    before = trained(schema, rows)[0]
    assert before not in ("nothing", "no offer")
    assert {trained(schema, rows + one)[0] for one in more} == {before}


def test_a_stand_in_of_too_few_rows_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = offering._of_stand_in
    monkeypatch.setattr(
        offering, "_of_stand_in", lambda kind, case, read, rows=None, **_: None if rows else ask(kind, case, read)
    )
    found = set()
    for name in NEIGHBOURS:
        schema, rows, more = NEIGHBOURS[name]()
        found |= {(name, trained(schema, one)[0] == "nothing") for one in (rows, *(rows + last for last in more))}
    assert len(found) > len(NEIGHBOURS)


def stepped() -> tuple[Schema, Rows]:
    """So many columns that all of them, cut into steps, are more than a release can use."""
    words = [Column(name=name, type="category", categories=tuple(f"{name}{n}" for n in range(490))) for name in "ABC"]
    numbers = [Column(name=f"n{place}", type="number", low=0, high=100) for place in range(140)]
    rows = []
    for place in range(1700):
        told = (str((place + n) % 101) for n in range(140))
        rows.append((f"A{place % 490}", f"B{7 * place % 490}", "C0", *told, "yes" if place % 3 else "no"))
    return Schema(columns=(*words, *numbers, ILL)), rows


@pytest.mark.thorough
def test_which_methods_there_are_does_not_hang_on_which_columns_vary(monkeypatch: pytest.MonkeyPatch) -> None:
    schema, rows = stepped()
    varied = [*rows, (*rows[0][:2], "C1", *rows[0][3:])]

    def both() -> list[tuple[str, Any]]:
        found = [trained(schema, one, **{"training_method-accuracy": ScaledSteps.key}) for one in (rows, varied)]
        return [(said, options.get("training_method-accuracy")) for said, options in found]

    before, after = both()
    assert before == after
    monkeypatch.setattr(prepared_rows, "_in_steps", lambda features: True)
    assert both()[0] != before, "what can be cut is told by the columns that were chosen"


@pytest.mark.parametrize("method", [PairedSteps.key, ChosenSteps.key])
def test_no_row_and_no_cell_decides_which_model_of_pairs_is_offered(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 49,262 rows of 29 columns one more, or one cell that is empty, had another model offered."""
    columns = tuple(Column(name=f"c{place}", type="yes/no") for place in range(12))
    schema = Schema(columns=(*columns, ILL), people=300)
    rows = [tuple("yes" if (place * (n + 3)) % 7 < 3 else "no" for n in range(13)) for place in range(300)]
    neighbours = (rows, rows[:-1], [*rows[:5], ("", *rows[5][1:]), *rows[6:]])
    monkeypatch.setattr(prepared_rows, "MOST_NUMBERS", 300 * 66 - 1)
    found = [trained(schema, one, **{"training_method-accuracy": method}) for one in neighbours]
    assert len({said for said, _ in found}) == 1
    assert found[0][0] not in ("nothing", "no offer")
    assert all(method in options["training_method-accuracy"] for _, options in found)


STEPS = Schema(columns=(*(Column(name=f"c{place}", type="yes/no") for place in range(12)), ILL), each_row="step")
TOWNS = Schema(columns=(Column(name="t", type="category", categories=tuple("abcdefgh")), OTHER, ILL), each_row="step")
WIDE_TOWNS = Schema(
    columns=(Column(name="t", type="category", categories=("a", "b", *map(str, range(300)))), OTHER, ILL),
    each_row="step",
)


@pytest.mark.parametrize(
    ("schema", "most", "method"),
    [(STEPS, 300 * 66 - 1, PairedSteps.key), (TOWNS, 300 * 9, ScaledSteps.key), (WIDE_TOWNS, 10**6, ScaledSteps.key)],
)
def test_no_cell_of_one_step_decides_which_model_is_offered(
    schema: Schema, most: int, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of steps as many are simulated as there are: where their picture was refused, no release was offered either."""
    monkeypatch.setattr(prepared_rows, "MOST_NUMBERS", most)
    rows: Rows = []
    for place in range(300):
        ill = "yes" if place % 3 else "no"
        answers = tuple("no" if (place + n) % 5 else "yes" for n in range(12))
        rows.append((*answers, ill) if schema is STEPS else ("a", "5", ill))
    others = [("", *rows[5][1:])] + ([("b", *rows[5][1:])] if schema is not STEPS else [])
    chosen = {"training_method-accuracy": method}
    found = [trained(schema, one, **chosen)[0] for one in (rows, *([*rows[:5], other, *rows[6:]] for other in others))]
    assert len(set(found)) == 1
    assert found[0] not in ("nothing", "no offer")


def test_no_step_that_is_empty_decides_whether_there_is_somebody_to_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = Schema(columns=(LOAD, OTHER), each_row="step")
    rows = [(str(place % 90), str(place % 70)) for place in range(201)]
    monkeypatch.setattr(followed, "MOST_NUMBERS", 401)
    found = {asked(Follow, schema, one, {})[0] for one in (rows, [*rows[:7], ("", ""), *rows[8:]])}
    assert found == {"nothing"}
    assert asked(Follow, schema, rows[:-1], {})[0] != "nothing"


def entries(count: int, name: Callable[[int], str]) -> Rows:
    return [(name(place), str(place % 90)) for place in range(count)]


@pytest.mark.parametrize("lacking", [("a name", ""), ("", "")], ids=str)
@pytest.mark.parametrize("count", [MOST_OPTIONS, MOST_OPTIONS + 1])
def test_a_missing_entry_of_many_options_offers_and_hides_nothing(count: int, lacking: tuple[str, str]) -> None:
    schema = Schema(columns=(Column(name="word", type="text"), VOTES), each_row="option")
    whole = entries(count, lambda place: f"o{place}")
    found = [asked(MostCommon, schema, rows, {})[0] for rows in (whole, [*whole[:7], lacking, *whole[8:]])]
    assert {one == "nothing" for one in found} == {count > MOST_OPTIONS}


@pytest.mark.parametrize("count", [LONGEST, LONGEST + 1])
def test_an_empty_step_of_a_long_series_offers_and_hides_nothing(count: int) -> None:
    schema = Schema(columns=(LOAD, OTHER), each_row="step")
    chosen = {"own-file": 1, slug("line-settled", "own-file", Watched("column", "load").code): True}
    whole = entries(count, lambda place: str(place % 90))
    found = [asked(Alarm, schema, rows, chosen)[0] for rows in (whole, [*whole[:7], ("", ""), *whole[8:]])]
    assert len(set(found)) == 1
    assert (found[0] == "nothing") == (count > LONGEST)


@pytest.mark.parametrize("kind", ["options", "steps"])
def test_a_limit_of_the_entries_that_are_there_would_be_seen(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Case, "lines", property(lambda case: 0))
    if kind == "options":
        with pytest.raises(AssertionError):
            test_a_missing_entry_of_many_options_offers_and_hides_nothing(MOST_OPTIONS + 1, ("a name", ""))
    else:
        with pytest.raises(AssertionError):
            test_an_empty_step_of_a_long_series_offers_and_hides_nothing(LONGEST + 1)
