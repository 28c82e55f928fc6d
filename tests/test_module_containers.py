"""No list, set or dictionary of a module or a class grows with what visitors send."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAKERS = {"dict", "list", "set", "OrderedDict", "deque", "Counter", "defaultdict", "bytearray", "Queue", "SimpleQueue"}
MAKERS |= {"WeakKeyDictionary", "WeakValueDictionary", "WeakSet"}
DISPLAYS = (ast.Dict, ast.List, ast.Set, ast.DictComp, ast.ListComp, ast.SetComp)
WAYS = {"append", "appendleft", "add", "update", "setdefault", "extend", "insert", "put", "put_nowait", "subtract"}
GROWING = {
    "dashboard/all_held.py: _gone": "of those the ones that were let go, until the next is counted",
    "dashboard/all_held.py: _live": "files that sessions hold, bounded in bytes; one that is gone is not here",
    "dpcore/datasets/fetched.py: _silent": "one for each table that the program fetches",
    "dashboard/background/in_use.py: _counted": "large things that pages have; one that is gone is not here",
    "dashboard/runtime/unread.py: _waiting": "one for each open page",
    "dashboard/background/places.py: COUNTS": "one for each source that whoever runs the server has listed",
    "dashboard/background/once.py: Once.made": "one for each function of the program",
    "dashboard/budget/drawn.py: _WAITING": "one for each window that waits for an answer",
    "dashboard/data/tab.py: _names": "names of open tabs; one whose session is gone is not here",
    "dashboard/serving/frames.py: _held": "one for each open page",
    "dashboard/runtime/operations.py: _QUEUES": "one for each page that waits for a click's file",
    "dashboard/runtime/outgoing.py: _THEMES": "one for each appearance of the settings",
    "dashboard/runtime/replaced.py: _STANDING": "one for each method that ours stand for",
    "dashboard/replay/memory.py: _UNCHANGING": "tables that sessions keep; one that is gone is not here",
    "dashboard/session.py: Slot.made": "one for each slot of the program",
    "dashboard/serving/paths.py: _patterns": "one for each route of our own that is looked for",
    "dashboard/serving/log_line.py: _written": "two for each part of the program that writes to the log",
    "dashboard/people/providers.py: _said": "one for each provider of the login's file",
    "dashboard/people/logged_out.py: _tell": "one",
    "dpcore/ledger/held.py: _databases": "ledgers that the program opened; one that is gone is not here",
    "dpcore/ledger/lock.py: _Turn._left": "places in a queue; as many as ever waited at one time, gone once they came",
    "dpcore/threads.py: _owed": "one for each thread of the program that the system did not give",
}
"""Those that a function writes into, and what bounds each."""


def holds(value: ast.expr | None) -> bool:
    """Whether a name is given a list, a set, a dictionary or their like, that can be written into."""
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).partition("[")[0].rpartition(".")[2] in MAKERS
    return isinstance(value, DISPLAYS)


def named(body: list[ast.stmt]) -> Iterator[str]:
    for one in body:
        if isinstance(one, ast.Assign | ast.AnnAssign) and holds(one.value):
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        elif isinstance(one, ast.If | ast.Try | ast.With | ast.For):
            yield from named(one.body)


def local(function: ast.AST) -> set[str]:
    """Names that are this function's own."""
    said = {name for one in ast.walk(function) if isinstance(one, ast.Global) for name in one.names}
    stored = (one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
    return {*stored, *(one.arg for one in ast.walk(function) if isinstance(one, ast.arg))} - said


def written(function: ast.AST) -> Iterator[ast.expr]:
    """What a function writes into, or sets anew where it says so by ``global``."""
    parts = list(ast.walk(function))
    said = {name for one in parts if isinstance(one, ast.Global) for name in one.names}
    for one in parts:
        if isinstance(one, ast.Assign | ast.AnnAssign | ast.AugAssign):
            for target in one.targets if isinstance(one, ast.Assign) else [one.target]:
                if isinstance(target, ast.Subscript):
                    yield target.value
                elif isinstance(one, ast.AugAssign) or (isinstance(target, ast.Name) and target.id in said):
                    yield target
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in WAYS:
            yield one.func.value


def functions(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Those of a module and its classes, each with what is within it."""
    for one in body:
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            yield one
        elif isinstance(one, ast.ClassDef):
            yield from functions(one.body)
        else:
            yield from (part for part in ast.walk(one) if isinstance(part, ast.Lambda))


def classes(body: list[ast.stmt]) -> Iterator[ast.ClassDef]:
    for one in body:
        if isinstance(one, ast.ClassDef):
            yield one
            yield from classes(one.body)


def growing(texts: dict[str, str]) -> set[str]:
    """The containers of modules and classes into which a function writes."""
    trees = {file: ast.parse(text) for file, text in texts.items()}
    of_modules: dict[str, set[str]] = {}
    of_classes: dict[str, set[str]] = {}
    for file, tree in trees.items():
        for name in named(tree.body):
            of_modules.setdefault(name, set()).add(f"{file}: {name}")
        for kind in classes(tree.body):
            for name in named(kind.body):
                of_classes.setdefault(name, set()).add(f"{file}: {kind.name}.{name}")
    found: set[str] = set()
    for file, tree in trees.items():
        imported = {
            name.asname or name.name for one in tree.body if isinstance(one, ast.ImportFrom) for name in one.names
        }
        for function in functions(tree.body):
            for one in written(function):
                if isinstance(one, ast.Name) and one.id in of_modules and one.id not in local(function):
                    known = of_modules[one.id]
                    here = {which for which in known if which.startswith(f"{file}:")}
                    found |= here or (known if one.id in imported else set())
                elif isinstance(one, ast.Attribute):
                    found |= of_classes.get(one.attr, set())
                    if isinstance(one.value, ast.Name) and one.value.id in imported:
                        found |= of_modules.get(one.attr, set())
    return found


EXAMPLES = {
    "kept = {}\ndef f(x):\n    kept[x] = 1": {"a.py: kept"},
    "kept: set[str] = set()\ndef f(x):\n    kept.add(x)": {"a.py: kept"},
    "kept = collections.defaultdict(list)\nf = lambda x: kept[x].append(x) or kept.update(x)": {"a.py: kept"},
    "kept = []\ndef f(x):\n    global kept\n    kept = [*kept, x]": {"a.py: kept"},
    "kept = []\nasync def f(x):\n    global kept\n    kept += [x]": {"a.py: kept"},
    "class A:\n    kept = []\n    def f(self, x):\n        self.kept.append(x)": {"a.py: A.kept"},
    "if 1:\n    kept = deque()\nclass A:\n    def f(self, x):\n        kept.append(x)": {"a.py: kept"},
    "kept = {}\ndef f(x):\n    kept = {}\n    kept[x] = 1": set(),
    "kept = {}\ndef f(x):\n    return kept[x]": set(),
    "kept = {}\nfor x in range(9):\n    kept[x] = 1": set(),
}


def test_what_grows_is_found() -> None:
    for text, found in EXAMPLES.items():
        assert growing({"a.py": text}) == found, text
    other = {"a.py": "kept = {}", "b.py": "from a import kept\ndef f(x):\n    kept[x] = 1"}
    assert growing(other) == {"a.py: kept"}
    by_module = {"a.py": "kept = {}", "b.py": "from p import a\ndef f(x):\n    a.kept[x] = 1"}
    assert growing(by_module) == {"a.py: kept"}


def test_no_container_of_a_module_grows_without_a_bound() -> None:
    files = [file for part in ("dpcore", "dashboard") for file in ROOT.glob(f"{part}/**/*.py")]
    assert growing({file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}) == {
        *GROWING
    }
