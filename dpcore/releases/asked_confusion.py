"""What every request for how often a drawn model is right has: four counts of the rows, told with noise."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpcore.costs import Cost
from dpcore.datasets.declaration import Declaration, shown
from dpcore.errors import InvalidArgument
from dpcore.releases import draws
from dpcore.releases.asked import Asked, ErrorBound
from dpcore.training.confusion import CELLS, check_two_classes, counts
from dpcore.training.count_noise import Noise
from dpcore.training.encoding import Encoding, encoding
from dpcore.training.features import Features
from dpcore.training.model import LinearModel, load_model
from dpcore.validate import FloatArray, IntArray, Neighbours, finite_vector, probability

if TYPE_CHECKING:
    from dpcore.datasets.private_rows import PrivateRows

_BYTES = 256  # four names, and as many whole numbers of at most 20 signs
_NAMED = 12  # signs of a receipt's hash that are shown, as on the receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedConfusion(Asked):
    """How many rows a drawn model finds, misses, names wrongly and rightly leaves, each with noise of its own.

    ``features`` and ``weights`` (d,) are the very ones of an answer that was drawn before, and ``drawn`` is the hash of
    its charge, which its receipt names: public numbers. A row is in one of the four cells, by itself and these alone
    (``dpcore.training.confusion``), or without an answer in none. Two classes alone have four cells. Raises
    InvalidArgument.
    """

    mechanism: ClassVar[str]
    noise_law: ClassVar[type[Noise]]
    """Of the noise on each count."""

    features: Features
    weights: tuple[float, ...]
    drawn: str

    def __post_init__(self) -> None:
        self.check()
        check_two_classes(self.features)
        if finite_vector(weights=self.weights).shape != (self.features.d,):
            raise InvalidArgument("weights", "must have one entry for every feature")
        if not self.drawn:
            raise InvalidArgument("drawn", "must be the hash on the receipt of the model")
        if self.scale > draws.LARGEST_SCALE:
            raise InvalidArgument("epsilon", "is too small: the noise would not fit")

    @classmethod
    def of(
        cls,
        declaration: Declaration,
        model: LinearModel | Mapping[str, Any],
        *,
        drawn: str,
        epsilon: float,
        neighbours: Neighbours | None = None,
        chosen_after_looking: bool = False,
        **noise: float,
    ) -> Self:
        """About a ``model``, or what the answer of a receipt holds of it; ``noise`` is what one kind has beside ε, as a
        δ. Raises InvalidArgument where a column is declared otherwise than when the model was drawn."""
        loaded = model if isinstance(model, LinearModel) else load_model(model)
        check_two_classes(loaded.features)
        check_declared(declaration, loaded.features)
        names = (loaded.features.target.name, *(column.name for column in loaded.features.columns))
        return cls(
            epsilon=epsilon,
            reads=declaration.reads_rows(*names, neighbours=neighbours or declaration.hidden),
            neighbours=neighbours or declaration.hidden,
            unit=declaration.unit,
            chosen_after_looking=chosen_after_looking,
            features=loaded.features,
            weights=tuple(float(weight) for weight in loaded.weights),
            drawn=drawn,
            **noise,
        )

    @property
    def instead_of(self) -> tuple[AskedConfusion, ...]:
        """As ``Asked.instead_of``."""
        return ()

    @property
    def most_bytes(self) -> int:
        """Four numbers."""
        return _BYTES

    @property
    @abstractmethod
    def scale(self) -> float:
        """Of the noise on each count, in rows."""

    @property
    @abstractmethod
    def cost(self) -> Cost:
        """One answer."""

    @abstractmethod
    def noisy(self, found: IntArray) -> IntArray:
        """The counts (4,) with noise."""

    @property
    def what(self) -> str:
        """The question in one plain sentence."""
        target = shown(self.features.target.name)
        return f"How often is the private model of “{target}” with receipt {self.drawn[:_NAMED]} right on these rows?"

    @property
    def own_notes(self) -> tuple[str, ...]:
        """What the counts are of."""
        return (
            "The model was made from data of these people, maybe from these very rows: how often it is right on people "
            "whom it was not made from is not shown.",
        )

    @property
    def rules(self) -> tuple[str, ...]:
        """By which any table is answered about."""
        filled = [shown(column.name) for column in self.reads.columns if column.fill is not None]
        target = shown(self.features.target.name)
        return (
            f"A row counts once, by what the model says of it and what “{target}” says; a row without a value there "
            "counts for none.",
            "Cells to predict from count as the model takes them: a number or day beyond its declared bounds as the "
            "nearer bound, a missing one as the middle of them, or in no step where it is cut, and a missing word as "
            "none of the options.",
            *(
                (f"Missing cells of these count as the value declared for them: {', '.join(filled)}.",)
                if filled
                else ()
            ),
            *self.person_rules,
        )

    def error_bound(self, beta: float = 0.05) -> ErrorBound:
        """How far off the number told right, and that told wrong, are both at most. Raises InvalidArgument.

        Over all rows that is how far off the share is at most, whatever the rows (``confusion_law``).
        """
        return ErrorBound(
            number=float(self.noise_law(scale=self.scale).within(probability(beta=beta))),
            unit="rows",
            confidence=1.0 - beta,
            about="how many rows it is told to be right about, and wrong, are each at most so far off, as they count",
        )

    def read(self, rows: PrivateRows) -> IntArray:
        """The exact counts (4,), in the order of ``CELLS``."""
        opened = self.opened(rows)
        typed = (column.typed(opened.typed(column.name)) for column in self.features.columns)
        target = self.features.target
        answers = self.features.answers(target.typed(opened.typed(target.name)))
        return counts(self.features, np.array(self.weights), typed, answers)

    def law_of(self, found: IntArray, reach: int = 100) -> FloatArray:
        """Chances of −``reach`` to ``reach`` of each told count, (4, 2·reach + 1), exact: they are independent."""
        noise, told = self.noise_law(scale=self.scale, counts=1), np.arange(-reach, reach + 1)
        return noise.chance(told - np.asarray(found)[:, None])

    def draw(self, found: IntArray) -> dict[str, Any]:
        """The four counts with noise, by ``CELLS``."""
        return {name: int(count) for name, count in zip(CELLS, self.noisy(found), strict=True)}


def check_declared(declaration: Declaration, features: Features) -> None:
    """That the columns of a model are declared now as they were when it was drawn. Raises InvalidArgument."""
    for column in (*features.columns, features.target):
        try:
            now = encoding(declaration.column(column.name))
        except InvalidArgument:
            now = None
        if now is None or _bare(now) != _bare(column):
            raise InvalidArgument(
                "model", f"cannot be counted: “{shown(column.name)}” is not declared as when the model was drawn"
            )


def _bare(column: Encoding) -> dict[str, Any]:
    """All that was declared of a column; where it is cut belongs to the model."""
    return {one.name: getattr(column, one.name) for one in fields(column) if one.name not in ("levels", "integer")}
