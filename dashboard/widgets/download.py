"""The one button on any page that gives a file.

What a page hands over ready-made lies under an address that answers whoever has it, without a login, also after the
log-out, until that page has run twice more. So a file is made when it is clicked, for who is here then
(``operations``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dashboard.background import compute
from dashboard.data import source
from dashboard.people import login
from dpcore.errors import NotAllowed


def download(
    label: str,
    make: Callable[[], bytes | str],
    name: str,
    mime: str,
    *,
    key: str | None = None,
    icon: str | None = ":material/download:",
    **look: Any,
) -> None:
    """A button that gives the file ``name``, which ``make`` makes in a thread of no page.

    A click runs no page: one would offer the file anew, and take back what the click asks for. Raises TypeError for a
    file that is made already.
    """
    if not callable(make):
        raise TypeError("a file is made when it is clicked: hand over what makes it")
    st.download_button(label, _beside_own_file(make), name, mime, key=key, icon=icon, on_click="ignore", **look)


def _beside_own_file(make: Callable[[], bytes | str]) -> Callable[[], bytes | str]:
    """``make``; on a page whose person holds a file of their own, of which it may tell, one that raises LedgerError
    where they may hold none any more, or that cannot be read. The page lets go of it when it is drawn next."""
    person = login.person()  # a click has no page that says who asks
    if person is None or source.own_file() is None:
        return make

    def made() -> bytes | str:
        if why := compute.no_files_of(person):
            raise NotAllowed(why)
        return make()

    return made
