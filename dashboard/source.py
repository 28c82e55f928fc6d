"""The data a person is looking at, and what may be done with them.

Three modes, never mixed: *demo* (a sample: truth and private answers side by side), *what_if* (a person's own file
after an explicit confirmation) and *twin* (simulated rows; the file's values are never read). A release is an action
within demo (practice) or on a person's own file, and is the only thing that costs budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import streamlit as st

from dashboard import compute, session
from dpcore.datasets import Table, sample, samples
from dpcore.errors import UnavailableSample

Mode = Literal["demo", "what_if", "twin"]

FIRST_SAMPLE = "clinic"
OWN = "own"
MARK = "Not private: for your eyes only. Do not publish these charts."
TWIN_MARK = "Simulated from what you declared: the file's values were not read."
BADGES = {
    "demo": (":material/science:", "Demo: sample data, truth shown", "blue"),
    "what_if": (":material/visibility:", "What-if: your file, not private", "orange"),
    "twin": (":material/copy_all:", "Twin: simulated, file not read", "green"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Current data. ``lineage`` names the people whose budget a release spends, or is None until it is declared."""

    key: str
    title: str
    mode: Mode
    table: Table
    lineage: str | None
    practice: bool

    @property
    def mark(self) -> str | None:
        """What every chart and export of this data carries."""
        return {"what_if": MARK, "twin": TWIN_MARK}.get(self.mode)

    @property
    def simulated(self) -> bool:
        return self.mode == "twin"


def current() -> Source | None:
    """The data in use, or None when a person's own file still waits for a decision on the Data page."""
    own: Source | None = session.get("_own_source", None)
    if session.get("data", FIRST_SAMPLE) == OWN:
        return own
    key = sample_key()
    try:
        table = compute.sample(key)
    except UnavailableSample as error:
        session.say("data", f"{error} Showing {sample(FIRST_SAMPLE).title} instead.")
        key = FIRST_SAMPLE
        table = compute.sample(key)
    return Source(
        key=key,
        title=sample(key).title,
        mode="demo",
        table=table,
        lineage=table.lineage,
        practice=True,
    )


def sample_key() -> str:
    key = str(session.get("data", FIRST_SAMPLE))
    return key if any(known.key == key for known in samples()) else FIRST_SAMPLE


def title(key: str) -> str:
    """The name of a sample, or of the person's own file."""
    return session.get("_own_name", "Your file") if key == OWN else sample(key).title


def badge(mode: Mode) -> None:
    icon, text, colour = BADGES[mode]
    st.badge(text, icon=icon, color=colour)
