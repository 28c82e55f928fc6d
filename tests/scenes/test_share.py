"""What a link is made of, and what it never carries."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.catalogue import address
from dashboard.scenes.address import Address
from dashboard.scenes.held import MAKING
from dashboard.scenes.share import code, frame, joined
from dashboard.scenes.tour import made
from dashboard.words.scenes import CLOSE_FIRST, OWN_DATA
from tests.dashboard.conftest import text
from tests.dashboard.test_data_page import drop, look


@pytest.mark.parametrize(
    ("url", "page", "link"),
    [
        ("http://localhost:8501/selection", "selection", "http://localhost:8501/experts?epsilon=1"),
        ("https://example.org/lab/selection", "selection", "https://example.org/lab/experts?epsilon=1"),
        ("https://example.org/lab/", "start", "https://example.org/lab/experts?epsilon=1"),
        ("https://example.org", "start", "https://example.org/experts?epsilon=1"),
        ("", "start", "experts?epsilon=1"),
    ],
)
def test_a_link_names_the_server_as_the_browser_knows_it(url: str, page: str, link: str) -> None:
    assert joined(url, page, Address("experts", (("epsilon", "1"),))) == link


def test_the_code_is_a_picture_made_here() -> None:
    made = code("https://example.org/selection?epsilon=0.1")
    assert made.startswith(b"\x89PNG")
    assert made != code("https://example.org/selection?epsilon=0.2")


def test_a_frame_is_one_safe_element() -> None:
    made = frame('https://example.org/selection?a="><script>', "A “title” <b>&")
    assert len(re.findall(r"<\w+", made)) == 1
    source = re.search(r'src="([^"]*)"', made)
    assert source is not None
    assert html.unescape(source[1]).endswith('a="><script>&embed=true')


def test_the_link_of_a_page_is_what_differs_from_its_defaults(open_app: Callable[..., AppTest]) -> None:
    app = open_app("selection", epsilon="0.2", tour="five_minutes", scene="1")
    app.button(key="share").click().run()
    links = [block.value for block in app.code]
    assert links[0].endswith("selection?epsilon=0.2")
    assert "tour" not in links[0]
    assert "It never carries data of your own" in text(app)


def test_a_link_about_ones_own_file_carries_none_of_its_words(open_app: Callable[..., AppTest]) -> None:
    """What is set about columns of a person's own file stays in the session; a scene says which file it wants."""
    rows = "".join(f"{place};{'geheim' if place % 3 else 'offen'}\n" for place in range(300))
    app = look(drop(open_app("data"), f"nr;Zustand\n{rows}".encode()))
    app.button(key="own-selection-0").click().run()
    app.switch_page(address("selection")).run()
    assert "Zustand" in {box.value for box in app.selectbox}
    app.button(key="share").click().run()
    link = app.code[0].value
    assert link.endswith("selection?data=own")
    assert OWN_DATA in text(app)
    app.button(key="FormSubmitter:add-to-deck-Add this view to your deck").click().run()
    saved = made(app.session_state[MAKING._name]).written()
    assert "wants" in saved
    assert not re.search("geheim|offen|Zustand|300", saved)


def test_what_is_open_on_a_page_stays_where_share_is_clicked_at_once(
    open_app: Callable[..., AppTest], ledger_file: object
) -> None:
    """Streamlit opens one dialog in a run: the second was an error, below a page that stayed broken."""
    app = open_app("selection", selection_open="release")
    app.button(key="selection-begin").click().run()
    assert "selection-confirm" in {button.key for button in app.button}
    app.button(key="share").click().run()
    assert not app.exception
    assert [toast.value for toast in app.toast] == [CLOSE_FIRST]
    assert "selection-confirm" in {button.key for button in app.button}
