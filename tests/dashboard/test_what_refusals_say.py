"""What an exception says may hold a name that somebody chose: no page shows it as Markdown."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import dashboard
from dashboard import words
from dashboard.session import EPSILON
from dpcore.datasets.text import plain_sentence
from dpcore.errors import InvalidArgument, LedgerError
from dpcore.ledger import Ledger
from dpcore.ledger.commands import VERIFY
from tests.dashboard.conftest import text
from tests.dashboard.keys import about
from tests.dashboard.test_two_windows import ROWS, drop, press, ready, release, table

_SHOWS = {
    "caption",
    "error",
    "header",
    "info",
    "markdown",
    "subheader",
    "success",
    "title",
    "toast",
    "warning",
    "write",
}
_CLEANS = {"html", "plain_sentence", "reason", "safe"}
_NO_TEXT = {"isinstance", "len", "bool", "hasattr", "type", "repr"}
_CARRIED = {"problem", "uncompared", "error", "trouble"}
"""Attributes in which such a sentence is kept until it is shown."""
PLAIN_NOTES = ("own", "sample-")
"""Notes that are shown by ``words.safe``, so that plain text goes into them."""


def _name(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


class _File:
    """A file, and which function of which module a name in it means."""

    def __init__(self, name: str, text: str) -> None:
        path = Path(name)
        self.name, self.tree = name, ast.parse(text)
        self.module = path.parent.name if path.stem == "__init__" else path.stem
        self.imported = {
            (one.asname or one.name): ((node.module or "").rpartition(".")[2], one.name)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom)
            for one in node.names
        }

    def meant(self, called: ast.expr) -> str:
        match called:
            case ast.Name():
                return ".".join(self.imported.get(called.id, (self.module, called.id)))
            case ast.Attribute(value=ast.Name()):
                return f"{self.imported.get(called.value.id, ('', called.value.id))[1]}.{called.attr}"
        return ""


def _start(slot: ast.expr) -> str:
    """What a note's slot begins with."""
    if isinstance(slot, ast.JoinedStr):
        slot = slot.values[0]
    return slot.value if isinstance(slot, ast.Constant) and isinstance(slot.value, str) else ""


class _Function:
    """Which names of one function hold what an exception says."""

    def __init__(self, file: _File, node: ast.FunctionDef | ast.Module, telling: set[str], given: str = "") -> None:
        self.file, self.node, self.telling = file, node, telling
        within = _own(node)
        self.names = {one.name for one in within if isinstance(one, ast.ExceptHandler) and one.name}
        self.names |= {given} - {""}
        while True:
            found = {
                name.id
                for one in within
                if isinstance(one, ast.Assign | ast.AnnAssign | ast.NamedExpr) and one.value and self.holds(one.value)
                for target in (one.targets if isinstance(one, ast.Assign) else [one.target])
                for name in ast.walk(target)
                if isinstance(name, ast.Name)
            }
            if found <= self.names:
                break
            self.names |= found
        self.within = within

    def holds(self, value: ast.expr) -> bool:
        """Whether a value may be text of an exception that was not made safe."""
        match value:
            case ast.Call():
                called = _name(value.func)
                if called in _CLEANS | _NO_TEXT or called[:1].isupper():  # what is made of it is no text
                    return False
                return self.file.meant(value.func) in self.telling or any(
                    map(self.holds, [*value.args, *(one.value for one in value.keywords)])
                )
            case ast.Name():
                return value.id in self.names
            case ast.Attribute():
                return value.attr in _CARRIED and not isinstance(value.ctx, ast.Store)
            case ast.Compare():
                return False
            case ast.IfExp():
                return self.holds(value.body) or self.holds(value.orelse)
            case ast.Subscript():
                return self.holds(value.value)
        return any(self.holds(one) for one in ast.iter_child_nodes(value) if isinstance(one, ast.expr))

    @property
    def tells(self) -> bool:
        returned = [one.value for one in self.within if isinstance(one, ast.Return) and one.value is not None]
        return isinstance(self.node, ast.FunctionDef) and any(map(self.holds, returned))

    @property
    def may_show(self) -> bool:
        called = {
            one.func.attr for one in self.within if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)
        }
        return bool(called & {*_SHOWS, "say", "put"})

    def shown(self, showing: Mapping[str, set[int]]) -> Iterator[int]:
        """The lines that show such text, or keep it to be shown as it is; ``showing`` are the arguments that functions
        show so."""
        for one in self.within:
            if not isinstance(one, ast.Call):
                continue
            places = showing.get(self.file.meant(one.func), ())
            if any(place < len(one.args) and self.holds(one.args[place]) for place in places):
                yield one.lineno
            if not isinstance(one.func, ast.Attribute):
                continue
            called, owner = one.func.attr, _name(one.func.value).lower()
            text = None
            if called in _SHOWS and "log" not in owner and one.args:
                text = one.args[0]
            elif called == "say" and owner == "session" and not _start(one.args[0]).startswith(PLAIN_NOTES):
                text = one.args[1]
            elif called == "put" and owner == "problem":
                text = one.args[0]
            if text is not None and self.holds(text):
                yield one.lineno


@cache
def _own(node: ast.AST) -> tuple[ast.AST, ...]:
    """All that stands in a function, without the functions in it."""
    inner = [one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.FunctionDef | ast.Lambda)]
    return tuple(each for one in inner for each in (one, *_own(one)))


_read = cache(lambda name, text: _File(name, text))


def shown_raw(sources: dict[str, str]) -> list[str]:
    """Places that show what an exception says as Markdown, in files given by name and text."""
    files = [_read(name, written) for name, written in sources.items()]
    nodes = [
        (file, node) for file in files for node in ast.walk(file.tree) if isinstance(node, ast.FunctionDef | ast.Module)
    ]
    telling: set[str] = set()
    while True:
        read = [_Function(file, node, telling) for file, node in nodes]
        found = {f"{one.file.module}.{one.node.name}" for one in read if one.tells}
        if found <= telling:
            break
        telling = telling | found
    showing: dict[str, set[int]] = {}
    for one in read:
        if isinstance(one.node, ast.FunctionDef) and one.may_show:
            already = set(one.shown({}))
            showing[f"{one.file.module}.{one.node.name}"] = {
                place
                for place, argument in enumerate(one.node.args.args)
                if set(_Function(one.file, one.node, telling, argument.arg).shown({})) - already
            }
    return sorted({f"{one.file.name}:{line}" for one in read for line in one.shown(showing)})


def notes_shown_raw(sources: dict[str, str]) -> list[str]:
    """Files that show a note as Markdown into which plain text goes."""
    found = []
    for name, written in sources.items():
        tree = ast.parse(written)
        notes = [one for one in ast.walk(tree) if isinstance(one, ast.Call) and _name(one.func) == "note"]
        if any(_start(one.args[0]).startswith(PLAIN_NOTES) for one in notes if one.args):
            assert "problem = session.note(" in written
            if "st.warning(words.safe(problem," not in written or "st.warning(problem" in written:
                found.append(name)
    return found


def sources() -> dict[str, str]:
    root = Path(dashboard.__file__).parent
    return {str(file.relative_to(root)): file.read_text() for file in sorted(root.rglob("*.py"))}


def test_no_page_shows_what_an_exception_says_as_markdown() -> None:
    found = sources()
    assert shown_raw(found) == []
    assert notes_shown_raw(found) == []


MADE_RAW = {
    "widgets/release.py": ("words.reason(error) + reset", "words.sentence(error) + reset", ""),
    "budget/sharing.py": ("session.say(_NOTE, words.reason(error))", "session.say(_NOTE, f'No: {error}')", ""),
    "budget/screen.py": ("st.error(words.reason(problem)", "st.error(problem", "app_pages/budget.py"),
    "budget/pricing.py": ('words.reason(f"This', 'str(f"This', "budget/planner.py"),
    "poll/phone.py": ("words.reason(refused)", "str(refused)", ""),
    "poll/desk.py": ("words.reason(closed)", "closed", ""),
    "data/people.py": ("words.reason(own.uncompared)", "own.uncompared", ""),
    "data/source.py": ("words.reason(error)", "error", ""),
    "widgets/waiting.py": ("words.reason(job.error)", "str(job.error)", ""),
    "app_pages/data.py": ("words.safe(problem, 400)", "problem", ""),
}
"""One change to a file with which such a sentence is shown raw, and by which other file."""


def test_each_that_is_shown_raw_is_found() -> None:
    made = sources()
    for name, (was, raw, _) in MADE_RAW.items():
        assert was in made[name]
        made[name] = made[name].replace(was, raw)
    found = {place.partition(":")[0] for place in (*shown_raw(made), *notes_shown_raw(made))}
    assert found == {shown_by or name for name, (_, _, shown_by) in MADE_RAW.items()}


def test_a_command_of_ours_stands_as_one_and_nothing_else_does() -> None:
    assert words.reason(LedgerError(f"x; run {VERIFY}")) == f"X; run {VERIFY}."
    for evil in (EVIL, "**b** <b>", "`--[a](https://b.c)`", ":material/pets: $x$", "a\n\n# b"):
        assert evil not in words.reason(InvalidArgument("name", evil))
        assert words.reason(InvalidArgument("name", evil)) == plain_sentence(f"Name {evil}.")


EVIL = "[win](https://evil.example)"


def test_the_unit_of_somebody_elses_budget_is_shown_as_it_is_written(
    open_app: Callable[..., AppTest], ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file joins a budget whose owner called its unit a link, and says that it protects another."""
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        theirs = ledger.new_lineage()
        ledger.open_budget(theirs, epsilon=2.0, neighbours="replace_one", unit=EVIL, name="Theirs")
    app = drop(open_app("data"), table(ROWS), name="file.csv")
    app.selectbox(key=about(app, "own-group-name")).set_value(theirs)
    press(app, "own-group-join")
    app.text_input(key=f"own-unit-{EVIL}").set_value("visit").run()
    ready(app)
    app.session_state[EPSILON.key] = 0.2
    release(app)
    assert "This budget protects one \\[win\\](" in text(app)
    assert EVIL not in text(app)
