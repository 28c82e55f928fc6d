"""The rows of a sample are read once for all ε of a question: the slider asks it at every step of the scale."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import pytest

from dashboard.controls import Setting
from dashboard.question import Kind, Offer
from dashboard.questions.experts.fixed_choice import FixedChoice
from dashboard.questions.selection.best_rule import BestRule
from dashboard.questions.selection.most_common import MostCommon
from dashboard.questions.selection.quantile import Quantile
from dpcore.datasets import PrivateRows
from dpcore.datasets.declaration import Reads
from dpcore.datasets.private_rows import OpenRows
from tests.questions.samples import sample_case

LEVELS = (0.1, 0.5, 3.0)


@pytest.mark.parametrize(
    ("kind", "sample"),
    [
        (FixedChoice, "town"),
        (MostCommon, "clinic"),
        (Quantile, "clinic"),
        (BestRule, "clinic"),
    ],
)
def test_rows_are_read_once_for_all_levels(kind: type[Kind], sample: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = sample_case(sample)
    alone = [kind.ask(replace(plain, epsilon=level), Setting({})) for level in LEVELS]
    kept: dict[tuple[Hashable, ...], Any] = {}

    def memo(key: tuple[Hashable, ...], make: Callable[[], Any]) -> Any:
        if key not in kept:
            kept[key] = make()
        return kept[key]

    opened: list[Reads] = []
    really = PrivateRows.opened

    def counted(rows: PrivateRows, reads: Reads) -> OpenRows:
        opened.append(reads)
        return really(rows, reads)

    monkeypatch.setattr(PrivateRows, "opened", counted)
    together = [kind.ask(replace(plain, epsilon=level, memo=memo), Setting({})) for level in LEVELS]
    assert len(opened) == 1
    for one, other in zip(alone, together, strict=True):
        assert isinstance(one.offer, Offer)
        assert isinstance(other.offer, Offer)
        assert (one.headline, one.offer.forecast) == (other.headline, other.offer.forecast)
