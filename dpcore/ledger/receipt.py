"""What a person gets for a charge: what was asked, the guarantee, and a hash that the journal can confirm."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, Literal

from dpcore.costs import Cost
from dpcore.ledger.records import Record, cost_from_json, writable

State = Literal["answered", "begun", "charged", "failed"]
OPTIONAL = ("actor", "unit", "subject", "granted_by")
"""What a charge holds only where there is something to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """One charge, and its answer once that is stored.

    ``epsilon``, ``rho``, ``delta`` are what was charged (infinite where the release has no such guarantee), ``cost``
    the same with its event, ``asked_cost`` the release's own; ``neighbours`` says what it hides and ``unit`` of what (a
    visit, a day; empty for a person), ``counted_for`` what its budget hides, as which it was charged; ``actor`` is the
    kind of somebody who asked (``asked.ACTORS``); where there is a login ``subject`` says who it was, and
    ``granted_by`` which owner approved it; ``time`` is UTC; ``journal_hash`` is the hash of the charge in the ledger's
    chain, ``answer_hash`` that of its answer.
    """

    request_id: str
    lineage: str
    what: str
    mechanism: str
    neighbours: str
    epsilon: float
    rho: float
    delta: float
    time: str
    versions: dict[str, str]
    generation: int
    question: str
    journal_hash: str
    answer: Any = None
    answer_hash: str | None = None
    counted_for: str = ""
    actor: str = ""
    unit: str = ""
    subject: str = ""
    granted_by: str = ""
    cost: Cost = field(repr=False)
    asked_cost: Cost = field(repr=False)
    begun: bool = field(default=False, repr=False, compare=False)
    failed: bool = field(default=False, repr=False, compare=False)

    @classmethod
    def of(cls, charge: Record, answer: Record | None, *, begun: bool = False) -> Receipt:
        body = charge.content
        asked_cost = cost_from_json(body["cost"])
        cost = cost_from_json(body["counted"]) if "counted" in body else asked_cost
        return cls(
            request_id=charge.request_id,
            lineage=charge.lineage,
            what=body["what"],
            mechanism=body["mechanism"],
            neighbours=body["neighbours"],
            epsilon=cost.epsilon,
            rho=cost.zcdp,
            delta=cost.delta,
            time=charge.time,
            versions=body["versions"],
            generation=body["generation"],
            question=body["question"],
            journal_hash=charge.hash,
            answer=None if answer is None else answer.content["answer"],
            answer_hash=None if answer is None else answer.hash,
            counted_for=body.get("counted_for", ""),
            actor=body.get("actor", ""),
            unit=body.get("unit", ""),
            subject=body.get("subject", ""),
            granted_by=body.get("granted_by", ""),
            cost=cost,
            asked_cost=asked_cost,
            begun=begun,
        )

    @property
    def state(self) -> State:
        """``answered``; else what a crash left: ``charged`` before anything was drawn, or ``begun`` to be drawn; or
        ``failed`` to be drawn, as ``Ledger.unanswered`` alone says.

        Where nothing was drawn, or it failed, the answer may be drawn now for the charge that was made: release the
        same request under the same ``request_id``.
        """
        if self.answer_hash is not None:
            return "answered"
        return "failed" if self.failed else "begun" if self.begun else "charged"

    def to_dict(self) -> dict[str, Any]:
        """Plain values only; an infinite number is None."""
        found: dict[str, Any] = {}
        for name in self.__slots__:
            value = getattr(self, name)
            # a receipt from before these were recorded has no such entry, and is still genuine without
            if name not in ("cost", "asked_cost", "begun", "failed") and (
                value or name not in ("counted_for", *OPTIONAL)
            ):
                found[name] = None if isinstance(value, float) and not math.isfinite(value) else value
        return found

    def to_json(self) -> str:
        """The receipt as indented JSON, to be kept or checked later with ``Ledger.confirms``."""
        return writable(json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False))
