"""The only path from private data to a published answer.

Check the data → charge, durably → note that the draw begins → draw the noise → store the answer → wait for the tick →
return the receipt. A crash after the charge may burn budget and never refunds it; nothing is returned that is not
stored. Noise comes from
``dpcore.releases.draws`` alone; nothing here reaches ``random`` or ``numpy.random`` (a test walks the imports).
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from inspect import signature
from typing import Any, Protocol

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument, ReleaseRefused
from dpcore.ledger import Ledger, Receipt

TICK = 0.25
"""Answers come back at a multiple of this many seconds after the call: a sampler's running time would tell about the
noise it drew."""

REFUSED = "These data cannot be used for this private answer; nothing was charged and nothing was shown."
FAILED = "The private answer could not be made; its charge stands, and nothing was shown."


class Request(Protocol):
    """What ``dpcore.releases`` defines: a frozen dataclass of public parameters; all is public but ``data``.

    ``validate`` raises when the data cannot be answered about; ``answer`` draws and returns what JSON can hold.
    """

    @property
    def what(self) -> str:
        """The question in one plain sentence."""

    @property
    def mechanism(self) -> str:
        """What answers it, by its right name."""

    @property
    def neighbours(self) -> str:
        """Who is protected: ``add_remove`` or ``replace_one``."""

    @property
    def cost(self) -> Cost:
        """What one answer costs."""

    def validate(self, data: Any) -> None: ...

    def answer(self, data: Any) -> Any: ...


def release(
    ledger: Ledger,
    request_id: str,
    lineage: str,
    request: Request,
    data: Any,
    *,
    progress: Callable[[float], None] | None = None,
) -> Receipt:
    """One private answer about ``data``, paid from the budget of ``lineage``; the receipt holds it.

    The same ``request_id`` again gives the same stored answer and no second charge, whatever ``data`` is then; with a
    different request it is refused. ``progress`` is told the share done by a request that can be long (one whose
    ``answer`` takes it). Returns on a fixed tick. Raises BudgetExceeded, UnknownLineage and LedgerError
    from the ledger, InvalidArgument for public parameters, and ReleaseRefused, always with the same sentence, for
    everything that could depend on the data.
    """
    started = time.monotonic()
    try:
        return _release(ledger, request_id, lineage, request, data, progress)
    finally:
        _wait_for_tick(started)


def _release(
    ledger: Ledger,
    request_id: str,
    lineage: str,
    request: Request,
    data: Any,
    progress: Callable[[float], None] | None,
) -> Receipt:
    asked = {
        "mechanism": str(request.mechanism),
        "neighbours": str(request.neighbours),
        "question": question_digest(request),
    }
    earlier = ledger.receipt(request_id)
    if earlier is None and not _attempt(lambda: request.validate(data))[0]:
        raise ReleaseRefused(REFUSED)
    receipt = ledger.charge(request_id, lineage, request.cost, request.what, **asked)
    if receipt.answer_hash is not None:
        return receipt
    ledger.begin_draw(request_id)
    told = {"progress": progress} if "progress" in signature(request.answer).parameters else {}
    done, answer = _attempt(lambda: _checked(request.answer(data, **told)))
    if not done:
        raise ReleaseRefused(FAILED)
    return ledger.store_answer(request_id, answer)


def _attempt(work: Any) -> tuple[bool, Any]:
    """Whether ``work`` ran, and its result. Whatever it raises may hold private values, so it goes no further."""
    try:
        return True, work()
    except Exception:  # noqa: BLE001 - the caller raises a sentence of its own, with nothing attached
        return False, None


def _checked(answer: Any) -> Any:
    """The answer, if JSON can hold it as it is."""
    return json.loads(json.dumps(answer, allow_nan=False))


def _wait_for_tick(started: float) -> None:
    ticks = math.floor((time.monotonic() - started) / TICK) + 1
    remaining = started + ticks * TICK - time.monotonic()
    if remaining > 0:
        time.sleep(remaining)


def question_digest(request: Request) -> str:
    """A digest of the kind of request and all its public parameters; equal for equal questions."""
    parameters: Any = request
    if not is_dataclass(parameters) or isinstance(parameters, type):
        raise InvalidArgument("request", "must be a dataclass of public parameters")
    kind = f"{type(request).__module__}.{type(request).__qualname__}"
    try:
        text = json.dumps([kind, asdict(parameters)], sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError):
        raise InvalidArgument("request", "must hold plain values only: numbers, text and tuples of them") from None
    return hashlib.sha256(text.encode()).hexdigest()
