"""A file becomes one of some people's: compared first with everybody whom the ledger knows at that moment.

Files are compared when they arrive, too, but somebody else, or the same person in another window, may have opened a
budget or linked a file since. So it is done again here, and what follows from it, the link and the opening of a budget,
is written by the transaction that finds that nobody has linked a file meanwhile: of two files at once the second is
compared with the first. Comparing itself, which takes its time, keeps no other writer waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from dpcore.errors import KnownPeople, LedgerError
from dpcore.ledger import history, people
from dpcore.ledger.budget import Budget
from dpcore.ledger.people import Bringer, Brought, Resemblance
from dpcore.ledger.store import Store

MOST_TIMES = 20
"""Times that a file is compared, where others link one meanwhile."""
OTHERS_MEANWHILE = (
    "Others link files faster than this one can be compared with them, so nothing was changed; ask again."
)
Compare = Callable[[], Sequence[Resemblance]]


def join(
    store: Store, file: Brought, lineage: str, who: Bringer, *, compare: Compare, begin: Callable[[Connection], Budget]
) -> Budget:
    """Link the file with the people of ``lineage``, in the transaction in which ``begin`` finds or opens their budget.

    ``compare`` gives those that the file looks like, under the limits that hold for whoever asks. To choose one of
    several says nothing of the rest: that nobody of theirs is in it takes a sentence, which goes on the record with the
    link; so does what its person said of this very file before (``people.said_others``). Raises KnownPeople where it
    looks like others of whom they have said nothing, InvalidArgument where it is others' for good, or the reason is no
    sentence, LedgerError where others link files all the time.
    """
    for _ in range(MOST_TIMES):
        with store.reading() as connection:
            known = history.number_of_last_link(connection)
            owners = people.owners_of(store, connection, file, lineage, who)
            said = people.said_others(store, connection, file, lineage, who)
        alike = compare()
        if same := [one for one in alike if one.lineage in owners]:
            raise KnownPeople(same, same=True)
        rest = [one for one in alike if one.lineage not in {lineage, *said}]
        if rest and not file.because:
            raise KnownPeople([one for one in alike if one.lineage not in said])
        with store.writing() as connection:
            if history.number_of_last_link(connection) == known:
                budget = begin(connection)
                for one in rest:
                    people.note_others(store, connection, file, lineage, one.lineage, who)
                people.link(store, connection, file, lineage, who)
                return budget
    raise LedgerError(OTHERS_MEANWHILE)
