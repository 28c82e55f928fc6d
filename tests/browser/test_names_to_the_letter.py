"""What somebody else named is read to the letter: nothing in it is an icon, a colour, a badge or another sign."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import BrowserContext, expect

from dpcore.datasets.text import UNSEEN
from tests.browser.server import running
from tests.datasets.test_text import ACTING

NAMES = (*ACTING, *(f"a {name} b" for name in ACTING), *(f"{name}:" for name in ACTING))
SHOWN = """
import json
import streamlit as st
from dashboard import words
for name in json.loads({names!r}):
    st.markdown("says " + words.safe(name))
    st.warning(words.reason("says " + name + "."))
    st.button("says " + words.safe(name), key=name)
    st.caption("says " + name)
"""
TEXTS = "[data-testid=stMarkdownContainer], [data-testid=stCaptionContainer]"
LOOK = """all => all.map(each => [
  each.innerText.trim(), each.querySelectorAll('a, img, span, em, del, code, sub, sup, [role=img]').length])"""


def test_a_name_is_read_to_the_letter(context: BrowserContext, tmp_path: Path) -> None:
    script = tmp_path / "shown.py"
    script.write_text(SHOWN.format(names=json.dumps(NAMES)), encoding="utf-8")
    with running(tmp_path, script) as address:
        page = context.new_page()
        page.goto(address)
        expect(page.locator(TEXTS)).to_have_count(4 * len(NAMES))
        found = [(text.replace(UNSEEN, ""), parts) for text, parts in page.locator(TEXTS).evaluate_all(LOOK)]
        page.close()
    as_it_stands = 0
    for at, name in enumerate(NAMES):
        text, sentence, button, raw = found[4 * at : 4 * at + 4]
        assert text == button == (f"says {name}", 0)
        assert sentence == (f"Says {name}.", 0)
        as_it_stands += raw == text
    assert as_it_stands < len(NAMES) / 2, "else this would show nothing"
