"""What a control holds is what its widget shows: over pages, behind buttons, and where nothing is chosen any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.catalogue import address
from dashboard.words import page as words
from tests.dashboard.conftest import text

Open = Callable[..., AppTest]
KINDS = ("selectbox", "multiselect", "number_input", "select_slider", "button_group", "checkbox")


def controls(app: AppTest) -> Iterator[Any]:
    """Every widget on the page that shows a control."""
    held = app.session_state["_controls"]
    for kind in KINDS:
        yield from (one for one in app.get(kind) if one.key in held)


@pytest.mark.parametrize("page", ["selection", "thresholding", "experts", "training"])
def test_the_browser_is_told_in_every_run_what_a_control_holds(open_app: Open, page: str) -> None:
    """A widget behind a button is first made when that is opened: told in an earlier run alone, it would be empty."""
    app = open_app(page).run()
    found = list(controls(app))
    assert len(found) >= 4
    for one in found:
        assert one.proto.set_value, one.key


def test_another_page_with_the_same_control_keeps_what_it_holds(open_app: Open) -> None:
    app = open_app("thresholding")
    before = {key: app.session_state[key] for key in ("beta", "seed")}
    for page in ("selection", "thresholding", "selection"):
        app.switch_page(address(page)).run()
        assert {key: app.session_state[key] for key in before} == before
    assert "beta" not in app.query_params
    assert "seed" not in app.query_params


def test_the_last_columns_stay_where_none_is_left(open_app: Open) -> None:
    app = open_app("training")
    key = "training_columns-breast_cancer-diagnosis"
    two = list(app.multiselect(key=key).value)[:2]
    app.multiselect(key=key).set_value(two).run()
    app.multiselect(key=key).set_value([]).run()
    assert list(app.multiselect(key=key).value) == two
    assert [warning.value for warning in app.warning] == [words.too_few(1)]
    assert "cannot be trained" not in text(app)
    assert not app.run().warning, "said once"
