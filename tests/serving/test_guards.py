"""What changes Streamlit for good is a module with ``guard``, and a server begins with all of them."""

from __future__ import annotations

import ast
from pathlib import Path

DASHBOARD = Path(__file__).parents[2] / "dashboard"


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def begun_by(path: Path, function: str) -> list[str]:
    """Modules whose ``guard`` a function of a file calls."""
    found = next(node for node in ast.walk(parsed(path)) if getattr(node, "name", "") == function)
    return [
        node.func.value.id
        for node in ast.walk(found)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "guard"
        and isinstance(node.func.value, ast.Name)
    ]


def modules_with_a_guard() -> list[Path]:
    return [
        path
        for path in sorted(DASHBOARD.rglob("*.py"))
        if any(isinstance(node, ast.FunctionDef) and node.name == "guard" for node in parsed(path).body)
    ]


def test_a_server_begins_with_every_guard() -> None:
    modules = [path.parent.name if path.stem == "__init__" else path.stem for path in modules_with_a_guard()]
    called = begun_by(DASHBOARD / "server.py", "begun")
    called += begun_by(DASHBOARD / "serving" / "failures.py", "keep_values_from_the_log")
    assert len(modules) > 5
    assert sorted(called) == sorted(modules)
