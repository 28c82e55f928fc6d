"""A text is never more than a text in a report's Python: whatever a deck, a table, a column or an option is called.

Every form of a report is made of such names; its script and notebook must then hold the statements that they hold of
plain names, and no other. Somebody else wrote the deck, or the file.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from dashboard.case import Source
from dashboard.report import notebook as written
from dashboard.report import recipe
from dashboard.report.of_deck import Told
from dashboard.report.render import MIMES, rendered
from dashboard.report.value import Report, Section
from dashboard.scenes.address import Address
from dashboard.scenes.deck import DeckMistakes, Scene, bundled, legible, read_deck
from dpcore.datasets import Column, Declaration, LeaveOutTotals, ReadAsMissing, Relation, Schema, SplitOptions, twin
from tests.report.made import of_scene, own_source, report, section, visits
from tests.scenes.test_deck import deck_of

ENDS = ("\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\x00", "\u202e")
HALF = "\ud800"  # of a character: no table can hold it, but a deck of JSON could
CODE = "import os; PWNED = 1"
QUOTES = "''' \"\"\" ' \" \\ {x} # -*- coding: unicode_escape -*- \\u000a"
HOSTILE = "a" + "".join(f"{end}{CODE} # " for end in ENDS) + QUOTES
CODED = "coding: unicode_escape \\u000aPWNED = 1"
"""In the first comment it would have Python read all that follows with other line ends."""
Name = Callable[[str], str]


def plain(name: str) -> str:
    return name


def hostile(name: str) -> str:
    return f"{HOSTILE} {name}"


def own(name: Name) -> tuple[Source, str]:
    """A table whose columns and options have such names, and Python that makes it."""
    schema = Schema(
        columns=(
            Column(name=name("complaint"), type="category", categories=(name("ache"), name("cough")), unit=name("u")),
            Column(name=name("age"), type="integer", low=0.0, high=100.0, missing_words=("", name("none"))),
        ),
        unit=name("visitor"),
    )
    table = twin(schema, rows=60, rng=np.random.Generator(np.random.PCG64(3)))
    source = Source(
        key="own-456",
        title=name("visits.csv"),
        mode="twin",
        table=table,
        lineage=None,
        practice=False,
        declared=Declaration.of(schema),
        rows=None,
    )
    related = (Relation(target=name("complaint"), driver=name("age"), share=0.4),)
    return source, recipe.of_twin(source, rows=60, seed=3, relations=related)


def made(name: Name) -> Report:
    """A question about such a table, a scene of a deck with such texts, and a file with steps about such columns."""
    source, data = own(name)
    steps = (
        LeaveOutTotals(column=name("a")),
        ReadAsMissing(column=name("a"), word=name("w")),
        SplitOptions(column=name("a"), options=(name("o"),)),
    )
    file, _ = own_source(visits())
    of_file = recipe.of_file(file, name=name("visits.csv"), choices={"part": name("sheet")}, steps=steps)
    scene = Scene(title=name("One"), sentence=name("Look."), notes=name("n"), address=Address.of("selection?epsilon=1"))
    told = of_scene(None, Told(number=1, scene=scene, delta=1e-6))
    assert isinstance(told, Section)
    sections = (
        replace(section("selection", "most_common", source, data), title=name("Mine")),
        told,
        replace(told, code=of_file, title=name("File"), numbers=((name("what"), 0.5),)),
    )
    return report(*sections, title=name("Report"), author=name("Me"))


def statements(code: bytes | str) -> str:
    """The shape of Python without what its texts say."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
        if isinstance(node, ast.Call):  # by their names, which an order of options may change
            node.keywords.sort(key=lambda one: str(one.arg))
    return ast.dump(tree)


def cells(form: bytes) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(form)["cells"] if cell["cell_type"] == "code"]


def injected(one: Report, other: Report) -> bool:
    """Whether the Python of one report has other statements than that of the other."""
    try:
        scripts = {statements(written.script(each)) for each in (one, other)}
        books = {tuple(map(statements, cells(written.notebook(each)))) for each in (one, other)}
    except (SyntaxError, ValueError):  # of a NUL earlier versions of Python say the latter
        return True
    return len(scripts) > 1 or len(books) > 1


@pytest.fixture(scope="module")
def reports() -> tuple[Report, Report]:
    return made(plain), made(hostile)


def test_no_text_becomes_a_statement(reports: tuple[Report, Report]) -> None:
    assert not injected(*reports)
    code = written.script(reports[1]).decode()
    assert "PWNED" in code, "the texts are told all the same"
    for line in code.splitlines():
        assert line.isprintable(), "one line each, of what is seen"
    top = {type(node) for node in ast.parse(code).body}
    assert top <= {ast.ImportFrom, ast.Assign, ast.Expr}
    calls = [node.value for node in ast.parse(code).body if isinstance(node, ast.Expr)]
    assert {ast.unparse(call.func) for call in calls if isinstance(call, ast.Call)} == {"compare"}


@pytest.mark.parametrize("form", MIMES)
def test_every_form_is_made_of_such_texts(form: str, reports: tuple[Report, Report]) -> None:
    assert rendered(reports[1], form)[1]


def test_no_title_says_how_the_script_is_decoded(reports: tuple[Report, Report]) -> None:
    coded = replace(reports[0], title=CODED, sections=tuple(replace(one, title=CODED) for one in reports[0].sections))
    assert not injected(coded, reports[0])


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\x00", HALF])
def test_these_tests_can_fail(end: str, reports: tuple[Report, Report], monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: a title stood in a comment as it came, and the first comment was a title."""
    monkeypatch.setattr(written, "visible", lambda text, limit: text)
    evil = replace(reports[0].sections[0], title=f"Ages{end}{CODE}")
    assert injected(replace(reports[0], sections=(evil,)), replace(reports[0], sections=reports[0].sections[:1]))
    monkeypatch.setattr(written, "CODING", "#")
    monkeypatch.setattr(written.said, "script_head", lambda title, mark: title)
    assert injected(replace(reports[0], title=CODED), reports[0])


# -- decks -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [HALF, *(end for end in ENDS if end != "\n")])
def test_a_deck_has_texts_of_one_line_that_is_seen(end: str) -> None:
    fields = {"title": "One", "sentence": "Look.", "address": "selection?epsilon=0.1", "notes": "n", "wants": "w"}
    for name in ("title", "sentence", "notes", "wants", "try"):
        with pytest.raises(DeckMistakes, match=f"has a “{name}” with signs that nobody sees"):
            read_deck(deck_of({**fields, name: f"a{end}b"}))
    for name in ("title", "about"):
        with pytest.raises(DeckMistakes, match="with signs that nobody sees"):
            read_deck(deck_of(**{name: f"a{end}b"}))


def test_notes_have_lines_and_texts_any_script() -> None:
    fields = {"title": "« Qui\u00a0? » می‌خواهم 👩‍🏫", "sentence": "見る\u3000。", "address": "selection?epsilon=0.1"}
    (scene,) = read_deck(deck_of({**fields, "notes": "a\nb\tc"})).scenes
    assert (scene.title, scene.notes) == (fields["title"], "a\nb\tc")
    with pytest.raises(DeckMistakes, match="several lines"):
        read_deck(deck_of({**fields, "title": "a\nb"}))


def test_what_is_typed_or_pasted_opens_again() -> None:
    deck = next(iter(bundled().values()))
    names = ("title", "sentence", "notes", "wants")
    typed = [deck.scenes[0].said(name, legible(f"{HALF}{HOSTILE}"[:80], name)) for name in names]
    assert read_deck(replace(deck, scenes=tuple(typed)).written()).scenes == tuple(typed)
