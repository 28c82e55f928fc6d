"""What is chosen is what was shown: no two choices of a list look alike, whoever gave them their names."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.elements.lib.options_selector_utils import create_mappings
from streamlit.elements.widgets.selectbox import SelectboxSerde

from dashboard.widgets.apart import apart

ROOT = Path(__file__).parents[2] / "dashboard"
GIVEN = ("visible(", "safe(", ".name", ".names", "_title(", "choice(", "labels")
"""How what a person or a file named is brought into a label; all else are words of ours, of which each has its own."""


def labels(source: str) -> list[str]:
    """How the lists of a file show their choices."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.keyword) and node.arg == "format_func":
            found.append(ast.unparse(node.value))
        elif isinstance(node, ast.Dict):
            keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
            found += [ast.unparse(value) for key, value in zip(keys, node.values, strict=True) if key == "format_func"]
    return found


def test_every_list_of_names_that_somebody_gave_tells_them_apart() -> None:
    found = 0
    for file in ROOT.rglob("*.py"):
        source = file.read_text(encoding="utf-8")
        for told in labels(source) if "format_func" in source else ():
            found += told.startswith("apart(")
            if told == "shown":
                assert "shown = apart(" in source, file.name
            elif any(part in f"{told}(" for part in GIVEN):
                assert told.startswith("apart("), f"{file.name}: {told}"
    assert found >= 15, "or nothing was walked"


def chosen(options: list[str], say: Callable[[str], str], one: str) -> str | None:
    """What a page takes for the choice of ``one``: it sends how that was shown."""
    shown, places = create_mappings(options, say)
    box = SelectboxSerde(
        options, formatted_options=shown, formatted_option_to_option_index=places, default_option_index=0
    )
    return box.deserialize(say(one))


NORTH = "Patients of the north clinic"
NAMES = {
    "people-00112233445566aa": NORTH,
    "people-ff112233445566bb": NORTH,
    "people-ee112233445566bb": NORTH,
    "people-x": f"{NORTH} · 4566bb",
    "people-y": NORTH,
    "y": NORTH,
    "people-z": "Others",
}


@pytest.mark.parametrize("keyed", [True, False])
def test_whichever_is_chosen_is_taken(keyed: bool) -> None:
    say = apart(NAMES, NAMES.__getitem__, key=str if keyed else None)
    assert len({say(one) for one in NAMES}) == len(NAMES)
    assert [chosen(list(NAMES), say, one) for one in NAMES] == list(NAMES)
    assert say("people-z") == "Others", "a name that is alone stays as it is"
    assert [chosen(list(NAMES), NAMES.__getitem__, one) for one in NAMES] != list(NAMES), "or nothing was tested"
    if keyed:
        assert say("people-00112233445566aa") == f"{NORTH} · 5566aa"


def test_what_somebody_typed_has_its_own_name() -> None:
    assert apart(["a", "b"], str.upper)("c") == "C"
