"""Two people with a login: who owns a budget, and who has to ask for what they take of it."""

from __future__ import annotations

from dpcore.ledger import Ledger
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.roles import Person


def granting(ledger: Ledger) -> tuple[MembersLedger, MembersLedger]:
    """Who owns a budget, and who may take nothing of it alone."""
    subjects = {name: f"{name} at https://login.example" for name in ("olga", "anna")}
    for name, roles in (("olga", ["owner"]), ("anna", ["analyst"])):
        ledger.give_roles(subjects[name], roles)
    olga, anna = (MembersLedger(ledger, Person(subject=one), token=name * 8) for name, one in subjects.items())
    olga.open_budget("theirs", epsilon=5.0, delta=1e-6, name="Theirs")
    olga.share("theirs", subjects["anna"], "ask")
    olga.set_limit("theirs", 0.1)
    return olga, anna
