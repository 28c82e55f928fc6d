"""Persons with a login, what their roles let them do, and how far a budget can be shared with them.

A person is their subject: what the provider of the login calls them for good, with the provider's own address. No
token, and neither name nor mail address of theirs, is kept. Nothing strips or rewrites a subject; whoever reads one has
to see all of it, so one with a blank or an unseen sign at an end is nobody's, wherever it comes from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dpcore.errors import InvalidArgument
from dpcore.ledger.words import label

Role = Literal["viewer", "analyst", "owner", "auditor"]
ROLES: dict[Role, str] = {
    "viewer": "explores samples and what was shared",
    "analyst": "also brings files, and asks for private answers from budgets that were shared for it",
    "owner": "also opens and closes budgets, shares them, and decides about requests",
    "auditor": "reads all records, exports and verifies them",
}
Level = Literal["none", "see", "ask", "own"]
LEVELS: dict[Level, str] = {
    "none": "nothing",
    "see": "see the budget, its questions and answers",
    "ask": "also ask for private answers from it",
    "own": "own it: share it, set its limit, decide about requests, close it",
}
WITH_FILES = frozenset({"analyst", "owner"})
EVERYONE = "everyone"
"""Whoever logs in, where a budget is shared."""
PEOPLE = "person:"
"""How the records about a person's roles name them in the place of a lineage."""
AT = " at "
"""Between what the provider calls somebody and its address."""
LONGEST = 600  # characters of a subject: 255 of the provider's name for them, and its address


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who has logged in. ``claimed`` are the roles that the login itself says, or None where the ledger does.

    Raises InvalidArgument for a subject that is blank, could be taken for another's or stands for others too.
    """

    subject: str
    claimed: frozenset[Role] | None = None

    def __post_init__(self) -> None:
        checked(self.subject)


def checked(subject: str) -> str:
    """A person's subject. Raises InvalidArgument."""
    label(subject=subject, longest=LONGEST)
    if subject == EVERYONE:
        raise InvalidArgument("subject", "must be one person")
    name, between, address = subject.rpartition(AT)
    if any(_hides_an_end(part) for part in ((name, address) if between else (subject,))):
        raise InvalidArgument(
            "subject",
            "must be as the sidebar shows it: neither name nor address begins or ends with a blank or an unseen sign",
        )
    return subject


def _hides_an_end(part: str) -> bool:
    """Whether it is nothing, or begins or ends with a blank, a control or a format character."""
    return not part or any(one == " " or not one.isprintable() for one in (part[0], part[-1]))
