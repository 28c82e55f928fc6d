"""What a question is asked about: the data in use, the privacy level, and what work beside the page has found so far.

Three modes, never mixed: *demo* (a sample: truth and private answers side by side), *what_if* (a person's own file
after an explicit confirmation) and *twin* (rows simulated from a declaration, which never uses a file's values). A
release is an action within demo (practice) or on a person's own file, and is the only thing that costs budget.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeVar

from dashboard.words import visible
from dpcore.datasets import Column, Declaration, PrivateRows, Table
from dpcore.ledger.budget import Counting
from dpcore.releases.asked import Asked

T = TypeVar("T")
Mode = Literal["demo", "what_if", "twin"]

OWN = "own"
LARGE_ROWS, LARGE_CELLS = 50_000, 1_000_000
"""Of a person's own data that take tens of megabytes while something is worked out of them."""
MANY_NUMBERS = 100_000
"""From which on what a question holds is counted as long as a page has it: nearly a megabyte."""
MARK = "Not private: for your eyes only. Do not publish these charts."
TWIN_MARK = "Simulated from what you declared. No row of a file was used."


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnModel:
    """A private model that was drawn before about these people: ``receipt`` is the hash of its charge, ``answer()``
    what its receipt holds, ``when`` it was drawn. All of it is public. ``same`` says that it is known to be drawn from
    the very table that is in use, and not from another one of theirs, ``alone`` that no other was ever drawn of them:
    what a reset of practice sets aside is known to who drew it.

    An answer may be 4 MB, and is read from the ledger each time that it is asked for; it raises CannotAsk where that
    is not to be had.
    """

    receipt: str
    answer: Callable[[], Mapping[str, Any]] = field(repr=False, compare=False)
    when: str
    same: bool
    alone: bool = False


class Memo(Protocol):
    """Remembers what was computed: the value of ``key``, made where it is not there."""

    def __call__(self, key: tuple[Hashable, ...], make: Callable[[], T]) -> T: ...


def unremembered(key: tuple[Hashable, ...], make: Callable[[], T]) -> T:
    """A ``Memo`` that remembers nothing: for tests and scripts."""
    return make()


def known() -> None:
    """These people are known: no file of theirs is looked for."""


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class Source:
    """Current data. ``lineage`` names the people whose budget a release spends, or is None until it is declared.

    ``table`` is what charts are computed from. A request is made from ``declared`` alone, the facts that the person
    stated, and drawn from ``rows()``, which only the request opens; both are None where nothing can be released, as
    ``unreleased`` says. ``so_far`` is what they stated also where something of the file is still to be answered, which
    one row of it may ask: a page begins with the same then. Rows that are ``in_place`` are those of a source of the
    server's, asked for counts alone.
    ``join`` has the ledger know a file as one of these people's, before any answer is made from it; it raises what
    ``Ledger.join`` does. ``count`` has the person call the number of records right, where nobody did and a file of
    its kind can lack one. ``everybodys`` says that the table is the program's own, the same object in every session.
    ``drawn_from`` names the very rows that answers are drawn from, as long as this server runs: another file, sheet,
    reading or step has another name; "" where there is one table for good. It is the same in every session, and so
    stands in no page, link or file; ``key`` does, which for a person's own table is another one in every session.
    ``related`` are the columns of simulated rows of which somebody stated that they go with another one: of all others
    such rows know nothing of how they go together.
    ``lines`` is how many steps or options it has, where its rows are closed to who asks: in a report.
    ``shown`` says that true pictures of it, or of a file before it, were shown in this session, whatever is in view
    now.
    """

    key: str
    title: str
    mode: Mode
    table: Table
    lineage: str | None
    practice: bool
    declared: Declaration | None = None
    so_far: Declaration | None = None
    rows: Callable[[], PrivateRows] | None = None
    unreleased: str = ""
    in_place: bool = False
    join: Callable[[], None] = known
    count: Callable[[], None] | None = None
    everybodys: bool = False
    drawn_from: str = ""
    lines: int | None = None
    related: frozenset[str] = frozenset()
    shown: bool = False

    @property
    def nobodys(self) -> Source:
        """The same without what belongs to one visitor: whose budget it is."""
        return replace(self, lineage=None, join=known)

    @property
    def counted_in(self) -> str:
        """Which source counts answers about them, by its people; "" where the server reads the rows itself."""
        return str(self.lineage) if self.in_place else ""

    @property
    def mark(self) -> str | None:
        """What every chart and export of this data carries."""
        return {"what_if": MARK, "twin": TWIN_MARK}.get(self.mode)

    @property
    def simulated(self) -> bool:
        return self.mode == "twin"

    @property
    def large(self) -> bool:
        """Whether work on them takes much memory meanwhile; samples are small."""
        return self.is_large(1.0)

    def is_large(self, share: float) -> bool:
        """Whether they have at least this share of the rows, or of the cells, of large ones."""
        rows, columns = self.table.frame.shape
        return not self.public and (rows >= share * LARGE_ROWS or rows * columns >= share * LARGE_CELLS)

    @property
    def looked_at(self) -> bool:
        """Whether whoever chooses something about a person's own file has been shown true pictures of it, or of one
        before it, which may hold the same people. By which button, box or bar they choose it tells nothing: what is in
        view is seen."""
        return self.mode == "what_if" or (self.shown and not self.public)

    @property
    def public(self) -> bool:
        """Whether everybody may see these data: a bundled sample."""
        return self.mode == "demo"

    def stated(self, names: Sequence[str], *, least: int = 1) -> tuple[str, ...]:
        """Of these columns those that a person declared with all that a private answer needs; all of them where fewer
        than ``least`` were. What a question begins with, so that it does not hang on how other columns look."""
        known = self.known
        found = tuple(name for name in names if name in known)
        return found if len(found) >= least else tuple(names)

    @property
    def known(self) -> frozenset[str]:
        """The columns that a person declared with all that a private answer needs."""
        return frozenset(one.name for one in self._facts if one.bounded)

    @property
    def spoken(self) -> frozenset[str]:
        """All columns that a person declared, be it by how far one moves their entries alone."""
        return frozenset(one.name for one in self._facts)

    @property
    def _facts(self) -> tuple[Column, ...]:
        facts = self.declared if self.so_far is None else self.so_far
        return () if facts is None else facts.columns

    def first(self, names: Sequence[str]) -> str:
        """The column that a question begins with: the first of these, of a person's own data the first declared one."""
        return names[0] if self.public else self.stated(names)[0]

    def obstacle(self, *columns: str) -> str | None:
        """Why no private answer about these columns can be released, in one sentence; None when one can."""
        if self.rows is None or self.declared is None:
            return self.unreleased
        declared = {column.name: column for column in self.declared.columns}
        for name in columns:
            if name not in declared or not declared[name].bounded:
                return (
                    f"Say on the Data page what “{visible(name)}” can hold (bounds, options, yes or no): a private "
                    "answer needs it."
                )
        return None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """One asking of a question. ``results`` are those of its ``Work`` by slot, as far as they are there.

    ``delta`` is the δ that a release asks for unless told otherwise: a tenth of what the budget allows, or less.
    ``hides`` is what the budget of these people hides; "" where nothing is settled yet. ``counting`` is how it counts,
    which says by what noise some answers are drawn; as a plain sum where there is none.

    ``complete`` are the slots whose work is all done, ``finished`` those where no more will come.

    ``brief`` asks for what moves while the slider is dragged, and for no more: headline, caption, point, odds and what
    one might see. What is needed and what can be released may be left out then.

    ``models`` are the private models that were drawn about these people, the latest first: for a question that asks of
    one of them, and else none.

    ``memo`` keeps what is computed from these data: for everybody when they are public, else in this session alone.
    ``large`` does the same for a few large things, such as rows made ready for training.
    """

    source: Source
    epsilon: float
    delta: float = 1e-6
    hides: str = ""
    counting: Counting = "sum"
    brief: bool = False
    models: tuple[DrawnModel, ...] = ()
    memo: Memo = unremembered
    large: Memo = unremembered
    results: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    complete: frozenset[str] = frozenset()
    finished: frozenset[str] = frozenset()

    @property
    def table(self) -> Table:
        return self.source.table

    def keeping(self, numbers: float) -> Memo:
        """Where something of so many ``numbers`` is kept: where these are many it counts while a page has it."""
        return self.memo if numbers <= MANY_NUMBERS else self.large

    @property
    def lines(self) -> int:
        """How many steps or options the table has, filled or not: of a person's own as many as its release goes by. A
        limit is held against these, so that it does not hang on whether an entry is there."""
        source = self.source
        if source.lines is not None:
            return source.lines
        if source.public or source.rows is None or source.declared is None or source.unreleased:
            return len(self.table.frame)
        return source.rows().public_size(source.declared)

    def read(self, request: Asked) -> Any:
        """What ``request`` reads of rows that are public, once for all ε: for the law of its answer."""
        rows = self.source.rows
        if rows is None or not self.source.public:
            raise ValueError("only the rows of public data are read for a picture")
        return self.memo(("read", self.table.fingerprint, request.reading), lambda: request.read(rows()))
