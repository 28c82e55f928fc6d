"""The data a person is looking at, and what may be done with them.

Three modes, never mixed: *demo* (a sample: truth and private answers side by side), *what_if* (a person's own file
after an explicit confirmation) and *twin* (rows simulated from a declaration, which never uses a file's values). A
release is an action within demo (practice) or on a person's own file, and is the only thing that costs budget.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from dashboard import compute, session
from dashboard.own_file import OwnFile
from dashboard.typed_columns import TypedColumns
from dashboard.words import visible
from dpcore.datasets import Schema, Table, sample, samples
from dpcore.errors import UnavailableSample

Mode = Literal["demo", "what_if", "twin"]

FIRST_SAMPLE = "clinic"
OWN = "own"
TASK = "_own_task"
MARK = "Not private: for your eyes only. Do not publish these charts."
TWIN_MARK = "Simulated from what you declared. No row of a file was used."
BADGES = {
    "demo": (":material/science:", "Demo: sample data, truth shown", "blue"),
    "what_if": (":material/visibility:", "What-if: your file, not private", "orange"),
    "twin": (":material/copy_all:", "Twin: simulated rows, not the file's", "green"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Current data. ``lineage`` names the people whose budget a release spends, or is None until it is declared.

    ``table`` is what charts are computed from. A release is made from ``released()``, which holds the columns of
    ``declared`` and nothing read from a file's values; None where nothing can be released, as ``unreleased`` says.
    """

    key: str
    title: str
    mode: Mode
    table: Table
    lineage: str | None
    practice: bool
    declared: Schema | None = None
    released: Callable[[], Table] | None = None
    unreleased: str = ""

    @property
    def mark(self) -> str | None:
        """What every chart and export of this data carries."""
        return {"what_if": MARK, "twin": TWIN_MARK}.get(self.mode)

    @property
    def simulated(self) -> bool:
        return self.mode == "twin"

    def obstacle(self, *columns: str) -> str | None:
        """Why no private answer about these columns can be released, in one sentence; None when one can."""
        if self.released is None or self.declared is None:
            return self.unreleased
        for name in columns:
            shown = f"“{visible(name)}”"
            if name not in self.declared.names or not self.declared.column(name).bounded:
                return f"Declare the bounds or options of {shown} on the Data page: a private answer needs them."
            column = self.declared.column(name)
            if self.declared.each_row == "option" and column.is_numeric and column.sensitivity is None:
                return f"Say on the Data page how far one person can move the scores in {shown}: a release needs it."
        return None


def current() -> Source | None:
    """The data in use, or None when a person's own file still waits for a decision on the Data page."""
    collect()
    own: Source | None = session.get("_own_source", None)
    if session.get("data", FIRST_SAMPLE) == OWN:
        return own
    key = sample_key()
    try:
        table = sample_table(key)
    except UnavailableSample as error:
        session.say("data", f"{error} Showing {sample(FIRST_SAMPLE).title} instead.")
        key = FIRST_SAMPLE
        table = sample_table(key)
    return Source(
        key=key,
        title=sample(key).title,
        mode="demo",
        table=table,
        lineage=table.lineage,
        practice=True,
        declared=table.schema,
        released=lambda: table,
    )


def sample_table(key: str) -> Table:
    """A sample; one that needs a file or a network only after this session has loaded it on the Data page.

    Raises UnavailableSample.
    """
    loaded: dict[str, Table] = session.get("_loaded_samples", {})
    if key in loaded:
        return loaded[key]
    if sample(key).needs_network:
        raise UnavailableSample("Load the census table on the Data page first: it is not part of this program.")
    return compute.sample(key)


def sample_key() -> str:
    key = str(session.get("data", FIRST_SAMPLE))
    return key if any(known.key == key for known in samples()) else FIRST_SAMPLE


def title(key: str) -> str:
    """The name of a sample; a person's own file has none here, because the names of choices show in the link."""
    return "Your own data" if key == OWN else sample(key).title


def not_here() -> str | None:
    """One sentence while the link this session began with is about data it does not have; call after the choice."""
    asked = session.get("_linked_data", "")
    settled = session.get("_own_name", None) or session.get("data", FIRST_SAMPLE) != FIRST_SAMPLE
    if not asked or settled or asked == title(FIRST_SAMPLE):
        session.put("_linked_data", "")
        return None
    if asked == title(OWN):
        return (
            "You see a sample: a file of your own is forgotten when its tab is closed or loaded anew, and links never "
            "carry it. Bring it again on the Data page; its budget and answers are kept."
        )
    return "You see a sample: the link names data that are not here. Pick others in the list."


def badge(mode: Mode) -> None:
    icon, text, colour = BADGES[mode]
    st.badge(text, icon=icon, color=colour)


def collect() -> bool:
    """Take over what was read or prepared for this session beside the page, once it is done; whether there was some."""
    task = session.get(TASK, None)
    if task is None or not task.finished:
        return False
    session.forget(TASK)
    finish: Callable[[], None] = session.get("_own_end", lambda: None)
    session.forget("_own_end")
    finish()
    return True


def own_file() -> OwnFile | None:
    """What this session holds of a person's own."""
    return session.get("_own_file", None)


def keep(own: OwnFile | None, table: Table | None = None) -> None:
    """Hold ``own`` in this session. The pages show ``table`` from now on; without one they go on as they were.

    A file without a use is not shown by any page.
    """
    shown: Source | None = session.get("_own_source", None)
    session.put("_own_file", own)
    session.put("_own_name", None if own is None else own.name)
    if own is None or own.use is None or (table is None and shown is None):
        session.put("_own_source", None)
        return
    session.put("_own_source", _own_source(own, shown.table if table is None and shown is not None else table))


def typed_columns(own: OwnFile) -> TypedColumns | None:
    """The session's typed columns of this reading; None for a table that is only described."""
    if own.reading is None:
        return None
    held: TypedColumns | None = session.get("_own_columns", None)
    if held is None or held.reading is not own.reading:
        held = TypedColumns(reading=own.reading)
        session.put("_own_columns", held)
    return held


def budget_opened(lineage: str | None) -> None:
    """After the budget of these people was opened: a later file about them is recognised by this one."""
    own = own_file()
    if own is not None and own.reading is not None and lineage is not None and own.lineage == lineage:
        ledger = compute.ledger()
        ledger.link(own.reading.fingerprint, lineage, own.marks(ledger.sketch_key))


def _own_source(own: OwnFile, table: Table | None) -> Source | None:
    if table is None or own.use is None:
        return None
    typed, declared = typed_columns(own), own.declared
    problem = own.unreleasable
    return Source(
        # A name of its own for every table, so that nothing edited on a page is carried over to another one.
        key=f"{OWN}-{hashlib.sha256(table.fingerprint.encode()).hexdigest()[:12]}",
        title=own.name,
        mode=own.use,
        table=table,
        lineage=None if own.described else own.lineage,
        practice=False,
        declared=None if problem else declared,
        released=None if problem or typed is None or declared is None else lambda: _released(typed, declared),
        unreleased=problem,
    )


def _released(typed: TypedColumns, declared: Schema) -> Table:
    """The declared columns of the file; that they were read for a release is noted once."""
    own, sentence = own_file(), "The declared columns were read to make a private answer from them."
    if own is not None and own.reading is typed.reading and all(entry.sentence != sentence for entry in own.log):
        session.put("_own_file", own.noted(sentence))
    return typed.table(declared, complete=False)
