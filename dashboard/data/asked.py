"""The question that a person chose about their table, while it still needs something before it can be shown."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.data import suits
from dashboard.data.suits import Suited
from dpcore.datasets import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """``page``, ``form`` and ``about`` tell the question apart, whatever is declared meanwhile.

    ``whole``: cells that name several options were said to be one answer each. ``opening``: it has all it needs, and
    its page opens as soon as the data are prepared.
    """

    page: str
    form: str
    about: tuple[str, ...]
    whole: bool = False
    opening: bool = False

    @classmethod
    def of(cls, suited: Suited) -> Asked:
        return cls(page=suited.page.key, form=suited.way.form, about=suited.way.about)

    def among(self, schema: Schema) -> Suited | None:
        """The question about the columns as they are now; None where they do not suit it any more."""
        if not set(self.about) <= set(schema.names):
            return None
        return next((one for one in suits.questions(schema, self.about[0]) if Asked.of(one) == self.plain), None)

    @property
    def plain(self) -> Asked:
        return Asked(page=self.page, form=self.form, about=self.about)


def used(suited: Suited) -> tuple[str, ...]:
    """Every column that takes part, the leading ones first."""
    return tuple(dict.fromkeys((*suited.way.about, *suited.way.others)))
