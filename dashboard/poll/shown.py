"""What the speaker's screen and the phones show alike: what could not be, the receipt, the guesses' question, and the
true counts.
"""

from __future__ import annotations

import numpy as np
import streamlit as st

from dashboard import session, words
from dashboard.charts.ready import Ready
from dashboard.charts.tally import tally
from dashboard.poll import wall
from dashboard.poll.asked import Poll
from dashboard.poll.held import PROBLEM
from dashboard.poll.room import Seen
from dashboard.widgets.answer import asked, cost_words, when
from dashboard.words import poll as said
from dpcore.ledger import Receipt

MOST_BARS = 12


def told() -> None:
    """What could not be, once."""
    found = PROBLEM.get()
    PROBLEM.forget()
    if found:
        st.warning(found)


def guess_question(poll: Poll) -> str:
    """What the room guesses."""
    return said.guess_question(poll.form, poll.near)


def receipt_below(receipt: Receipt, *, key: str) -> None:
    """What was asked, what it cost, when, and the receipt to take away: on a stage from the phones alone."""
    st.caption(
        f"{asked(receipt.what)} {said.receipt_line(cost_words(receipt.cost), when(receipt), receipt.journal_hash[:12])}"
    )
    if wall.on_stage():
        return
    # made already, unlike all other files (``widgets.download``): nothing is made for who has no login where there is
    # one, and the phones of a room, which see all that it says, have none
    st.download_button(
        said.RECEIPT,
        receipt.to_json(),
        f"receipt-{receipt.request_id[:8]}.json",
        "application/json",
        on_click="ignore",
        icon=":material/receipt_long:",
        key=f"{key}-receipt",
    )


def true_counts(seen: Seen) -> None:
    """The truth, once it is shown: where it was announced and the speaker asked."""
    poll, counts = seen.poll, seen.counts
    if counts is None:
        return
    st.header(said.TRUE_COUNTS, anchor=False)
    st.warning(said.TRUE_MARK, icon=":material/visibility:")
    if poll.form == "number":
        st.markdown(said.true_median(_median(poll, counts), int(counts.sum())))
        names = [said.value(point) for point in poll.grid]
        marked = [False] * len(names)
    else:
        names = [words.html(said.choice(choice)) for choice in poll.choices]
        marked = [bool(count == counts.max() and count > 0) for count in counts]
    if len(names) <= MOST_BARS:
        told = "; ".join(f"{name}: {count}" for name, count in zip(names, counts, strict=True))
        st.plotly_chart(
            Ready(tally(names, [int(count) for count in counts], marked=marked, size=18, dark=session.dark())),
            key="poll-counts",
            theme=None,
            alt=f"True counts. {told}.",
            config={"displayModeBar": False},
        )


def _median(poll: Poll, counts: np.ndarray) -> float | None:
    values = np.repeat(poll.grid, counts)
    return float(np.median(values)) if values.size else None
