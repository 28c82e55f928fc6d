"""Headings and cells of a file are data: no control label, tab, chart title or sentence renders what is in them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from google.protobuf.message import Message
from streamlit.testing.v1 import AppTest

from dashboard import catalogue, words
from dashboard.case import OWN
from tests.dashboard.test_data_page import drop, held, look, waited

Open = Callable[..., AppTest]
NAMES = (":material/pets:", "**bold**", "![p](http://q.r/x.png)", ":red[ink]", "<img src=x>", "`code` $x^2$")
MARKUP = re.compile(
    r"(?<!\\):material/pets|(?<!\\)\*\*bold|(?<!\\)!\[p|\[p\]\(http|(?<!\\):red(?<!\\)\[ink|<img|(?<!\\)`code|(?<!\\)\$x"
)
RENDERED = {"label", "body", "help", "content", "caption", "title", "content_help", "captions"}
OPTIONS = {"radio", "button_group", "pills", "segmented_control"}
"""Kinds of widgets whose options are read as Markdown; those of lists are plain text."""


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


def nodes(node: Any) -> Iterator[Any]:
    yield node
    for child in getattr(node, "children", {}).values():
        yield from nodes(child)


def strings(message: Message, *, options: bool) -> Iterator[str]:
    """Every text of an element that is read as Markdown."""
    for field, found in message.ListFields():
        many = found if not isinstance(found, (str, bytes, int, float, Message)) else [found]
        for one in many:
            if isinstance(one, Message):
                yield from strings(one, options=options)
            elif isinstance(one, str) and (field.name in RENDERED or (options and field.name == "options")):
                yield one


def rendered(app: AppTest) -> list[str]:
    """What of the page would be rendered as markup of the file's own."""
    found: list[str] = []
    for node in nodes(app._tree):
        proto = getattr(node, "proto", None)
        if not isinstance(proto, Message):
            continue
        kind = str(getattr(node, "type", ""))
        if kind == "plotly_chart":
            found += [text for text in _texts(json.loads(proto.spec)) if "<img" in text]
            continue
        found += [text for text in strings(proto, options=kind in OPTIONS) if MARKUP.search(text)]
    return found


def _texts(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict | list):
        for each in part.values() if isinstance(part, dict) else part:
            yield from _texts(each)


@pytest.mark.parametrize("name", NAMES)
def test_the_search_finds_what_is_not_escaped(name: str) -> None:
    assert MARKUP.search(f"Number of {name}")
    assert not MARKUP.search(f"Number of {words.safe(name)}")


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
