"""Sharing the view in hand: its link with a QR code, a frame for other pages, and a place in a deck."""

from __future__ import annotations

import html
import io
from urllib.parse import urlsplit

import segno
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard import session
from dashboard.scenes import editor
from dashboard.scenes.address import APART, PART, Address
from dashboard.words import scenes as words

LONGEST_CODE = 1200
"""Characters of a link that a phone still reads from a screen."""
_FRAME_HEIGHT = 640
_LOCAL = ("localhost", "127.0.0.1", "[::1]", "::1")


def address(page: str) -> Address:
    """The address of the view in hand; complete once the page is drawn."""
    return Address(page, tuple(session.link(*APART, PART.key).items()))


def full_link(page: str) -> str:
    """The whole link to the view in hand, with the server's name as this browser knows it."""
    return joined(str(st.context.url or ""), page, address(page))


def joined(url: str, page: str, to: Address) -> str:
    """A link on the server of ``url``, which is the address of ``page``, to ``to``."""
    parts = urlsplit(url)
    base = parts.path.rstrip("/")
    base = base.removesuffix(f"/{page}") if page != "start" else base
    return f"{parts.scheme}://{parts.netloc}{base}/{to.text if to.text != '?' else ''}" if parts.netloc else to.text


def code(link: str) -> bytes:
    """The QR code of a link as a PNG with its quiet zone. Raises segno.DataOverflowError where it is long."""
    made = io.BytesIO()
    segno.make(link, error="m", micro=False).save(made, kind="png", scale=6, border=4)
    return made.getvalue()


def frame(link: str, title: str) -> str:
    """HTML that shows the view as one chart within another page."""
    inside = f"{link}{'&' if '?' in link else '?'}embed=true"
    return (
        f'<iframe src="{html.escape(inside)}" title="{html.escape(title)}" width="100%" height="{_FRAME_HEIGHT}" '
        'style="border:0" loading="lazy"></iframe>'
    )


def button(page: str, title: str, *, chart: bool) -> None:
    """The button of every page. ``title`` names the view; ``chart`` says whether it has one that can be embedded."""
    if not st.button(words.SHARE, icon=":material/share:", key="share", width="stretch"):
        return
    context = get_script_run_ctx()
    if context is not None and context.has_dialog_opened:  # Streamlit opens one in a run
        st.toast(words.CLOSE_FIRST, icon=":material/share:")
        return
    to, link = address(page), full_link(page)

    @st.dialog(words.SHARE_TITLE)
    def dialog() -> None:
        st.markdown(words.COPY)
        st.code(link, language=None, wrap_lines=True)
        if to.own:
            st.info(words.OWN_DATA)
        st.caption(words.CARRIES)
        if urlsplit(link).hostname in _LOCAL:
            st.caption(words.HERE)
        if len(link) <= LONGEST_CODE:
            st.image(code(link), caption=words.QR, width=240, alt=words.QR_ALT)
        else:
            st.caption(words.QR_LONG)
        if chart:
            with st.expander(words.EMBED):
                st.caption(words.EMBED_HELP)
                st.code(frame(link, title), language="html", wrap_lines=True)
        with st.expander(words.ADD, icon=":material/add_to_queue:"):
            editor.add(to, title, parts=chart)

    dialog()
