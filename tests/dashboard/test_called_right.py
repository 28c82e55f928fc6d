"""What a file suggested and nobody called right stays so wherever its declaration goes: the next page asks it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dashboard import session
from dashboard.data import actions, declarations, needed, private_answer, source
from dashboard.data.decisions import Decisions, read_as
from dashboard.data.own_file import OwnFile
from dashboard.data.read_again import opened
from dashboard.data.remembered import Remembered
from dashboard.data.template import template
from dpcore.datasets import Column, Declaration, Schema, Template, loaded, read_table, saved
from dpcore.errors import InvalidArgument
from dpcore.releases.asked import suggested

ROWS = "".join(f"{20 + n % 50},{n % 9},{'red' if n % 2 else 'blue'}\n" for n in range(60))


def fresh(heading: str = "age,income,colour", rows: str = ROWS, **choices: Any) -> OwnFile:
    stated = {"header_rows": 1, "header_line": 1} | choices
    data = f"{heading}\n{rows}".encode()
    return opened("f.csv", data, tuple(sorted(stated.items())), read_table(data, **stated), None, None)


def bounded(own: OwnFile, *names: str) -> OwnFile:
    """With bounds declared."""
    schema = own.schema
    for name in names:
        schema = schema.with_column(replace(schema.column(name), low=0.0, high=9000.0))
    return own.decide(replace(own.decisions, schema=schema))


def declare(own: OwnFile, facts: Template, before: Remembered | None = None) -> OwnFile:
    kept = [own]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "own_file", lambda: kept[-1])
        patch.setattr(source, "keep", kept.append)
        patch.setattr(actions, "commit", kept.append)
        patch.setattr(session, "say", lambda where, told: None)
        if before is not None:
            declarations._offer_without_form(facts, before)
            (facts,) = kept[-1].known
        assert own.reading is not None
        declarations._declare(own, own.reading, facts)
    return kept[-1]


def kept_in_part(own: OwnFile) -> Template:
    """What is declared, with "age" alone called right."""
    return template(own.decide(own.confirm(("age",))))


def without_form(facts: Template, here: OwnFile) -> OwnFile:
    """Remembered, and offered again where the file cannot be read as it states: with a column nobody called right,
    which such an entry never has, as if somebody had written it in."""
    return declare(here, facts, Remembered(template=facts, suggested=facts.suggested, confirmed=facts.confirmed))


WAYS: dict[str, Callable[[Template, OwnFile], OwnFile]] = {
    "known": lambda facts, here: declare(here, facts),
    "saved and brought": lambda facts, here: declare(here, loaded(saved(facts))),
    "described and saved": lambda facts, here: declare(
        here, loaded(saved(template(declarations.described(loaded(saved(facts))))))
    ),
    "used twice": lambda facts, here: declare(here, template(declare(fresh(), facts))),
    "without its form": without_form,
}


@pytest.mark.parametrize("way", WAYS)
def test_what_nobody_called_right_is_asked_of_the_next_file(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One cell of the first file could decide how all cells of the second were read, and the receipt named a person."""
    first = kept_in_part(bounded(fresh(), "age", "income"))
    found = WAYS[way](first, fresh())
    assert found.schema.column("income").high == 9000.0, "declared all the same"
    assert found.columns.open == ("income",)
    assert private_answer.asks_confirmation(found)
    assert "“income”" in needed.whole(found)
    assert "“age”" not in needed.whole(found), "called right then"
    assert found.columns.suggested == ("age", "income"), "the receipt says so of both"
    assert [one.name for one in found.columns.spoken_of] == ["age"], "nothing of the other is remembered"
    assert declare(fresh(), template(found)).columns.open == ("income",), "nor saved as called right"
    called = found.decide(found.confirm(found.columns.open))
    assert not private_answer.asks_confirmation(called)
    assert called.columns.declared is not None
    told = Declaration.of(called.columns.declared, suggested=called.columns.suggested, row_suggested=True).reads(
        "age", "income"
    )
    assert "“age” and “income”" in suggested(told)[0]
    monkeypatch.setattr(declarations, "_marks", lambda marks, here: (set(), {"age", "income"}))
    assert WAYS[way](first, fresh()).columns.unconfirmed(("age", "income")) == (), "as it was"


def test_an_open_question_about_a_file_is_open_when_its_declaration_comes_back() -> None:
    """It was answered by saving and bringing: the point marked decimals, as the first of two ways had it."""
    rows = "".join(f"{('red', 'blue', 'red')[n % 3]};{'1.234' if n % 2 else '2.345'}\n" for n in range(60))
    own = fresh("colour;amount", rows, delimiter=";")
    assert own.doubts == ("amount",)
    facts = loaded(saved(template(bounded(own, "amount"))))
    found = declare(fresh("colour;amount", rows, delimiter=";"), facts)
    assert found.doubts == ("amount",)
    assert private_answer.doubts(found)
    assert own.reading is not None
    answer = own.reading.column("amount").readings[0].column
    answered = bounded(own.decide(own.decisions.answered(answer)), "amount")
    answered = answered.decide(answered.confirm(answered.columns.open))
    found = declare(fresh("colour;amount", rows, delimiter=";"), loaded(saved(template(answered))))
    assert found.doubts == ()
    assert found.columns.unconfirmed(found.columns.suggested) == (), "a person stated it"
    assert found.columns.suggested == ("amount",), "who had seen a file"


def test_what_was_chosen_by_hand_here_is_not_what_another_file_suggested() -> None:
    """The declaration puts its own column in its place."""
    here = fresh()
    here = here.decide(here.decisions.retyped("income", "text", None))
    assert "income" in here.decisions.settled
    found = declare(here, template(bounded(fresh(), "income")))
    assert found.schema.column("income").type == "integer"
    assert found.columns.open == ("income",)


def test_of_two_names_that_look_alike_neither_is_called_right_by_the_other() -> None:
    columns = tuple(Column(name=name, type="integer", low=0, high=99) for name in ("age", "AGE"))
    facts = Template(schema=Schema(columns=columns), suggested=("age", "AGE"), confirmed=("age",))
    found = declare(fresh("age,AGE,colour"), facts)
    assert found.columns.open == ("age", "AGE")


def test_a_declaration_says_right_only_of_what_it_says_suggested() -> None:
    with pytest.raises(InvalidArgument, match="confirmed"):
        Template(schema=Schema(columns=(Column(name="age", type="integer"),)), confirmed=("age",))


def test_the_click_calls_right_what_it_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not what else could be asked, which stands nowhere on the page."""
    own = bounded(fresh(), "age", "income")
    own = own.decide(own.confirm(("age",)))
    assert own.columns.to_call_right == ("age", "income")
    assert own.columns.open == ("income",)
    decided = list[Callable[[Decisions], Decisions]]()
    monkeypatch.setattr(source, "own_file", lambda: own)
    monkeypatch.setattr(actions, "decide", decided.append)
    needed._right(needed.whole(own))
    assert decided[0](own.decisions).confirmed - own.decisions.confirmed == {read_as(own.schema.column("income"))}
