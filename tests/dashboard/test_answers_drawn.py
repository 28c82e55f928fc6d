"""Every answer is drawn in a place for answers; only rooms' few votes are drawn beside."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dashboard

ROOT = Path(dashboard.__file__).parent
BESIDE = {"poll/answering.py": "aside"}
"""What draws elsewhere: of a room one answer at a time, about as many votes as it has phones."""


def around_draws(text: str) -> Iterator[str]:
    """What stands around each release, by the last name of the call that a ``with`` enters."""
    above: dict[ast.AST, ast.AST] = {}
    tree = ast.parse(text)
    for node in ast.walk(tree):
        above.update(dict.fromkeys(ast.iter_child_nodes(node), node))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "release":
            entered: list[str] = []
            inner: ast.AST = node
            while (inner := above.get(inner, tree)) is not tree:
                if isinstance(inner, ast.With):
                    calls = [item.context_expr for item in inner.items]
                    entered += [ast.unparse(call.func).split(".")[-1] for call in calls if isinstance(call, ast.Call)]
            yield next((name for name in entered if name in ("drawing", "aside")), "")


def drawing() -> dict[str, str]:
    """The files that make answers, as they are written."""
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in ROOT.rglob("*.py")}
    return {path: text for path, text in texts.items() if "from dpcore.release import" in text and "release(" in text}


def test_every_answer_is_drawn_in_a_place_for_answers() -> None:
    found = {path: set(around_draws(text)) for path, text in drawing().items()}
    assert {path: ways for path, ways in found.items() if ways} == {
        "widgets/release.py": {"drawing"},
        "scenes/draw_again.py": {"drawing"},
        **{path: {way} for path, way in BESIDE.items()},
    }


@pytest.mark.parametrize("path", ["widgets/release.py", "scenes/draw_again.py"])
def test_one_that_is_drawn_aside_is_found(path: str) -> None:
    text = re.sub(r"places\.drawing\([a-z_.]+, visitor\.token\(\)\)", "places.aside(working=True)", drawing()[path])
    assert set(around_draws(text)) == {"aside"}
    assert set(around_draws(text.replace("places.aside(working=True)", "nullcontext()"))) == {""}
