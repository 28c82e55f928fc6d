"""The form that opens a budget says how many answers it pays for: as many as the ledger then does."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.background import compute
from dashboard.budget import opening
from dashboard.catalogue import address
from dashboard.people import visitors
from dashboard.question import RELEASE
from dashboard.words import release
from tests.dashboard.conftest import text
from tests.dashboard.keys import about
from tests.dashboard.test_data_page import drop, look, press, shown
from tests.dashboard.test_said_after_looking import declare_on_page

Open = Callable[..., AppTest]


@pytest.mark.parametrize("cap", [3.0, 0.7])
def test_as_many_answers_are_said_as_are_paid_for(open_app: Open, cap: float) -> None:
    rows = "".join(f"{20 + (n * 7) % 50},{n}\n" for n in range(120))
    app = drop(open_app("data"), f"age,number\n{rows}".encode())
    app.number_input(key="own-rows-None").set_value(1).run()
    declare_on_page(app, "age", low=0.0, high=100.0)
    look(app)
    app.switch_page(address("selection"))
    app.session_state["question"] = "quantile"
    app.session_state["epsilon"] = 0.2
    app.run()
    press(app, "quantile-below")
    app.number_input(key=about(app, "budget-epsilon")).set_value(cap).run()
    (said,) = re.findall(r"This pays for \*\*(\d+) answers?\*\*", text(app))
    assert int(said) == int(cap / 0.2 + 1e-9)
    press(app.text_input(key=about(app, "budget-name")).set_value("Ours").run(), "open-budget-review")
    press(app, "budget-open")
    assert f"**{said} more answer" in text(app)


def test_a_file_that_nothing_can_be_drawn_from_as_it_is_has_a_way_to_why(open_app: Open) -> None:
    """Also where what is lacking is a word about whose data these are; a sample's page needs none."""
    rows = "".join(f"{20 + (n * 7) % 50},{n}\n" for n in range(120))
    app = drop(open_app("data"), f"age,number\n{rows}".encode())
    declare_on_page(app, "age", low=0.0, high=100.0)
    look(app)
    app.switch_page(address("selection"))
    app.session_state["question"] = "quantile"
    app.run()
    assert release.NONE_AS_IT_IS in text(app)
    press(app, "quantile-below")
    assert app.session_state["_set"]["quantile_open"] == RELEASE
    assert release.NONE_AS_IT_IS not in text(open_app("selection"))


@pytest.mark.parametrize("why", ["", "open to others", "no owner"])
def test_no_budget_is_promised_where_none_can_be_opened(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    """Beside the chart it was “which is opened there first”, and there “nothing real is opened here”."""
    if why == "open to others":
        monkeypatch.setattr(visitors, "restricted", lambda: True)
    if why == "no owner":
        monkeypatch.setattr(compute, "roles", lambda: frozenset({"files"}))
    rows = "".join(f"{20 + (n * 7) % 50},{n}\n" for n in range(120))
    app = drop(open_app("data"), f"age,number\n{rows}".encode())
    app.number_input(key="own-rows-None").set_value(1).run()
    declare_on_page(app, "age", low=0.0, high=100.0)
    for key in ("own-right", "own-twin-open", "own-twin-go"):
        press(app, key)
    app.switch_page(address("selection"))
    app.session_state["question"] = "quantile"
    app.run()
    beside = text(app)
    assert (release.NONE_AS_IT_IS in beside, "which is opened there first" in beside) == (bool(why), not why)
    press(app, "quantile-below")
    assert any(str(one.key).startswith("budget-name") for one in app.text_input) is not bool(why)
    here = shown(app)
    assert opening.offered(here) is not bool(why)
    for other in ({"in_place": True}, {"lineage": None}):
        assert not opening.offered(replace(here, **other))  # type: ignore[arg-type]
