"""What every request for a model has: what it predicts from declared columns, and how its rows are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from dpcore.calibration import zcdp_rho
from dpcore.datasets.declaration import Declaration, shown
from dpcore.datasets.schema import MOST_PEOPLE, Schema
from dpcore.releases.asked import LEAST, Asked, ErrorBound
from dpcore.releases.sizes import texts, written
from dpcore.training.cuts import Shape
from dpcore.training.features import MOST_POINTS, Features
from dpcore.training.losses import LOGISTIC, SQUARED, LinearLoss
from dpcore.validate import Neighbours, in_range, probability, whole

_CUTS, _STEP, _NUMBER, _ABOUT = 128, 64, 32, 1 << 16
"""Steps of a column that are bought, at most, letters of one in words, and bytes of a number and of all that is said
about a model in JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedModel(Asked):
    """The fields of every request for a linear model of ``features``, in ``steps`` of descent.

    ``people`` is about how many rows there are, as declared. Raises InvalidArgument.
    """

    mechanism: ClassVar[str]
    """The method, in the field's words."""

    features: Features
    delta: float
    people: int | None = None
    momentum: float = 0.9
    tail: float = 0.5

    def check(self) -> None:
        """The parameters that every request for a model has. Raises InvalidArgument."""
        Asked.check(self)
        in_range(LEAST, 1.0, open_high=True, delta=self.delta)
        if self.people is not None:
            whole(2, MOST_PEOPLE, people=self.people)
        in_range(0.0, 1.0, open_high=True, momentum=self.momentum)
        in_range(0.0, 1.0, open_low=True, tail=self.tail)

    @classmethod
    def of(
        cls,
        declaration: Declaration,
        *,
        target: str,
        columns: Sequence[str],
        positive: str | None = None,
        epsilon: float,
        delta: float,
        shapes: Mapping[str, Shape | Sequence[float]] | None = None,
        pairs: Sequence[Sequence[str]] = (),
        apart: bool = False,
        neighbours: Neighbours | None = None,
        chosen_after_looking: bool = False,
    ) -> Self:
        """From declared columns, those in ``shapes`` cut into steps by their declared bounds alone (``Features.of``),
        and ``pairs`` of them that act together; ``apart`` tells every class of the target from every other.

        Raises InvalidArgument where bounds or options were not declared.
        """
        names = (target, *columns)
        declared = tuple(declaration.column(name) for name in dict.fromkeys(names))
        features = Features.of(
            Schema(columns=declared),
            target=target,
            columns=columns,
            positive=positive,
            shapes=shapes,
            pairs=pairs,
            apart=apart,
        )
        return cls(
            features=cls.used(features),
            epsilon=epsilon,
            reads=declaration.reads_rows(*dict.fromkeys(names), neighbours=neighbours or declaration.hidden),
            neighbours=neighbours or declaration.hidden,
            unit=declaration.unit,
            chosen_after_looking=chosen_after_looking,
            delta=delta,
            people=None if declaration.people is None else max(2, declaration.people),
        )

    @classmethod
    def used(cls, features: Features) -> Features:
        """The features that this kind of model is trained on, where some are asked for."""
        return features

    @property
    def most_bytes(self) -> int:
        """Bytes of the model: at most so many, whatever cuts and pairs are bought."""
        columns = self.features.columns
        names = [written(column.name) for column in columns]
        words = [[written(word) for word in column.categories] for column in (*columns, self.features.target)]
        longest = max((max(some, default=0) for some in words), default=0) + _STEP
        steps = sum((one.width + _CUTS) * (name + _STEP) for one, name in zip(columns, names, strict=True))
        pairs, cells = self.most_pairs
        together = 2 * cells * (max(names) + longest) + 2 * pairs * (
            max(names) + max(map(sum, words)) + _CUTS * _NUMBER
        )
        own = sum(map(written, texts(self))) + 2 * sum(map(sum, words))
        return own + steps + together + MOST_POINTS * _NUMBER

    @property
    def most_pairs(self) -> tuple[int, int]:
        """How many pairs of columns act together, and how many cells they have: at most so many."""
        return len(self.features.pairs), sum(pair.cells for pair in self.features.pairs)

    @property
    def loss(self) -> LinearLoss:
        """Logistic for classes, squared for a number."""
        return LOGISTIC if self.features.classifies else SQUARED

    @property
    def what(self) -> str:
        """The question in one plain sentence."""
        count, pairs = len(self.features.columns), len(self.features.pairs)
        together = f", {pairs} pair{'s' * (pairs > 1)} of them together" if pairs else ""
        columns = f"{count} column{'s' * (count > 1)}"
        apart = f", all {self.features.outputs} classes apart," if self.features.apart else ""
        return f"A model that predicts “{shown(self.features.target.name)}”{apart} from {columns}{together}"

    @property
    def rho(self) -> float:
        """zCDP of everything together."""
        return zcdp_rho(self.epsilon, self.delta)

    @property
    def rules(self) -> tuple[str, ...]:
        """By which any table is answered about."""
        cut = [shown(column.name) for column in self.features.columns if column.levels]
        together = [" with ".join(shown(name) for name in pair.names) for pair in self.features.pairs]
        filled = [shown(column.name) for column in self.reads.columns if column.fill is not None]
        return (
            "Values outside their declared bounds are moved to the nearer bound.",
            self.missing_rule,
            *(
                (f"Cut into steps at public numbers, what is missing in none of them: {', '.join(cut)}.",)
                if cut
                else ()
            ),
            *self.own_rules,
            *(
                (f"Together, by the cell a row is in of steps and options that were declared: {', '.join(together)}.",)
                if together
                else ()
            ),
            f"A row without a value of “{shown(self.features.target.name)}” adds nothing.",
            *(
                (f"Missing cells of these count as the value declared for them: {', '.join(filled)}.",)
                if filled
                else ()
            ),
            *self.person_rules,
        )

    @property
    def own_rules(self) -> tuple[str, ...]:
        """What else one kind of model says of how any table is answered about."""
        return ()

    @property
    def missing_rule(self) -> str:
        """What a missing cell counts as."""
        return (
            "A missing or unreadable number or day counts as the middle of its declared range, a missing word as none "
            "of the options."
        )

    def about(self, people: int) -> dict[str, Any]:
        """What is said in every released model of how it was made; ``people`` as stated, else as counted with noise.

        With all that its receipt says of whom it hides and what ε does not cover: the file goes on without the receipt.
        """
        return {
            "method": self.mechanism,
            "loss": self.loss.name,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "rho": self.rho,
            "neighbours": self.neighbours,
            "people": people,
            "people_from": "stated" if self.people is not None else "noisy count",
            "rows_per_person": self.rows_per_person,
            "unit": shown(self.unit),
            "notes": list(self.notes),
            "words_from_file": [column.name for column in self.reads.columns if column.words_from_file],
            "named_by_rows": self.reads.named_by_rows,
        }

    def error_bound(self, beta: float = 0.05) -> ErrorBound | None:
        """None: how good a model is depends on the data, and no bound from declared facts says anything."""
        probability(beta=beta)
        return None
