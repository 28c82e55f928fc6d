"""The exceptions of dpcore. Each message is one sentence a person can act on and holds no private value.

::

    DpcoreError
    ├── InvalidArgument (ValueError)      a public parameter or the shape of an input is wrong
    │   └── InvalidCost                   a cost that is negative, not finite, or nothing at all
    ├── UnsupportedEvent                  an accountant that does not cover a mechanism was asked for it
    ├── LedgerError
    │   ├── BudgetExceeded                the charge does not fit what is left; nothing was charged
    │   ├── UnknownLineage                no budget was opened for these people
    │   ├── NotAllowed                    not for whoever asks to do
    │   ├── ApprovalNeeded                above a person's limit; an owner has to grant it first
    │   ├── KnownPeople                   a file may be about people who have a budget; somebody has to say first
    │   └── LedgerUnsound                 the ledger's own checks failed; it stays closed until repaired
    ├── ReleaseRefused                    a private answer that cannot be given; nothing was charged
    ├── Defect                            a mistake in this program, with the reference of its entry in the log
    └── DataError
        ├── UnreadableFile                a file that cannot be read as a table without guessing
        ├── NoRoom                        a step that would make a larger table than there is room for; nothing was done
        ├── ReadingCancelled              the person stopped the reading of a file
        └── UnavailableSample             a sample that needs a file or a network that is not there
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpcore.ledger.people import Resemblance


class DpcoreError(Exception):
    """Everything dpcore raises on purpose."""


class InvalidArgument(DpcoreError, ValueError):
    """A public parameter or the shape of an input is wrong.

    ``argument`` names it, so that a page can point at the control that holds it.
    """

    def __init__(self, argument: str, problem: str) -> None:
        super().__init__(f"{argument} {problem}")
        self.argument = argument
        self.problem = problem

    def __reduce__(self) -> tuple[type[InvalidArgument], tuple[object, ...]]:
        return (type(self), (self.argument, self.problem))


class TooFewRows(InvalidArgument):
    """What is asked for needs more ``rows`` than a table has: so many."""

    def __init__(self, argument: str, problem: str, rows: int) -> None:
        super().__init__(argument, problem)
        self.rows = rows

    def __reduce__(self) -> tuple[type[InvalidArgument], tuple[object, ...]]:
        return (type(self), (self.argument, self.problem, self.rows))


class InvalidCost(InvalidArgument):
    """A cost that is negative, not finite, or nothing at all."""


class UnsupportedEvent(DpcoreError):
    """An accountant that does not cover a mechanism was asked for it."""


class LedgerError(DpcoreError):
    """The ledger refused."""


class BudgetExceeded(LedgerError):
    """The charge does not fit what is left; nothing was charged."""


class UnknownLineage(LedgerError):
    """No budget was opened for these people."""


class NotAllowed(LedgerError):
    """What was asked is not for this person to do; nothing was changed."""


class ApprovalNeeded(LedgerError):
    """The charge is above what a person may take alone; it waits for an owner of the budget. Nothing was charged."""


class KnownPeople(LedgerError):
    """A file may be about people who have a budget already, as ``found`` says; nothing was opened, linked or charged.

    ``same`` is whether this very file is theirs, which is told only to who linked it.
    """

    def __init__(self, found: Sequence[Resemblance], *, same: bool = False) -> None:
        told = "is one of" if same else "looks like one about"
        super().__init__(f"This file {told} people who have a budget already; say first that it is theirs.")
        self.found = tuple(found)
        self.same = same


class LedgerUnsound(LedgerError):
    """The ledger's own checks failed; it stays closed until repaired."""


class ReleaseRefused(DpcoreError):
    """A private answer that cannot be given; nothing was charged."""


class Defect(DpcoreError):
    """A mistake in this program, not of the person's; the message names the reference of its entry in the log."""


class DataError(DpcoreError):
    """Something about a person's data."""


class UnreadableFile(DataError):
    """A file that cannot be read as a table without guessing."""


class NoRoom(DataError):
    """A step that would make a larger table than there is room for; nothing was done."""


class ReadingCancelled(DataError):
    """The person stopped the reading of a file."""


class UnavailableSample(DataError):
    """A sample that needs a file or a network that is not there."""
