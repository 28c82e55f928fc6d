"""What was ticked, chosen or typed of one thing stands in no control of another: a file, a budget, a column."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.catalogue import address
from dashboard.data import naming
from dashboard.words import login as said
from dpcore.ledger import Ledger
from dpcore.ledger.member import MembersLedger, Person
from tests.dashboard.keys import HOLD, key_of, keys
from tests.dashboard.test_data_page import drop, held, press
from tests.dashboard.test_login import people, settings, subject, tab  # noqa: F401  (two fixtures)

Open = Callable[..., AppTest]
VIEW = ("own-column", "own-about", "own-tab", "data", "epsilon", "data_tab")
"""What is only looked at or set for all pages."""
IN_FORCE = ("own-each-row-", "own-unit-", "own-rows-", "own-people-", "own-id-")
"""What counts as soon as it is set, and is named by what counts."""


def table(seed: int) -> bytes:
    """Files of one form, about others each."""
    rows = (f"{('red', 'blue')[n % 2]},{7919 * (n + seed) % 1009},{('A;B', 'B')[n % 2]}" for n in range(60))
    return ("\n".join(["colour,number,ticks", *rows]) + "\n").encode()


def told(app: AppTest) -> set[str]:
    """The keys of all that is typed, chosen and ticked of a file on the Data page."""
    return {
        key
        for key in keys(app, *HOLD)
        if key.startswith("own-") and key not in VIEW and not key.startswith((*IN_FORCE, "own-paste-"))
    }


@pytest.mark.parametrize("kept", [False, True], ids=["", "control"])
def test_no_control_of_one_file_is_one_of_the_next(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, *, kept: bool
) -> None:
    """Both files have the same columns, and the second is there before the browser shows that it is read: what it holds
    of a control it sends with the next click, for whichever has that key."""
    if kept:
        monkeypatch.setattr(naming, "another", lambda: None)
    app = drop(open_app("data"), table(1))
    app.selectbox(key="own-column").set_value("colour").run()
    first = told(app)
    assert len(first) > 12, first
    drop(app, table(2), name="second.csv")
    app.selectbox(key="own-column").set_value("colour").run()
    assert bool(first & told(app)) is kept, first & told(app)
    assert len(told(app)) == len(first)


def test_a_name_that_was_typed_for_one_budget_is_not_the_next_one_s(open_app: Open) -> None:
    from tests.dashboard.test_two_windows import ROWS, ready
    from tests.dashboard.test_two_windows import table as of

    app = ready(drop(open_app("data"), of(ROWS), name="first.csv"))
    app.text_input(key="budget-name").set_value("The first people").run()
    app.number_input(key="budget-epsilon").set_value(7.0).run()
    app.switch_page(address("data")).run()
    rows = [f"{('green', 'blue')[n % 2]},{5003 * n % 3001 + 20000},{('no', 'yes')[n % 2]}" for n in range(90)]
    ready(drop(app, of(rows), name="second.csv"))
    assert app.text_input(key=key_of(app, "budget-name")).value == ""
    assert app.number_input(key=key_of(app, "budget-epsilon")).value != 7.0


def test_no_control_of_one_budget_is_one_of_another(people: None, open_app: Open) -> None:  # noqa: F811
    """What was opened to close one stood open at the next, and a click on the one counted for whichever was drawn."""
    with Ledger.open() as whole:
        MembersLedger(whole, Person(subject=subject("olga")), "olga" * 8).open_budget("others", epsilon=1.0, name="Z")
    app = tab(open_app, "budget", "olga", said.SHARING)
    general = ("sharing-budget", "open-for", "budget_tab", "data", "epsilon", "log-out", "glossary")
    seen: list[set[str]] = []
    for lineage in ("people", "others"):
        app.selectbox(key="sharing-budget").set_value(lineage).run()
        seen.append({key for key in keys(app) if key.startswith(("sharing", "limit")) and not key.startswith(general)})
        assert all(lineage in key for key in seen[-1])
    assert len(seen[0]) >= 6
    app.button(key="sharing-end-others").click().run()
    with Ledger.open() as whole:
        assert (whole.terms("people").ended, bool(whole.terms("others").ended)) == ("", True)


def test_what_was_typed_of_one_column_s_options_is_not_the_next_one_s(open_app: Open) -> None:
    """The step that was taken was the first, and the next one stood in its place."""
    rows = "".join(f"{('Gym;Tea', 'Gym;Pool')[n % 2]},{('A;B', 'B;C')[n % 2]},{n}\n" for n in range(60))
    app = drop(open_app("data"), f"likes,has,nr\n{rows}".encode())
    steps = [key.removesuffix("-sign") for key in keys(app) if key.startswith("own-step-") and key.endswith("-sign")]
    assert len(steps) == 2
    app.segmented_control(key=f"{steps[0]}-sign").set_value(";")
    app.text_area(key=f"{steps[0]}-options").set_value("Gym\nTea\nPool")
    app.number_input(key=f"{steps[0]}-most").set_value(2)
    press(app, f"{steps[0]}-go")
    assert len(held(app).steps) == 1
    assert app.text_area(key=f"{steps[1]}-options").value == ""
