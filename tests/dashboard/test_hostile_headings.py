"""Headings and cells of a file are data: no control label, tab, chart title or sentence renders what is in them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from benchmarks.audit.server import MARKUP, NAMES, rendered
from dashboard import catalogue, words
from dashboard.case import OWN
from tests.dashboard.test_data_page import drop, held, look, waited

Open = Callable[..., AppTest]


def records() -> bytes:
    head = ";".join(NAMES)
    rows = [
        f"{NAMES[n % 3]};{n % 7};{('yes', 'no')[n % 2]};{20 + n % 30};{1.5 * n};2024-01-{1 + n % 28:02}"
        for n in range(90)
    ]
    return "\n".join([head, *rows]).encode()


def steps() -> bytes:
    rows = [f"{n % 2};{n % 3};{n % 5};{n % 7};{n % 11};{n % 13}" for n in range(60)]
    return "\n".join([";".join(NAMES), *rows]).encode()


@pytest.mark.parametrize("name", NAMES)
def test_the_search_finds_what_is_not_escaped(name: str) -> None:
    assert MARKUP.search(f"Number of {name}")
    assert not MARKUP.search(f"Number of {words.safe(name)}")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("page", "data"),
    [("data", records()), *((page.key, steps() if page.key == "experts" else records()) for page in catalogue.pages())],
)
def test_no_page_renders_a_heading(open_app: Open, page: str, data: bytes) -> None:
    """Every way to ask of the file's columns, with every tab that is drawn at once."""
    app = drop(open_app("data"), data, name="**bold** :material/pets:.csv")
    if page == "experts":
        app.get_by_key(f"own-each-row-{held(app).schema.each_row}").set_value("step").run()
    look(app)
    assert rendered(app) == []
    if page == "data":
        for name in held(app).schema.names:
            app.selectbox(key="own-column").set_value(name).run()
            assert rendered(app) == [], name
        return
    asked = [str(button.key) for button in app.button if str(button.key).startswith(f"own-{page}-")]
    assert asked
    for key in asked:
        app.button(key=key).click().run()
        waited(app)
        assert app.selectbox(key="data").value == OWN
        assert rendered(app) == [], key
        app.switch_page("app_pages/data.py").run()
