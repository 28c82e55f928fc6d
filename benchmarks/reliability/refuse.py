"""A full disk, and costs that are none: refused with a sentence, nothing charged twice, nothing refunded."""

from __future__ import annotations

import math
import resource
import secrets
from collections.abc import Iterator
from typing import Any

from benchmarks.reliability.outcome import DATABASES, Ground, Heads, Outcome, Place, processes, sentence
from dpcore.costs import Cost
from dpcore.errors import BudgetExceeded, InvalidCost, LedgerError
from dpcore.release import _release

# well above what the server's own catalogues have grown to, or it cannot recover within the limit
_LIMIT = 12 << 20


def _until_full(place: Place, results: Any, limited: bool, size: int) -> None:
    """Release, and store large answers, until the disk is full; then once more; then with space again."""
    if limited:
        resource.setrlimit(resource.RLIMIT_FSIZE, (_LIMIT, resource.RLIM_INFINITY))
    told: list[bool] = []
    shown: list[str] = []
    with place.open() as ledger:
        for number in range(400):
            try:
                ledger.charge(f"r{number}", "people", Cost.pure(1e-3), "Which?")
                ledger.store_answer(f"r{number}", secrets.token_hex(size))
                shown.append(f"r{number}")
            except LedgerError as error:
                told.append(sentence(error))
                if len(told) == 3:
                    break
    results.put((told, shown))


def disk_full(ground: Ground) -> Iterator[Outcome]:
    """Files may not grow beyond a limit (the system then refuses writes as on a full disk).

    By answers of 80,000 characters (short: 400,000, so that it takes a fifth as many).
    """
    size = 200_000 if ground.short else 40_000
    for database in DATABASES:
        place = ground.new_place(database)
        with place.open() as ledger:
            ledger.open_budget("people", epsilon=1.0)
        if place.database is None:
            ground.server.kill()
            ground.server.start_again(file_limit=_LIMIT)
        results = processes.Queue()
        worker = processes.Process(target=_until_full, args=(place, results, place.database is not None, size))
        worker.start()
        told, shown = results.get(timeout=300)
        worker.join()
        if place.database is None:
            ground.server.kill()
            ground.server.start_again()
        with place.open() as ledger:
            kept = {receipt.request_id for receipt in ledger.history("people") if receipt.answer_hash is not None}
            charges = len(ledger.history("people"))
            spent = ledger.budget("people").spent.spent_epsilon
            ledger.verify()
            again = _release(ledger, "again", "people", Heads(epsilon=1e-3), [1], None)
        good = len(told) == 3 and all(told) and set(shown) <= kept and spent == charges * 10**6
        yield Outcome(
            check="full disk",
            database=database,
            tried=f"{len(shown)} answers until full, then {len(told)} more",
            found=f"{sum(told)} of {len(told)} told in a sentence, {len(set(shown) - kept)} shown without a record; "
            "sound and usable once there is space",
            good=good and again.answer_hash is not None,
        )


def _forged(name: str, value: Any) -> Cost:
    # beside a finite ρ a huge ε would be right: it has to be all that is promised
    made = Cost(epsilon=0.1, rho=math.inf if name == "epsilon" else 0.005)
    object.__setattr__(made, name, value)
    return made


def impossible_costs(ground: Ground) -> Iterator[Outcome]:
    """Negative, NaN, infinite, zero and huge amounts in every field, also past the check that Cost itself makes."""
    amounts = [-1.0, -1e-300, math.nan, math.inf, -math.inf, 0.0, -0.0, 1e9, 1e18, 1e300, 2**80, "1", None, True]
    for database in DATABASES:
        place = ground.new_place(database)
        refused = unexpected = 0
        with place.open() as ledger:
            ledger.open_budget("pure", epsilon=1.0)
            ledger.open_budget("sum", epsilon=1.0, delta=1e-6)
            ledger.open_budget("rho", epsilon=1.0, delta=1e-6, counting="zcdp")
            for lineage in ("pure", "sum", "rho"):
                ledger.charge(f"first {lineage}", lineage, Cost.pure(0.01), "Which?")
            before = [repr(budget) for budget in ledger.budgets()]
            for lineage in ("pure", "sum", "rho"):
                for name in ("epsilon", "rho", "delta"):
                    for number, value in enumerate(amounts):
                        if name == "delta" and value in (0.0, -0.0) and not isinstance(value, bool):
                            continue  # a δ of 0 is right
                        if name == "rho" and (value is None or (lineage == "pure" and value != value)):
                            value = math.nan
                        try:
                            ledger.charge(f"{lineage}{name}{number}", lineage, _forged(name, value), "Which?")
                        except (InvalidCost, BudgetExceeded):
                            refused += 1
                        else:
                            unexpected += _is_wrong(name, value)
            after = [repr(budget) for budget in ledger.budgets()]
            ledger.verify()
        grown = all(_spent(one) <= _spent(other) for one, other in zip(before, after, strict=True))
        yield Outcome(
            check="negative, NaN and huge costs",
            database=database,
            tried=f"{refused + unexpected} costs",
            found=f"{refused} refused, {unexpected} wrongly accepted; nothing refunded",
            good=unexpected == 0 and grown,
        )


def _is_wrong(name: str, value: Any) -> bool:
    """A huge or infinite ρ says nothing beyond the ε that is charged, so it may be accepted at that ε."""
    return not (name == "rho" and isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0)


def _spent(budget: str) -> int:
    return sum(int(budget.split(f"{name}=")[1].split(",")[0]) for name in ("spent_epsilon", "spent_rho"))
