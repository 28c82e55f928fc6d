"""What an answer, a table or a picture names is told from all else that it might have named, however alike they begin.

Survey sentences that share their first 79 letters gave the same answer for either, and of two classes that share their
first 29 a table of four counts had two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard import catalogue, offering, words
from dashboard.blocks import Note, Picture, Rows, Slow, Small, Text
from dashboard.budget.charges import table
from dashboard.budget.receipts import answer_text
from dashboard.case import Case, Source
from dashboard.charts.ready import packed
from dashboard.controls import Numbers, Setting
from dashboard.question import CannotAsk, Offer
from dashboard.report.answer import answered
from dashboard.report.spent import Charged, _charge
from dashboard.widgets.answer import to_copy
from dashboard.words import predict, scenes
from dpcore.audit.drawn import drawn_model
from dpcore.costs import Cost
from dpcore.datasets import Column, Declaration, PrivateRows, Schema
from dpcore.datasets import text as datasets_text
from dpcore.datasets.conversion import apply
from dpcore.ledger import Receipt
from dpcore.releases import catalog
from dpcore.training import load_model
from dpcore.visible import LONGEST_TOLD, told_apart, visible

ALIKE = (
    "I agree with the statement that the council should build the new road next year, but only if it is paid for by "
)
LONGER = f"{ALIKE}those who use it; " * 5
OPTIONS, CLASSES, NUMBERS = ("mauve", "ochre", "umber"), ("north", "south"), ("elm", "oak", "ash")
STEPS = tuple(f"{one}{two}" for one in ("ka", "lo", "mi", "nu") for two in ("ba", "do", "ge", "ri"))
KNOWN = frozenset((*OPTIONS, *CLASSES, *NUMBERS, *STEPS))
_WORD = re.compile("[a-z]+")
OF_COLUMNS = ("best_rule", "fixed_choice", "follow")
"""Questions whose answers name columns of numbers."""
ROWS_OF = {"record": 240, "step": len(STEPS), "option": len(STEPS)}


@cache
def case_of(begins: str, each_row: Any = "record", columns_begin: str = "") -> Case:
    """A table whose options, classes and names of rows all begin with the same words, and whose columns of numbers
    begin with others."""
    rows, rng = ROWS_OF[each_row], np.random.Generator(np.random.PCG64(1))
    named = {part: tuple(f"{begins}{word}" for word in part) for part in (OPTIONS, CLASSES)}
    named[STEPS] = tuple(f"{begins[: len(ALIKE)]}{word}" for word in STEPS)  # a row is called by 200 letters at most
    named[NUMBERS] = tuple(f"{columns_begin}{word}" for word in NUMBERS)
    columns = [
        *([Column(name="name", type="text")] if each_row != "record" else []),
        Column(name="kind", type="category", categories=named[OPTIONS]),
        Column(name="side", type="category", categories=named[CLASSES]),
        Column(name="ill", type="yes/no"),
        *(Column(name=name, type="integer", low=0, high=10, sensitivity=1.0) for name in named[NUMBERS]),
    ]
    cells = {
        "name": [named[STEPS][place % len(STEPS)] for place in range(rows)],
        "kind": [named[OPTIONS][place] for place in rng.choice(3, rows, p=(0.5, 0.3, 0.2))],
        "side": [named[CLASSES][place] for place in rng.integers(0, 2, rows)],
        "ill": [("yes", "no")[place] for place in rng.integers(0, 2, rows)],
        **{name: [str(cell) for cell in rng.integers(0, 11, rows)] for name in named[NUMBERS]},
    }
    schema = Schema(columns=tuple(columns), each_row=each_row)
    text = pd.DataFrame({column.name: cells[column.name] for column in columns}, dtype="str")
    declared = Declaration.of(schema, hidden="replace_one")
    source = Source(
        key="alike",
        title="t",
        mode="demo",
        table=apply(schema, text).table(fingerprint=f"{each_row}{begins}{columns_begin}", lineage=""),
        lineage=None,
        practice=True,
        declared=declared,
        so_far=declared,
        rows=lambda: PrivateRows(text),
    )
    return Case(source=source, epsilon=0.5)


# -- what is drawn -----------------------------------------------------------------------------------------------------


def reads(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Every text in a figure, a frame or blocks, each with its place."""
    match value:
        case str():
            yield path, value
        case pd.DataFrame():
            yield from reads([str(name) for name in value.columns], (*path, "columns"))
            for place in range(value.shape[1]):
                yield from reads(value.iloc[:, place].tolist(), (*path, place))
        case np.ndarray():
            yield from reads(value.tolist() if value.dtype == object else None, path)
        case Mapping():
            for key, one in value.items():
                yield from reads(one, (*path, key))
        case list() | tuple():
            for place, one in enumerate(value):
                yield from reads(one, (*path, place))
        case Picture():
            yield from reads(packed(value.figure(False)), (*path, value.key))
            yield from reads([value.alt, value.note], (*path, value.key))
            yield from reads(value.data() if callable(value.data) else value.data, (*path, value.key, "data"))
        case Rows():
            yield from reads([value.frame, value.alt], path)
        case Text() | Small() | Note():
            yield path, value.markdown
        case Slow():
            yield from reads(list(value.show(value.put([value.work(value.common(), value.parts[0])]))), path)


def page(
    kind: Any, case: Case, way: int | dict[str, Any], tabs: Sequence[str] = ()
) -> dict[tuple[Any, ...], str] | None:
    """All that a question says and draws, asked in one of its ways or with these values, without examples of what an
    answer may be; of one that simulates only these ``tabs``."""
    values = [{}, *(dict(one.sets) for one in kind.ways(case.table.schema))][way] if isinstance(way, int) else way
    seen = Setting({"training_seeds": 8.0, **values})
    try:
        asked = offering.ask(kind, case, seen).question
    except CannotAsk:
        return None
    parts: list[Any] = [
        asked.headline,
        asked.caption,
        asked.notes,
        "" if asked.uncertain is None else asked.uncertain.sentence,
        [] if asked.outcomes is None else words.labels(asked.outcomes.names),
        [words.shortened(one.names, 30) for _, one in seen.seen.values() if isinstance(one, Numbers)],
        [list(tab.blocks()) for tab in asked.tabs if tab.key in tabs or not tabs],
    ]
    return dict(reads(parts))


def lost(kind: Any, each_row: str, way: int | dict[str, Any], begins: str, tabs: Sequence[str] = ()) -> list[Any]:
    """Where a word that tells one name from the others is not said any more once all begin alike. Beside the marks of a
    picture there is little room: there it is enough that no two are called alike."""
    cases = (case_of(one, each_row, one if kind.key in OF_COLUMNS else "") for one in ("", begins))
    short, long = (page(kind, case, way, tabs) for case in cases)
    if short is None or long is None:
        assert (short is None) == (long is None)
        return []
    beside = {place[:-1] for place in short if "ticktext" in place}
    alike = {one for one in beside if len(_of(long, one)) < len(_of(short, one))}
    said = [place for place, one in short.items() if place[:-1] not in beside and not told(one) <= told(long[place])]
    return [*alike, *said]


def _of(found: Mapping[tuple[Any, ...], str], axis: tuple[Any, ...]) -> set[str]:
    return {one for place, one in found.items() if place[:-1] == axis}


def told(text: str) -> set[str]:
    return KNOWN & set(_WORD.findall(text))


KINDS = {kind.key: kind for _, kind in catalogue.every() if not getattr(kind, "of_models", False)}


def ways(*keys: str) -> list[Any]:
    return [
        pytest.param(
            KINDS[key],
            each_row,
            way,
            id=f"{key}-{each_row}-{way}",
            marks=[pytest.mark.thorough] if key in ("alarm", "predict") else [],
        )
        for key in keys
        for each_row in ROWS_OF
        for way in range(1 + len(list(KINDS[key].ways(case_of("", each_row).table.schema))))
    ]


@pytest.mark.parametrize(("kind", "each_row", "way"), ways(*sorted(KINDS.keys() - {"predict"})))
def test_no_picture_and_no_table_calls_two_alike(kind: Any, each_row: str, way: int) -> None:
    assert lost(kind, each_row, way, ALIKE) == []


@pytest.mark.parametrize(("kind", "each_row", "way"), ways("predict"))
def test_nor_do_the_tables_of_a_models_classes(kind: Any, each_row: str, way: int) -> None:
    assert lost(kind, each_row, way, ALIKE, ("trust",)) == []


@pytest.mark.thorough
def test_nor_where_more_than_two_classes_are_told_apart() -> None:
    values = {"training_target": "kind", "training_apart-alike-kind": True}
    assert lost(KINDS["predict"], "record", values, ALIKE, ("trust",)) == []


# -- what an answer names ----------------------------------------------------------------------------------------------


def offers(begins: str) -> dict[str, Offer]:
    """A release of each kind whose answer names something, by its kind."""
    found: dict[str, Offer] = {}
    for key, each_row in (("most_common", "record"), ("most_common", "option"), ("best_rule", "record")):
        found |= offered(key, case_of(begins, each_row, begins))
    for key, each_row in (("fixed_choice", "record"), ("alarm", "record"), ("follow", "step")):
        found |= offered(key, case_of(begins, each_row, begins))
    return found


def offered(key: str, case: Case) -> dict[str, Offer]:
    values = {"experts_kind-alike": "losses", "line-alike-rows~1kind": 5.0, "rule_cuts": 5}
    offer = KINDS[key].ask(case, Setting(values)).offer
    assert isinstance(offer, Offer), offer
    return {offer.request.key: offer}


def answers(request: Any) -> list[dict[str, Any]]:
    """Every answer that names one thing."""
    match request.key:
        case "most_common":
            return [{"option": name} for name in request.options]
        case "best_score":
            return [{"candidate": name} for name in request.candidates]
        case "least_cost":
            return [{"column": name} for name in request.columns]
        case "best_rule":
            return [
                {"rule": str(one), "column": one.column, "comparison": one.comparison, "value": one.value}
                for one in request.rules_to_choose.rules
            ]
        case "alarm":
            names = [*request.reads.column(request.column).categories]
            return [
                {"alarms": [place], "names": [name], "compared": 1, "stopped": True} for place, name in enumerate(names)
            ]
        case "plays":
            whom = {"experts": list(request.experts), "starts": [0], "rounds": request.rounds}
            return [{**whom, "plays": [place]} for place in range(len(request.experts))]
    raise AssertionError(request.key)


def name_in(answer: Mapping[str, Any]) -> str:
    """What it names."""
    if "experts" in answer:
        return str(answer["experts"][answer["plays"][0]])
    return str(answer["names"][0] if "names" in answer else next(iter(answer.values())))


def receipt_of(request: Any, answer: Any) -> Receipt:
    return Receipt(
        request_id="r",
        lineage="people",
        what=request.what,
        mechanism=request.mechanism,
        neighbours=request.neighbours,
        epsilon=0.5,
        rho=0.125,
        delta=0.0,
        time="2026-01-01T00:00:00Z",
        versions={},
        generation=0,
        question="",
        journal_hash="5eed" * 16,
        answer=answer,
        answer_hash="5eed" * 16,
        cost=Cost.pure(0.5),
        asked_cost=Cost.pure(0.5),
    )


def shown(offer: Offer, answer: Any) -> dict[str, str]:
    """An answer in every place where it is read."""
    receipt, heading = receipt_of(offer.request, answer), offer.describe(answer)
    short, whole = to_copy(receipt, offer)
    return {
        "heading": heading,
        "sentence to copy": short,
        "all that goes with it": whole,
        "report": repr(answered(receipt, told=heading, request=offer.request).parts),
        "report of a budget": repr(_charge(Charged(receipt=receipt, answer=answer_text(receipt)))),
        "charges": str(table([receipt], None)["answer"][0]),
        "receipt": answer_text(receipt),
    }


def pile(offer: Offer) -> list[str]:
    """What the rows of a picture of drawn answers are called."""
    return words.labels([scenes.unmarked(offer.describe(one)) for one in answers(offer.request)])


def read_alike(offer: Offer) -> set[str]:
    """Where two answers read alike."""
    found = [shown(offer, one) for one in answers(offer.request)]
    assert len(found) > 1
    alike = {place for place in found[0] if len({one[place] for one in found}) < len(found)}
    return alike | ({"pile"} if len(set(pile(offer))) < len(found) else set())


@pytest.mark.parametrize("begins", [ALIKE, LONGER])
def test_no_two_answers_read_alike(begins: str) -> None:
    found = offers(begins)
    others = {"count", "quantile", "model_confusion", "model_confusion_gaussian"} | {
        key for key in catalog() if key.endswith("model")
    }
    assert found.keys() | others == catalog().keys(), "all others give numbers"
    assert {key: read_alike(offer) for key, offer in found.items()} == {key: set() for key in found}


def test_an_answer_says_a_name_of_a_few_hundred_letters_whole() -> None:
    for offer in offers(ALIKE).values():
        for answer in answers(offer.request):
            assert name_in(answer) in scenes.unmarked(offer.describe(answer))


def test_which_classes_a_model_tells_apart_is_not_cut() -> None:
    classes = [f"{ALIKE}{word}" for word in CLASSES]
    asked = [{"predicts": {"column": "side", "kind": "category", "positive": one}, "columns": []} for one in classes]
    assert len({predict.answer(one) for one in asked}) == 2
    assert len({predict.predicts(one, 0.5) for one in classes}) == 2
    declared = Declaration.of(case_of(ALIKE).table.schema)
    model = drawn_model(declared, target="side", columns=("kind", "ill"))
    assert set(CLASSES) <= told(load_model(model).card())


# -- one by one --------------------------------------------------------------------------------------------------------

MIDDLE = [f"{ALIKE}{word} {ALIKE}" for word in OPTIONS]
UNSEEN = ["a\nb", "a¶b", "a\u200bb", "a⟨U+200B⟩b"]


@pytest.mark.parametrize("longest", [24, 30, 80])
@pytest.mark.parametrize(
    "names",
    [
        [f"{ALIKE}{word}" for word in OPTIONS],
        [f"{word} {ALIKE}" for word in OPTIONS],
        MIDDLE,
        [*MIDDLE, *OPTIONS, visible(MIDDLE[0], 24), ALIKE],
        UNSEEN,
    ],
)
def test_names_that_are_shortened_are_told_apart(names: list[str], longest: int) -> None:
    assert len(set(words.shortened(names, longest))) == len(set(words.labels(names, longest))) == len(names)
    assert len({words.named(name) for name in names}) == len(names)
    assert all(len(one) <= longest for one in words.shortened(names, longest) if "⟨" not in one)
    assert words.shortened([*names, *names], longest) == 2 * words.shortened(names, longest), "one thing has one name"


def test_both_ends_of_names_that_begin_alike_are_shown() -> None:
    sales = [f"Returned within thirty days of sale: {word}" for word in ("no", "yes")]
    assert words.shortened(sales, 30) == ["Returned withi…ays of sale: no", "Returned withi…ys of sale: yes"]
    assert words.shortened([*sales, "Kept"], 80) == [*sales, "Kept"]
    assert (
        words.shortened(["Returned within thirty days of sale: no", "Kept"], 30)[0] == "Returned within thirty days o…"
    )


def test_a_name_that_is_cut_ends_in_a_mark_of_all_of_it() -> None:
    longer = [f"{'x' * LONGEST_TOLD}{word}" for word in OPTIONS]
    assert told_apart("x" * LONGEST_TOLD) == "x" * LONGEST_TOLD
    assert all(re.fullmatch("x{490}… [0-9a-f]{8}", told_apart(one)) for one in longer)
    assert len({told_apart(one) for one in longer}) == len({told_apart(told_apart(one), 80) for one in longer}) == 3


@pytest.mark.thorough
def test_these_tests_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """With names that are cut as they were."""
    monkeypatch.setattr(datasets_text, "told_apart", lambda text, longest: visible(text, min(longest, 80)))
    monkeypatch.setattr(words, "told_apart", lambda text, longest=80: visible(text, min(longest, 80)))
    monkeypatch.setattr(words, "_both_ends", visible)
    for key, offer in offers(ALIKE).items():
        assert {"heading", "sentence to copy", "all that goes with it", "report", "pile"} <= read_alike(offer), key
    for key in ("most_common", "fixed_choice", "best_rule", "alarm"):
        assert lost(KINDS[key], "record", 0, ALIKE), key
    with pytest.raises(AssertionError):
        test_names_that_are_shortened_are_told_apart(MIDDLE, 24)
