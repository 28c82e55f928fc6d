"""An answer in one sentence, as it is copied into a text elsewhere, says all that must go with it, and no more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from dashboard.question import Offer
from dashboard.widgets.answer import in_one_sentence
from dashboard.words import release as said
from dashboard.words import safe
from dpcore.datasets import Column, PrivateRows
from dpcore.datasets.declaration import Reads
from dpcore.ledger import Ledger, Receipt
from dpcore.release import release
from dpcore.releases.asked import Asked
from dpcore.releases.count import NoisyCount

NAME = "what *is* it? no. `4`"
ROWS = PrivateRows(pd.DataFrame({NAME: ["1", "2"]}, dtype="str"))


class Answered(NoisyCount):
    """Of no rows: always the same number."""

    def answer(self, rows: Any) -> Any:
        return 41


PLAIN = Answered(epsilon=0.25, reads=Reads(columns=(Column(name=NAME, type="text"),)))


def drawn(request: Asked) -> Receipt:
    with Ledger.open("sqlite://") as ledger:
        ledger.open_budget("people", name="People", epsilon=1.0)
        return release(ledger, "first", "people", request, ROWS)


def offer(request: Asked, **more: Any) -> Offer:
    return Offer(
        request=request,
        data=list,
        forecast="",
        describe=lambda answer: f"**About {answer}** {safe(NAME)}.",
        gives="a number",
        **more,
    )


def test_it_says_question_answer_noise_cost_bound_and_receipt_as_plain_text() -> None:
    receipt = drawn(PLAIN)
    told = in_one_sentence(receipt, offer(PLAIN, claim="95 times in 100 it is off by at most 12"))
    assert told == (
        f"{PLAIN.what} About 41 {NAME}. Noise was added on purpose, so that this tells little about any one person "
        "(differential privacy, ε\u00a0=\u00a00.25). 95 times in 100 it is off by at most 12. "
        f"Receipt {receipt.journal_hash[:12]}."
    ).replace("\u00a0", " ")


def test_where_nothing_is_proved_it_says_that_another_draw_could_differ() -> None:
    assert "Another draw could differ." in in_one_sentence(drawn(PLAIN), offer(PLAIN))


@pytest.mark.parametrize(
    "more",
    [
        {"chosen_after_looking": True},
        {"reads": replace(PLAIN.reads, suggested=(NAME,))},
        {"reads": replace(PLAIN.reads, form=("encoding",))},
    ],
    ids=["chosen", "read", "form"],
)
def test_it_says_that_something_lies_outside_of_the_promise_where_the_receipt_does(more: dict[str, Any]) -> None:
    request = replace(PLAIN, **more)
    assert said.OUTSIDE in in_one_sentence(drawn(request), offer(request))
    assert said.OUTSIDE not in in_one_sentence(drawn(PLAIN), offer(PLAIN))
