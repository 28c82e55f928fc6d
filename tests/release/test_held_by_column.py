"""What is held of a file's rows while something is worked out of many columns: of each, as docs/limits.md says.

Counts of a drawn model hold a few columns, however many it has; a model that is drawn holds little of each. Slopes are
taken between few and many columns, so that what does not grow with them falls away.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.audit.drawn import drawn_model
from dpcore.datasets import Column, Declaration, PrivateRows, Schema, Table, twin
from dpcore.datasets.conversion import as_text
from dpcore.releases import whole_codes, whole_rows
from dpcore.releases.asked_model import AskedModel
from dpcore.releases.bought_model import BoughtModel
from dpcore.releases.chosen_model import ChosenModel
from dpcore.releases.confusion import ModelConfusion
from dpcore.releases.model import PrivateModel
from dpcore.releases.paired_model import PairedModel
from dpcore.releases.scaled_model import ScaledModel
from dpcore.training import confusion, load_model
from dpcore.training.confusion import confusion_of
from tests.peak import peak

ROWS, FEW, MANY = 5_000, 12, 36
A_MODEL, COUNTED, PAIRED = 16, 1, 3
"""Bytes of each row for one more column: of a model that is drawn, of the count of its hits, and of a column there that
acts with another."""
MODELS: tuple[type[AskedModel], ...] = (PrivateModel, ScaledModel, BoughtModel, ChosenModel, PairedModel)


@cache
def made(columns: int) -> tuple[Table, Declaration, PrivateRows, list[str]]:
    """As many columns of numbers, of options and of yes and no, to predict “ill” from."""
    kinds: tuple[dict[str, Any], ...] = (
        {"type": "number", "low": 0, "high": 9},
        {"type": "category", "categories": ("a", "b", "c")},
        {"type": "yes/no"},
    )
    own = [Column(name=f"x{place}", **kinds[place % 3]) for place in range(columns)]
    table = twin(
        Schema(columns=(*own, Column(name="ill", type="yes/no"))),
        rows=ROWS,
        rng=np.random.Generator(np.random.PCG64(1)),
    )
    texts = pd.DataFrame({name: as_text(table.frame[name]) for name in table.frame.columns})
    return table, Declaration.of(table.schema), PrivateRows(texts), [column.name for column in own]


def by_column(call: Callable[[int], Callable[[], object]]) -> float:
    """Bytes that each further column takes of each row, once all that is loaded for it is there."""
    call(FEW)()
    few, many = (peak(call(columns)) for columns in (FEW, MANY))
    return (many - few) / (MANY - FEW) / ROWS


def looked(columns: int, **how: Any) -> Callable[[], object]:
    """A picture of how often a model of all columns is right."""
    table, declared, _, names = made(columns)
    model = load_model(drawn_model(declared, target="ill", columns=names, **how))
    return lambda: confusion_of(model.features, model.weights, table.frame)


def counted(columns: int, **how: Any) -> Callable[[], object]:
    """What is read for a private count of that."""
    _, declared, rows, names = made(columns)
    model = drawn_model(declared, target="ill", columns=names, **how)
    request = ModelConfusion.of(declared, model, drawn="a" * 64, epsilon=1.0)
    return lambda: request.read(rows)


def paired(columns: int) -> dict[str, Any]:
    """Each column of options with the one of yes and no behind it."""
    return {"pairs": [(f"x{place}", f"x{place + 1}") for place in range(1, columns, 3)]}


@pytest.mark.parametrize("way", [looked, counted])
def test_a_count_of_hits_holds_a_few_columns_however_many_the_model_has(way: Callable[..., Any]) -> None:
    assert by_column(way) < COUNTED
    assert by_column(lambda columns: way(columns, **paired(columns))) < PAIRED


@pytest.mark.parametrize("way", [looked, counted])
def test_these_tests_can_fail(way: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """All columns at once, as numbers, are eight bytes each."""
    margins = confusion.margins

    def at_once(features: Any, weights: Any, typed: Iterable[Any]) -> Any:
        return margins(features, weights, list(typed))

    monkeypatch.setattr(confusion, "margins", at_once)
    assert by_column(way) > 4 * COUNTED


@pytest.mark.thorough
@pytest.mark.parametrize("kind", MODELS)
def test_a_model_that_is_drawn_holds_little_of_each_column(
    kind: type[AskedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside parts of the rows that are written out one after the other, here smaller ones."""
    for whole in (whole_rows, whole_codes):
        monkeypatch.setattr(whole, "_NUMBERS", 1 << 12)

    def read(columns: int) -> Callable[[], object]:
        _, declared, rows, names = made(columns)
        request = kind.of(declared, target="ill", columns=names, epsilon=1.0, delta=1e-6)
        return lambda: request.read(rows)

    found = by_column(read)
    assert 1 < found < A_MODEL, "no more than is said, and something is held"


def test_every_model_that_can_be_drawn_is_looked_at() -> None:
    def below(kind: type) -> set[str]:
        own = set() if inspect.isabstract(kind) else {kind.__name__}
        return own.union(*map(below, kind.__subclasses__()))

    assert below(AskedModel) == {kind.__name__ for kind in MODELS}
