"""Every charge as a row, the receipt of the one that is picked, and the ledger as files."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import session, words
from dashboard.budget import receipts as one
from dashboard.budget.held import SHOWN_RECEIPTS
from dashboard.widgets.apart import apart
from dashboard.widgets.download import download
from dashboard.widgets.receipt_file import seen_still
from dashboard.words import login as login_said
from dpcore.datasets.text import safe_cells
from dpcore.ledger import Budget, Receipt
from dpcore.ledger.export import to_csv, to_json

SHOWN = 300
_PICKED, _TABLE = "budget_receipt", "budget-charges"


def show_charges(
    receipts: Sequence[Receipt], *, names: dict[str, str] | None = None, before: Sequence[Receipt] = ()
) -> None:
    """Rows, newest first; ``names`` tells whose data each is about, where that differs.

    ``before`` are charges that a practice reset set aside, shown on request.
    """
    if before and st.toggle(
        f"Also the {words.plural(len(before), 'charge')} from before a reset",
        key="budget_before",
        persist_state="session",
    ):
        receipts = sorted([*before, *receipts], key=lambda receipt: receipt.time)
    if not receipts:
        st.info("No charges yet. Every private answer leaves one here, with the answer, so a refresh loses nothing.")
        return
    newest = list(reversed(receipts))[:SHOWN]
    st.dataframe(
        safe_cells(table(newest, names)),
        key=_TABLE,
        hide_index=True,
        on_select=_pick,
        selection_mode="single-row",
        alt="Every charge with its time, question, answer, mechanism, cost, who is protected and receipt",
        column_config={
            "time": st.column_config.DatetimeColumn("Time (UTC)", format="YYYY-MM-DD HH:mm:ss"),
            "epsilon": st.column_config.NumberColumn("ε", format="%g"),
            "rho": st.column_config.NumberColumn("ρ", format="%g"),
            "delta": st.column_config.NumberColumn("δ", format="%g"),
            "people": "People",
            "question": "Question",
            "answer": "Private answer",
            "mechanism": "Mechanism",
            "protected": "Who is protected",
            "receipt": "Receipt",
            "by": "Asked by",
        },
    )
    SHOWN_RECEIPTS.put(tuple(receipt.request_id for receipt in newest))
    if len(receipts) > SHOWN:
        st.caption(f"The newest {SHOWN} of {len(receipts):,} charges; the files hold all of them.")
    _exports(receipts, names is None)
    ids = [receipt.request_id for receipt in newest]
    by_id = dict(zip(ids, newest, strict=True))
    if session.entered(_PICKED, None) not in by_id:
        session.leave(_PICKED)
    picked = st.selectbox(
        "Receipt",
        ids,
        index=0,
        key=_PICKED,
        format_func=apart(ids, lambda request_id: _title(by_id[request_id]), key=str),
        help="Pick a row above, or here.",
    )
    one.show_receipt(by_id[picked])


def budgets(found: Sequence[Budget]) -> None:
    """The state of every group of people in the ledger."""
    rows = [
        {
            "people": words.visible(budget.name, 60),
            "kind": "practice" if budget.practice else "real",
            "cap": _cap(budget),
            "spent": budget.share_spent,
            "left": budget.remaining.epsilon,
        }
        for budget in found
    ]
    st.dataframe(
        safe_cells(pd.DataFrame(rows)),
        hide_index=True,
        alt="Every budget of this ledger with its cap and how much of it is spent",
        column_config={
            "people": "People",
            "kind": "Kind",
            "cap": "Budget",
            "spent": st.column_config.ProgressColumn("Spent", format="percent", min_value=0.0, max_value=1.0),
            "left": st.column_config.NumberColumn("Largest single answer without δ left (ε)", format="%g"),
        },
    )


def _cap(budget: Budget) -> str:
    cap = f"ε = {words.amount(budget.cap.epsilon)}"
    return cap if budget.kind == "pure" else f"{cap}, δ = {words.failing(budget.cap.delta)}"


def table(receipts: Sequence[Receipt], names: dict[str, str] | None) -> pd.DataFrame:
    """One row per receipt, in the order given."""
    rows, named = [], any(receipt.subject for receipt in receipts)
    for receipt in receipts:
        row: dict[str, Any] = {"time": moment(receipt)}
        if names is not None:
            row["people"] = words.visible(names.get(receipt.lineage, receipt.lineage), 60)
        plain = receipt.to_dict()
        row |= {
            "question": words.visible(receipt.what, 200),
            "answer": words.told_apart(one.answer_text(receipt), 200),
            "epsilon": plain["epsilon"],
            "rho": plain["rho"],
            "delta": plain["delta"],
            "protected": one.protected_words(receipt),
            "mechanism": words.visible(receipt.mechanism, 100),
            "receipt": receipt.journal_hash[:12],
        }
        if named:
            row["by"] = login_said.who_is(receipt.subject, 120)
        rows.append(row)
    return pd.DataFrame(rows)


def moment(receipt: Receipt) -> datetime:
    return datetime.fromisoformat(receipt.time).replace(tzinfo=None)


def _title(receipt: Receipt) -> str:
    return f"{moment(receipt):%Y-%m-%d %H:%M:%S} · {words.visible(receipt.what, 70)} · {receipt.journal_hash[:12]}"


def _pick() -> None:
    """Callback: the picked row's receipt is the one that is shown."""
    state: Any = session.entered(_TABLE, None)
    rows = state.selection.rows if state is not None else []
    shown: tuple[str, ...] = SHOWN_RECEIPTS.get()
    if rows and rows[0] < len(shown):
        session.enter(_PICKED, shown[rows[0]])


def _exports(receipts: Sequence[Receipt], one_group: bool) -> None:
    name = "charges" if one_group else "ledger"
    with st.container(horizontal=True):
        download(
            "Charges (CSV)",
            seen_still(receipts, lambda: to_csv(receipts).encode("utf-8-sig")),
            f"{name}.csv",
            "text/csv",
            key=f"{name}-csv",
        )
        download(
            "Charges (JSON)",
            seen_still(receipts, lambda: to_json(receipts)),
            f"{name}.json",
            "application/json",
            key=f"{name}-json",
        )
