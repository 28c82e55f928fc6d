"""What is asked for with a charge, besides its cost, and who asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from dpcore.errors import InvalidArgument
from dpcore.ledger.receipt import OPTIONAL
from dpcore.ledger.records import can_be_written
from dpcore.ledger.roles import checked
from dpcore.ledger.schema import MOST
from dpcore.ledger.words import LONGEST_QUESTION, label, texts, with_all
from dpcore.validate import one_of, whole

RELATIONS = ("", "add_remove", "replace_one")
Actor = Literal["", "local", "trusted", "visitor", "room", "person"]
ACTORS: dict[Actor, str] = {
    "": "not recorded",
    "local": "whoever was at this computer; nobody logs in here",
    "trusted": "somebody whom the login before this server let in",
    "visitor": "a visitor without a login",
    "room": "the people of a room, by a private poll",
    "person": "a person who had logged in",
}
"""Who asked for a release: of what kind. Who it was is said only where there is a login (``Asked.subject``): a name
that is the same for several budgets would link them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What somebody knew of a question when they asked it: how many of its answers, and which record was the last one
    of its people (``Ledger.version``); each from 0 to ``schema.MOST``. ``digests`` are those by which it was charged
    besides its own. Raises InvalidArgument."""

    answers: int = 0
    record: int = 0
    digests: Sequence[str] = ()

    def __post_init__(self) -> None:
        whole(0, MOST, answers=self.answers)
        whole(0, MOST, record=self.record)
        texts(digests=self.digests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a charge is for, besides its cost: in words, by which mechanism, what is hidden and of which ``unit``
    (a person where empty), a digest, which kind of somebody asked, and the ``subject`` of one who has logged in.
    ``before`` are digests that the question had in programs from before."""

    what: str
    mechanism: str
    neighbours: str
    question: str
    actor: Actor = ""
    unit: str = ""
    subject: str = ""
    before: Sequence[str] = ()

    def __post_init__(self) -> None:
        label(what=self.what, longest=LONGEST_QUESTION)
        before = [("before", one) for one in self.before]
        for name, text in (("mechanism", self.mechanism), ("question", self.question), *before):
            if not isinstance(text, str) or not can_be_written(text):
                raise InvalidArgument(name, "must be text")
            if len(text) > LONGEST_QUESTION:
                raise InvalidArgument(name, f"must have at most {LONGEST_QUESTION} characters")
        one_of(RELATIONS, neighbours=self.neighbours)
        if self.unit:
            label(unit=self.unit)
        if self.subject:
            checked(self.subject)

    def told(self) -> dict[str, Any]:
        """As a record holds it."""
        said = {name: value for name, value in asdict(self).items() if name not in OPTIONAL or value}
        return {name: value for name, value in said.items() if name != "before"}


def as_it_was(body: dict[str, Any], before: Sequence[str], what: str, question: str) -> dict[str, Any]:
    """What is asked now (``Asked.told``), where the ledger has it as ``what`` under the digest ``question``: in the
    words of then, with what stands behind it now, where that is one of those that it had ``before``."""
    return body | {"what": with_all(what, body["what"]), "question": question} if question in before else body
