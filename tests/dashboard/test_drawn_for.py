"""What is clicked on the Data page counts for the table it was drawn for, and for no other that came meanwhile."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.runtime.state import SessionState
from streamlit.testing.v1 import AppTest

from dashboard import data, session
from dashboard.data import actions, source
from dashboard.data.own_file import OwnFile
from dashboard.data.read_again import opened
from dashboard.words import data as said
from dpcore.datasets import read_table
from tests.dashboard.conftest import text
from tests.dashboard.test_data_page import declare, drop, held

Open = Callable[..., AppTest]
FOLDER = Path(data.__file__).parent
OF_NO_TABLE = {
    "arrivals.receive": "another file is brought",
    "arrivals.paste": "another file is brought",
    "arrivals.let_go": "one that could not be read is forgotten",
    "task.cancel": "it ends the work it was drawn for",
    "OWN_ASKED.forget": "it says of nothing",
    "choose": "it opens a page",
    "_use": "a source is chosen",
    "_download": "of a sample",
    "_upload": "of a sample",
}
HEARD = ("on_click", "on_change", "on_select")


def loose(code: str) -> list[str]:
    """Callbacks of controls that are bound to no table, in some source."""
    found = []
    for node in ast.walk(ast.parse(code)):
        heard = [word for word in node.keywords if word.arg in HEARD] if isinstance(node, ast.Call) else []
        for word in heard:
            does = word.value
            parts = [does.body, does.orelse] if isinstance(does, ast.IfExp) else [does]
            found += [ast.unparse(one) for one in parts if not ast.unparse(one).startswith("actions.of(")]
    return found


def test_every_control_of_the_data_page_is_bound_to_its_table() -> None:
    unbound = {name for file in FOLDER.glob("*.py") for name in loose(file.read_text(encoding="utf-8"))}
    assert unbound == OF_NO_TABLE.keys()
    assert loose("st.button('x', on_click=_save)") == ["_save"]
    assert loose("st.button('x', on_click=actions.of(own, a) if one else _save)") == ["_save"]


def table(factor: int) -> bytes:
    return (
        "street,callers,colour\n" + "".join(f"S{n},{factor * n % 17 + 5},{('red', 'blue')[n % 2]}\n" for n in range(40))
    ).encode()


def other(app: AppTest) -> OwnFile:
    """What the part of the page that looks for it does once the next file is read, before the browser shows it."""
    own = opened("b.csv", table(5), (), read_table(table(5)), None, None)
    app.session_state["_own_before"] = held(app)
    app.session_state["_own_file"] = replace(own, lineage="b")
    return held(app)


def callbacks(app: AppTest) -> dict[str, Any]:
    """Of all that is on the page."""
    state: Any = app.session_state
    while not isinstance(state, SessionState):
        state = state._state
    known = state._new_widget_state.widget_metadata
    return {key: one for key, one in known.items() if one.callback is not None}


def test_nothing_on_the_page_is_done_to_a_table_that_came_meanwhile(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each callback of the page as it stands, with a question chosen and without."""
    app = drop(open_app("data"), table(3), name="a.csv")
    app.selectbox(key="own-column").set_value("callers").run()
    own, told, seen = held(app), list[str](), set[str]()
    later = opened("b.csv", table(5), (), read_table(table(5)), None, None)
    done: list[Any] = []
    for chosen in ("", "own-selection-0"):
        if chosen:
            app.button(key=chosen).click().run()
        with monkeypatch.context() as patch:
            patch.setattr(source, "own_file", lambda: later)
            patch.setattr(session, "say", lambda where, sentence: told.append(sentence))
            for name in ("decide", "commit", "start", "put_in_place"):
                patch.setattr(actions, name, lambda *args, **_: done.append(args))
            for one in callbacks(app).values():
                name = one.callback.__name__
                if getattr(one.callback, "table", None) is None:
                    assert any(name == word.rpartition(".")[2] for word in OF_NO_TABLE) or "own" not in one.id, name
                    continue
                assert one.callback.table == own.table
                one.callback(*(one.callback_args or ()), **(one.callback_kwargs or {}))
                seen.add(name)
    assert not done
    assert set(told) == {said.CHANGED_MEANWHILE}
    assert {"_save", "_retype", "_rows", "_unit", "_each_row", "_people", "_id_column", "undo", "_stated"} <= seen


@pytest.mark.parametrize("bound", [True, False])
def test_what_was_said_of_one_file_is_said_of_no_other(
    bound: bool, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows per person, bounds and how far one moves an entry were saved for a file that nobody had seen."""
    if not bound:
        monkeypatch.setattr(actions, "of", lambda own, do: do)
    app = drop(open_app("data"), table(3), name="a.csv")
    app.get_by_key(f"own-each-row-{held(app).schema.each_row}").set_value("step").run()
    app.selectbox(key="own-column").set_value("callers").run()
    save = next(one for one in app.button if one.label == "Save" and str(one.key).endswith("-save"))
    prefix = str(save.key).removesuffix("-save")
    for name, value in {"low": 0.0, "high": 100.0}.items():
        app.get_by_key(f"{prefix}-{name}").set_value(value)
    app.number_input(key="own-rows-None").set_value(1)
    before = other(app)
    save.click().run()
    now = held(app)
    assert (now.decisions == before.decisions) == bound
    assert now.decisions.said_rows != bound
    assert (said.CHANGED_MEANWHILE.partition(".")[0] in text(app)) == bound


def test_a_table_is_another_one_after_a_step_or_read_otherwise(open_app: Open) -> None:
    app = drop(open_app("data"), table(3), name="a.csv")
    own = held(app)
    assert own.reading is not None
    declare(app, "callers", low=0.0, high=100.0)
    assert held(app).table == own.table
    others = [read_table(table(3), header_rows=0), own.reading.after(own.reading.suggested_steps), read_table(table(5))]
    assert (
        len({own.table, *(replace(own, reading=reading).table for reading in others if reading is not own.reading)}) > 2
    )
