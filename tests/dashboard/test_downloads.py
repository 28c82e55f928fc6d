"""A file is made when it is clicked: one that a page hands over ready-made lies under an address that answers whoever
has it, without a login, also after the log-out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard.background import compute
from dashboard.catalogue import address
from dashboard.data import template
from dashboard.widgets import download as downloads
from dashboard.widgets.download import download
from dashboard.words import data as said
from dpcore.costs import Cost
from dpcore.datasets import saved
from dpcore.errors import LedgerError
from dpcore.ledger import Ledger, Receipt
from tests.dashboard.conftest import text
from tests.dashboard.test_budget_page import practice
from tests.dashboard.test_data_page import declare, drop, held, look, press
from tests.dashboard.test_login import people, settings, subject, tab
from tests.dashboard.test_two_windows import ROWS, table

__all__ = ["people", "settings"]
Open = Callable[..., AppTest]
ROOT = Path(__file__).parents[2]
BUTTON, ROOM = "dashboard/widgets/download.py", "dashboard/poll/shown.py"
TABLE = "ward,age\n" + "".join(f"{'North' if row % 2 else 'South'},{20 + row % 50}\n" for row in range(120))
OTHER = TABLE.replace("ward", "town").replace("age", "height")


def buttons(source: str) -> int:
    """How often a file draws Streamlit's own button for files, however it comes by it."""
    return sum(
        "download_button" in (getattr(node, "attr", ""), getattr(node, "id", ""), getattr(node, "value", ""))
        or (isinstance(node, ast.ImportFrom) and "download_button" in {one.name for one in node.names})
        for node in ast.walk(ast.parse(source))
    )


def test_every_file_is_offered_by_the_one_button() -> None:
    """But for a room's receipt, which its phones see and take away without a login."""
    texts = {path: path.read_text(encoding="utf-8") for path in ROOT.glob("dashboard/**/*.py")}
    found = {path.relative_to(ROOT).as_posix(): count for path, one in texts.items() if (count := buttons(one))}
    assert found == {BUTTON: 1, ROOM: 1}, "offer it by download of dashboard.widgets.download"


@pytest.mark.parametrize(
    "wrong",
    [
        'st.download_button("Receipt", receipt.to_json(), "a.json")',
        'left.download_button("Receipt", data=lambda: made, file_name="a.json")',
        "draw = st.download_button",
        "from streamlit import download_button as offered",
        'getattr(st, "download_button")("x", b"x")',
    ],
)
def test_another_button_is_found_out(wrong: str) -> None:
    assert buttons(wrong) == 1


@pytest.mark.parametrize("made", [b"x", "x"])
def test_the_one_button_takes_no_file_that_is_made(made: Any) -> None:
    with pytest.raises(TypeError, match="when it is clicked"):
        download("Receipt", made, "a.json", "application/json")


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What each page hands over for its files, by what their buttons say."""
    found: dict[str, Any] = {}

    def note(label: str, data: Any, *rest: Any, **more: Any) -> bool:
        found[label] = data
        return draw(label, data, *rest, **more)

    draw = st.download_button
    monkeypatch.setattr(st, "download_button", note)
    return found


@pytest.fixture
def receipt(ledger_file: Path) -> Iterator[Receipt]:
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        yield practice(ledger, Cost.pure(0.5))[0]


def addresses(app: AppTest) -> dict[str, str]:
    """Of every file of a page: under what it lies before anybody has clicked."""
    found = {one.proto.label: one.proto for one in app.get("download_button")}
    assert all(one.deferred_file_id for one in found.values() if not one.disabled)
    return {label: one.url for label, one in found.items()}


def test_no_file_of_a_person_lies_under_an_address(open_app: Open, receipt: Receipt, offered: dict[str, Any]) -> None:
    app = open_app("budget")
    app.selectbox(key="budget_receipt").set_value(receipt.request_id).run()
    assert set(addresses(app).values()) == {""}
    assert offered["This receipt (JSON)"]() == receipt.to_json()
    app = declare(drop(open_app("data"), TABLE.encode()), "age", low=0.0, high=120.0)
    assert set(addresses(app).values()) == {""}
    assert offered[said.SAVE]() == saved(template.template(held(app)))


@pytest.mark.parametrize("clicked", [True, False])
def test_a_declaration_that_was_saved_is_known_again(
    clicked: bool, open_app: Open, offered: dict[str, Any], ledger_file: Path
) -> None:
    """Also after a table of another kind, and by a click that runs no page and is in another thread."""
    app = declare(drop(open_app("data"), TABLE.encode()), "age", low=0.0, high=120.0)
    if clicked:
        offered[said.SAVE]()
    drop(app, OTHER.encode(), name="other.csv")
    drop(app, TABLE.encode(), name="next.csv")
    assert bool(held(app).known) is clicked
    assert (said.KNOWN in text(app)) is clicked


def test_what_was_saved_of_a_file_goes_with_it(open_app: Open, offered: dict[str, Any], ledger_file: Path) -> None:
    """Options in it may be words of the file."""
    app = declare(drop(open_app("data"), TABLE.encode()), "age", low=0.0, high=120.0)
    offered[said.SAVE]()
    press(app, "own-remove")
    press(app, "own-forget")
    assert held(drop(app, TABLE.encode(), name="next.csv")).known == ()


def chart(app: AppTest) -> AppTest:
    """A page with the menu of its chart open."""
    app.switch_page(address("selection"))
    app.session_state["selection-epsilon-menu"] = True
    return app.run()


def beside_a_file(open_app: Open, offered: dict[str, Any]) -> dict[str, Any]:
    """All files that Anna's tab was offered while it held one of hers: on the Data page, and with a chart of it."""
    app = drop(tab(open_app, "data", "anna", ""), table(ROWS), name="file.csv")
    chart(look(declare(app, "colour", categories="red\nblue\ngreen", public=True)))
    assert len(offered) == 4
    return dict(offered)


def given(files: dict[str, Any]) -> set[str]:
    """Which of them a click gives."""

    def goes(make: Callable[[], bytes | str]) -> bool:
        try:
            return bool(make())
        except LedgerError:
            return False

    return {label for label, make in files.items() if goes(make)}


@pytest.mark.thorough
@pytest.mark.parametrize("guarded", [True, False], ids=["", "as it was"])
def test_what_is_offered_beside_a_file_is_given_while_its_person_may_hold_one(
    people: None, guarded: bool, open_app: Open, offered: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it tells of the file: a tab that rests holds it until it is drawn again, and a click draws no page."""
    if not guarded:
        monkeypatch.setattr(downloads, "_beside_own_file", lambda make: make)
    files = beside_a_file(open_app, offered)
    assert given(files) == set(files)
    with Ledger.open() as whole:
        whole.give_roles(subject("anna"), [])
        assert given(files) == (set() if guarded else set(files))
        whole.give_roles(subject("anna"), ["owner"])
    assert given(files) == set(files)

    def away(_: str | None) -> Ledger:
        raise LedgerError("The ledger does not answer.")

    monkeypatch.setattr(compute, "_ledger", away)
    assert given(files) == (set() if guarded else set(files)), "nor where nobody can say"


def test_what_is_offered_beside_a_sample_is_given_to_everybody(
    people: None, open_app: Open, offered: dict[str, Any]
) -> None:
    chart(tab(open_app, "data", "vera", ""))
    assert given(offered) == set(offered)
    assert len(offered) == 3
