"""A private model of steps and options on a person's own data, cut by declared bounds alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dpcore.errors import InvalidArgument
from dpcore.releases.built_model import BuiltModel
from dpcore.releases.filed_rows import BATCH, FiledRows, places
from dpcore.releases.whole_classes import whole_codes
from dpcore.releases.whole_codes import KeptRows, WholeCodes
from dpcore.training.features import Features

if TYPE_CHECKING:
    from dpcore.datasets.private_rows import PrivateRows


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledModel(BuiltModel):
    """Train a linear model of steps and options by noisy descent on scaled columns and publish its weights.

    ρ-zCDP with ρ = ``zcdp_rho(epsilon, delta)``, hence (ε, δ)-DP (Canonne, Kamath & Steinke, NeurIPS 2020), as
    ``StepsModel`` says. Every number and date is cut by declared bounds (``Features.stepped``). Raises
    InvalidArgument.
    """

    key: ClassVar[str] = "scaled_model"
    mechanism: ClassVar[str] = "Noisy descent on steps with discrete Gaussian noise"

    def __post_init__(self) -> None:
        self.check()
        if any(column.kind in ("number", "date") and not column.levels for column in self.features.columns):
            raise InvalidArgument("features", "must have every number and date cut into steps")

    @classmethod
    def used(cls, features: Features) -> Features:
        """With every number and date cut."""
        return features.stepped

    @property
    def in_batches(self) -> bool:
        """Of any target but a date, which no engine writes as the same number."""
        return self.features.target.kind != "date"

    def probe(self, rows: PrivateRows) -> None:
        rows.probe(self.reads, places(self.features))

    def read(self, rows: PrivateRows) -> WholeCodes:
        """The rows that have an answer, as codes: those of a source in a file, read a part at a time."""
        if not rows.in_place:
            return self.ready(KeptRows.of(self.features, self.opened(rows)))
        batches = rows.row_batches(self.reads, places(self.features), BATCH)
        return whole_codes(self.features, FiledRows(self.features, batches))

    def ready(self, rows: KeptRows) -> WholeCodes:
        """The rows as codes."""
        return whole_codes(self.features, rows)

    def prepared(self, ready: WholeCodes) -> tuple[Features, WholeCodes]:
        """As they are."""
        return self.features, ready
