"""Where the data are to come from: the choice at the top of the Data page."""

from __future__ import annotations

import streamlit as st

from dashboard import session
from dashboard.controls import Choice
from dashboard.data import configured
from dashboard.data.own_file import OwnFile
from dashboard.widgets import controls
from dashboard.words import place as places

OWN_FILE, SOURCE, SAMPLES, DESCRIBED = "file", "source", "samples", "described"
FROM = {
    OWN_FILE: "Your own file",
    SOURCE: places.SOURCE,
    SAMPLES: "Samples",
    DESCRIBED: "No file: describe a table",
}
HOME: session.Slot[str] = session.Slot("_data_home", lambda: OWN_FILE, stays=True)
"""Where the data in hand are from."""


def home(own: OwnFile | None) -> str:
    """Where the data in hand are from; where there are none, a file is expected."""
    if own is None or not own.unseen:
        return OWN_FILE
    return DESCRIBED if own.described else SOURCE


def choose(here: str) -> str:
    """Draw the choice, and what is chosen, where the data in hand are from ``here``.

    Data that come from elsewhere than those before are in view at once; and data in hand are, whenever somebody comes
    to the page by another way than an address that says otherwise: back, or by a link.
    """
    came = session.entered("from", None) is None and "from" not in st.query_params
    if came or HOME.get() != here:
        HOME.put(here)
        session.unset("from")
    control = Choice(
        key="from",
        label="Where the data come from",
        options=tuple(one for one in FROM if one != SOURCE or configured.offered()),
        names=FROM,
        default=here,
        look="buttons",
        hide_label=True,
    )
    controls.draw(control)
    return session.ask(control)
