"""What the Data page works out of a column of a large file it does in a turn for large things, once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import dashboard
from dashboard.background import large_turns
from dashboard.case import LARGE_ROWS
from dashboard.data.typed_columns import TypedColumns
from dashboard.words import page as said
from dpcore.datasets import Applied, Column, Schema, read_table
from dpcore.datasets.reading import Reading

ROOT = Path(dashboard.__file__).parent / "data"


def reading(rows: int) -> Reading:
    return read_table(("day\n" + "".join(f"{1 + n % 12}/3/04 7:30\n" for n in range(rows))).encode())


class Seen(TypedColumns):
    """Notes whether each column was worked out in a turn."""

    turns: list[bool]

    def _apply(self, column: Column) -> Applied:
        self.turns.append(large_turns.has())
        return self.reading.apply(Schema(columns=(column,)))

    @classmethod
    def of(cls, rows: int) -> Seen:
        found = cls(reading=reading(rows))
        found.turns = []
        return found


@pytest.fixture(params=[LARGE_ROWS, LARGE_ROWS - 1])
def typed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Seen]:
    monkeypatch.setattr(large_turns, "OWN", large_turns.LargeTurns())
    yield Seen.of(request.param)
    assert not large_turns.has()


def test_a_column_of_a_large_file_is_worked_out_in_a_turn(typed: Seen) -> None:
    column = typed.reading.suggested().columns[0]
    with typed.turn(column):
        typed._apply(column)
    assert typed.turns == [typed.reading.rows == LARGE_ROWS]
    typed._accounts[column] = None  # type: ignore[assignment]
    with typed.turn(column):
        assert not large_turns.has(), "what is known is shown at once"


def waits() -> None:
    from types import SimpleNamespace
    from unittest.mock import patch

    from dashboard.data import editor, source
    from dashboard.words import page as said
    from dpcore.errors import NoRoom

    class Waits:
        def turn(self, column: object) -> None:
            raise NoRoom(said.LARGE_WAITING)

    with patch.object(source, "typed_columns", lambda own: Waits()):
        editor._account(SimpleNamespace(reading=object()), None)  # type: ignore[arg-type]


def test_where_too_many_wait_it_says_so() -> None:
    app = AppTest.from_function(waits).run()
    assert not app.exception
    assert [one.value for one in app.caption] == [said.LARGE_WAITING]


def without_a_turn(text: str) -> list[int]:
    """The lines that work out a column for a page outside of a turn."""
    found, above = [], dict[ast.AST, ast.AST]()
    tree = ast.parse(text)
    for node in ast.walk(tree):
        above.update(dict.fromkeys(ast.iter_child_nodes(node), node))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in ("account", "completed"):
            inner: ast.AST = node
            turns = False
            while (inner := above.get(inner, tree)) is not tree:
                turns |= isinstance(inner, ast.With) and any(".turn(" in ast.unparse(one) for one in inner.items)
            if not turns and isinstance(node.value, ast.Name) and node.value.id == "typed":
                found.append(node.lineno)
    return found


def test_no_page_works_out_a_column_without_a_turn() -> None:
    texts = [path.read_text() for path in ROOT.glob("*.py")]
    assert not [line for text in texts for line in without_a_turn(text)]
    editor = (ROOT / "editor.py").read_text()
    assert len(without_a_turn(editor.replace("typed.turn(", "typed.nothing("))) == 3, "it would be found"
