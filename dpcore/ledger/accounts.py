"""Queries on budgets within a transaction: find one, start one, and the one conditional charge."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, Select, Update, and_, bindparam, insert, or_, select, update

from dpcore.errors import UnknownLineage
from dpcore.ledger import schema
from dpcore.ledger.budget import SPENT, Budget, Caps, Charge

if TYPE_CHECKING:
    from dpcore.ledger.store import Store


def _budgets() -> Select[Any]:
    current = and_(
        schema.accounts.c.lineage == schema.lineages.c.lineage,
        schema.accounts.c.generation == schema.lineages.c.generation,
    )
    shown = [column for column in schema.accounts.c if column.name not in ("lineage", "generation")]
    return select(schema.lineages, *shown).join_from(schema.lineages, schema.accounts, current)


def _conditional_charge() -> Update:
    """Add to every sum, if the cap is kept afterwards in the way this budget counts (``Budget.holds``)."""
    account = schema.accounts.c
    after = {name: account[name] + bindparam(f"add_{name}") for name in SPENT}
    sums_hold = and_(
        account.counting != "zcdp",
        after["beyond"] == 0,
        after["spent_epsilon"] <= account.cap_epsilon,
        after["spent_delta"] <= account.cap_delta,
    )
    rho_holds = and_(
        account.counting != "sum",
        after["unfit"] == 0,
        after["loose_delta"] == 0,
        after["spent_rho"] <= account.cap_rho,
    )
    chosen = and_(
        account.lineage == bindparam("key"),
        account.generation == bindparam("number"),
        account.neighbours == bindparam("counted_for"),
    )
    values = {**after, "neighbours": bindparam("now_for")}
    return update(schema.accounts).where(chosen, or_(sums_hold, rho_holds)).values(values)


_NO_BUDGET = "No budget has been opened for these people yet; open one first."
# Built once: building costs more than running.
_ALL = _budgets().order_by(schema.lineages.c.name, schema.lineages.c.lineage)
_OF_PEOPLE = (
    select(schema.lineages.c.lineage)
    .where(schema.of_people)
    .order_by(schema.lineages.c.name, schema.lineages.c.lineage)
)
_ONE = _budgets().where(schema.lineages.c.lineage == bindparam("key"))
_CHARGE = _conditional_charge()


def every(connection: Connection, *chosen: ColumnElement[bool]) -> list[Budget]:
    """The present budget of every lineage that is ``chosen``, by name."""
    return [Budget.of(dict(row)) for row in connection.execute(_ALL.where(*chosen)).mappings()]


def of_people(connection: Connection) -> list[str]:
    """The lineages of all real budgets but rooms, by name; of no budget more is read."""
    return list(connection.execute(_OF_PEOPLE).scalars())


def beginning(connection: Connection, start: str) -> set[str]:
    """The lineages of real budgets that begin so."""
    name = schema.lineages.c.lineage
    theirs = select(name).where(schema.of_people, name >= start, name < start + "\x7f")
    return set(connection.execute(theirs).scalars())


def find(connection: Connection, lineage: str) -> Budget | None:
    """The present budget of ``lineage``, or None."""
    if not _could_be(lineage):
        return None
    row = connection.execute(_ONE, {"key": lineage}).mappings().one_or_none()
    return None if row is None else Budget.of(dict(row))


def get(connection: Connection, lineage: str) -> Budget:
    """The present budget of ``lineage``. Raises UnknownLineage."""
    found = find(connection, lineage)
    if found is None:
        raise UnknownLineage(_NO_BUDGET)
    return found


def _could_be(lineage: object) -> bool:
    """Whether a database can be asked for a budget of this name: half a sign, or a zero, is no text to it."""
    try:
        return isinstance(lineage, str) and b"\0" not in lineage.encode()
    except UnicodeEncodeError:
        return False


def seen(store: Store, lineage: str) -> Budget:
    """As ``get``, of a ledger in which nothing else is looked up along with it. Raises UnknownLineage, LedgerError."""
    row = store.row(_ONE, key=lineage) if _could_be(lineage) else None
    if row is None:
        raise UnknownLineage(_NO_BUDGET)
    return Budget.of(row)


def start(connection: Connection, lineage: str, generation: int, caps: Caps, neighbours: str = "") -> None:
    """A new account with nothing spent."""
    nothing = dict.fromkeys(SPENT, 0)
    row = {"lineage": lineage, "generation": generation, **asdict(caps), **nothing, "neighbours": neighbours}
    connection.execute(insert(schema.accounts).values(row))


def take(connection: Connection, budget: Budget, charge: Charge, neighbours: str = "") -> bool:
    """Add ``charge`` to the sums if the cap holds afterwards, in one statement; whether it did.

    ``neighbours`` is what a budget hides from now on that has not said so yet.
    """
    values: dict[str, Any] = {f"add_{name}": getattr(charge, name) for name in SPENT}
    values.update(key=budget.lineage, number=budget.generation, counted_for=budget.neighbours)
    values["now_for"] = budget.neighbours or neighbours
    return connection.execute(_CHARGE, values).rowcount == 1
