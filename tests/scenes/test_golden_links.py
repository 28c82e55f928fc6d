"""Links that were given out: each opens the same picture as on the day it was written down.

``tests/golden/links.json`` is only added to. Where a picture must change, say so in the changelog and change its entry.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dashboard.blocks import Picture
from dashboard.scenes.address import Address, Opened, opened
from tests.questions.samples import sample_case

FILE = Path(__file__).parents[1] / "golden" / "links.json"
LINKS: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))


def numbers(found: Opened) -> dict[str, float]:
    """The picture in two numbers: how many rows are behind it, and the mean of what is drawn."""
    if found.question is None or found.question.works:
        return {}
    picture: Picture = found.question.view.picture(found.values[f"{found.question.view.page}_axis"])
    frame = picture.data() if callable(picture.data) else picture.data
    if not isinstance(frame, pd.DataFrame):
        return {}
    return {name: float(frame[name].mean()) for name in frame.select_dtypes("number").columns if name != "low"}


def written(link: str) -> dict[str, Any]:
    """What a link opens, as the file has it."""
    address = Address.of(link)
    found = opened(address, sample_case)
    told = {key: found.controls[key].written(found.values[key]) for key, _ in address.settings if key in found.controls}
    kind = "" if found.kind is None else found.kind.key
    return {"link": link, "page": address.page, "question": kind, "set": told, "numbers": numbers(found)}


@pytest.mark.parametrize("golden", LINKS, ids=lambda golden: golden["link"][:60])
def test_a_link_opens_the_same_picture(golden: dict[str, Any]) -> None:
    found = opened(Address.of(golden["link"]), sample_case)
    assert not found.refused, "a value of the link is not taken any more"
    assert not found.unknown, "a setting of the link is not there any more"
    assert not found.problem
    now = written(golden["link"])
    assert now["numbers"] == pytest.approx(golden["numbers"], rel=1e-6)
    assert {**now, "numbers": 0} == {**golden, "numbers": 0}


def test_another_picture_is_found_out() -> None:
    """The test above can fail: a link that sets something else gives other numbers."""
    golden = next(one for one in LINKS if one["link"].startswith("selection?epsilon=0.1&selection_method"))
    other = written(golden["link"].replace("exponential", "naive_laplace"))
    assert other["numbers"] != pytest.approx(golden["numbers"], rel=1e-6)
