"""Keys of controls that are named by what they are about."""

from __future__ import annotations

import re

from streamlit.testing.v1 import AppTest

HOLD = (
    "checkbox", "toggle", "selectbox", "multiselect", "radio", "number_input", "text_input", "text_area",
    "segmented_control", "select_slider", "slider", "date_input",
)  # fmt: skip
"""Controls that hold something; a button holds nothing."""


def keys(app: AppTest, *kinds: str) -> list[str]:
    """The keys of controls on the page, in no order."""
    return [str(one.key) for kind in kinds or (*HOLD, "button") for one in getattr(app, kind) if one.key]


def key_of(app: AppTest, start: str, end: str = "") -> str:
    """The one key on the page that begins and ends so."""
    (found,) = [one for one in keys(app) if one.startswith(start) and one.endswith(end)]
    return found


def about(app: AppTest, key: str) -> str:
    """This key, as it is called for the table that the page holds now (``naming.about``)."""
    (found,) = [one for one in keys(app) if re.fullmatch(rf"{re.escape(key)}(-of-\d+)?", one)]
    return found
