"""What the answers cost together so far, under every rule, and what more of the same would cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import pandas as pd

from dashboard.budget.held import COMPOSED, Kept
from dpcore.accounting import RunningTotal
from dpcore.costs import Cost
from dpcore.ledger import Budget, Receipt

POINTS = 60
SHOWN_DELTA = 1e-6
COLUMNS = ("answers", "rule", "epsilon", "part")
_LAST = "the list that was composed last"
SO_FAR, REPEATED = "so far", "if repeated"


def accounting_delta(found: Budget | None) -> float:
    """The δ at which ε are compared: the budget's own, half of it where two accounts share it, or one in a million."""
    if found is None or found.kind == "pure":
        return SHOWN_DELTA
    return found.cap.delta / 2 if found.counting == "both" else found.cap.delta


def so_far(receipts: Sequence[Receipt], delta: float) -> tuple[RunningTotal, list[tuple[int, str, float]]]:
    """The total of ``receipts`` and its ε under each rule after the 1st, 2nd, …; at most about 60 new points."""
    hashes = tuple(receipt.journal_hash for receipt in receipts)
    composed = COMPOSED.once()
    kept: Kept | None = composed.get(_LAST)
    if kept is None or kept.delta != delta or hashes[: len(kept.hashes)] != kept.hashes:
        kept = Kept(hashes=(), delta=delta, total=RunningTotal(), rows=())
    total, rows = kept.total, list(kept.rows)
    done = len(kept.hashes)
    stride = max(1, -(-(len(receipts) - done) // POINTS))
    for start in range(done, len(receipts), stride):
        end = min(start + stride, len(receipts))
        total = added(total, [receipt.cost for receipt in receipts[start:end]])
        rows += [(end, rule, epsilon) for rule, epsilon in total.epsilons(delta).items()]
    if len(receipts) > done:
        composed.put(_LAST, Kept(hashes=hashes, delta=delta, total=total, rows=tuple(rows)))
    return total, rows


def added(total: RunningTotal, costs: Iterable[Cost]) -> RunningTotal:
    """``total`` with ``costs``; equal neighbours in one step."""
    for cost, same in groupby(costs):
        total = total.add(cost, len(list(same)))
    return total


def repeated(total: RunningTotal, count: int, cost: Cost, more: int, delta: float) -> list[tuple[int, str, float]]:
    """ε under each rule when ``cost`` is asked 1, 2, …, ``more`` times after the ``count`` answers of ``total``."""
    rows = []
    stride = max(1, -(-more // POINTS))
    for start in range(0, more, stride):
        end = min(start + stride, more)
        total = total.add(cost, end - start)
        rows += [(count + end, rule, epsilon) for rule, epsilon in total.epsilons(delta).items()]
    return rows


def frame(past: list[tuple[int, str, float]], future: list[tuple[int, str, float]]) -> pd.DataFrame:
    """Tidy rows of ``COLUMNS``."""
    parts = [(*row, SO_FAR) for row in past] + [(*row, REPEATED) for row in future]
    return pd.DataFrame(parts, columns=list(COLUMNS))
