"""What a check found, and where the ledgers it uses are."""

from __future__ import annotations

import itertools
import multiprocessing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.private_postgresql import PrivateServer
from dpcore.costs import Cost
from dpcore.ledger import Ledger
from dpcore.releases import draws


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One line of the table."""

    check: str
    database: str
    tried: str
    found: str
    good: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one ledger is; can be handed to another process."""

    url: str
    journal: Path
    database: Path | None

    def open(self) -> Ledger:
        return Ledger.open(self.url, journal=self.journal)


@dataclass(slots=True, kw_only=True)
class Ground:
    """A folder and a server to try things on. ``short`` asks for the form that fits into the tests.

    ``minutes`` is how long the soak takes.
    """

    folder: Path
    server: PrivateServer
    short: bool
    minutes: float = 30.0
    _numbers: Any = field(default_factory=itertools.count)

    def new_place(self, database: str) -> Place:
        number = next(self._numbers)
        folder = self.folder / f"ledger{number}"
        folder.mkdir(parents=True)
        if database == "SQLite":
            file = folder / "ledger.sqlite3"
            return Place(url=f"sqlite:///{file}", journal=folder / "ledger.sqlite3.journal", database=file)
        return Place(url=self.server.new_schema(), journal=folder / "ledger.journal", database=None)


DATABASES = ("SQLite", "PostgreSQL")

# Workers are forked from one process that has loaded everything, so that 32 of them start in a second.
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(
    ["benchmarks.reliability.outcome", "sqlalchemy.dialects.postgresql.psycopg", "psycopg"]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads:
    """How many rows, with noise: the request that is released in these checks."""

    epsilon: float
    mechanism: ClassVar[str] = "Discrete Laplace"
    neighbours: ClassVar[str] = "add_remove"
    what: ClassVar[str] = "How many rows?"

    @property
    def cost(self) -> Cost:
        return Cost.pure(self.epsilon)

    def answer(self, data: list[int]) -> dict[str, int]:
        return {"count": int(draws.laplace([len(data)], sensitivity=1, epsilon=self.epsilon)[0])}


def sentence(error: BaseException) -> bool:
    """Whether an error speaks to the owner: one or two sentences, no traceback, no driver's words."""
    text = str(error)
    return text.endswith(".") and "\n" not in text and "sqlalche" not in text and "psycopg" not in text
