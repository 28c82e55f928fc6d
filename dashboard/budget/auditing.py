"""Every record of the ledger, for an auditor: shown, downloaded, and checked."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard import session, words
from dashboard.background import compute
from dashboard.budget import tracker
from dashboard.widgets.download import download
from dashboard.widgets.tables import show_table
from dashboard.words import login as said
from dpcore.datasets.text import safe_cells
from dpcore.errors import DpcoreError, LedgerUnsound
from dpcore.ledger.export import records_to_lines
from dpcore.ledger.records import Record
from dpcore.ledger.roles import PEOPLE
from dpcore.ledger.words import STRAYED

_NOTE = "auditing"
SHOWN = 300
_WHO = ("subject", "by", "owner")


def show_records() -> None:
    """The newest records as a table, all of them as a file, and the ledger's own checks at a click."""
    try:
        ledger = compute.ledger()
        found, names = ledger.records(), {budget.lineage: budget.name for budget in ledger.budgets()}
        roles = ledger.roles()
    except DpcoreError as error:
        st.error(words.reason(error), icon=":material/lock:")
        return
    st.markdown(f"**{words.plural(len(found), 'record')}** in the ledger, each with the hash of the one before it.")
    with st.container(horizontal=True):
        download(
            "All records (JSON lines)",
            lambda: records_to_lines(ledger.records()),
            "records.jsonl",
            "application/jsonl",
            key="records-file",
        )
        st.button("Check all of it now", icon=":material/verified:", key="records-check", on_click=_verify)
    told = session.note(_NOTE)
    if told:
        st.info(told)
    st.dataframe(
        safe_cells(pd.DataFrame([_row(record, names) for record in reversed(found[-SHOWN:])])),
        hide_index=True,
        alt="The newest records with their time, kind, people and who did it",
    )
    if len(found) > SHOWN:
        st.caption(f"The newest {SHOWN} of {len(found):,}; the file holds all of them.")
    if roles:
        st.markdown("**Roles that this ledger gives**")
        show_table(
            {subject: said.who(held) for subject, held in roles.items()},
            alt="Persons with the roles that the ledger gives them",
        )


def _row(record: Record, names: dict[str, str]) -> dict[str, Any]:
    body = record.content
    if record.lineage.startswith(PEOPLE):
        about = said.who_is(record.lineage.removeprefix(PEOPLE), 80)
    else:
        about = words.visible(names.get(record.lineage, record.lineage), 80)
    if record.kind in ("grant", "refuse", "share"):
        who = str(body.get("by", ""))
    else:
        who = next((str(body[name]) for name in _WHO if body.get(name)), "")
    return {
        "Number": record.seq,
        "Time (UTC)": record.time[:19].replace("T", " "),
        "Kind": record.kind,
        "About": about,
        "By": said.who_is(who, 120),
        "What": _what(record.kind, body),
        "Hash": record.hash[:12],
    }


def _what(kind: str, body: dict[str, Any]) -> str:
    """What a record says, in a few words."""
    if kind == "role":
        return said.who(body["roles"])
    if kind == "share":
        return f"{said.who_is(str(body['subject']), 120)}: {said.LEVELS[body['level']]}"
    if kind == "limit":
        return "no limit" if body["epsilon"] is None else f"ε = {words.amount(body['epsilon'])} for one person alone"
    if kind in said.COMPARED:
        return said.COMPARED[kind]
    if body.get("withdrawn"):
        return "withdrawn by who asked"
    return words.visible(next((str(body[name]) for name in ("what", "because", "name") if body.get(name)), ""), 200)


def _verify() -> None:
    """Callback: file, safeguards, chain, sums and journal."""
    try:
        found = compute.ledger().verify()
    except DpcoreError as error:
        if isinstance(error, LedgerUnsound):
            tracker.reopen()
        session.say(_NOTE, words.reason(error))
        return
    strayed = f" {STRAYED.format(f'{found.strayed:,}')}" if found.strayed else ""
    told = f"Sound: {found.seq:,} records, {found.charges:,} charges, and the journal says the same."
    session.say(_NOTE, told + strayed)
