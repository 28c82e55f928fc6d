"""Every cached call into dpcore, and the worker processes for what takes longer than a moment.

What is kept is shared by all people on the server, so a key holds everything a result depends on: the fingerprint of
the data (SHA-256) and plain parameters, never a frame or an array. All of it is bounded, and a release is never kept.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import TypeVar

from dashboard import words
from dashboard.background import cluster, large_turns, workers
from dashboard.background.cluster import Cluster
from dashboard.background.held import ANSWERS, SHELF_ROOM
from dashboard.background.held import LARGE_MEMORY as SESSION_LARGE
from dashboard.background.held import MEMORY as SESSION_MEMORY
from dashboard.background.in_use import InUse
from dashboard.background.once import once
from dashboard.background.opening import Opening
from dashboard.background.readers import READERS
from dashboard.background.shelf import Shelf
from dashboard.background.workers import Workers
from dashboard.budget import visitor
from dashboard.case import Source
from dashboard.people import login, told_elsewhere, visitors
from dashboard.words import login as login_words
from dashboard.words import server as server_words
from dpcore import datasets
from dpcore.datasets import PrivateRows, Table, load_sample, temporary
from dpcore.errors import LedgerError, LedgerUnsound, NotAllowed
from dpcore.ledger import Ledger
from dpcore.ledger.engine import NotBroughtForward
from dpcore.ledger.member import NO_FILES, MembersLedger
from dpcore.ledger.roles import ROLES, WITH_FILES, Person, Role
from dpcore.ledger.several import SeveralLedger
from dpcore.ledger.visitor import VisitorsLedger
from dpcore.memory import Memory

T = TypeVar("T")
MEMORY = Memory(3000, room=128 << 20, within=ANSWERS)
"""For everybody: what is made from samples, and what depends on no data at all."""
LARGE = InUse(Memory(32, room=500 << 20, within=ANSWERS), large_turns.LITTLE)
"""As ``MEMORY``, for a few large things."""
PATIENCE = 2.5
"""Seconds that a click waits for a program that holds the ledger, one that froze with it say; what has been charged
already waits longer (``Ledger.open``)."""
OPENING = 3.0
"""Seconds that a page waits for the ledger to be opened, from when that began."""
CLOSED = (LedgerUnsound, NotBroughtForward)
"""Of what an opening raises what is so until somebody who runs the server mends it."""
RUN_IT: frozenset[Role] = frozenset({"owner", "auditor"})
_LOG = logging.getLogger(__name__)
# What the first use of a page would load.
LATER = ("scipy.optimize", "scipy.sparse", "dashboard.catalogue")


def memory(*, own: bool) -> Memory:
    """Where to remember what is computed: this session's own memory for a person's own data, else everybody's."""
    return SESSION_MEMORY.once() if own else MEMORY


def large_memory(source: Source) -> InUse:
    """As ``memory``, for a few large things, such as rows made ready for training; they count while in use."""
    if source.public:
        return LARGE
    own = SESSION_LARGE.once()
    return own if source.large else replace(own, among=large_turns.LITTLE)


@once(most=32)
def sample(name: str) -> Table:
    """A bundled table; never changed by anyone who gets it."""
    return load_sample(name)


@once(most=32)
def sample_rows(name: str) -> PrivateRows:
    """The rows of a bundled table as a release takes them."""
    return datasets.sample_rows(name)


def ledger() -> Ledger:
    """The one ledger of this server (``EPSILON_LAB_LEDGER`` or the user's data folder), as this visitor may use it.

    Whoever is not known has their own practice in it and nothing else, on every page and in every callback; who has
    logged in what their roles and others' sharing give them. Raises NotAllowed where there is a login and nobody did.
    """
    if login.configured() is not None:
        _whole()  # it knows of log-outs at other computers
        person = login.person()
        if person is None:
            raise NotAllowed(login_words.FIRST)
        return _as_member(person, visitor.token(), visitors.address())
    whole = _whole()
    if not visitors.restricted():
        if visitors.alone():
            return whole.acting("local")
        return SeveralLedger(whole, visitor.token(), network=visitors.address(), replicas=visitors.replicas())
    return VisitorsLedger(whole, visitor.token(), network=visitors.address(), replicas=visitors.replicas())


def _as_member(person: Person, token: str, network: str = "") -> MembersLedger:
    """The ledger as somebody has it who has logged in. Raises LedgerError."""
    whole = _whole(lambda: _runs_it(person))
    return MembersLedger(whole, person, token, network=network, replicas=visitors.replicas())


def rooms_ledger() -> Ledger:
    """The same ledger for the answer of a room (``dashboard.poll``), wherever its people come from.

    A room's people give their votes to it themselves, and its budget, of one answer, has a random name that was made on
    the server: nothing that a visitor sends chooses what is opened or charged. Ask for nothing else by it.
    """
    return _whole().acting("room")


def whose() -> str:
    """Whose view of the ledger this is: what was read from it for one is not for another. Empty for its owner."""
    person = login.person()
    if person is not None:
        return " ".join([person.subject, *sorted(roles())])
    return visitor.token() if visitors.restricted() else ""


def roles() -> frozenset[Role]:
    """The roles of whoever is at the page: all of them for who runs the program, none that count while the ledger is
    closed or cannot be read."""
    try:
        return _roles()
    except LedgerError:
        return frozenset()


def _roles() -> frozenset[Role]:
    """Raises LedgerError where they cannot be read."""
    if login.configured() is None:
        return frozenset(ROLES)
    found = ledger()
    return found.mine() if isinstance(found, MembersLedger) else frozenset()


def sees_all() -> bool:
    """Whether whoever is at the page sees all of the ledger; else what is not found may be there all the same."""
    return login.configured() is None and not visitors.restricted()


def no_files() -> str:
    """Why whoever is at the page may read no file of their own in, also where that cannot be read; "" where they may,
    as everyone may without a login."""
    try:
        return no_files_by_role()
    except LedgerError as error:
        return words.sentence(error)


def no_files_by_role() -> str:
    """As ``no_files``, by their roles alone. Raises LedgerError where these cannot be read."""
    return _no_files(_roles())


def no_files_of(person: Person) -> str:
    """As ``no_files_by_role``, of somebody for whom no page asks. Raises LedgerError."""
    return _no_files(_as_member(person, login.practice_token(person.subject)).mine())


def _no_files(roles: frozenset[Role]) -> str:
    return "" if roles & WITH_FILES else NO_FILES


def opens() -> None:
    """Have the ledger open, whoever asks. Raises LedgerError, also while it is being opened where that takes
    longer than a moment; InvalidArgument for an address that is none."""
    _whole()


def _whole(may_know: Callable[[], bool] | None = None) -> Ledger:
    """The ledger as it is, opened. Why it is closed names databases, accounts and what they may do there, so whoever is
    not to know reads where that is told. Raises as ``opens``."""
    try:
        return _ledger(os.environ.get("EPSILON_LAB_LEDGER"))
    except CLOSED as error:
        if (may_know or _runs_it)():
            raise
        raise type(error)(server_words.CLOSED) from None


def _runs_it(person: Person | None = None) -> bool:
    """Whether whoever is at the page, or this person, is alone with the server, or an owner or auditor by their login;
    who else is one stands in the ledger."""
    if login.configured() is None:
        return visitors.alone()
    person = person or login.person()
    return person is not None and not RUN_IT.isdisjoint(person.claimed or ())


def _ledger(named: str | None) -> Ledger:
    return _opening(named)()


@once()
def _opening(_named: str | None) -> Opening[Ledger]:
    return Opening(_opened, partial(LedgerError, server_words.BEING_OPENED), waits=OPENING)


def _opened() -> Ledger:
    try:
        found = Ledger.open(patience=PATIENCE)
    except CLOSED as error:
        _log_once(str(error))
        raise
    if login.configured() is not None:
        told_elsewhere.begin(found)
    return found


@lru_cache(maxsize=1)  # it is opened again and again while it is closed
def _log_once(why: str) -> None:
    _LOG.error("the ledger stays closed: %s", why)


def reopen_ledger() -> None:
    """Open it anew, with all its checks, the next time it is asked for; one that is not open stays as it is."""
    before = _opening(os.environ.get("EPSILON_LAB_LEDGER")).reopen()
    if before is not None:
        before.let_go()


@once()
def pool() -> Workers | Cluster:
    """Worker processes for long sweeps; before them a cluster, where there is one."""
    local = Workers(int(os.environ.get("EPSILON_LAB_WORKERS", os.cpu_count() or 1)))
    address = cluster.wanted()
    return local if address is None else Cluster(address, local)


def cluster_is_away() -> bool:
    """Whether there is a cluster that does not answer, so that this computer works alone."""
    found = pool()
    return isinstance(found, Cluster) and found.alone


@once()
def sweep() -> None:
    """Once per server: remove the temporary copies of files that a killed server left behind."""
    temporary.sweep()


@once()
def warm_up() -> None:
    """Once per server: have workers and compiled loops ready before somebody waits for them.

    ``EPSILON_LAB_WARM_UP=0`` leaves it out, as tests do.
    """
    if os.environ.get("EPSILON_LAB_WARM_UP", "1") != "0":
        found = pool()
        workers.warm_up(found.local if isinstance(found, Cluster) else found, LATER, READERS.warm)


@once()
def shelf() -> Shelf:
    """Jobs on samples and what they found, for all sessions, by a key that names the data and every parameter."""
    return Shelf(room=SHELF_ROOM, within=ANSWERS)
