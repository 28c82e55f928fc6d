"""Who may import whom, kept by walking the syntax trees; and what importing dpcore may load."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Mapping
from pathlib import Path

import pytest

from dashboard.widgets.inputs import text_box

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "dashboard" / "app.py"
FILES = sorted([*ROOT.glob("dpcore/**/*.py"), *ROOT.glob("dashboard/**/*.py")])
STANDARD = set(sys.stdlib_module_names)

ENGINE = {
    *("numpy", "scipy", "pandas", "sklearn", "opendp", "dp_accounting", "sqlalchemy", "alembic", "psycopg"),
    *("duckdb", "charset_normalizer", "platformdirs", "threadpoolctl", "numba", "pyarrow"),
    *("python_calamine", "pyreadstat"),
}
# An outside package that only these parts of the engine may import.
OWNERS = {
    "opendp": ("dpcore/releases/",),
    "duckdb": ("dpcore/datasets/",),
    "dp_accounting": ("dpcore/privacy_loss.py", "dpcore/accounting.py", "dpcore/calibration.py"),
    "python_calamine": ("dpcore/datasets/reading/workbook.py",),
    "pyreadstat": ("dpcore/datasets/reading/labelled_", "dpcore/audit/labelled.py"),
    "sqlalchemy": ("dpcore/addresses.py", "dpcore/ledger", "dpcore/datasets/in_place/"),
    "alembic": ("dpcore/ledger",),
    "psycopg": ("dpcore/ledger",),
    "numba": ("dpcore/compiled.py",),
}
# An outside package that only these parts of the dashboard may import.
WRITERS = {"typst": ("dashboard/report/pdf.py",), "docx": ("dashboard/report/word.py",)}
# What the server itself is made of, for what stands before it; and what speaks with a cluster.
SERVED = {
    "dashboard/server.py": {"starlette"},
    "dashboard/serving/gate.py": {"starlette", "h11"},
    "dashboard/serving/messages.py": {"google"},
    "dashboard/serving/paths.py": {"starlette"},
    "dashboard/serving/file_threads.py": {"anyio"},
    "dashboard/serving/file_rights.py": {"anyio"},
    "dashboard/serving/senders.py": {"starlette"},
    "dashboard/serving/uploads.py": {"starlette"},
    "dashboard/serving/frames.py": {"uvicorn", "websockets"},
    "dashboard/serving/lengths.py": {"uvicorn", "h11"},
    "dashboard/serving/reads.py": {"uvicorn"},
    "dashboard/serving/upload_form.py": {"python_multipart"},
    "dashboard/people/browser_token.py": {"starlette"},
    "dashboard/people/login_cookie.py": {"starlette"},
    "dashboard/serving/refused.py": {"uvicorn"},
    "dashboard/runtime/outgoing.py": {"uvicorn", "websockets"},
    "dashboard/people/providers.py": {"httpx"},
    "dashboard/serving/wire.py": {"google"},
    "dashboard/background/cluster.py": {"dask", "distributed"},
}
PICTURES = {"plotly", "numpy", "pandas"}
# What describes and never draws: no Streamlit, no session, no widgets.
PURE = (
    *("dashboard/charts/", "dashboard/words/", "dashboard/question.py", "dashboard/case.py", "dashboard/controls.py"),
    *(f"dashboard/report/{name}.py" for name in ("value", "text", "label", "analysis", "answer", "plan", "recipe")),
    *(f"dashboard/report/{name}.py" for name in ("again", "web", "notebook", "render")),
    *(f"dashboard/report/{name}.py" for name in ("drawing", "of_deck", "spent")),
    *("dashboard/blocks.py", "dashboard/view.py", "dashboard/usual.py", "dashboard/ways.py", "dashboard/catalogue.py"),
    "dashboard/offering.py",
    *(f"dashboard/poll/{name}.py" for name in ("asked", "codes", "forecast", "hall", "refused", "room", "rooms")),
    *(f"dashboard/poll/{game}{part}.py" for game in ("follow", "watch") for part in ("", "_room")),
    *("dashboard/scenes/address.py", "dashboard/scenes/deck.py"),
    *(
        file.relative_to(ROOT).as_posix()
        for file in ROOT.glob("dashboard/questions/*/*.py")
        if file.name not in {"page.py"}
    ),
)
DRAWING = {"session", "widgets", "background", "data", "budget", "app", "app_pages"}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> list[str]:
    """Dotted names that a file imports anywhere, those under TYPE_CHECKING left out."""
    return list(_imports(path.read_text(encoding="utf-8")))


@functools.cache
def _imports(text: str) -> tuple[str, ...]:
    nodes, typing_only = list(ast.walk(ast.parse(text))), set[ast.AST]()
    for node in nodes:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            typing_only.update(child for statement in node.body for child in ast.walk(statement))
    found: list[str] = []
    for node in nodes:
        if node in typing_only:
            continue
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import of {node.module}"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return tuple(found)


def inside(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_follow_the_design(path: Path) -> None:
    here = path.relative_to(ROOT).as_posix()
    for name in imports(path):
        top = name.split(".")[0]
        if top in STANDARD or top == "__future__":
            continue
        if here.startswith("dpcore/"):
            assert top in ENGINE or top == "dpcore", f"{here} imports {name}"
            owners = OWNERS.get(top)
            assert owners is None or here.startswith(owners), f"{here} imports {name}, kept to {owners}"
            continue
        ours = name.split(".")[1] if top == "dashboard" and "." in name else ""
        assert here.startswith("dashboard/app_pages/") or not inside(name, "dashboard.app_pages", "dashboard.app"), (
            f"{here} imports a page"
        )
        if top in WRITERS:
            assert here.startswith(WRITERS[top]), f"{here} imports {name}, kept to {WRITERS[top]}"
        elif here.startswith(PURE):
            assert top in PICTURES or top in {"dashboard", "dpcore"}, f"{here} imports {name}"
            assert ours not in DRAWING or here in {"dashboard/session.py"}, (
                f"{here} draws or keeps state: it imports {name}"
            )
        else:
            served = SERVED.get(here, set())
            assert (
                top
                in {"streamlit", "numpy", "pandas", "plotly", "threadpoolctl", "segno", "dashboard", "dpcore"} | served
            ), f"{here} imports {name}"
        if here.startswith("dashboard/charts/"):
            assert ours in {"", "charts", "words"}, f"{here} imports {name}"
        if ours == "questions":
            same = here.startswith("dashboard/" + "/".join(name.split(".")[1:3]) + "/")
            assert same, f"{here} imports the question {name}: questions are found, not imported"


def test_a_question_that_draws_is_found_out(tmp_path: Path) -> None:
    """The rule above can fail: a question that imports Streamlit, or another question's folder, breaks it."""
    for wrong in (
        "import streamlit as st",
        "from dashboard import session",
        "from dashboard.questions.experts import x",
    ):
        tree = tmp_path / "wrong.py"
        tree.write_text(wrong + "\n", encoding="utf-8")
        (name,) = imports(tree)
        ours = name.split(".")[1] if name.startswith("dashboard.") else ""
        assert name.startswith("streamlit") or ours in DRAWING or ours == "questions"


def test_only_session_writes_session_state() -> None:
    for path in FILES:
        if path.name != "session.py" and "dashboard" in path.parts:
            assert "st.session_state" not in path.read_text(encoding="utf-8"), f"{path.name} touches st.session_state"


REPLAYED = (ROOT / "dashboard" / "replay" / "memory.py", ROOT / "dashboard" / "replay" / "widgets.py")
BOX = ROOT / "dashboard/widgets/inputs.py"
"""Where the one box for text is made, which nobody can draw without a limit."""
FOR_TEXT = {"text_input", "text_area", "chat_input", "data_editor"}


def boxes(source: str) -> list[str]:
    """Streamlit's boxes for text that a file names, however it comes by them."""
    return [
        name
        for node in ast.walk(ast.parse(source))
        if (name := getattr(node, "attr", None) or getattr(node, "name", None) or getattr(node, "value", None))
        in FOR_TEXT
    ]


def test_no_box_for_text_is_without_a_limit() -> None:
    """One message for a box that took any length was seconds of work, and stayed while its page was open."""
    named = {path for path in FILES if "dashboard" in path.parts and boxes(path.read_text(encoding="utf-8"))}
    assert named == {BOX, *REPLAYED}, "draw it by text_box of dashboard.widgets.inputs"
    for path in REPLAYED:
        assert sorted(boxes(path.read_text(encoding="utf-8"))) == ["text_area", "text_input"], "named, and not drawn"
    drawn = boxes(BOX.read_text(encoding="utf-8"))
    assert sorted(drawn) == ["text_area", "text_input"]
    assert inspect.signature(text_box).parameters["most"].default is inspect.Parameter.empty


@pytest.mark.parametrize(
    "wrong",
    [
        'st.text_input("Find", key="x")',
        'st.text_area("Options", max_chars=None)',
        'column.text_input("Name")',
        "draw = st.text_area if lines else other",
        "from streamlit import chat_input as asked",
        'getattr(st, "data_editor")(table)',
    ],
)
def test_a_box_without_a_limit_is_found_out(wrong: str) -> None:
    assert boxes(wrong)


def bound(source: str) -> list[str]:
    """Calls that leave it to Streamlit what a widget writes into the address; a text's own places are no such thing."""
    return [
        ast.unparse(node.func)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", "") != "format"
        and (
            any(word.arg == "bind" for word in node.keywords)
            or any(isinstance(key, ast.Constant) and key.value == "bind" for key in _names(node))
        )
    ]


def _names(call: ast.Call) -> list[ast.expr | None]:
    """The keys of dictionaries that are handed over."""
    given = [*call.args, *(word.value for word in call.keywords)]
    return [key for one in given if isinstance(one, ast.Dict) for key in one.keys]


def test_no_widget_writes_the_address_itself() -> None:
    """Streamlit lets no code go to another page while the address says what such a widget is set to. A control of
    ours is in the link by ``session.write_link``."""
    texts = {path: path.read_text(encoding="utf-8") for path in FILES if "dashboard" in path.parts}
    assert {path: calls for path, text in texts.items() if (calls := bound(text))} == {}


@pytest.mark.parametrize(
    "wrong", ['st.radio("x", [1], bind="query-params")', 'st.radio("x", **{"bind": how})', 'left.pills("x", bind=how)']
)
def test_a_widget_that_does_is_found_out(wrong: str) -> None:
    assert len(bound(wrong)) == 1


def slots(source: str) -> bool:
    """Whether a file makes a slot of the session."""
    named = (getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(ast.parse(source)))
    return "Slot" in named


def test_no_script_makes_a_slot() -> None:
    """A page's script runs anew for every visitor and each click: what it registers stays, and holds all of that run,
    the person's file too. Slots are made in modules, once."""
    scripts = [*ROOT.glob("dashboard/app_pages/*.py"), *ROOT.glob("dashboard/questions/*/page.py"), SCRIPT]
    assert len(scripts) > 8
    assert [path.name for path in scripts if slots(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    "wrong", ['HOME = session.Slot("home", str)', "from dashboard.session import Slot; Slot('x', int)"]
)
def test_a_script_that_makes_one_is_found_out(wrong: str) -> None:
    assert slots(wrong)


def unused(texts: Mapping[Path, str], everywhere: str) -> set[str]:
    """Names that a module of the dashboard gives to a function or a value and that stand nowhere else."""
    counted = Counter(re.findall(r"\w+", everywhere))
    found = set()
    for text in texts.values():
        for node in ast.parse(text).body:
            match node:
                case ast.FunctionDef(name=name, decorator_list=[]) | ast.AnnAssign(target=ast.Name(id=name)):
                    found.add(name)
                case ast.Assign(targets=targets):
                    found |= {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    return {name for name in found if counted[name] == 1}


def test_nothing_in_the_dashboard_is_left_behind() -> None:
    """A sentence that no page says, an older link's words that no control reads any more."""
    texts = {path: path.read_text(encoding="utf-8") for path in FILES if "dashboard" in path.parts}
    others = [*FILES, *ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/**/*.py"), *ROOT.glob("dashboard/**/*.js")]
    assert unused(texts, "\n".join(path.read_text(encoding="utf-8") for path in others)) == set()


@pytest.mark.parametrize(
    "wrong", ['LEFT = "said nowhere"', "LEFT: int = 1", "def LEFT() -> None: ...", "USED, LEFT = 1, USED"]
)
def test_what_is_left_behind_is_found_out(wrong: str) -> None:
    assert unused({ROOT: wrong}, wrong) >= {"LEFT"}
    assert not unused({ROOT: wrong}, f"{wrong}\nprint(LEFT)") & {"LEFT"}


def test_pages_stay_short() -> None:
    for path in ROOT.glob("dashboard/app_pages/*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 150, f"{path.name} is longer than 150 lines"


def reachable(start: str) -> set[Path]:
    """Files of dpcore that importing ``start`` may load, followed through every import statement."""
    by_name = {module_name(path): path for path in FILES}
    queue, seen = deque([start]), set[str]()
    while queue:
        name = queue.popleft()
        while name and name not in by_name:
            name = name.rpartition(".")[0]
        if not name or name in seen:
            continue
        seen.add(name)
        queue.extend(found for found in imports(by_name[name]) if inside(found, "dpcore"))
    return {by_name[name] for name in seen}


def test_the_release_path_reaches_no_simulation_randomness() -> None:
    """Annotations may name np.random.Generator; nothing reachable may import or construct one."""
    starts = ["dpcore.release", *(module_name(path) for path in ROOT.glob("dpcore/releases/*.py"))]
    files = set().union(*(reachable(start) for start in starts))
    assert files, "the release path was not found"
    for path in files:
        for name in imports(path):
            assert not inside(name, "numpy.random", "random"), f"{path.relative_to(ROOT)} imports {name}"
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "random" in text else ():
            if isinstance(node, ast.Attribute) and ast.unparse(node).endswith(
                ("random.default_rng", "random.SFC64", "random.PCG64", "random.RandomState", "random.seed")
            ):
                pytest.fail(f"{path.relative_to(ROOT)}:{node.lineno} draws from NumPy")


def test_importing_the_engine_stays_light() -> None:
    code = (
        "import dpcore, dpcore.selection, dpcore.thresholding, dpcore.experts, dpcore.training, sys;"
        "print([m for m in ('sklearn', 'streamlit', 'plotly', 'dp_accounting', 'duckdb') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


def files_taken_on_trust(source: str) -> list[str]:
    """Functions that read what a browser brought without asking whether it did: a message may name any file."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            text = ast.unparse(node)
            asked = "UploadedFile)" in text or "UploadedFile," in text.partition("->")[0]
            if ("session.entered(" in text and ".getvalue(" in text) and not asked:
                found.append(node.name)
    return found


def test_no_file_is_taken_on_trust() -> None:
    """Streamlit hands a page an object without bytes for a file that is not there."""
    for path in (ROOT / "dashboard").rglob("*.py"):
        assert files_taken_on_trust(path.read_text(encoding="utf-8")) == [], path
    wrong = "def brought(place):\n    file = session.entered(place, None)\n    return file and file.getvalue()"
    assert files_taken_on_trust(wrong) == ["brought"]


TABLES = ROOT / "dashboard/widgets/tables.py"
"""Where the one table is drawn whose cells Streamlit reads as Markdown."""


def markdown_tables(source: str) -> list[str]:
    """Streamlit's tables that a file draws, however it comes by them; tables of data have nothing of what it takes."""
    drawn = {"alt", "border", "hide_index", "hide_header"}
    return [
        ast.unparse(node)
        for node in ast.walk(ast.parse(source))
        if (isinstance(node, ast.Attribute) and ast.unparse(node) == "st.table")
        or (isinstance(node, ast.ImportFrom) and node.module == "streamlit" and "table" in {n.name for n in node.names})
        or (isinstance(node, ast.Constant) and node.value == "table" and "getattr" in source)
        or (
            isinstance(node, ast.Call)
            and getattr(node.func, "attr", "") == "table"
            and drawn & {keyword.arg for keyword in node.keywords}
        )
    ]


def test_only_one_place_draws_a_table_whose_cells_are_markdown() -> None:
    """Scenarios of a link were links in one, to anywhere."""
    found = {path for path in FILES if "dashboard" in path.parts and markdown_tables(path.read_text(encoding="utf-8"))}
    assert found == {TABLES}, "draw it by show_table of dashboard.widgets.tables"


@pytest.mark.parametrize(
    "wrong",
    [
        "st.table(rows)",
        "draw = st.table",
        'left.table(frame, alt="a")',
        "from streamlit import table as listed",
        'getattr(st, "table")(rows)',
    ],
)
def test_a_table_of_markdown_is_found_out(wrong: str) -> None:
    assert markdown_tables(wrong)


def tables_as_they_are(source: str) -> list[str]:
    """What is handed to ``st.dataframe``, whose corner saves it as CSV, without ``safe_cells`` around it."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    tables = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "dataframe"]
    return [text for call in tables if "safe_cells(" not in (text := ast.unparse(call.args[0]))]


def test_no_table_that_can_be_saved_holds_a_formula_that_somebody_else_wrote() -> None:
    """A reason, or a budget's name, was one in the file that an auditor saved. Of their own file people see each cell
    as it stands there."""
    found = {
        (str(path.relative_to(ROOT)), text)
        for path in (ROOT / "dashboard").rglob("*.py")
        for text in tables_as_they_are(path.read_text(encoding="utf-8"))
    }
    assert found == {("dashboard/data/understood.py", "shown")}
    assert tables_as_they_are("st.dataframe(pd.DataFrame(rows), alt='a')") == ["pd.DataFrame(rows)"]
