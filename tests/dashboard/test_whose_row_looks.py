"""How the column looks that says whose row it is, which one row decides, is in nothing that anybody else may see.

Files come in pairs that differ in one added row. Whoever clicks the same on both declares the same and asks the same.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import catalogue, offering
from dashboard.controls import Setting
from dashboard.data import file_columns, private_answer, read_again
from dashboard.data.file_columns import FileColumns
from dashboard.data.own_file import OwnFile
from dashboard.data.remembered import Remembered
from dashboard.data.source import _own_source
from dashboard.data.template import template
from dashboard.question import CannotAsk, Offer
from dashboard.report import recipe
from dpcore.datasets import Column, declaration, loaded, read_table, saved, twin
from dpcore.datasets.schema import ColumnType, whose_row
from dpcore.release import question_digest, sentence
from dpcore.releases.selection import MostCommonOption
from tests.dashboard.test_data_page import declare as declare_on_page
from tests.dashboard.test_data_page import drop, held, look, shown
from tests.dashboard.test_said_after_looking import FORM, declared

Open = Callable[..., AppTest]
PAIRS: dict[str, tuple[ColumnType | None, Callable[[int], object], tuple[str, str]]] = {
    "0 and 1, or 2 too": (None, lambda n: n % 2, ("1", "2")),
    "t and f, or g too": (None, lambda n: "tf"[n % 2], ("t", "g")),
    "numbers, or a code": (None, lambda n: f"{20 + n % 17 * 2}", ("7", "07")),
    "declared, with a point or a comma": ("number", lambda n: f"{n % 7 + 20}", ("26", "1.234,5")),
}
"""As what a person declared it, if they did, what others have in it, and the added row's cell."""
BOUNDS: dict[ColumnType, dict[str, Any]] = {"number": {"low": 0.0, "high": 100.0}}


def file(name: str, place: int) -> bytes:
    _, others, ends = PAIRS[name]
    rows = "".join(f"{others(n)};{'ab'[n % 3 % 2]}\n" for n in range(60))
    return f"team;v\n{rows}{ends[place]};a\n".encode()


def stated(name: str, place: int) -> OwnFile:
    """The same said of either file: whose row it is, of "v" its options, of "team" its bounds where it is declared."""
    data, form = file(name, place), FORM | {"delimiter": ";"}
    own = read_again.opened("a.csv", data, tuple(sorted(form.items())), read_table(data, **form), None, None)
    kind = PAIRS[name][0]
    says = own.decisions.says(replace(own.schema.column("v"), type="category", categories=("a", "b")))
    if kind is not None:
        team = own.schema.column("team")
        says = says.says(replace(team, type=kind, decimal="," if place else ".", **BOUNDS[kind]))
    says = says.rows_of("team")
    own = own.decide(replace(says, schema=replace(says.schema, rows_per_person=40), said_rows=True))
    own = own.decide(own.confirm(own.columns.open))
    assert not private_answer.lacking(own), private_answer.lacking(own)
    return own


def told(own: OwnFile) -> tuple[Any, ...]:
    request = MostCommonOption.of(declared(own), "v", epsilon=1.0)
    return question_digest(request), sentence(request), repr(request)


def simulated(own: OwnFile) -> str:
    """What a script holds of a twin, which is made to be handed on."""
    facts = own.columns.declared
    assert facts is not None
    table = twin(facts, rows=20, rng=np.random.Generator(np.random.PCG64(1)))
    source = _own_source(replace(own, use="twin", lineage="people"), table)
    assert source is not None
    return recipe.of_twin(replace(source, key="own"), rows=20, seed=1, relations=())


def as_it_looks(patch: pytest.MonkeyPatch) -> None:
    """As it was: what was bounded, or looked like yes or no, counted as declared and went into every question."""
    patch.setattr(declaration, "whose_row", lambda column: column)
    patch.setattr(
        file_columns, "whose_row", lambda column: column if column.releasable else whose_row(column), raising=True
    )


@pytest.mark.parametrize("name", PAIRS)
def test_it_is_in_no_question_about_another_column(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owns = [stated(name, place) for place in (0, 1)]
    looks = [own.schema.column("team") for own in owns]
    assert looks[0] != looks[1], "one row makes it look otherwise"
    assert told(owns[0]) == told(owns[1])
    as_it_looks(monkeypatch)
    assert (told(owns[0]) == told(owns[1])) == (name == "numbers, or a code"), "those were text before, too"


@pytest.mark.parametrize("name", [name for name, pair in PAIRS.items() if pair[0] is None])
def test_nor_in_a_twin_nor_among_what_is_declared(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owns = [stated(name, place) for place in (0, 1)]
    assert owns[0].columns.declared == owns[1].columns.declared
    assert [own.columns.suggested for own in owns] == [("v",)] * 2
    assert simulated(owns[0]) == simulated(owns[1])
    as_it_looks(monkeypatch)
    assert (simulated(owns[0]) == simulated(owns[1])) == (name == "numbers, or a code")


def kept(name: str, place: int) -> list[str]:
    """What is saved, before and after the declared columns were called right, and what the server remembers."""
    own = stated(name, place)
    return [*(saved(template(one)) for one in (own.undone(), own)), Remembered.of(own).written()]


UNSAID = [name for name, pair in PAIRS.items() if pair[0] is None]


@pytest.mark.parametrize("name", UNSAID)
def test_nor_in_a_declaration_that_is_saved(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept(name, 0) == kept(name, 1)
    again = loaded(kept(name, 0)[1])
    assert again.schema.column("team") == Column(name="team", type="text")
    assert (again.schema.id_column, again.suggested, again.confirmed) == ("team", ("team", "v"), ("team", "v"))
    monkeypatch.setattr("dashboard.data.template.whose_row", lambda column: column)
    assert kept(name, 0) != kept(name, 1), "as it looks"


def test_what_was_declared_of_it_is_saved() -> None:
    (name,) = set(PAIRS) - set(UNSAID)
    for place in (0, 1):
        column = template(stated(name, place)).schema.column("team")
        assert (column.type, column.low, column.high) == ("number", 0.0, 100.0)


def offered(open_app: Open, place: int) -> tuple[Any, ...]:
    """What is declared and what every page offers, if it does, once the same was clicked; without an answer a page
    speaks of what is there to be looked at."""
    app = drop(open_app("data"), file("0 and 1, or 2 too", place))
    next(box for box in app.selectbox if str(box.key).startswith("own-id-")).set_value("team").run()
    next(box for box in app.number_input if str(box.key).startswith("own-rows")).set_value(40).run()
    declare_on_page(app, "v", categories="a\nb", public=True)
    look(app)
    assert private_answer.lacking(held(app)) == ()
    source = shown(app)
    assert source.declared is not None
    found: list[Any] = [source.declared]
    for _, kind in catalogue.every():
        with suppress(CannotAsk):
            offer = offering.ask(kind, offering.Case(source=source, epsilon=0.5), Setting()).question.offer
            if isinstance(offer, Offer):
                found.append((kind.key, repr(offer.request), sentence(offer.request)))
    assert len(found) > 1
    return tuple(found)


def test_nor_in_what_pages_offer(open_app: Open) -> None:
    assert offered(open_app, 0) == offered(open_app, 1)


def test_where_its_looks_declare_it_that_is_found_out(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FileColumns, "stands", lambda columns, column: column.releasable)
    assert offered(open_app, 0) != offered(open_app, 1)
