"""One charge, and its answer, each in one transaction."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from dpcore.costs import Cost, check_cost
from dpcore.errors import BudgetExceeded, InvalidArgument
from dpcore.ledger import accounts, history
from dpcore.ledger.budget import Budget
from dpcore.ledger.lock import PATIENCE
from dpcore.ledger.receipt import OPTIONAL, Receipt
from dpcore.ledger.records import canonical, cost_to_json
from dpcore.ledger.store import Store
from dpcore.ledger.words import label, refusal, versions
from dpcore.validate import one_of

RELATIONS = ("", "add_remove", "replace_one")
Actor = Literal["", "local", "trusted", "visitor", "room"]
ACTORS: dict[Actor, str] = {
    "": "not recorded",
    "local": "whoever was at this computer; nobody logs in here",
    "trusted": "somebody whom the login before this server let in",
    "visitor": "a visitor without a login",
    "room": "the people of a room, by a private poll",
}
"""Who asked for a release: of what kind, never who. A name that is the same for several budgets would link them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a charge is for, besides its cost: in words, by which mechanism, what is hidden and of which ``unit``
    (a person where empty), a digest, and which kind of somebody asked."""

    what: str
    mechanism: str
    neighbours: str
    question: str
    actor: Actor = ""
    unit: str = ""

    def __post_init__(self) -> None:
        label(what=self.what, longest=1000)
        for name in ("mechanism", "question"):
            if not isinstance(getattr(self, name), str):
                raise InvalidArgument(name, "must be text")
        one_of(RELATIONS, neighbours=self.neighbours)
        if self.unit:
            label(unit=self.unit)


def charge(store: Store, request_id: str, lineage: str, cost: Cost, asked: Asked) -> Receipt:
    """See ``Ledger.charge``."""
    label(request_id=request_id)
    check_cost(cost)
    told = {name: value for name, value in asdict(asked).items() if name not in OPTIONAL or value}
    body: dict[str, Any] = {**told, "cost": cost_to_json(cost)}
    hides = asked.neighbours
    if (budget := _cannot_fit(store, request_id, lineage, cost, hides)) is None:
        with store.writing() as connection:
            earlier = history.receipt(connection, request_id)
            if earlier is not None:
                return history.same(earlier, lineage, body)
            budget = accounts.get(connection, lineage)
            added, counted = budget.charge_for(cost, hides), budget.counted(cost, hides)
            if added is not None and counted is not None and accounts.take(connection, budget, added, hides):
                body |= {"generation": budget.generation, "units": asdict(added), "versions": versions()}
                body |= {"counted_for": budget.neighbours or hides} | (
                    {} if counted == cost else {"counted": cost_to_json(counted)}
                )
                record = store.append(connection, "charge", lineage=lineage, request_id=request_id, body=body)
                return Receipt.of(record, None)
        store.refused[lineage] = budget
    raise BudgetExceeded(refusal(budget, cost, hides))


def _cannot_fit(store: Store, request_id: str, lineage: str, cost: Cost, neighbours: str) -> Budget | None:
    """The budget when this new charge cannot fit any more, so that a writer need not be kept waiting.

    Asked only once something was refused: sums only grow, so what did not fit then does not fit now.
    """
    last = store.refused.get(lineage)
    if last is None or last.practice or last.fits(cost, neighbours):
        return None
    with store.reading() as connection:
        return None if history.is_charged(connection, request_id) else last


def begin_draw(store: Store, request_id: str) -> None:
    """See ``Ledger.begin_draw``."""
    # what has been charged is not given up as soon as what has yet to begin
    with store.writing(at_least=PATIENCE) as connection:
        receipt = history.receipt(connection, request_id)
        if receipt is None:
            raise InvalidArgument("request_id", "has not been charged")
        if receipt.state == "charged":
            store.append(connection, "draw", lineage=receipt.lineage, request_id=request_id, body={})


def store_answer(store: Store, request_id: str, answer: Any) -> Receipt:
    """See ``Ledger.store_answer``."""
    body = {"answer": answer}
    try:
        canonical(body)
    except (TypeError, ValueError):
        problem = "must be something JSON can hold, without NaN or infinities"
    else:
        with store.writing(at_least=PATIENCE) as connection:
            receipt = history.receipt(connection, request_id)
            if receipt is None:
                raise InvalidArgument("request_id", "has not been charged")
            if receipt.answer_hash is not None:
                return receipt
            store.append(connection, "answer", lineage=receipt.lineage, request_id=request_id, body=body)
            return history.receipt(connection, request_id) or receipt
    raise InvalidArgument("answer", problem)
